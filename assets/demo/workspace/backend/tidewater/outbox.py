"""Mails that must go out once: stored with what they are about, sent afterwards."""

import asyncio
import logging
from datetime import timedelta

from sqlalchemy import func, select

from tidewater.clock import now
from tidewater.mail import MailError
from tidewater.models import Outbox

log = logging.getLogger("tidewater.outbox")


async def send_one(session, mailer):
    return await send_due(session, mailer, limit=1)


async def send_due(session, mailer, limit=20):
    """Send what is due. A mail that fails is tried again after 1, 4, 16 … minutes, seven times."""
    rows = await session.scalars(
        select(Outbox).where(Outbox.not_before <= func.now()).limit(limit).with_for_update(skip_locked=True)
    )
    for row in rows:
        try:
            await mailer.send(row.kind, row.payload)
        except MailError:
            row.attempts += 1
            row.not_before = now() + timedelta(minutes=4 ** (row.attempts - 1))
        else:
            await session.delete(row)


async def send_forever(app):
    while True:
        try:
            while await send_one(app.session(), app.mailer):
                pass
        except Exception:
            log.exception("outbox.round_failed")
        await asyncio.sleep(1)

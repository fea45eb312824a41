"""Bookings: made, changed, cancelled."""

import structlog
from fastapi import APIRouter, Depends
from sqlalchemy.exc import IntegrityError

from tidewater.boats import free_boats, lock_slot
from tidewater.models import Booking, Session, User
from tidewater.permissions import current_user, require_owner_or_staff

log = structlog.get_logger()
router = APIRouter()


class SoldOut(Exception):
    """No boat of that kind is free."""


async def confirm(session, request):
    await lock_slot(session, request.slot)
    boats = await free_boats(session, request.boat_type, request.slot)
    if len(boats) < request.amount:
        raise SoldOut(request.slot)
    booking = Booking(**request.dict())
    session.add(booking)
    try:
        await session.commit()
    except IntegrityError as error:
        await session.rollback()
        log.error("booking.lock_missed", slot=request.slot, detail=str(error.orig))
        raise SoldOut(request.slot) from error
    return booking


@router.delete("/bookings/{id}/guests/{guest}")
async def remove_guest(id: int, guest: int, session: Session, user: User = Depends(current_user)):
    await require_owner_or_staff(session, user, id)
    await session.execute("delete from guests where booking = :id and id = :guest", {"id": id, "guest": guest})
    await session.commit()

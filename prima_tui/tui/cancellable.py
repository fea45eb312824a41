"""Long work in a thread that stops when the one who waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from prima_tui.model.hits import Cancel

Result = TypeVar("Result")


async def in_thread(work: Callable[[Cancel], Result]) -> Result:
    """Return what ``work`` returns, run in a thread; its token is cancelled when the coroutine is."""
    cancel = Cancel()
    try:
        return await asyncio.to_thread(work, cancel)
    except asyncio.CancelledError:
        cancel.cancel()
        raise

"""Long work in a thread that stops when the one who waits for it is cancelled."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from prima_tui.model.hits import Cancel

Result = TypeVar("Result")


async def in_thread(work: Callable[[Cancel], Result], executor: Executor | None = None) -> Result:
    """Return what ``work`` returns, run in a thread; its token is cancelled when the coroutine is.

    The thread is one of the ``executor``'s, None for the event loop's own.
    """
    cancel = Cancel()
    # as asyncio.to_thread does, which knows no other threads than the loop's
    context = contextvars.copy_context()
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, context.run, work, cancel)
    except asyncio.CancelledError:
        cancel.cancel()
        raise

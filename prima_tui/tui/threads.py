"""The threads that the screen's work runs in: leaving never waits long for what they do."""

from __future__ import annotations

import concurrent.futures
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

_A_MOMENT_SECONDS = 0.05
"""What is nearly done, like the note of what is to be as it is now at the next start, has so long to be done."""

Result = TypeVar("Result")


class ScreenThreads(ThreadPoolExecutor):
    """Threads of an event loop, which waits for an ordinary pool's when it ends, be it for a minute.

    What runs on can be ended with the process: whatever is written is written so that a kill can't damage it.
    """

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="screen")
        self._running: set[Future[Any]] = set()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The pool's."""
        future = super().submit(fn, *args, **kwargs)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    @property
    def at_work(self) -> bool:
        """Whether something still runs."""
        return bool(self._running)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:  # noqa: ARG002
        """The pool's, but it waits for a moment only, and begins nothing more."""
        super().shutdown(wait=False, cancel_futures=True)
        if wait:
            concurrent.futures.wait(tuple(self._running), _A_MOMENT_SECONDS)

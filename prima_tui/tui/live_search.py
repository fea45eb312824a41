"""Searching while someone types: every query in a thread, an unwanted one cancelled, an old answer never shown.

Independent of the screen, so that its timing can be tested alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from prima_tui.model.hits import Answer, Cancel, Mode

# Long enough to make one search of two keys struck together, short enough not to be felt.
COALESCE_SECONDS = 0.01
_THREADS = 3


class Searches(Protocol):
    """What can be searched."""

    def search(self, query: str, mode: Mode, *, deep: bool = False, cancel: Cancel | None = None) -> Answer:
        """Answer a query; may block, is called in a thread."""
        ...


class LiveSearch:
    """Runs searches in threads of its own. Cancelling the coroutine that waits cancels the search."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="search")

    async def one(self, memory: Searches, query: str, mode: Mode, deep: bool = False) -> Answer:
        """Return the answer to one query in one mode."""
        cancel = Cancel()

        def run() -> Answer:
            return memory.search(query, mode, deep=deep, cancel=cancel)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, run)
        except asyncio.CancelledError:
            cancel.cancel()
            raise

    async def answers(
        self, memory: Searches, query: str, mode: Mode, deep: bool = False
    ) -> AsyncIterator[tuple[Answer, bool]]:
        """Give the answers to one query as they come, each with whether it is the last.

        In combined mode the keyword answer comes first, at once; the one with the hits by meaning, and the extracts
        of a deep search, joins.
        """
        await asyncio.sleep(COALESCE_SECONDS)
        if mode == "combined" and query.strip():
            yield await self.one(memory, query, "keyword"), False
        yield await self.one(memory, query, mode, deep), True

    def close(self) -> None:
        """Let no further search begin."""
        self._pool.shutdown(wait=False, cancel_futures=True)

"""Searching while someone types: every query in a thread, an unwanted one cancelled, an old answer never shown.

Independent of the screen, so that its timing can be tested alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Literal, Protocol

import msgspec

from prima_tui.errors import PrimaError
from prima_tui.model.documents import DocumentsAnswer
from prima_tui.model.hits import Answer, Cancel, Mode
from prima_tui.tui.cancellable import in_thread

Kinds = Literal["both", "documents", "sessions"]
"""What a search looks through: the sessions, the project's documents, or both."""
KINDS: tuple[Kinds, ...] = ("both", "documents", "sessions")

# Long enough to make one search of keys struck together, short enough not to be felt. The first of them is not held up.
COALESCE_SECONDS = 0.01
# After a key, in combined mode: hits by meaning, and drawing them, would be in the way of a quick typist's next key.
MEANING_AFTER_SECONDS = 0.14
# How long sessions that are found wait for documents, so that one picture shows both.
_TOGETHER_SECONDS = 0.06
_THREADS = 5


class Searches(Protocol):
    """What can be searched."""

    def search(self, query: str, mode: Mode, *, deep: bool = False, cancel: Cancel | None = None) -> Answer:
        """Answer a query; may block, is called in a thread."""
        ...

    def search_documents(
        self, text: str, mode: Mode, *, limit: int | None = None, alone: bool = False, cancel: Cancel | None = None
    ) -> DocumentsAnswer | None:
        """Return the documents that a query finds, None where there are none; may block, is called in a thread."""
        ...


MOST_DOCUMENTS = 200
"""Documents in one answer: more than anyone looks through."""


class LiveSearch:
    """Runs searches in threads of its own. Cancelling the coroutine that waits cancels the search."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="search")
        self._asked_at = -COALESCE_SECONDS

    async def one(
        self, memory: Searches, query: str, mode: Mode, deep: bool = False, kinds: Kinds = "sessions"
    ) -> Answer:
        """Return the answer to one query in one mode, complete."""
        found = [answer async for answer, _last in self._complete(memory, query, mode, deep, kinds, None)]
        return found[-1]

    async def answers(
        self, memory: Searches, query: str, mode: Mode, deep: bool = False, kinds: Kinds = "sessions"
    ) -> AsyncIterator[tuple[Answer, bool]]:
        """Give the answers to one query as they come, each with whether it is the last.

        In combined mode the keyword answer comes first, at once; the one with the hits by meaning, and the extracts
        of a deep search, joins when no further key comes. Sessions never wait for documents longer than is noticed.
        """
        began = time.monotonic()
        before, self._asked_at = self._asked_at, began
        if self._asked_at - before < COALESCE_SECONDS:
            await asyncio.sleep(COALESCE_SECONDS)
        documents: DocumentsAnswer | None = None
        if mode == "combined" and query.strip():
            async with aclosing(self._complete(memory, query, "keyword", False, kinds, None)) as first:
                answer, _last = await anext(first)
                documents = DocumentsAnswer(query, "keyword", answer.documents, project=answer.project)
            yield answer, False
            await asyncio.sleep(max(0.0, began + MEANING_AFTER_SECONDS - time.monotonic()))
        async with aclosing(self._complete(memory, query, mode, deep, kinds, documents)) as found:
            async for answer, last in found:
                yield answer, last

    async def _complete(
        self, memory: Searches, query: str, mode: Mode, deep: bool, kinds: Kinds, documents: DocumentsAnswer | None
    ) -> AsyncGenerator[tuple[Answer, bool], None]:
        """Give the answer in one mode, first with the ``documents`` known before when the sessions come much sooner."""
        alone = kinds == "documents"

        def find_documents(cancel: Cancel) -> DocumentsAnswer | None:
            return memory.search_documents(query, mode, limit=MOST_DOCUMENTS, alone=alone, cancel=cancel)

        def find_sessions(cancel: Cancel) -> Answer:
            return memory.search(query, mode, deep=deep, cancel=cancel)

        if kinds == "sessions":
            yield await in_thread(find_sessions, self._pool), True
        elif alone:
            yield with_documents(Answer(query, mode), await in_thread(find_documents, self._pool)), True
        else:
            beside = asyncio.ensure_future(in_thread(find_documents, self._pool))
            try:
                answer = await in_thread(find_sessions, self._pool)
                done, _waiting = await asyncio.wait([beside], timeout=_TOGETHER_SECONDS)
                if not done:
                    yield with_documents(answer, documents), False
                try:
                    documents = await beside
                except PrimaError as error:
                    documents = DocumentsAnswer(query, mode, warnings=(f"documents: {error}",))
                yield with_documents(answer, documents), True
            finally:
                beside.cancel()

    def close(self) -> None:
        """Let no further search begin."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def with_documents(answer: Answer, found: DocumentsAnswer | None) -> Answer:
    """Return an answer with documents beside its sessions; warnings that are new are added."""
    if found is None:
        return answer
    return msgspec.structs.replace(
        answer,
        documents=found.hits,
        project=found.project,
        words=answer.words or found.words,
        warnings=tuple(dict.fromkeys((*answer.warnings, *found.warnings))),
        took_ms=max(answer.took_ms, found.took_ms),
    )

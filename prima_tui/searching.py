"""One search over all that is kept: sessions, documents, extracts, and the session history last."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from prima_tui.errors import ModelUnavailable, StoreBusy, StoreUnusable
from prima_tui.model.documents import DocumentsAnswer, DocumentText
from prima_tui.model.hits import (
    Answer,
    Cancel,
    Hit,
    Mode,
    PastEntry,
    Snapshot,
)
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.query import Query, asks_for_documents, parse
from prima_tui.model.session import Exchange, Session
from prima_tui.sources.base import Problem
from prima_tui.startup_log import warning_lines
from prima_tui.stores import Stores

if TYPE_CHECKING:
    from prima_tui.last_list import LastHistory
    from prima_tui.search.combined import Found
    from prima_tui.search.library import Library
    from prima_tui.search.semantic_hits import SemanticHits


_DOCUMENTS_SHOWN = 5
"""Documents beside a limited number of sessions, unless documents are what is asked for."""


class Searching(Stores):
    """The stores, and the search over them."""

    def snapshot(self) -> Snapshot:
        """Return the sessions as far as they are known, newest first; never waits."""
        return self._history.snapshot if self._history else Snapshot()

    def _first_picture(self) -> LastHistory | None:
        """Return the list as it was last time, until there is one of this time."""
        if self.snapshot().sessions or self.snapshot().complete:
            return None
        return self._last.load()

    def search(
        self,
        text: str,
        mode: Mode = "combined",
        *,
        limit: int | None = None,
        deep: bool = False,
        cancel: Cancel | None = None,
        now: datetime | None = None,
    ) -> Answer:
        """Answer a query from the sessions and the index as they stand (call ``refresh``, ``update_index`` before).

        A blank query lists all sessions, newest first. With ``limit`` at most so many hits come back, each with its
        best exchange; without it all of them, with the place of the exchange only. When the semantic half fails the
        keyword hits come with a warning. ``deep`` looks into extracts and checkpoints too. When the conversations hold
        nothing the session history's summaries are looked through. Raises Cancelled when cancelled meanwhile.
        """
        started = time.perf_counter()
        text = text.encode("utf-8", "replace").decode()  # a shell may pass on bytes that are no text
        listing = limit is None and not deep
        if listing and not text.strip() and ((last := self._first_picture()) or self._history is None):
            sessions = last.sessions() if last is not None else ()
            shown = OnDemand(len(sessions), lambda place: Hit(sessions[place], 0.0))
            kin = last.kin if last is not None else None
            return Answer(text, mode, shown, kin=kin, took_ms=(time.perf_counter() - started) * 1000)
        now = now or datetime.now(UTC).astimezone()
        query = parse(text, now, self._open().source_ids)
        if listing and not query.text and not query.phrases:
            took_ms = (time.perf_counter() - started) * 1000
            return Answer(text, mode, self._listed(query), warnings=tuple(query.problems), took_ms=took_ms)
        from prima_tui.search import combined
        from prima_tui.search.deep import search_extracts
        from prima_tui.search.keyword import query_words

        cancel = cancel or Cancel()
        history = self._open()
        if query.words or query.phrases:
            history.load_messages()
        library = history.library
        warnings = list(query.problems)
        indexed, waiting = 0, 0
        found = combined.search(
            library,
            history.table,
            partial(self._similar, library),
            query,
            mode,
            now,
            cancel,
            warnings,
            history.tool_texts,
        )
        similar: Sequence[Session] = () if found or not query.text else self._alike(library, query, cancel)
        words = query_words(query)
        past = () if found else self._past(query, words, now)
        extracts = search_extracts(self.extracts_folder, query, words, now)[: limit or None] if deep else ()
        if mode != "keyword" and query.text:
            indexed, waiting = self._coverage()
        hits: Sequence[Hit] = (
            OnDemand(len(found), lambda place: found[place].hit)
            if limit is None
            else tuple(self._with_exchanges(found[:limit]))
        )
        beside = self._documents_beside(query, mode, limit, cancel, now, warnings)
        return Answer(
            query=text,
            mode=mode,
            hits=hits,
            words=(*query.words, *query.phrases),
            similar=tuple(similar),
            extracts=tuple(extracts),
            documents=beside.hits if beside else (),
            project=beside.project if beside else "",
            session_history=tuple(past),
            warnings=tuple(warnings),
            took_ms=(time.perf_counter() - started) * 1000,
            indexed_exchanges=indexed,
            pending_files=waiting,
        )

    def _listed(self, query: Query) -> tuple[Hit, ...]:
        """Return what filters alone list, newest first: a list needs neither the messages nor the database."""
        from prima_tui.search.library import listed

        return tuple(Hit(session, 0.0) for session in listed(self._open().library, query))

    def _documents_beside(
        self, query: Query, mode: Mode, limit: int | None, cancel: Cancel, now: datetime, warnings: list[str]
    ) -> DocumentsAnswer | None:
        """Return the best documents beside a limited number of sessions; warnings that are new are added."""
        if limit is None:
            return None
        asked = asks_for_documents(query)
        most = limit if asked else min(limit, _DOCUMENTS_SHOWN)
        found = self.search_documents(query.raw, mode, limit=most, alone=True, cancel=cancel, now=now)
        if found is not None:
            warnings += [line for line in found.warnings if line not in warnings]
        return found

    def search_documents(
        self,
        text: str,
        mode: Mode = "combined",
        *,
        limit: int | None = None,
        alone: bool = False,
        cancel: Cancel | None = None,
        now: datetime | None = None,
    ) -> DocumentsAnswer | None:
        """Return the project's documents that a query finds; None when the workspace's project has no memory of any.

        Beside sessions a query without words finds documents only when its filters ask for them; ``alone`` it finds
        those that pass its filters. Raises Cancelled.
        """
        documents = self.documents()
        if documents is None:
            return None
        text = text.encode("utf-8", "replace").decode()
        query = parse(text, now)
        if not alone and not query.text and not asks_for_documents(query):
            return DocumentsAnswer(query=text, mode=mode, project=str(documents.root))
        return documents.find(text, mode, limit, cancel=cancel, now=now)

    def document_text(self, path: str) -> DocumentText:
        """Return a document of the project as it is now."""
        documents = self.documents()
        return (
            documents.text(path) if documents else DocumentText(path, "", problem="the project has no memory any more")
        )

    def _alike(self, library: Library, query: Query, cancel: Cancel) -> Sequence[Session]:
        from prima_tui.search.alike import alike

        return alike(library, query, cancel)

    def _past(self, query: Query, words: Sequence[str], now: datetime) -> list[PastEntry]:
        from prima_tui.search.past import search_past

        if query.filters:
            return []
        problems: list[Problem] = []
        found = search_past(self.scope.workspace, words, now.date(), problems)
        self.log.note(warning_lines("session history", problems))
        return found

    def _similar(self, library: Library, query: Query, cancel: Cancel) -> SemanticHits:
        from prima_tui.index.vector_file import rebuild_due
        from prima_tui.search.semantic import search_semantic

        index = self._semantic()
        index.load_if_free()
        if index.other_model:
            raise ModelUnavailable(rebuild_due(index.other_model, self._model().name))
        return search_semantic(library, index, query, self._model().query, cancel, self.forgotten.holds)

    def _with_exchanges(self, found: Sequence[Found]) -> list[Hit]:
        history = self._open()
        places = [one.place(history.library) for one in found]
        texts = history.exchanges((place[0], place[1]) for place in places if place is not None)
        gone = [one for one, place in zip(found, places, strict=True) if place is None and one.stored is not None]
        stored: dict[tuple[str, int, int], tuple[str, str]] = {}
        if gone:
            try:
                stored = self._semantic().texts(
                    [(s.path, s.number, s.position, s.hash) for one in gone if (s := one.stored) is not None]
                )
            except (StoreBusy, StoreUnusable) as error:
                self.log.note([str(error)])
        hits = []
        for one, place in zip(found, places, strict=True):
            exchange: Exchange | None = None
            if place is not None:
                exchanges = texts.get((place[0], place[1]), ())
                exchange = exchanges[place[2]] if place[2] < len(exchanges) else None
            elif one.stored is not None:
                sides = stored.get((one.stored.path, one.stored.number, one.stored.position))
                exchange = Exchange(*sides) if sides else None
            hits.append(msgspec.structs.replace(one.hit, exchange=exchange))
        return hits

"""Search by meaning: the query's vector against every stored exchange, the best exchange of each session.

Many thousand sessions may be alike, so they are told apart, filtered and ordered as columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from prima_tui.errors import StoreBusy
from prima_tui.index.similar import SimilarExchanges
from prima_tui.model.hits import Cancel
from prima_tui.model.query import Query, matches
from prima_tui.model.session import Session
from prima_tui.search.columns import Flags, Rows
from prima_tui.search.library import Library, ages_among
from prima_tui.search.semantic_hits import SemanticHit, SemanticHits

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector
    from prima_tui.index.vectors import SemanticIndex

_Key = tuple[str, str]


def search_semantic(
    library: Library,
    index: SemanticIndex,
    query: Query,
    embed: Callable[[str], Vector],
    cancel: Cancel | None = None,
    unwanted: Callable[[str, str], bool] = lambda _source, _id: False,
) -> SemanticHits:
    """Return the sessions with an exchange alike (cosine of at least 0.3), most alike first, ties newest first.

    Sessions whose file is gone are among them, flagged ``deleted``, but for those that are ``unwanted`` by source and
    id. Raises ModelUnavailable from ``embed``, StoreBusy or StoreUnusable from the index, Cancelled when cancelled
    meanwhile.
    """
    cancel = cancel or Cancel()
    vector = embed(query.text)
    cancel.check()
    found = index.similar(vector, cancel)
    cancel.check()
    scope = _Scope(library)
    sessions, stands = scope.sessions_of(found)
    # of two that are equally alike, the one whose file is there (the other is from before it was renamed)
    order = np.lexsort((~stands, -found.cosines))
    sessions, first = np.unique(sessions[order], return_index=True)
    best = order[first]
    scope.load_gone(index, unwanted)
    chosen = scope.selected(query, sessions)
    sessions, best = sessions[chosen], best[chosen]
    kept = scope.without_copies(sessions, best, found)
    sessions, best = sessions[kept], best[kept]
    ages, similarities = scope.ages(sessions), found.cosines[best].astype(np.float64)
    order = np.lexsort((ages, -similarities))
    sessions, best, similarities = sessions[order], best[order], similarities[order]

    def hit(place: int) -> SemanticHit:
        return SemanticHit(scope.session(int(sessions[place])), float(similarities[place]), found[int(best[place])])

    rows = np.where(sessions < scope.first_gone, sessions, -1)
    return SemanticHits(rows, ages[order], similarities, hit)


class _Scope:
    """The sessions that may be found, by number: the library's by their rows, those whose file is gone after them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.first_gone = len(library.entries)
        self._gone: dict[_Key, int] = {}
        self._stored: dict[int, Session] = {}

    def sessions_of(self, found: SimilarExchanges) -> tuple[Rows, Flags]:
        """Return for each of those found the number of its session, and whether the file that it was in is there."""
        numbers = self._library.columns.rows_of_transcripts(found.transcripts)[found.owners]
        stands = numbers >= 0
        for place in np.flatnonzero(~stands).tolist():
            key = found.transcripts[found.owners[place]][2:]
            row = self._library.columns.row_of.get(key)
            numbers[place] = self._gone.setdefault(key, self.first_gone + len(self._gone)) if row is None else row
        return numbers, stands

    def load_gone(self, index: SemanticIndex, unwanted: Callable[[str, str], bool]) -> None:
        """Take the sessions whose file is gone as they were when last indexed; others of them are not found."""
        with contextlib.suppress(StoreBusy):
            for stored in index.sessions(key for key in self._gone if not unwanted(*key)):
                self._stored[self._gone[stored.key]] = as_deleted(stored)

    def session(self, number: int) -> Session:
        """Return a session."""
        return self._library.entries[number].session if number < self.first_gone else self._stored[number]

    def selected(self, query: Query, numbers: Rows) -> Flags:
        """Return which of the sessions pass the filters of the query."""
        chosen = np.zeros(self.first_gone + len(self._gone), np.bool_)
        chosen[: self.first_gone] = self._library.columns.selected(query)
        for number, session in self._stored.items():
            chosen[number] = matches(query, session)
        return chosen[numbers]

    def without_copies(self, numbers: Rows, best: Rows, found: SimilarExchanges) -> Flags:
        """Return which hits to keep: not one whose very exchange is another's, of which it is a copy or goes on.

        ``numbers`` are in order; ``best`` are the places of their best exchanges among those found.
        """
        kept = np.ones(len(numbers), np.bool_)
        linked = np.zeros(self.first_gone + len(self._gone), np.bool_)
        linked[: self.first_gone] = self._library.columns.linked
        linked[self.first_gone :] = True
        for place in np.flatnonzero(linked[numbers]).tolist():
            session = self.session(int(numbers[place]))
            if self._place_of(session.source, session.continued_by, numbers) is not None:
                kept[place] = False
                continue
            origin = self._place_of(session.source, session.copied_from, numbers)
            if origin is not None and found.hashes[best[origin]] == found.hashes[best[place]]:
                kept[place] = False
        return kept

    def _place_of(self, source: str, identifier: str, numbers: Rows) -> int | None:
        """Return where a session stands among those of the numbers, which are in order."""
        key = (source, identifier)
        number = self._library.columns.row_of.get(key, self._gone.get(key)) if identifier else None
        if number is None:
            return None
        place = int(np.searchsorted(numbers, number))
        return place if place < len(numbers) and numbers[place] == number else None

    def ages(self, numbers: Rows) -> np.ndarray:
        """Return where sessions stand among the rows of the library, newest first."""
        ages = np.arange(self.first_gone + len(self._gone), dtype=np.float64)
        if self._stored:
            ages[list(self._stored)] = ages_among(self._library.entries, self._stored.values())
        return ages[numbers]


def as_deleted(session: Session) -> Session:
    """Return the session marked as one whose file is gone: it can be read and searched, not resumed."""
    flags = tuple(dict.fromkeys((*session.flags, "deleted")))
    return msgspec.structs.replace(session, flags=flags, resume=None)

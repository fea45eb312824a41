"""The sessions that a keyword search found, best first, each put into words only when somebody looks at it."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.model.hits import Reason
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.scoring import FILE_POINTS, TITLE_POINTS, WORD_POINTS
from prima_tui.search.columns import Rows
from prima_tui.search.library import Entry, Library

Points = NDArray[np.float64]


class KeywordHit(msgspec.Struct, frozen=True, gc=False):
    """One session found by word; ``part`` and ``position`` tell its best exchange (part -1: only title or files)."""

    entry: Entry
    score: float
    reasons: tuple[Reason, ...]
    part: int = -1
    position: int = 0


class Evidence(msgspec.Struct, frozen=True):
    """What speaks for each session of a library, found or not: columns of equal length."""

    title_hits: Points
    """1 where the title contains the whole query, else 0."""
    file_hits: Points
    """How many changed paths contain it."""
    pairs: Points
    """How many pairs there are of a message and a query word in it."""
    used: Points
    """As many pairs with what tools were given and gave back."""
    recent: Points
    changes: Points
    scores: Points
    parts: Rows
    positions: Rows


class KeywordHits(OnDemand[KeywordHit]):
    """The hits in order, with what orders them as columns."""

    def __init__(self, library: Library, rows: Rows, scores: Points, evidence: Evidence | None, whole: str) -> None:
        super().__init__(len(rows), self._hit)
        self.rows = rows
        """The library's rows of the sessions found."""
        self.scores = scores
        self._library = library
        self._evidence = evidence
        self._whole = whole

    @classmethod
    def listed(cls, library: Library, rows: Rows) -> KeywordHits:
        """Return these sessions as they stand in the library, nothing having been looked for."""
        return cls(library, rows, np.zeros(len(rows)), None, "")

    def _hit(self, place: int) -> KeywordHit:
        row = int(self.rows[place])
        entry = self._library.entries[row]
        found = self._evidence
        if found is None:
            return KeywordHit(entry, 0.0, ())
        return KeywordHit(
            entry,
            float(self.scores[place]),
            self._reasons(entry, found, row),
            int(found.parts[row]),
            int(found.positions[row]),
        )

    def _reasons(self, entry: Entry, found: Evidence, row: int) -> tuple[Reason, ...]:
        reasons = [Reason("title", TITLE_POINTS)] if found.title_hits[row] else []
        if found.file_hits[row]:
            reasons += [Reason("file", FILE_POINTS, path) for path in entry.paths if self._whole in path]
        if pairs := int(found.pairs[row]):
            reasons.append(Reason("words", WORD_POINTS * pairs, str(pairs)))
        if used := int(found.used[row]):
            reasons.append(Reason("tool", WORD_POINTS * used, str(used)))
        if found.recent[row]:
            reasons.append(Reason("recent", float(found.recent[row])))
        if found.changes[row]:
            reasons.append(Reason("changes", float(found.changes[row])))
        return tuple(reasons)

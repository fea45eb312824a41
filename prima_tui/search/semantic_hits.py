"""The sessions that a search by meaning found, most alike first, each put into words only when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.index.similar import Similar
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.session import Session
from prima_tui.search.columns import Flags, Rows
from prima_tui.search.library import Library


class SemanticHit(msgspec.Struct, frozen=True, gc=False):
    """One session found by meaning, and where its best exchange is stored."""

    session: Session
    similarity: float
    place: Similar


class SemanticHits(OnDemand[SemanticHit]):
    """The hits in order, with what orders them as columns of one length."""

    def __init__(
        self,
        rows: Rows,
        ages: NDArray[np.float64],
        similarities: NDArray[np.float64],
        make: Callable[[int], SemanticHit],
    ) -> None:
        super().__init__(len(rows), make)
        self.rows = rows
        """The library's rows of the sessions found; -1 for one that the index alone still has."""
        self.ages = ages
        """Where each stands among those rows, newest first: its own, or a number between two."""
        self.similarities = similarities

    @classmethod
    def none(cls) -> SemanticHits:
        """Return no hits."""
        return cls(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), _nothing)

    @classmethod
    def listed(cls, library: Library, hits: Sequence[SemanticHit]) -> SemanticHits:
        """Return hits, as they are, of sessions that are all in the library."""
        rows = np.array([library.columns.row_of[hit.session.key] for hit in hits], np.int64)
        similarities = np.array([hit.similarity for hit in hits], np.float64)
        return cls(rows, rows.astype(np.float64), similarities, hits.__getitem__)

    def only(self, kept: Flags) -> SemanticHits:
        """Return the hits for which ``kept`` says so."""
        places = np.flatnonzero(kept)
        return SemanticHits(
            self.rows[kept], self.ages[kept], self.similarities[kept], lambda place: self[int(places[place])]
        )


def _nothing(place: int) -> SemanticHit:
    raise IndexError(place)

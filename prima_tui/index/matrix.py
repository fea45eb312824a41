"""Vectors in memory, compared with a query exactly: the best row of each owner.

A product of matrix and vector is bound by how fast memory is read. So rows stand in blocks, and of a block that is full
there is a second copy a quarter as large, which tells between what each cosine is; only the rows that may be the best
of their owner are then worked out from their 32-bit floats. Blocks also let an index grow without being copied, and a
search be given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prima_tui.index.quantised import ROUNDING, Bounds, QuantisedBlock, QuantisedQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prima_tui.index.embedder import Vector

_BLOCK = 16_384
"""Rows; of 384 numbers that is 25 MB of floats and some two milliseconds. Smaller ones would take longer to start."""
_PRECISE_AT_ONCE = 256
"""Rows that are worked out in one go, from a copy that stays in the processor's cache."""
_UNIT_LENGTH = 1e-6
"""A vector whose length differs from one by less is taken as it is."""


class Nearest(NamedTuple):
    """The nearest row of each owner that has one at or above the floor; three arrays of one length, in no order."""

    owners: NDArray[np.int32]
    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


class VectorMatrix:
    """Rows of vectors, each of an owner (a number from 0). Not safe for threads: whoever has it, locks it."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._blocks: list[NDArray[np.float32]] = []
        self._quantised: list[QuantisedBlock] = []
        """Of those blocks that are full."""
        self._owners = np.empty(0, np.int32)
        self._starts: NDArray[np.int64] | None = None
        self._used = 0
        self._removed = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Return how many rows there are to be found."""
        return self._used - len(self._removed)

    @property
    def wasted(self) -> int:
        """How many rows were removed; they go on to take memory."""
        return len(self._removed)

    def add(self, vectors: NDArray[np.float32], owners: Iterable[int]) -> range:
        """Append vectors, shape (n, dimensions), of any length; return the numbers of their rows.

        A search is fastest when the rows of one owner come one after the other.
        """
        count = len(vectors)
        first = self._used
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        uneven = (np.abs(lengths - 1) > _UNIT_LENGTH) & (lengths > 0)
        if uneven.any():
            vectors = np.where(uneven[:, None], vectors / np.where(uneven, lengths, 1)[:, None], vectors)
        self._reserve(first + count)
        self._owners[first : first + count] = np.fromiter(owners, np.int32, count)
        done = 0
        while done < count:
            block, place = divmod(first + done, _BLOCK)
            size = min(_BLOCK - place, count - done)
            self._blocks[block][place : place + size] = vectors[done : done + size]
            done += size
        self._used += count
        for block in range(len(self._quantised), self._used // _BLOCK):
            self._quantised.append(QuantisedBlock(self._blocks[block]))
        self._starts = None
        return range(first, first + count)

    def _reserve(self, rows: int) -> None:
        if len(self._blocks) <= 1:
            self._enlarge_first(rows)
        while len(self._blocks) * _BLOCK < rows:
            self._blocks.append(np.empty((_BLOCK, self.dimensions), np.float32))
        if len(self._owners) < rows:
            owners = np.empty(max(rows, 2 * len(self._owners)), np.int32)
            owners[: self._used] = self._owners[: self._used]
            self._owners = owners

    def _enlarge_first(self, rows: int) -> None:
        """Let a small index take little memory: only its first block grows."""
        has = len(self._blocks[0]) if self._blocks else 0
        if has < rows and has < _BLOCK:
            block = np.empty((min(_BLOCK, max(rows, 2 * has)), self.dimensions), np.float32)
            if has:
                block[: self._used] = self._blocks[0][: self._used]
            self._blocks[:] = [block]

    def remove(self, rows: Iterable[int]) -> None:
        """Let rows be found no more; the numbers of the others stay as they are."""
        self._removed = np.union1d(self._removed, np.fromiter(rows, np.int64))

    def rows_of(self, owner: int) -> list[int]:
        """Return the numbers of an owner's rows."""
        rows = np.flatnonzero(self._owners[: self._used] == owner)
        found: list[int] = np.setdiff1d(rows, self._removed).tolist()
        return found

    def nearest(self, query: Vector, floor: float, check: Callable[[], None] = lambda: None) -> Nearest:
        """Compare every row with the query, shape (dimensions,) and of any length, by true cosine.

        A row below ``floor`` is dropped, one at it stays. ``check`` is called every few milliseconds and may raise.
        """
        length = float(np.linalg.norm(query.astype(np.float64)))
        if not self._used or not length:
            return Nearest(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float32))
        unit = (query / length).astype(np.float32)
        rows = self._candidates(self._bounds(unit, check), floor)
        cosines = self._cosines(rows, unit, check)
        found = cosines >= np.float32(floor)
        return self._best(rows[found], cosines[found])

    def _bounds(self, unit: Vector, check: Callable[[], None]) -> Bounds:
        """Return between what the cosine of each row is; a removed one's is below any floor."""
        bounds = Bounds(np.empty(self._used, np.float32), np.empty(self._used, np.float32))
        query = QuantisedQuery(unit)
        for number, block in enumerate(self._blocks):
            place = slice(number * _BLOCK, min((number + 1) * _BLOCK, self._used))
            if number < len(self._quantised):
                bounds.lower[place], bounds.upper[place] = self._quantised[number].bounds(query)
            else:
                cosines = _products(block[: place.stop - place.start], unit)
                bounds.lower[place], bounds.upper[place] = cosines - ROUNDING, cosines + ROUNDING
            check()
        bounds.lower[self._removed] = bounds.upper[self._removed] = -2
        return bounds

    def _candidates(self, bounds: Bounds, floor: float) -> NDArray[np.int64]:
        """Return the rows that may be at the floor or above it and the nearest of their owner, in order."""
        if self._starts is None:
            owners = self._owners[: self._used]
            self._starts = np.flatnonzero(np.diff(owners, prepend=owners[0] - 1))
        rows = np.flatnonzero(bounds.upper >= np.float32(floor))
        least_of_best = np.maximum.reduceat(bounds.lower, self._starts)
        runs = np.searchsorted(self._starts, rows, "right") - 1
        return rows[bounds.upper[rows] >= least_of_best[runs]]

    def _cosines(self, rows: NDArray[np.int64], unit: Vector, check: Callable[[], None]) -> NDArray[np.float32]:
        """Return the cosines of rows, which are in order: equal vectors have equal ones, wherever they stand."""
        cosines = np.empty(len(rows), np.float32)
        precise = unit.astype(np.float64)
        edges = np.searchsorted(rows, np.arange(len(self._blocks) + 1) * _BLOCK).tolist()
        for number, block in enumerate(self._blocks):
            for first in range(edges[number], edges[number + 1], _PRECISE_AT_ONCE):
                place = slice(first, min(first + _PRECISE_AT_ONCE, edges[number + 1]))
                some = block.take(rows[place] - number * _BLOCK, axis=0)
                cosines[place] = _products(some.astype(np.float64), precise)
            check()
        return cosines

    def _best(self, rows: NDArray[np.int64], cosines: NDArray[np.float32]) -> Nearest:
        """Return of each owner the nearest of its rows, of equally near ones the first."""
        owners = self._owners[rows]
        order = np.lexsort((rows, -cosines, owners))
        _distinct, first = np.unique(owners[order], return_index=True)
        best = order[first]
        return Nearest(owners[best], rows[best], np.minimum(cosines[best], np.float32(1)))


def _products(rows: NDArray[Any], unit: NDArray[Any]) -> NDArray[Any]:
    """Return rows times a vector, in this thread alone: a library's threads that wait for one another cost more."""
    products: NDArray[Any] = np.einsum("ij,j->i", rows, unit)
    return products

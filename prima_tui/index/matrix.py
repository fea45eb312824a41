"""Vectors in memory, compared with a query exactly: a product of each block with it, the best row of each owner.

A product of matrix and vector is bound by how fast memory is read, so each vector is kept once, as 32-bit floats, and
nothing else is touched. Rows stand in blocks, so that a growing index is never copied and a search can be given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prima_tui.index.embedder import Vector

_BLOCK = 65_536
"""Rows; of 384 numbers that is 100 MB, and some ten milliseconds. Smaller ones would spend as long on their start."""
_ROUNDING = 4e-6
"""More than what the order of its additions can change of a cosine in 32-bit floats."""
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
        cosines = np.empty(self._used, np.float32)
        for number, block in enumerate(self._blocks):
            some = cosines[number * _BLOCK : (number + 1) * _BLOCK]
            np.dot(block[: len(some)], unit, out=some)
            check()
        self._settle(cosines, unit, floor)
        cosines[self._removed] = -2
        return self._best(cosines, np.float32(floor))

    def _settle(self, cosines: NDArray[np.float32], unit: Vector, floor: float) -> None:
        """Work out exactly those that rounding might have put on the wrong side of the floor."""
        precise = unit.astype(np.float64)
        for row in np.flatnonzero(np.abs(cosines - np.float32(floor)) < _ROUNDING):
            block, place = divmod(int(row), _BLOCK)
            cosines[row] = self._blocks[block][place].astype(np.float64) @ precise

    def _best(self, cosines: NDArray[np.float32], floor: np.float32) -> Nearest:
        owners = self._owners[: self._used]
        if self._starts is None:
            self._starts = np.flatnonzero(np.diff(owners, prepend=owners[0] - 1))
        best_of_run = np.maximum.reduceat(cosines, self._starts)
        rows = np.flatnonzero(cosines >= floor)
        runs = np.searchsorted(self._starts, rows, "right") - 1
        rows = rows[cosines[rows] == best_of_run[runs]]
        # of several runs of one owner, and of rows that are equally near, the first of the nearest
        order = np.lexsort((rows, -cosines[rows], owners[rows]))
        rows = rows[order]
        _distinct, first = np.unique(owners[rows], return_index=True)
        rows = rows[first]
        return Nearest(owners[rows], rows, np.minimum(cosines[rows], np.float32(1)))

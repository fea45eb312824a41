"""Vectors as whole numbers of eight bits: a quarter of the memory to read, and cosines that are known within bounds.

A vector x is kept as a step times whole numbers; with the difference e between the two, and a query q taken the same
way, a cosine is wrong by no more than |e| |q| and what is left of the query: Cauchy's inequality, no estimate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prima_tui.index.integer_product import GREATEST_LEFT, GREATEST_RIGHT, integer_product

_ROWS_AT_ONCE = 1_024
"""Made smaller in one go, so that little memory is needed beside the two copies."""
_OFFSET = GREATEST_LEFT // 2 + 1
"""Added to the query's numbers, which would be negative else."""
_PARTS = 2
"""The query is taken as a coarse part and a fine one: its own error is then a hundredth of the vectors'."""
ROUNDING = 2e-5
"""More than what the order of its additions can change of a cosine in 32-bit floats."""


class Bounds(NamedTuple):
    """What cosines are at least, and at most; two arrays of one length."""

    lower: NDArray[np.float32]
    upper: NDArray[np.float32]


class _Part(NamedTuple):
    step: float
    numbers: NDArray[np.uint8]
    """Each greater by the offset than what it stands for."""


class QuantisedQuery:
    """A query's vector, shape (d,) and of length one, as sums of a step times whole numbers."""

    def __init__(self, unit: NDArray[np.float32]) -> None:
        rest = unit.astype(np.float64)
        self.parts: list[_Part] = []
        for _ in range(_PARTS):
            step = float(np.abs(rest).max()) / (_OFFSET - 1) or 1.0
            numbers = np.rint(rest / step)
            rest -= step * numbers
            self.parts.append(_Part(step, (numbers + _OFFSET).astype(np.uint8)))
        self.length = float(np.linalg.norm(unit - rest))
        self.error = float(np.linalg.norm(rest))
        """The length of what the parts leave of the query."""


class QuantisedBlock:
    """Vectors, shape (n, d) and none longer than one, as a step for each times whole numbers; d + 12 bytes for each."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        count, dimensions = vectors.shape
        # a vector is a column, which is what makes the product fast
        self._numbers = np.empty((dimensions, count), np.int8)
        self._steps = np.empty(count, np.float32)
        self._errors = np.empty(count, np.float32)
        self._offsets = np.empty(count, np.int32)
        for first in range(0, count, _ROWS_AT_ONCE):
            self._fill(slice(first, first + _ROWS_AT_ONCE), vectors[first : first + _ROWS_AT_ONCE])

    def _fill(self, place: slice, vectors: NDArray[np.float32]) -> None:
        steps = np.abs(vectors).max(axis=1) / np.float32(GREATEST_RIGHT)
        steps[steps == 0] = 1
        numbers = np.rint(vectors / steps[:, None])
        self._numbers[:, place] = numbers.T
        self._steps[place] = steps
        self._errors[place] = np.linalg.norm(vectors - numbers * steps[:, None], axis=1)
        self._offsets[place] = numbers.sum(axis=1) * _OFFSET

    def bounds(self, query: QuantisedQuery) -> Bounds:
        """Return between what the cosine of each vector and the query is, in the order of the vectors."""
        cosines = np.zeros(len(self._steps), np.float32)
        for part in query.parts:
            products = integer_product(part.numbers, self._numbers)
            products -= self._offsets
            cosines += products.astype(np.float32) * np.float32(part.step)
        cosines *= self._steps
        margin = self._errors * np.float32(query.length)
        margin += np.float32(query.error + ROUNDING)
        return Bounds(cosines - margin, cosines + margin)

"""What the words of a query found in the transcripts, as columns: a search of ten thousand has no time for each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


class PartMatches(msgspec.Struct, frozen=True):
    """One row for each transcript (its number is its part) in which a message holds at least one of the words."""

    parts: Whole
    """Each once, in no particular order."""
    counts: Whole
    """A column for each word: how many messages contain it."""
    best: Whole
    """Position of the exchange whose message holds the most of the words (the first such)."""

    @classmethod
    def of_columns(cls, columns: Sequence[NDArray[np.generic]]) -> PartMatches:
        """Return the rows of these columns: part, best position, the count of each word."""
        part, best, *counts = (np.asarray(column, np.int64) for column in columns)
        return cls(part, np.stack(counts, axis=1), best)

    def __len__(self) -> int:
        return len(self.parts)

    def of_parts(self, rows: NDArray[np.bool_]) -> PartMatches:
        """Return the rows for which ``rows`` says so."""
        return PartMatches(self.parts[rows], self.counts[rows], self.best[rows])


def no_matches(words: int) -> PartMatches:
    """Return that so many words found nothing."""
    return PartMatches(np.zeros(0, np.int64), np.zeros((0, words), np.int64), np.zeros(0, np.int64))


def of_different_parts(found: Sequence[PartMatches], words: int) -> PartMatches:
    """Return one for what the same words found in different parts."""
    found = [one for one in found if len(one)]
    if len(found) == 1:
        return found[0]
    if not found:
        return no_matches(words)
    return PartMatches(
        np.concatenate([one.parts for one in found]),
        np.concatenate([one.counts for one in found]),
        np.concatenate([one.best for one in found]),
    )


def of_more_words(found: PartMatches, more: PartMatches) -> PartMatches:
    """Return one for what some words found and what further words found; the best place is that of the first ones."""
    parts = np.union1d(found.parts, more.parts)
    words = found.counts.shape[1]
    counts = np.zeros((len(parts), words + more.counts.shape[1]), np.int64)
    best = np.zeros(len(parts), np.int64)
    # what the first words found is written last
    for one, columns in ((more, slice(words, None)), (found, slice(0, words))):
        rows = np.searchsorted(parts, one.parts)
        counts[rows, columns] = one.counts
        best[rows] = one.best
    return PartMatches(parts, counts, best)

"""The arithmetic of ranking: points of a keyword match, and keyword and meaning on one scale. Nothing is rounded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TITLE_POINTS = 20.0
FILE_POINTS = 10.0
WORD_POINTS = 2.0
RECENCY_POINTS = 10.0
RECENT = timedelta(days=7)
CHANGES_COUNTED = 5
FOUND_BY_BOTH = 1.2

Points = TypeVar("Points", float, "NDArray[np.float64]")


def recency(started_at: datetime | None, now: datetime) -> float:
    """Return the points for a recent start: 10 for now (or later), falling evenly to 0 at seven days, 0 beyond.

    0 for an unknown start. A time without a zone is taken as UTC.
    """
    if started_at is None:
        return 0.0
    age = max(timedelta(0), aware(now) - aware(started_at))
    return RECENCY_POINTS * max(0.0, 1.0 - age / RECENT)


def keyword_score(title_hits: Points, file_hits: Points, pairs: Points, recent: Points, changes: Points) -> Points:
    """Return the keyword score of a session that matches, or of many, as columns.

    20 if its title contains the whole query (``title_hits``: 1 or 0); 10 for each changed file whose path contains it;
    2 for each message and each query word that it contains (``pairs``); up to 10 for a recent start (:func:`recency`);
    1 per file changed, at most 5 (``changes``).
    """
    return TITLE_POINTS * title_hits + FILE_POINTS * file_hits + WORD_POINTS * pairs + recent + changes


def combined_beside(keyword: float | None, similarity: float | None, best: float) -> float:
    """Return the score of something that stands in a list beside what was rescaled by ``best``.

    Keyword scores are rescaled to 0–100 by ``best``, the best of that list (what is better than all of it gets no more
    than 100), cosines multiplied by 100; what was found by both gets the higher of the two plus 20 per cent.
    """
    words = min(100.0, keyword / best * 100.0 if best > 0 else 100.0) if keyword is not None else 0.0
    meaning = similarity * 100.0 if similarity is not None else 0.0
    both = keyword is not None and similarity is not None
    return max(words, meaning) * (FOUND_BY_BOTH if both else 1.0)


def rescaled(score: Points, best: float) -> Points:
    """Return a score, or a column of them, on a range up to 100 on which ``best`` is 100."""
    return score / best * 100.0 if best > 0 else score * 0.0


def found_by_both(higher: Points) -> Points:
    """Return the score of a session that was found both ways, or of many, from the higher of its two scores."""
    return higher * FOUND_BY_BOTH


def aware(time: datetime) -> datetime:
    """Return the time with a zone: UTC where it has none."""
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)

"""The arithmetic of ranking: points of a keyword match, and keyword and meaning on one scale. Nothing is rounded."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

TITLE_POINTS = 20.0
FILE_POINTS = 10.0
WORD_POINTS = 2.0
RECENCY_POINTS = 10.0
RECENT = timedelta(days=7)
CHANGES_COUNTED = 5
FOUND_BY_BOTH = 1.2

Key = TypeVar("Key", bound=Hashable)


def recency(started_at: datetime | None, now: datetime) -> float:
    """Return the points for a recent start: 10 for now (or later), falling evenly to 0 at seven days, 0 beyond.

    0 for an unknown start. A time without a zone is taken as UTC.
    """
    if started_at is None:
        return 0.0
    age = max(timedelta(0), _aware(now) - _aware(started_at))
    return RECENCY_POINTS * max(0.0, 1.0 - age / RECENT)


def keyword_score(
    title_hit: bool,
    file_hits: int,
    word_message_pairs: int,
    started_at: datetime | None,
    now: datetime,
    files_changed: int,
) -> float:
    """Return the keyword score of a session that matches.

    20 if its title contains the whole query; 10 for each changed file whose path contains it (``file_hits``); 2 for
    each message and each query word that it contains (``word_message_pairs``); up to 10 for a recent start
    (:func:`recency`); 1 per file changed, at most 5.
    """
    matched = match_points(title_hit, file_hits, word_message_pairs)
    return matched + recency(started_at, now) + min(files_changed, CHANGES_COUNTED)


def match_points(title_hit: bool, file_hits: int, word_message_pairs: int) -> float:
    """Return that part of :func:`keyword_score` which the query itself gives."""
    return (TITLE_POINTS if title_hit else 0.0) + FILE_POINTS * file_hits + WORD_POINTS * word_message_pairs


def combine(keyword: Mapping[Key, float], similarity: Mapping[Key, float]) -> dict[Key, float]:
    """Return one score for each session found by word, by meaning or both.

    Keyword scores are rescaled to 0–100 by the best of them, cosines multiplied by 100; who was found by both gets
    the higher of the two plus 20 per cent. Keys keep their order: those found by word first.
    """
    best = max(keyword.values(), default=0.0)
    scores = {key: score / best * 100.0 if best > 0 else 0.0 for key, score in keyword.items()}
    for key, cosine in similarity.items():
        alike = cosine * 100.0
        scores[key] = max(scores[key], alike) * FOUND_BY_BOTH if key in scores else alike
    return scores


def combined_beside(keyword: float | None, similarity: float | None, best: float) -> float:
    """Return :func:`combine`'s score of something that stands in a list beside what was rescaled by ``best``.

    ``best`` is the best keyword score of that list; what is better than all of it gets no more than 100.
    """
    words = min(100.0, keyword / best * 100.0 if best > 0 else 100.0) if keyword is not None else 0.0
    meaning = similarity * 100.0 if similarity is not None else 0.0
    both = keyword is not None and similarity is not None
    return max(words, meaning) * (FOUND_BY_BOTH if both else 1.0)


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)

"""Points of keyword matches, and keyword and meaning on one scale."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.scoring import found_by_both, keyword_score, recency, rescaled

Key = TypeVar("Key", bound=Hashable)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def combine(keyword: Mapping[Key, float], similarity: Mapping[Key, float]) -> dict[Key, float]:
    """One score for each that was found by word, by meaning or both, with the parts that a search puts together."""
    best = max(keyword.values(), default=0.0)
    scores = {key: rescaled(score, best) for key, score in keyword.items()}
    for key, cosine in similarity.items():
        alike = rescaled(cosine, 1.0)
        scores[key] = found_by_both(max(scores[key], alike)) if key in scores else alike
    return scores


@pytest.mark.parametrize(("days", "points"), [(0, 10), (3.5, 5), (7, 0), (8, 0), (-1, 10), (1, 10 * 6 / 7)])
def test_a_recent_start_counts_up_to_ten_falling_to_nothing_at_seven_days(days: float, points: float) -> None:
    assert recency(NOW - timedelta(days=days), NOW) == pytest.approx(points)


def test_an_unknown_start_counts_nothing_and_a_time_without_zone_is_utc() -> None:
    assert recency(None, NOW) == 0
    assert recency(NOW.replace(tzinfo=None), NOW) == 10


def test_the_parts_of_the_score_add_up() -> None:
    assert keyword_score(1, 0, 0, 0, 0) == 20
    assert keyword_score(0, 3, 0, 0, 0) == 30
    assert keyword_score(0, 0, 7, 0, 0) == 14
    assert keyword_score(0, 0, 0, 10, 0) == 10
    assert keyword_score(0, 0, 0, 0, 4) == 4
    assert keyword_score(1, 1, 2, recency(NOW - timedelta(days=3.5), NOW), 5) == pytest.approx(20 + 10 + 4 + 5 + 5)


def test_combined_scores_are_rescaled_and_both_halves_add_twenty_per_cent() -> None:
    assert combine({"a": 40.0, "b": 20.0, "c": 10.0}, {"b": 0.8, "c": 0.1, "d": 0.3}) == pytest.approx(
        {"a": 100.0, "b": 96.0, "c": 30.0, "d": 30.0}
    )


def test_one_half_may_be_empty_or_without_points() -> None:
    assert combine({}, {}) == {}
    assert combine({}, {1: 0.5}) == {1: 50.0}
    assert combine({1: 0.0}, {}) == {1: 0.0}


@given(
    st.dictionaries(st.integers(0, 9), st.floats(0, 1e6)),
    st.dictionaries(st.integers(0, 9), st.floats(0.3, 1.0)),
)
def test_combined_scores_keep_the_order_of_those_found_one_way(
    keyword: dict[int, float], similarity: dict[int, float]
) -> None:
    scores = combine(keyword, similarity)
    assert scores.keys() == keyword.keys() | similarity.keys()
    assert all(0 <= score <= 120 + 1e-9 for score in scores.values())
    by_word = sorted(keyword.keys() - similarity.keys(), key=lambda key: keyword[key])
    assert [scores[key] for key in by_word] == sorted(scores[key] for key in by_word)

"""Sessions over time, and the date filter that a stretch of it stands for."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.dates import period
from prima_tui.model.query import parse
from prima_tui.model.query_edit import with_filter, without_filter
from prima_tui.model.session import Session
from prima_tui.model.timeline import SCALES, Scale, bucket_end, bucket_start, date_value, days_of, timeline

TODAY = date(2026, 11, 30)


def session(number: int, day: date | None, source: str = "codex", tags: tuple[str, ...] = (), **more: str) -> Session:
    at = datetime(day.year, day.month, day.day, 12).astimezone() if day else None
    return Session(f"s{number}", source, source, "t", tags=tags, ended_at=at, **more)  # type: ignore[arg-type]


def test_buckets_have_no_gap_and_reach_until_today() -> None:
    found = timeline([session(1, date(2026, 11, 27)), session(2, date(2026, 11, 27), "vscode")], "days", TODAY)
    assert [bucket.first.day for bucket in found.buckets] == [27, 28, 29, 30]
    assert [bucket.total for bucket in found.buckets] == [2, 0, 0, 0]
    assert found.sources == (("codex", 1), ("vscode", 1))


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    assert bucket_start(date(2026, 11, 29), "weeks") == date(2026, 11, 23)
    assert bucket_end(date(2026, 11, 23), "weeks") == date(2026, 11, 29)
    assert bucket_start(date(2028, 2, 29), "months") == date(2028, 2, 1)
    assert bucket_end(date(2028, 2, 1), "months") == date(2028, 2, 29)
    assert bucket_end(date(2026, 12, 1), "months") == date(2026, 12, 31)


def test_a_tag_narrows_the_counts_and_tags_stay_those_of_all() -> None:
    sessions = [session(1, TODAY, tags=("python", "testing")), session(2, TODAY, "vscode", ("css",)), session(3, None)]
    found = timeline(sessions, "days", TODAY, "python")
    assert found.sources == (("codex", 1),)
    assert dict(found.tags) == {"python": 1, "testing": 1, "css": 1}
    assert timeline(sessions, "days", TODAY).undated == 1


def test_copies_that_another_session_goes_on_from_count_once() -> None:
    assert timeline([session(1, TODAY), session(2, TODAY, continued_by="s1")], "days", TODAY).buckets[-1].total == 1


@pytest.mark.parametrize(("days", "scale"), [(10, "days"), (100, "weeks"), (900, "months")])
def test_without_a_scale_the_whole_is_seen_at_a_glance(days: int, scale: str) -> None:
    assert timeline([session(1, TODAY - timedelta(days=days))], None, TODAY).scale == scale


def test_a_date_of_another_century_makes_no_endless_plot() -> None:
    assert len(timeline([session(1, date(1, 1, 2))], "days", TODAY).buckets) <= 20_000


def test_nothing_at_all_is_today() -> None:
    assert [bucket.total for bucket in timeline([], "days", TODAY).buckets] == [0]


@given(
    st.dates(date(2024, 1, 1), TODAY), st.integers(0, 200), st.integers(0, 200), st.sampled_from(SCALES)
)  # fmt: skip
def test_the_filter_of_a_stretch_covers_just_that_stretch(first: date, one: int, two: int, scale: Scale) -> None:
    found = timeline([session(1, first)], scale, TODAY)
    left, right = sorted((one % len(found.buckets), two % len(found.buckets)))
    value = date_value(found.buckets[left], found.buckets[right], scale)
    named = period(value, datetime(2026, 11, 30, 12, tzinfo=UTC).astimezone())
    assert named is not None and found.touching(*days_of(named)) == (left, right)


@pytest.mark.parametrize(
    ("raw", "value", "result"),
    [
        ("", "2026-11", "date:2026-11"),
        ("cache agent:codex", "2026-11", "cache agent:codex date:2026-11"),
        ("date:<7d cache", "2026-11", "date:2026-11 cache"),
        ("a date:today b Date:2026 -date:week", "2026-11", "a date:2026-11 b -date:week"),
        ('"two  words" date:x', "2026", '"two  words" date:2026'),
    ],
)
def test_a_date_is_set_in_a_query_and_all_else_stays(raw: str, value: str, result: str) -> None:
    assert with_filter(raw, "date", value) == result
    assert not parse(result).problems


def test_a_filter_is_taken_out_of_a_query() -> None:
    assert without_filter("a date:<7d  b", "date") == "a b"
    assert without_filter("source:codex x agent:vscode", "agent") == "x"
    assert with_filter("x", "tag", "two words") == 'x tag:"two words"'

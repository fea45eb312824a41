"""Putting many things in order gives what sorting does, and lets other threads run meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model import ordering
from prima_tui.model.ordering import in_order, moment

Row = tuple[int, int, str]
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3), st.sampled_from("abc")))


@given(ROWS, st.sampled_from([0, 1_000]))
def test_the_order_is_that_of_sorted_and_equal_ones_stay_as_they_were(rows: list[Row], few: int) -> None:
    items = [(*row, place) for place, row in enumerate(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "_FEW", few)
        ordered = in_order(items, lambda row: row[0], lambda row: row[1])
        assert ordered == sorted(items, key=lambda row: row[:2], reverse=True)
        ordered = in_order(items, lambda row: row[0], tie=lambda row: row[2])
        assert ordered == sorted(items, key=lambda row: (row[0], row[2]), reverse=True)


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_times_are_numbers_in_the_same_order(one: datetime, other: datetime) -> None:
    assert (moment(one) < moment(other)) == (one < other)
    assert (moment(one) == moment(other)) == (one == other)
    assert moment(None) < moment(one)
    assert moment(one + timedelta(microseconds=1)) == moment(one) + 1 if one.year < 9999 else True


def test_many_items_are_never_sorted_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0

    def counting(items: object, **options: object) -> list[object]:
        nonlocal most
        found = sorted(items, **options)  # type: ignore[call-overload]
        most = max(most, len(found))
        return found  # type: ignore[no-any-return]

    monkeypatch.setattr(ordering, "sorted", counting, raising=False)
    assert in_order(range(50_000), lambda number: number % 25_000, tie=lambda number: number)[:3] == [
        49_999,
        24_999,
        49_998,
    ]
    assert most <= 2

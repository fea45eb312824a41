"""A sequence whose items are made when they are looked at."""

from __future__ import annotations

import pytest

from prima_tui.model.on_demand import OnDemand


def test_items_are_made_once_and_only_when_looked_at() -> None:
    made: list[int] = []

    def make(place: int) -> str:
        made.append(place)
        return f"item {place}"

    items = OnDemand(10_000, make)
    assert len(items) == 10_000
    assert (items[3], items[-1], items[3]) == ("item 3", "item 9999", "item 3")
    assert items[5:7] == ["item 5", "item 6"]
    assert made == [3, 9_999, 5, 6]


def test_it_is_a_sequence_like_any_other() -> None:
    items = OnDemand(3, lambda place: place * place)
    assert list(items) == [0, 1, 4]
    assert items == (0, 1, 4)
    assert items != (0, 1)
    assert items != "014"
    assert 4 in items
    assert not OnDemand(0, str)
    for place in (3, -4):
        with pytest.raises(IndexError):
            items[place]

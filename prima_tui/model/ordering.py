"""Putting many things in order beside the screen.

Python sorts a list in one go, during which no other thread runs: with 50,000 sessions a key would wait for a tenth of a
second. NumPy lets the others run while it sorts numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

Item = TypeVar("Item")

_FEW = 2_000
"""Items that are sorted in one go: about a millisecond, and NumPy need not be loaded."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def moment(at: datetime | None) -> int:
    """Return a time as a number to sort by, in microseconds; no time comes before all others."""
    return (at - _EPOCH) // _MICROSECOND if at is not None else -(1 << 62)


def in_order(
    items: Iterable[Item], *keys: Callable[[Item], int], tie: Callable[[Item], Any] | None = None
) -> list[Item]:
    """Return the items by their keys, numbers of which the first counts most, the greatest first.

    Those with the same numbers come by ``tie``, the greatest first too, and without it in the order they are in.
    """
    found = list(items)
    if len(found) <= _FEW:

        def whole(item: Item) -> tuple[Any, ...]:
            return (*(key(item) for key in keys), tie(item) if tie else 0)

        return sorted(found, key=whole, reverse=True)
    import numpy as np

    numbers = [np.fromiter(map(key, found), np.int64, len(found)) for key in keys]
    order = np.lexsort([-column for column in reversed(numbers)])
    ordered = [found[place] for place in order.tolist()]
    if tie is None:
        return ordered
    same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in numbers])
    return list(_by_tie(ordered, [0, *np.cumsum(~same).tolist()], tie)) if same.any() else ordered


def _by_tie(ordered: list[Item], groups: list[int], tie: Callable[[Item], Any]) -> Iterator[Item]:
    for _group, members in groupby(zip(groups, ordered, strict=True), key=lambda member: member[0]):
        yield from sorted((item for _number, item in members), key=tie, reverse=True)

"""Columns of a library in which some sessions were replaced, made of those of before: nothing else is gone through.

What a session says in a column is told by the session alone. So the columns of the sessions that stay are kept, those
of the sessions that came are made, and both are put into the new order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prima_tui.model.many_texts import ManyTexts
from prima_tui.search.names import Names

Arrays = Mapping[str, NDArray[Any]]
Rows = NDArray[np.int64]
_ONE_EACH = ("path_counts", "start", "end", "hidden", "key", "continued_key", "copied_key")


class Splice:
    """Two sets of columns (:meth:`prima_tui.search.columns.Columns.arrays`), and the order that their rows get.

    ``order`` names for each new row a row of ``arrays``, or behind those one of ``more``; rows that it doesn't name are
    gone.
    """

    def __init__(self, arrays: Arrays, more: Arrays, order: Rows) -> None:
        self._arrays = arrays
        self._more = more
        self._order = order
        self._before = len(arrays["start"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the new rows. Raises KeyError when an array is missing."""
        arrays, more, order = self._arrays, self._more, self._order
        title_data, title_starts = _both(arrays, more, "title").in_order(order).block
        path_data, path_starts = _both(arrays, more, "path").in_order(self._path_order).block
        new_row = np.full(self._before + len(more["start"]), -1, np.int64)
        new_row[order] = np.arange(len(order))
        entry = new_row[np.concatenate((arrays["part_entry"], more["part_entry"] + self._before))]
        stays = entry >= 0
        return {
            **{name: np.concatenate((arrays[name], more[name]))[order] for name in _ONE_EACH},
            "title_data": title_data,
            "title_starts": title_starts,
            "path_data": path_data,
            "path_starts": path_starts,
            "part": np.concatenate((arrays["part"], more["part"]))[stays],
            "part_entry": entry[stays],
            "part_place": np.concatenate((arrays["part_place"], more["part_place"]))[stays],
        }

    def names(self, before: Names, made: Names) -> Names:
        """Return the names of the new rows; one that no row has any more may still be among them."""
        names, places = before.with_more(made)
        made_count, order = len(self._more["start"]), self._order
        of_made = places[made.numbers]
        titles = np.concatenate((before.numbers[: self._before], of_made[:made_count]))[order]
        paths = np.concatenate((before.numbers[self._before :], of_made[made_count:]))[self._path_order]
        names.numbers = np.concatenate((titles, paths))
        counts = self._path_counts[order]
        names.rows = np.concatenate((np.arange(len(order)), np.repeat(np.arange(len(order)), counts)))
        return names

    @cached_property
    def _path_counts(self) -> Rows:
        return np.concatenate((self._arrays["path_counts"], self._more["path_counts"]))

    @cached_property
    def _path_order(self) -> Rows:
        """The new order of the paths: those of the first row, those of the second one."""
        counts = self._path_counts[self._order]
        begins = (np.cumsum(self._path_counts) - self._path_counts)[self._order]
        so_far = np.cumsum(counts)
        order: Rows = np.arange(int(counts.sum())) + np.repeat(begins - so_far + counts, counts)
        return order


def _both(arrays: Arrays, more: Arrays, name: str) -> ManyTexts:
    data, starts = f"{name}_data", f"{name}_starts"
    return ManyTexts(arrays[data], arrays[starts]).with_more(ManyTexts(more[data], more[starts]))

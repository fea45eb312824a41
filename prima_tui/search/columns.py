"""The sessions of a library as columns: what a search compares, for all of them at once.

Entry n of the library is row n of every column, so rows stand newest first. Each column is made when it is first
needed, and kept with the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prima_tui.index.similar import Transcript
from prima_tui.model.dates import Period
from prima_tui.model.many_texts import ManyTexts, utf8
from prima_tui.model.ordering import moment
from prima_tui.model.query import Filter, Query, asks_for_hidden, is_hidden, looked_at_by, passes
from prima_tui.model.scoring import CHANGES_COUNTED, RECENCY_POINTS, RECENT, aware
from prima_tui.model.session import key64
from prima_tui.search.entry import Entry
from prima_tui.search.names import Names
from prima_tui.search.splice import Splice

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]
_MICROSECOND = timedelta(microseconds=1)
_UNKNOWN = np.iinfo(np.int64).min


class Columns:
    """The columns of one library."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._transcripts: tuple[Sequence[Transcript], Rows] = ((), np.zeros(0, np.int64))

    # -- words in titles and paths ------------------------------------------------------------------------------

    def title_holds(self, whole: str) -> Flags:
        """Return for each session whether its title contains the folded query."""
        found = np.zeros(len(self._entries), np.bool_)
        found[self._titles.containing(utf8(whole))] = True
        return found

    def paths_holding(self, whole: str) -> Rows:
        """Return for each session how many of its changed files have a path that contains the folded query."""
        found = self._entry_of_path[self._paths.containing(utf8(whole))]
        return np.bincount(found, minlength=len(self._entries))

    @cached_property
    def _titles(self) -> ManyTexts:
        return ManyTexts.of(entry.title for entry in self._entries)

    @cached_property
    def _paths(self) -> ManyTexts:
        return ManyTexts.of(path for entry in self._entries for path in entry.paths)

    @cached_property
    def _slashed_paths(self) -> ManyTexts:
        """The paths with ``/`` for every separator."""
        if not len(self._paths.containing(b"\\")):
            return self._paths
        return ManyTexts.of(path.replace("\\", "/") for path in self._paths.texts())

    @cached_property
    def _path_counts(self) -> Rows:
        return np.array([len(entry.paths) for entry in self._entries], np.int64)

    @cached_property
    def _entry_of_path(self) -> Rows:
        return np.repeat(np.arange(len(self._entries)), self._path_counts)

    @cached_property
    def names(self) -> Names:
        """What people may look for by a name that they don't quite know: titles, and names of changed files."""
        names: dict[str, int] = {}
        numbers = [names.setdefault(title, len(names)) for title in self._titles.texts()]
        numbers += [names.setdefault(path[path.rfind("/") + 1 :], len(names)) for path in self._paths.texts()]
        rows = np.concatenate((np.arange(len(self._entries)), self._entry_of_path))
        return Names(list(names), np.array(numbers, np.int64), rows)

    # -- where messages belong ----------------------------------------------------------------------------------

    def entries_of(self, parts: Rows) -> Rows:
        """Return for each part of the message table the session it belongs to, -1 for none of these."""
        entries = np.full(len(parts), -1, np.int64)
        known = parts < len(self._entry_of_part)
        entries[known] = self._entry_of_part[parts[known]]
        return entries

    def order_of(self, parts: Rows) -> Rows:
        """Return for each part, of which all belong to a session, its place among the parts of that session."""
        return self._order_of_part[parts]

    @cached_property
    def _numbers(self) -> tuple[Rows, Rows, Rows]:
        """Part, its entry, and its place among the entry's parts."""
        rows = [
            (number, row, place)
            for row, entry in enumerate(self._entries)
            for place, number in enumerate(entry.numbers)
            if number >= 0
        ]
        part, entry, place = np.array(rows, np.int64).reshape(-1, 3).T
        return part, entry, place

    @cached_property
    def _entry_of_part(self) -> Rows:
        return self._by_part(self._numbers[1])

    @cached_property
    def _order_of_part(self) -> Rows:
        return self._by_part(self._numbers[2])

    def _by_part(self, values: Rows) -> Rows:
        part = self._numbers[0]
        column = np.full(int(part.max(initial=-1)) + 1, -1, np.int64)
        column[part] = values
        return column

    # -- points -------------------------------------------------------------------------------------------------

    def recency(self, now: datetime) -> NDArray[np.float64]:
        """Return the points for a recent start, as :func:`prima_tui.model.scoring.recency` gives them."""
        ages = np.maximum(0, _microseconds(now) - self._starts)
        points = RECENCY_POINTS * np.maximum(0.0, 1.0 - ages / (RECENT // _MICROSECOND))
        return np.where(self._starts == _UNKNOWN, 0.0, points)

    @cached_property
    def changes(self) -> Rows:
        """The points for files changed."""
        return np.minimum(self._path_counts, CHANGES_COUNTED)

    @cached_property
    def _starts(self) -> Rows:
        """When each session began, in microseconds since 1970."""
        starts = (entry.session.started_at for entry in self._entries)
        return np.array([_UNKNOWN if start is None else _microseconds(start) for start in starts], np.int64)

    @cached_property
    def _ends(self) -> Rows:
        """When each session ended, in microseconds since 1970."""
        ends = (entry.session.ended_at for entry in self._entries)
        return np.array([_UNKNOWN if end is None else _microseconds(end) for end in ends], np.int64)

    # -- filters ------------------------------------------------------------------------------------------------

    def selected(self, query: Query) -> Flags:
        """Return which sessions pass the filters of the query, as :func:`prima_tui.model.query.matches` says."""
        chosen = np.ones(len(self._entries), np.bool_) if asks_for_hidden(query) else ~self._hidden
        wanted: dict[str, Flags] = {}
        for one in query.filters:
            if one.name == "in":
                continue
            holds = self._holds(one)
            if one.negated:
                chosen &= ~holds
            else:
                wanted[one.name] = wanted[one.name] | holds if one.name in wanted else holds
        for holds in wanted.values():
            chosen &= holds
        return chosen

    def _holds(self, one: Filter) -> Flags:
        if one.name == "file":
            found = np.zeros(len(self._entries), np.bool_)
            found[self._entry_of_path[self._slashed_paths.containing(utf8(one.value))]] = True
            return found
        if one.name == "date":
            return self._touching(one.period)
        # sessions in which the filter looks at the same values pass together
        first, group = self._groups(one)
        return np.array([passes(one, self._entries[row].session) for row in first], np.bool_)[group]

    def _touching(self, period: Period | None) -> Flags:
        """Return what :meth:`prima_tui.model.dates.Period.holds` says of each session."""
        first, last = self._seconds
        holds = ~np.isnan(first)
        if period is None:
            return np.zeros_like(holds)
        if period.until is not None:
            holds &= (last if period.over else first) < period.until
        if period.since is not None:
            holds &= last >= period.since
        return holds

    @cached_property
    def _seconds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Earlier and later of start and end in seconds since 1970, not a number where neither is known."""
        start = np.where(self._starts == _UNKNOWN, self._ends, self._starts)
        end = np.where(self._ends == _UNKNOWN, start, self._ends)
        seconds = np.where(np.stack((start, end)) == _UNKNOWN, np.nan, np.stack((start, end)) / 1_000_000)
        return seconds.min(axis=0), seconds.max(axis=0)

    def _groups(self, one: Filter) -> tuple[list[int], Rows]:
        """Return the first session of each group, and for each session its group."""
        if one.name not in self._grouped:
            numbers: dict[object, int] = {}
            first: list[int] = []
            group = np.empty(len(self._entries), np.int64)
            for row, entry in enumerate(self._entries):
                number = numbers.setdefault(looked_at_by(one.name, entry.session), len(first))
                if number == len(first):
                    first.append(row)
                group[row] = number
            self._grouped[one.name] = (first, group)
        return self._grouped[one.name]

    @cached_property
    def _grouped(self) -> dict[str, tuple[list[int], Rows]]:
        return {}

    @cached_property
    def _hidden(self) -> Flags:
        return np.array([is_hidden(entry.session) for entry in self._entries], np.bool_)

    # -- copies -------------------------------------------------------------------------------------------------

    @cached_property
    def continued_by(self) -> Rows:
        """For each session the one that goes on from a copy of it, -1 for none."""
        if "_continued_keys" in vars(self):
            return self._rows_of(self._continued_keys)
        return self._others(lambda entry: entry.session.continued_by)

    @cached_property
    def copied_from(self) -> Rows:
        """For each session the one that it was forked from, -1 for none."""
        if "_copied_keys" in vars(self):
            return self._rows_of(self._copied_keys)
        return self._others(lambda entry: entry.session.copied_from)

    def _others(self, other: Callable[[Entry], str]) -> Rows:
        rows = np.full(len(self._entries), -1, np.int64)
        for row, entry in enumerate(self._entries):
            if identifier := other(entry):
                rows[row] = self.row_of.get((entry.session.source, identifier), -1)
        return rows

    @cached_property
    def keys(self) -> Keys:
        """Each session's key in short (:func:`key_number`)."""
        return np.array([key_number(entry.session.key) for entry in self._entries], np.uint64)

    @cached_property
    def _continued_keys(self) -> Keys:
        return self._keys_of(lambda entry: entry.session.continued_by)

    @cached_property
    def _copied_keys(self) -> Keys:
        return self._keys_of(lambda entry: entry.session.copied_from)

    def _keys_of(self, other: Callable[[Entry], str]) -> Keys:
        """Return for each session the key of another one that it names, 0 where it names none."""
        keys = np.zeros(len(self._entries), np.uint64)
        for row, entry in enumerate(self._entries):
            if identifier := other(entry):
                keys[row] = key_number((entry.session.source, identifier))
        return keys

    def _rows_of(self, keys: Keys) -> Rows:
        """Return the row of the session with each key, -1 for none."""
        rows = np.full(len(keys), -1, np.int64)
        named = np.flatnonzero(keys)
        if len(named):
            order = np.argsort(self.keys)
            places = np.minimum(np.searchsorted(self.keys, keys[named], sorter=order), len(order) - 1)
            found = order[places]
            there = self.keys[found] == keys[named]
            rows[named[there]] = found[there]
        return rows

    @cached_property
    def row_of(self) -> dict[tuple[str, str], int]:
        """Source and id of each session to its row."""
        return {entry.session.key: row for row, entry in enumerate(self._entries)}

    def rows_of_transcripts(self, transcripts: Sequence[Transcript]) -> Rows:
        """Return for each transcript of an index the session that it belongs to, -1 for none of these.

        What is known of a list is kept: the same one is asked for again and again, and only ever grows.
        """
        known, rows = self._transcripts
        if known is not transcripts:
            rows = np.zeros(0, np.int64)
        count = len(transcripts)
        if len(rows) < count:
            more = [self._row_of_place.get(one[:2], -1) for one in transcripts[len(rows) : count]]
            rows = np.concatenate((rows, np.array(more, np.int64)))
            self._transcripts = transcripts, rows
        return rows

    @cached_property
    def _row_of_place(self) -> dict[tuple[str, int], int]:
        """(file path, transcript number) to the row of the session that it belongs to."""
        return {(part.path, part.number): row for row, entry in enumerate(self._entries) for part in entry.parts}

    @cached_property
    def linked(self) -> Flags:
        """Whether another session goes on from a copy of each, or it was forked from another."""
        links = (bool(entry.session.continued_by or entry.session.copied_from) for entry in self._entries)
        return np.fromiter(links, np.bool_, len(self._entries))

    # -- all at once --------------------------------------------------------------------------------------------

    def make_ready(self) -> None:
        """Make every column that searches by word need, now."""
        self.arrays()
        _made = self.continued_by, self.copied_from, self.names.letters, self.names.parts

    # -- kept on the disk ---------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what the columns are made of, to be kept for :meth:`of_arrays`."""
        title_data, title_starts = self._titles.block
        path_data, path_starts = self._paths.block
        part, entry, place = self._numbers
        return {
            "title_data": title_data,
            "title_starts": title_starts,
            "path_data": path_data,
            "path_starts": path_starts,
            "path_counts": self._path_counts,
            "part": part,
            "part_entry": entry,
            "part_place": place,
            "start": self._starts,
            "end": self._ends,
            "hidden": self._hidden,
            "key": self.keys,
            "continued_key": self._continued_keys,
            "copied_key": self._copied_keys,
        }

    def renumbered(self, entries: Sequence[Entry]) -> Columns:
        """Return the columns of the same sessions with other numbers of their parts."""
        columns = Columns(entries)
        of_numbers = {"_entries", "_numbers", "_entry_of_part", "_order_of_part"}
        vars(columns).update({name: value for name, value in vars(self).items() if name not in of_numbers})
        return columns

    def replaced(self, made: Columns, entries: Sequence[Entry], order: Sequence[int]) -> Columns:
        """Return the columns of ``entries``: for each its row here, or behind these rows that in ``made``.

        Names that were ready are ready there too.
        """
        splice = Splice(self.arrays(), made.arrays(), np.asarray(order, np.int64))
        columns = Columns.of_arrays(entries, splice.arrays())
        if "names" in vars(self):
            columns.names = splice.names(self.names, made.names)
        return columns

    @classmethod
    def of_arrays(cls, entries: Sequence[Entry], arrays: Mapping[str, NDArray[Any]]) -> Columns:
        """Return the columns of the entries, which are not looked at: ``arrays`` holds what was made of them.

        Raises KeyError when an array is missing.
        """
        columns = cls(entries)
        columns._titles = ManyTexts(arrays["title_data"], arrays["title_starts"])
        columns._paths = ManyTexts(arrays["path_data"], arrays["path_starts"])
        columns._path_counts = arrays["path_counts"]
        columns._numbers = arrays["part"], arrays["part_entry"], arrays["part_place"]
        columns._starts, columns._ends = arrays["start"], arrays["end"]
        columns._hidden = arrays["hidden"]
        columns.keys = arrays["key"]
        columns._continued_keys, columns._copied_keys = arrays["continued_key"], arrays["copied_key"]
        return columns


def key_number(key: tuple[str, str]) -> np.uint64:
    """Return a session's source and id as one number (another session's is as unlikely as for any 64-bit hash)."""
    return np.uint64(int.from_bytes(key64("\0".join(key)), "little"))


def _microseconds(time: datetime) -> int:
    return moment(aware(time))

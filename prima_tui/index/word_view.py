"""A word index as one scope sees it: which of its messages count, and to which parts they belong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prima_tui.index.part_matches import PartMatches, no_matches
from prima_tui.index.word_index import Flags, WordIndex, path_number

Whole = NDArray[np.int64]
_NEVER = np.int64(1) << 32


class WordView:
    """Never changes: when a file does, another view takes its place."""

    def __init__(self, index: WordIndex, parts: Whole, left_out: Sequence[tuple[int, int]] = ()) -> None:
        """``parts`` gives for each file of the index the part of its first transcript, -1 for one that isn't used.

        ``left_out`` are the exchanges (part, position) that don't count.
        """
        self.index = index
        self._parts = parts
        self._left_out = left_out

    def without(self, paths: Collection[str]) -> WordView:
        """Return the view without the messages of some files."""
        parts = self._parts.copy()
        parts[np.isin(self.index.file_keys, np.array([path_number(path) for path in paths], np.uint64))] = -1
        return WordView(self.index, parts, self._left_out)

    def leaving_out(self, left_out: Sequence[tuple[int, int]]) -> WordView:
        """Return the view with other exchanges left out."""
        return WordView(self.index, self._parts, left_out)

    def exchanges(self, path: str, number: int) -> bytes:
        """Return the packed exchanges of a file's transcript, b"" when the file isn't one of these."""
        place = self.index.place_of(path)
        return self.index.exchanges(path, number) if place >= 0 and self._parts[place] >= 0 else b""

    def find(self, words: Sequence[str], whole: str, within: Collection[int] | None) -> PartMatches:
        """Return what :meth:`prima_tui.index.messages.MessageTable.find` does, of the parts that are here."""
        counted = self._counted
        if within is not None:
            counted = counted & np.isin(self._part_of_run, list(within))[self.index.runs]
        holding = [self.index.holding(word) for word in words]
        held = holding[0].astype(np.int64)
        for one in holding[1:]:
            held += one
        messages = np.flatnonzero((held > 0) & counted)
        if not len(messages):
            return no_matches(len(words))
        runs = self.index.runs[messages]
        firsts = np.flatnonzero(np.concatenate(([True], runs[1:] != runs[:-1])))
        counts = np.stack([np.add.reduceat(one[messages], firsts, dtype=np.int64) for one in holding], axis=1)
        best = firsts
        if len(words) > 1:
            held = held[messages]
            every = held == len(words)
            bonus = every & self.index.holding(whole)[messages] if every.any() else every
            # the highest mark, and of equal ones the first
            marks = (held * 2 + bonus) * _NEVER + (_NEVER - 1 - np.arange(len(messages)))
            best = _NEVER - 1 - np.maximum.reduceat(marks, firsts) % _NEVER
        return PartMatches(
            self._part_of_run[runs[firsts]], counts, self.index.positions[messages[best]].astype(np.int64)
        )

    def contains_outside(self, part: int, words: Sequence[str], positions: frozenset[int]) -> bool | None:
        """Tell whether a message of the part, outside the given exchanges, contains a word; None: it isn't here."""
        runs = np.flatnonzero(self._part_of_run == part)
        if not len(runs):
            return None
        messages = slice(*np.searchsorted(self.index.runs, (runs[0], runs[0] + 1)).tolist())
        outside = ~np.isin(self.index.positions[messages], list(positions))
        return any(bool((self.index.holding(word)[messages] & outside).any()) for word in words)

    @cached_property
    def _part_of_run(self) -> Whole:
        parts = self._parts[self.index.run_files]
        return np.where(parts >= 0, parts + self.index.run_numbers, -1)

    @cached_property
    def _counted(self) -> Flags:
        counted = (self._part_of_run >= 0)[self.index.runs]
        if self._left_out:
            parts, positions = np.array(self._left_out, np.int64).T
            runs_cut = np.isin(self._part_of_run, parts)
            messages = np.flatnonzero(runs_cut[self.index.runs])
            places = self._part_of_run[self.index.runs[messages]] * _NEVER + self.index.positions[messages]
            counted[messages[np.isin(places, parts * _NEVER + positions)]] = False
        return counted


def view_of(
    index: WordIndex, firsts: Mapping[str, int], states: Mapping[str, bytes], left_out: Sequence[tuple[int, int]]
) -> tuple[WordView, list[str]]:
    """Return the view in which those files count whose state the index holds, and these; ``firsts``: their parts."""
    parts = np.full(len(index.files), -1, np.int64)
    held = []
    for path, (place, state) in index.files.items():
        if path in firsts and states.get(path) == state:
            parts[place] = firsts[path]
            held.append(path)
    return WordView(index, parts, left_out), held


def views_of(
    indexes: Iterable[WordIndex], states: NDArray[np.uint64], firsts: Whole
) -> tuple[list[WordView], NDArray[np.bool_]]:
    """Return the views in which files in these states count, each in the first index that holds it.

    ``states`` are their numbers (:func:`prima_tui.index.word_index.state_number`), ``firsts`` their parts. Also
    returned is which of them an index holds.
    """
    views = []
    held = np.zeros(len(states), np.bool_)
    # not by NumPy's functions of sets, which take long to load
    order = np.argsort(states)
    for index in indexes if len(states) else ():
        keys = index.state_keys
        rows = order[np.minimum(np.searchsorted(states, keys, sorter=order), len(states) - 1)]
        places = np.flatnonzero((states[rows] == keys) & ~held[rows])
        parts = np.full(len(keys), -1, np.int64)
        parts[places] = firsts[rows[places]]
        held[rows[places]] = True
        views += [WordView(index, parts)] if len(places) else []
    return views, held

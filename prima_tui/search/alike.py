"""Sessions whose names are like a query that found nothing: titles, and the names of files they changed."""

from __future__ import annotations

import time

import numpy as np
from rapidfuzz import fuzz, process

from prima_tui.model.hits import Cancel
from prima_tui.model.likeness import FLOOR, most_points
from prima_tui.model.many_texts import utf8
from prima_tui.model.query import Query
from prima_tui.model.session import Session
from prima_tui.model.text import fold
from prima_tui.search.columns import Flags
from prima_tui.search.library import Library
from prima_tui.search.names import Names

_MOST = 8
_SLICE = 1_000
"""Comparisons at a time: each slice holds the interpreter lock for some milliseconds."""


def alike(library: Library, query: Query, cancel: Cancel | None = None) -> list[Session]:
    """Return sessions whose title or a changed path is like the query (over a floor), most alike first, at most 8."""
    text = fold(query.text)
    if len(text) < 3:
        return []
    names = library.columns.names
    had = library.columns.selected(query)[names.rows]
    wanted = np.zeros(len(names.texts), np.bool_)
    wanted[names.numbers[had]] = True
    points = _points(text, names, wanted, cancel or Cancel())
    likeness = np.zeros(len(library.entries))
    np.maximum.at(likeness, names.rows[had], points[names.numbers[had]])
    # rows stand newest first
    best = np.argsort(-likeness, kind="stable")[:_MOST]
    return [library.entries[row].session for row in best.tolist() if likeness[row]]


def _points(text: str, names: Names, wanted: Flags, cancel: Cancel) -> np.ndarray:
    """Return the likeness of each wanted name, 0 below the floor or below that of eight others: these are enough."""
    most = most_points(text, names.letters, _with_common_word(text, names))
    most[~wanted] = 0.0
    possible = np.flatnonzero(most >= FLOOR)
    possible = possible[np.argsort(-most[possible], kind="stable")]
    points = np.zeros(len(names.texts))
    found = np.zeros(0)
    floor = float(FLOOR)
    for first in range(0, len(possible), _SLICE):
        cancel.check()
        some = possible[first : first + _SLICE]
        some = some[most[some] >= floor].tolist()
        if not some:
            break
        alike = process.extract(
            text, [names.texts[one] for one in some], scorer=fuzz.WRatio, score_cutoff=floor, limit=None
        )
        for _name, score, place in alike:
            points[some[place]] = score
        found = np.sort(np.append(found, [score for _name, score, _place in alike]))[-_MOST:]
        if len(found) == _MOST:
            floor = max(floor, float(found[0]))
        time.sleep(0)
    return points


def _with_common_word(text: str, names: Names) -> Flags:
    """Return the names in which a word of the text stands."""
    found = np.zeros(len(names.texts), np.bool_)
    for word in dict.fromkeys(text.split()):
        found[names.parts.containing(utf8(word))] = True
    return found

"""Sessions whose names are like a query that found nothing: titles, and the names of files they changed."""

from __future__ import annotations

import time

import numpy as np
from rapidfuzz import fuzz, process

from prima_tui.model.hits import Cancel
from prima_tui.model.likeness import FLOOR, may_be_alike
from prima_tui.model.query import Query
from prima_tui.model.session import Session
from prima_tui.model.text import fold
from prima_tui.search.library import Library

_MOST = 8
_SLICE = 1_000
"""Comparisons at a time: each slice holds the interpreter lock for some milliseconds."""


def alike(library: Library, query: Query, cancel: Cancel | None = None) -> list[Session]:
    """Return sessions whose title or a changed path is like the query (over a floor), most alike first, at most 8."""
    text = fold(query.text)
    if len(text) < 3:
        return []
    columns = library.columns
    names, entries = columns.names
    chosen = np.flatnonzero(may_be_alike(text, columns.letters) & columns.selected(query)[entries])
    likeness: dict[int, float] = {}
    for first in range(0, len(chosen), _SLICE):
        if cancel is not None:
            cancel.check()
        part = chosen[first : first + _SLICE].tolist()
        for _name, score, place in process.extract(
            text, [names[one] for one in part], scorer=fuzz.WRatio, score_cutoff=FLOOR, limit=None
        ):
            row = int(entries[part[place]])
            likeness[row] = max(likeness.get(row, 0.0), score)
        time.sleep(0)
    # rows stand newest first
    best = sorted(likeness, key=lambda row: (-likeness[row], row))
    return [library.entries[row].session for row in best[:_MOST]]

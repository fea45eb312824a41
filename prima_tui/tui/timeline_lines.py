"""A timeline as lines of text: bars stacked by source, an axis, what is selected. Pure.

Two values stand in one cell, one above the other, so that a plot of six lines tells twelve heights apart.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from prima_tui.model.timeline import Bucket, Timeline
from prima_tui.terminal_unicode import speaks_unicode

_WIDEST = 7
SCALE_WIDTH = 5
"""Cells at the left for the scale."""


class Cell(NamedTuple):
    """One cell of the plot: the source (its place, -1 for none) in its lower and its upper half."""

    lower: int = -1
    upper: int = -1


class Columns(NamedTuple):
    """Where the buckets stand."""

    first: int
    """The first bucket that is shown."""
    shown: int
    """How many are."""
    width: int
    """Cells for each, the gap included."""

    def bucket_at(self, x: int) -> int:
        """The bucket at a cell of the plot, the nearest where there is none."""
        return self.first + max(0, min(x // self.width, self.shown - 1))


def columns(count: int, room: int, seen: int) -> Columns:
    """Return where ``count`` buckets stand in ``room`` cells so that number ``seen`` is shown; the last at the right
    edge, where not all of them fit."""
    room = max(1, room)
    width = max(1, min(_WIDEST, room // max(1, count)))
    shown = min(count, room // width)
    first = max(0, min(count - shown, seen - shown // 2)) if seen < count - shown else count - shown
    return Columns(first, shown, width)


def bar(bucket: Bucket, highest: int, height: int) -> list[Cell]:
    """Return the cells of a bucket's bar from the bottom up, ``height`` of them; what is not zero is seen."""
    halves: list[int] = []
    if bucket.total and highest:
        size = max(1, round(2 * height * bucket.total / highest))
        so_far = 0
        for source, count in enumerate(bucket.counts):
            so_far += count
            until = min(size, max(round(size * so_far / bucket.total), len(halves) + (1 if count else 0)))
            halves += [source] * (until - len(halves))
    halves += [-1] * (2 * height - len(halves))
    return [Cell(halves[2 * line], halves[2 * line + 1]) for line in range(height)]


def axis_labels(timeline: Timeline, where: Columns) -> str:
    """Return the line below the plot: months and years, and days where there is room for them."""
    cells = [" "] * (where.shown * where.width)
    free = 0
    for place in range(where.shown):
        bucket = timeline.buckets[where.first + place]
        before = timeline.buckets[where.first + place - 1] if place else None
        text = _label(bucket, before, timeline.scale)
        x = place * where.width
        if text and x >= free and x + len(text) <= len(cells):
            cells[x : x + len(text)] = text
            free = x + len(text) + 1
    return "".join(cells)


def _label(bucket: Bucket, before: Bucket | None, scale: str) -> str:
    first = bucket.first
    new_month = before is None or before.first.month != first.month
    if scale == "months":
        return f"{first:%b %Y}" if before is None or first.month == 1 else f"{first:%b}"
    if new_month:
        return f"{first:%b %Y}" if before is None or first.month == 1 else f"{first:%b}"
    return str(first.day) if scale == "days" and first.weekday() == 0 else ""


def stretch_text(first: date, last: date) -> str:
    """Return the days from first to last as people write them."""
    if first == last:
        return f"{first:%a} {first.day} {first:%b %Y}"
    if first.year != last.year:
        return f"{first.day} {first:%b %Y} – {last.day} {last:%b %Y}"
    if first.month != last.month:
        return f"{first.day} {first:%b} – {last.day} {last:%b %Y}"
    return f"{first.day} – {last.day} {last:%b %Y}"


def draws_blocks(encoding: str | None = None, env: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal can show block characters; else bars are made of letters and other plain ones."""
    stream = sys.__stdout__
    name = encoding if encoding is not None else (getattr(stream, "encoding", "") or "")
    if not speaks_unicode(env, name):
        return False
    try:
        "▄█·".encode(name or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

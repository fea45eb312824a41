"""What a benchmark found: one figure of several runs, how it is printed, and how a printed one is read again."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

Whose = Literal["prima-tui", "baseline"]
_PRINTED = re.compile(
    r"^(?P<name>\S.*?)\s+median\s+(?P<median>[\d.]+)\s+(?:least\s+(?P<least>[\d.]+)\s+)?"
    r"(?:p99\s+(?P<almost>[\d.]+)\s+)?worst\s+(?P<worst>[\d.]+)\s+(?P<unit>ms|s|MB)\s+n=(?P<runs>\d+)\s*$"
)


class Figure(msgspec.Struct, frozen=True):
    """One thing that was measured some times."""

    group: str
    """What is compared with one another, and stands in one plot: ``start``, ``search``, …"""
    name: str
    unit: str
    """``ms``, ``s``, ``MB``, or "" for a ratio."""
    median: float
    least: float
    worst: float
    runs: int = 1
    whose: Whose = "prima-tui"
    almost: float = 0.0
    """The 99th percentile, where it was printed."""

    @property
    def shown(self) -> str:
        """The median, and the spread as far as it is known."""
        if self.almost:
            spread = f" (99 %: {_short(self.almost)}, worst {_short(self.worst)})"
        elif self.least < self.median:
            spread = f" ({_short(self.least)} to {_short(self.worst)})"
        else:
            spread = f" (worst {_short(self.worst)})" if self.worst > self.median else ""
        return f"{_short(self.median)} {self.unit}".rstrip() + spread


class Measured(msgspec.Struct, frozen=True):
    """All figures of one size."""

    size: int
    of: str
    """What is counted: ``sessions`` or ``exchanges``."""
    figures: tuple[Figure, ...]
    described: str = ""
    """How large it is in bytes, lines and so on."""


def figure(group: str, name: str, values: Sequence[float], unit: str = "ms", whose: Whose = "prima-tui") -> Figure:
    """Return the figure of some runs, whose values are in ``unit`` already."""
    return Figure(group, name, unit, statistics.median(values), min(values), max(values), len(values), whose)


def added(earlier: Iterable[Measured], measured: Iterable[Measured]) -> list[Measured]:
    """Return all figures by size, those of ``earlier`` as far as they were not measured again."""
    found = {(one.of, one.size): one for one in earlier}
    for one in measured:
        before = found.get((one.of, one.size))
        if before is not None:
            figures = {(each.group, each.name, each.unit): each for each in (*before.figures, *one.figures)}
            one = msgspec.structs.replace(one, figures=tuple(figures.values()))
        found[one.of, one.size] = one
    kinds = list(dict.fromkeys(of for of, _size in found))
    return sorted(found.values(), key=lambda one: (kinds.index(one.of), one.size))


def printed(group: str, lines: Iterable[str]) -> list[Figure]:
    """Return the figures that another benchmark printed, one on a line; other lines are passed over.

    What stands before a colon in a name is a group of its own.
    """
    found = []
    for line in lines:
        match = _PRINTED.match(line)
        if match:
            median, worst = float(match["median"]), float(match["worst"])
            least = float(match["least"] or median)
            within, _colon, name = match["name"].rpartition(": ")
            of = f"{group}, {within}" if within and within != group else group
            almost = float(match["almost"] or 0)
            found.append(Figure(of, name, match["unit"], median, least, worst, int(match["runs"]), "prima-tui", almost))
    return found


def _short(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"

"""A plot of figures over size as an SVG file, both axes in powers of ten; readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Line = Sequence[tuple[float, float]]
"""Points (size, value), in order."""

_WIDTH, _HEIGHT = 800, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 310, 44, 48
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .linear { stroke: #818b98; stroke-width: 1; stroke-dasharray: 2 5; }
  .line { fill: none; stroke-width: 2; }
  .baseline { stroke-dasharray: 7 4; }
  circle { fill: none; stroke-width: 2; }
  .c0 { stroke: #0969da; } .c1 { stroke: #bc4c00; } .c2 { stroke: #1a7f37; } .c3 { stroke: #8250df; }
  .c4 { stroke: #bf3989; } .c5 { stroke: #9a6700; } .c6 { stroke: #57606a; } .c7 { stroke: #cf222e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .grid { stroke: #3d444d; } .linear { stroke: #9198a1; }
    .c0 { stroke: #58a6ff; } .c1 { stroke: #ffa657; } .c2 { stroke: #56d364; } .c3 { stroke: #bc8cff; }
    .c4 { stroke: #ff9bce; } .c5 { stroke: #e3b341; } .c6 { stroke: #b1bac4; } .c7 { stroke: #ff7b72; }
  }
"""


def plot(title: str, across: str, unit: str, lines: Mapping[str, Line], baselines: frozenset[str]) -> str:
    """Return the SVG of some lines, those of ``baselines`` dashed; a dotted line shows what grows as the size does.

    Values and sizes must be above 0.
    """
    sizes = [size for line in lines.values() for size, _value in line]
    values = [value for line in lines.values() for _size, value in line]
    across_axis = _Axis(min(sizes), max(sizes), _LEFT, _WIDTH - _RIGHT)
    up_axis = _Axis(min(values), max(values), _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<text class="title" x="{_LEFT}" y="22">{escape(title)}</text>',
    ]
    for value in up_axis.ticks():
        y = up_axis.at(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_number(value)} {escape(unit)}</text>')
    for size in sorted(set(sizes)):
        x = across_axis.at(size)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_number(size)}</text>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 10}">{escape(across)}; dotted: as the size grows</text>')
    parts.append(_linear(across_axis, up_axis))
    for number, (name, line) in enumerate(lines.items()):
        parts += _drawn(name, line, number, across_axis, up_axis, name in baselines)
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """A scale of powers of ten between two places on the picture."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self.low = math.floor(math.log10(least) * 4) / 4
        self.high = max(math.ceil(math.log10(most) * 4) / 4, self.low + 0.5)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        """Return the place of a value."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the values that get a line: 1, 3, 10, 30, …"""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        every = [step * 10.0**power for power in powers for step in (1, 3)]
        return [value for value in every if self.low <= math.log10(value) <= self.high]


def _linear(across: _Axis, up: _Axis) -> str:
    """Return the line of what doubles when the size does, from the lower left corner as far as the picture goes."""
    rise = min(across.high - across.low, up.high - up.low)
    x, y = across.at(10 ** (across.low + rise)), up.at(10 ** (up.low + rise))
    return f'<line class="linear" x1="{across.start:.1f}" y1="{up.start:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>'


def _drawn(name: str, line: Line, number: int, across: _Axis, up: _Axis, baseline: bool) -> list[str]:
    kind = f"line c{number % 8}" + (" baseline" if baseline else "")
    points = " ".join(f"{across.at(size):.1f},{up.at(value):.1f}" for size, value in line)
    y = _TOP + 8 + number * 20
    x = _WIDTH - _RIGHT + 12
    dots = [
        f'<circle class="c{number % 8}" cx="{across.at(size):.1f}" cy="{up.at(value):.1f}" r="2.5"/>'
        for size, value in line
    ]
    return [
        f'<polyline class="{kind}" points="{points}"/>',
        *dots,
        f'<line class="{kind}" x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}"/>',
        f'<text x="{x + 28}" y="{y}">{escape(name)}</text>',
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.3g}"

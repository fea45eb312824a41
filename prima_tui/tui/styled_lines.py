"""Lines of text with named styles: what panes and lists are laid out in before they become segments on the screen.

A styled line is plain text and spans with style *names*; the names become colours only when a line is drawn, so a
change of theme needs no new layout. All widths are in terminal cells (wide characters and emoji count two).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style

_WORD = re.compile(r"\s*\S+")
_TAB = 4
# Where a long word (a path, a name, an id) is best cut, the best first; only in the second half of a line.
_SEAMS = ("/", "\\", ".", "_", "-")


class Span(NamedTuple):
    """A stretch of a line, in characters, and the name of its style."""

    start: int
    end: int
    style: str


class StyledLine(NamedTuple):
    """One line of text. ``fill`` names a style for the whole line, to the right edge; later spans lie over earlier."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    fill: str = ""

    def prefixed(self, prefix: str, style: str = "") -> StyledLine:
        """Return the line with ``prefix`` in front of it."""
        shift = len(prefix)
        moved = tuple(Span(start + shift, end + shift, name) for start, end, name in self.spans)
        head = (Span(0, shift, style),) if style else ()
        return StyledLine(prefix + self.text, head + moved, self.fill)

    def followed_by(self, other: StyledLine) -> StyledLine:
        """Return this line with another behind it."""
        return StyledLine(self.text + other.text, self.spans + other.prefixed(" " * len(self.text)).spans, self.fill)

    def marked(self, positions: Iterable[tuple[int, int]], style: str) -> StyledLine:
        """Return the line with ``style`` laid over the given character positions."""
        extra = tuple(Span(start, end, style) for start, end in positions)
        return self._replace(spans=self.spans + extra) if extra else self

    def part(self, start: int, end: int) -> StyledLine:
        """Return the characters from ``start`` to ``end`` with their styles."""
        kept = tuple(
            Span(max(a, start) - start, min(b, end) - start, name) for a, b, name in self.spans if a < end and b > start
        )
        return StyledLine(self.text[start:end], kept, self.fill)


def joined(pieces: Iterable[tuple[str, str]], fill: str = "") -> StyledLine:
    """Return one line from pieces of (text, style name)."""
    text = ""
    spans: list[Span] = []
    for piece, style in pieces:
        if style and piece:
            spans.append(Span(len(text), len(text) + len(piece), style))
        text += piece
    return StyledLine(text, tuple(spans), fill)


def without_tabs(text: str) -> str:
    """Return ``text`` with tabs turned into spaces, so that one character is never of unknown width."""
    return text.expandtabs(_TAB) if "\t" in text else text


def _fold_points(text: str, start: int, end: int, width: int) -> list[int]:
    """Return where a word too long for a line must be cut: never inside a grapheme, rather at the parts of a path."""
    word = text[start:end]
    if word.isascii():
        return _ascii_fold_points(text, start, end, width)
    points: list[int] = []
    line_start = start
    for left, right, _size in split_graphemes(word)[0]:
        # Measured as a whole, since the widths of odd graphemes don't always add up.
        if start + left > line_start and cell_len(text[line_start : start + right]) > width:
            line_start = start + left
            points.append(line_start)
    return points


def _ascii_fold_points(text: str, start: int, end: int, width: int) -> list[int]:
    points: list[int] = []
    while end - start > width:
        part = text[start : start + width]
        seams = (part.rfind(sign) + 1 for sign in _SEAMS)
        start += next((seam for seam in seams if 2 * seam >= width), width)
        points.append(start)
    return points


def wrap_slices(text: str, width: int) -> list[tuple[int, int]]:
    """Return the (start, end) of each line that ``text`` takes when wrapped at words to ``width`` cells.

    White space at a break belongs to no line; a word wider than a line is cut. Never empty.
    """
    width = max(1, width)
    if (len(text) if text.isascii() else cell_len(text)) <= width:
        return [(0, len(text))]
    slices: list[tuple[int, int]] = []
    start = end = used = 0
    for match in _WORD.finditer(text):
        chunk = match.group()
        size = cell_len(chunk)
        if used + size <= width:
            used += size
            end = match.end()
            continue
        word_start = match.end() - len(chunk.lstrip())
        if end > start:
            slices.append((start, end))
        start = word_start
        for point in _fold_points(text, word_start, match.end(), width):
            slices.append((start, point))
            start = point
        end = match.end()
        used = cell_len(text[start:end])
    if end > start or not slices:
        slices.append((start, max(end, start)))
    return slices


def wrapped(line: StyledLine, width: int, hang: int = 0) -> list[StyledLine]:
    """Return ``line`` broken to ``width`` cells; the lines after the first are indented by ``hang`` spaces."""
    slices = wrap_slices(line.text, width)
    if len(slices) == 1:
        return [line if slices[0] == (0, len(line.text)) else line.part(*slices[0])]
    hang = min(hang, width // 2)
    if hang:
        first_end = slices[0][1]
        rest = line.part(first_end, len(line.text))
        stripped = len(rest.text) - len(rest.text.lstrip())
        rest = rest.part(stripped, len(rest.text))
        tail = [rest.part(a, b).prefixed(" " * hang) for a, b in wrap_slices(rest.text, width - hang)]
        return [line.part(*slices[0]), *tail]
    return [line.part(a, b) for a, b in slices]


def cut(text: str, width: int) -> str:
    """Return ``text`` within ``width`` cells, ending in ``…`` when something was cut."""
    if (len(text) if text.isascii() else cell_len(text)) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    if (kept := text[: width - 1]).isascii() and kept.isprintable() and text[width - 1 : width].isascii():
        return kept.rstrip() + "…"  # measured sign by sign it would come to the same
    end = 0
    for _left, right, _size in split_graphemes(text[: width * 4])[0]:
        if cell_len(text[:right]) > width - 1:
            break
        end = right
    return text[:end].rstrip() + "…"


def segments(line: StyledLine, styles: Mapping[str, Style], base: Style) -> list[Segment]:
    """Return the line as segments for the screen; a style name that is not in ``styles`` adds nothing."""
    if line.fill:
        base = base + styles.get(line.fill, Style.null())
    text = line.text
    if not line.spans:
        return [Segment(text, base)] if text else []
    if base.reverse:  # colours would become a patchwork of backgrounds
        styles = {name: _weight(style) for name, style in styles.items()}
    edges = {0, len(text)}
    for start, end, _name in line.spans:
        edges.add(start)
        edges.add(end)
    points = sorted(edge for edge in edges if 0 <= edge <= len(text))
    result: list[Segment] = []
    for left, right in pairwise(points):
        style = base
        for start, end, name in line.spans:
            if start <= left and end >= right and name in styles:
                style = style + styles[name]
        result.append(Segment(text[left:right], style))
    return result


def _weight(style: Style) -> Style:
    """The style without its colours."""
    return Style(bold=style.bold, italic=style.italic, underline=style.underline)


def fitted(parts: Sequence[tuple[str, str]], width: int, gap: str = " · ") -> StyledLine:
    """Return as many of the parts (text, style name), most important first, as fit in ``width``, joined by ``gap``.

    Tags that follow one another are joined by a space, they tell themselves apart.
    """
    pieces: list[tuple[str, str]] = []
    used = 0
    for text, style in parts:
        between = "" if not pieces else " " if style == "tag" == pieces[-1][1] else gap
        size = cell_len(between) + cell_len(text)
        if used + size > width:
            if not pieces:
                return joined([(cut(text, width), style)])
            continue
        pieces += [(between, "faint"), (text, style)]
        used += size
    return joined(pieces)

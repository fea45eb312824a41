"""The outline of a reStructuredText document: titles are lines that are underlined, and perhaps overlined.

The style of the line (its character, and whether there is one above too) tells the level, by the order in which styles
first occur.
"""

from __future__ import annotations

import re

from prima_tui.documents.markdown import Heading, Outline

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[^\S\n]*\Z")
_SHORTEST = 4
"""A shorter line is one only when it is as long as the title."""


def restructured_outline(text: str) -> Outline:
    """Return the outline of a document whose lines end in a line feed."""
    lines = text.split("\n")
    styles: list[tuple[str, bool]] = []
    headings: list[Heading] = []
    above: list[str] = []
    place = 0
    while place < len(lines):
        found = _title(lines, place)
        if found is None:
            place += 1
            continue
        title, style, end = found
        if style not in styles:
            styles.append(style)
        level = styles.index(style) + 1
        del above[level - 1 :]
        above += [""] * (level - 1 - len(above))
        above.append(title)
        headings.append(Heading(tuple(filter(None, above)), level, place, end))
        place = end
    return Outline(tuple(headings))


def _title(lines: list[str], place: int) -> tuple[str, tuple[str, bool], int] | None:
    """Return (title, style, line after it) of a title that begins on a line; None when none does."""
    if place and lines[place - 1].strip():
        return None
    if _ADORNMENT.match(lines[place]):
        if place + 2 >= len(lines) or lines[place + 2].rstrip() != lines[place].rstrip():
            return None
        title, line, overlined = lines[place + 1].strip(), lines[place].rstrip(), True
    elif place + 1 < len(lines) and not lines[place][:1].isspace() and _ADORNMENT.match(lines[place + 1]):
        title, line, overlined = lines[place].strip(), lines[place + 1].rstrip(), False
    else:
        return None
    if not title or _ADORNMENT.match(title) or (len(line) < _SHORTEST and len(line) < len(title)):
        return None
    return title, (line[0], overlined), place + (3 if overlined else 2)

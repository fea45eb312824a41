"""One line of markdown: bold, italic, code and links become styles, their marks go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from prima_tui.tui.styled_lines import Span, StyledLine, joined

Marker = Callable[[str], Iterable[tuple[int, int]]]
"""Gives the positions in a text that are to be highlighted."""

_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>[^`\n]+?)(?P=ticks)(?!`)"
    r"|\*\*(?=\S)(?P<bold>[^\n]+?)(?<=\S)\*\*"
    r"|(?<![\w*])\*(?=[^\s*])(?P<italic>[^*\n]+?)(?<=\S)\*(?![\w*])"
    r"|\[(?P<link>[^\]\n]{1,300})\]\((?P<url>[^)\s]{1,2000})\)"
)


def inline(text: str, base: str = "") -> StyledLine:
    """Return one line of markdown with its inline marks turned into styles (``base`` lies under all of it)."""
    pieces: list[tuple[str, str]] = []
    place = 0
    if any(sign in text for sign in "`*["):
        for match in _INLINE.finditer(text):
            pieces.append((text[place : match.start()], ""))
            if match["code"] is not None:
                pieces.append((match["code"], "inline-code"))
            elif match["bold"] is not None:
                pieces.append((match["bold"].replace("`", ""), "bold"))
            elif match["italic"] is not None:
                pieces.append((match["italic"], "italic"))
            else:
                pieces += [(match["link"], "link"), (f" ({match['url']})", "faint")]
            place = match.end()
    pieces.append((text[place:], ""))
    line = joined(pieces)
    return line._replace(spans=(Span(0, len(line.text), base), *line.spans)) if base else line


def marked(line: StyledLine, mark: Marker) -> StyledLine:
    """Return the line with what ``mark`` finds in it highlighted."""
    return line.marked(mark(line.text), "match")

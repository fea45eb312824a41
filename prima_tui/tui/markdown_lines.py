"""Markdown, styled lightly and laid out in lines: headings, lists, quotes, tables, fenced code, bold, code, links.

This is for reading what people and agents wrote, not for faithful rendering: text that is not markdown comes out as
it is. Nothing here can fail on any text, and nothing is interpreted but what is named above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rich.cells import cell_len

from prima_tui.tui.code_colours import code_lines
from prima_tui.tui.styled_lines import Span, StyledLine, cut, joined, wrap_slices, wrapped

Marker = Callable[[str], Iterable[tuple[int, int]]]
"""Gives the positions in a text that are to be highlighted."""

FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,4}[.)])\s+(?:\[([ xX])\]\s+)?")
_RULE = re.compile(r"^\s{0,3}([-*_])(?:\s*\1){2,}\s*$")
_TABLE_LINE = re.compile(r"^\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>[^`\n]+?)(?P=ticks)(?!`)"
    r"|\*\*(?=\S)(?P<bold>[^\n]+?)(?<=\S)\*\*"
    r"|(?<![\w*])\*(?=[^\s*])(?P<italic>[^*\n]+?)(?<=\S)\*(?![\w*])"
    r"|\[(?P<link>[^\]\n]{1,300})\]\((?P<url>[^)\s]{1,2000})\)"
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CELL_BREAK = re.compile(r"(?<!\\)\|")


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


def _marked(line: StyledLine, mark: Marker) -> StyledLine:
    return line.marked(mark(line.text), "match")


def table_rows(lines: list[str]) -> list[list[str]]:
    """Return the cells of a table's lines, the rule below the heading left out; an escaped pipe is text."""
    rows = []
    for line in lines:
        if _TABLE_RULE.match(line):
            continue
        inner = line.strip().removeprefix("|")
        inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
        rows.append([cell.strip().replace("\\|", "|") for cell in _CELL_BREAK.split(inner)])
    return rows


def column_widths(natural: list[int], room: int) -> list[int]:
    """Return widths for columns of the given natural widths that together fit in ``room``: the widest give way."""
    widths = list(natural)
    while sum(widths) > room and max(widths) > 3:
        widest = max(range(len(widths)), key=widths.__getitem__)
        others = max((width for index, width in enumerate(widths) if index != widest), default=3)
        need = sum(widths) - room
        step = min(need, max(1, widths[widest] - max(others, 3)))
        widths[widest] -= step
    return widths


def _cell_lines(cell: str) -> list[StyledLine]:
    """The lines of a cell; in a table's cell a line end is written ``<br>``."""
    return [inline(line.strip()) for line in _LINE_BREAK.split(cell)]


def _table(lines: list[str], width: int, mark: Marker) -> list[StyledLine]:
    rows = table_rows(lines)
    if not rows:
        return []
    count = max(len(row) for row in rows)
    cells = [[_cell_lines(cell) for cell in row] + [[StyledLine()]] * (count - len(row)) for row in rows]
    gap = 2
    natural = [max(cell_len(line.text) for row in cells for line in row[column]) or 1 for column in range(count)]
    widths = column_widths(natural, max(count * 3, width - gap * (count - 1)))
    result: list[StyledLine] = []
    for number, row in enumerate(cells):
        broken = [
            [piece for line in cell for piece in wrapped(_marked(line, mark), size)]
            for cell, size in zip(row, widths, strict=True)
        ]
        for level in range(max(len(cell) for cell in broken)):
            line = StyledLine()
            for column, (cell, size) in enumerate(zip(broken, widths, strict=True)):
                piece = cell[level] if level < len(cell) else StyledLine()
                room = "" if column == count - 1 else " " * (size - cell_len(piece.text) + gap)
                line = line.followed_by(StyledLine(piece.text + room, piece.spans))
            if number == 0:
                line = line._replace(spans=(Span(0, len(line.text), "table-head"), *line.spans))
            result.append(line)
        if number == 0:
            result.append(joined([("─" * min(width, sum(widths) + gap * (count - 1)), "faint")]))
    return result


def _code(code: list[str], language: str, width: int, mark: Marker) -> list[StyledLine]:
    result: list[StyledLine] = []
    for line in code_lines("\n".join(code), language):
        result += [piece.prefixed(" ")._replace(fill="code") for piece in wrapped(_marked(line, mark), width - 2)]
    return result


def _text_line(raw: str, width: int, mark: Marker) -> list[StyledLine]:
    if heading := _HEADING.match(raw):
        style = "heading" if len(heading[1]) <= 2 else "subheading"
        return wrapped(_marked(inline(heading[2], style), mark), width)
    if _RULE.match(raw):
        return [joined([("─" * max(1, width), "faint")])]
    if raw.lstrip().startswith(">"):
        body = raw.lstrip()[1:].removeprefix(" ")
        lines = wrapped(_marked(inline(body, "quote"), mark), width - 2)
        return [line.prefixed("▏ ", "faint") for line in lines]
    if item := _ITEM.match(raw):
        indent = " " * min(len(item[1]), max(0, width // 2))
        bullet = "•" if item[2] in "-*+" else item[2]
        if item[3] is not None:
            bullet = "☐" if item[3] == " " else "☑"
        lead = f"{indent}{bullet} "
        line = _marked(inline(raw[item.end() :]), mark).prefixed(lead, "bullet")
        return wrapped(line, width, hang=cell_len(lead))
    indent_size = len(raw) - len(raw.lstrip())
    return wrapped(_marked(inline(raw), mark), width, hang=indent_size)


def markdown_lines(text: str, width: int, mark: Marker, fence: str | None = None) -> list[StyledLine]:
    """Return ``text`` laid out to ``width`` cells.

    ``mark`` names the positions to highlight in a line as it is shown. ``fence`` is the language of a fenced block
    that the text begins inside of ("" for one without a language), None outside.
    """
    width = max(4, width)
    result: list[StyledLine] = []
    code: list[str] = []
    table: list[str] = []
    closing = ""
    for raw in text.split("\n"):
        if fence is not None:
            stripped = raw.strip()
            if (stripped == closing) if closing else (stripped in ("```", "~~~", "````")):
                result += _code(code, fence, width, mark)
                code, fence = [], None
            else:
                code.append(raw)
            continue
        if _TABLE_LINE.match(raw):
            table.append(raw)
            continue
        if table:
            result += _table(table, width, mark)
            table = []
        if opening := FENCE.match(raw):
            fence, closing = opening[2], opening[1]
            if fence:
                label = cut(f" {fence}", width - 1)
                result.append(StyledLine(label, (Span(0, len(label), "faint"),), "code"))
            continue
        result += _text_line(raw, width, mark)
    if table:
        result += _table(table, width, mark)
    if code:
        result += _code(code, fence or "", width, mark)
    return result


def text_height(text: str, width: int) -> int:
    """Return about how many lines ``text`` takes at ``width``, without laying it out."""
    return text.count("\n") + 1 + len(text) // (max(4, width) * 2)


__all__ = ["FENCE", "Marker", "column_widths", "inline", "markdown_lines", "table_rows", "text_height", "wrap_slices"]

"""Tables of markdown, in columns that stand below one another and fit the width."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

from prima_tui.tui.inline_markdown import Marker, inline, marked
from prima_tui.tui.styled_lines import Span, StyledLine, joined, wrapped

_TABLE_LINE = re.compile(r"^\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CELL_BREAK = re.compile(r"(?<!\\)\|")
_GAP = 2
# Cells below which a column of sentences is a strip that nobody likes to read.
_STRIP = 28
# Columns beside the last one that can stand on a line above it.
_FEW = 3


def is_table_line(line: str) -> bool:
    """Tell whether a line belongs to a table."""
    return _TABLE_LINE.match(line) is not None


def table_rows(lines: Sequence[str]) -> list[list[str]]:
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


def natural_widths(lines: Sequence[str]) -> tuple[int, ...]:
    """Return about how wide each column of a table wants to be, in cells."""
    rows = table_rows(lines)
    count = max((len(row) for row in rows), default=0)
    return tuple(
        max((cell_len(part) for row in rows if column < len(row) for part in _LINE_BREAK.split(row[column])), default=1)
        for column in range(count)
    )


def table_lines(
    lines: Sequence[str], width: int, mark: Marker, natural: Sequence[int] = (), head: bool = True
) -> list[StyledLine]:
    """Return a table laid out in columns, within ``width`` cells unless it has very many columns.

    A long table comes in parts: then ``natural`` has the widths of the whole table's columns, so that those of all
    parts agree, and only the first part has the ``head``.
    """
    rows = table_rows(lines)
    if not rows:
        return []
    natural = natural or natural_widths(lines)
    count = max(len(natural), *(len(row) for row in rows))
    natural = [*natural, *[1] * (count - len(natural))]
    widths = column_widths([max(1, size) for size in natural], max(count * 3, width - _GAP * (count - 1)))
    beneath = _wants_beneath(natural, widths)
    result: list[StyledLine] = []
    for number, row in enumerate(rows):
        is_head = head and number == 0
        if beneath:
            result += _beneath_lines(row + [""] * (count - len(row)), width, mark, "table-head" if is_head else "")
            if is_head:
                result.append(joined([("─" * width, "faint")]))
            continue
        result += _row_lines(row + [""] * (count - len(row)), widths, mark, "table-head" if is_head else "")
        if is_head:
            result.append(joined([("─" * min(width, sum(widths) + _GAP * (count - 1)), "faint")]))
    return result


def _wants_beneath(natural: Sequence[int], widths: Sequence[int]) -> bool:
    """Tell whether the last column is to stand below the others.

    That is so when it is the longest, would be a narrow strip, and the others would be broken to make room for it.
    """
    last = len(natural) - 1
    if not 1 <= last <= _FEW or natural[last] != max(natural) or widths[last] >= _STRIP or natural[last] < _STRIP:
        return False
    return any(size < wanted for size, wanted in zip(widths[:last], natural[:last], strict=True))


def _beneath_lines(row: list[str], width: int, mark: Marker, style: str) -> list[StyledLine]:
    """The cells of a row on a line of their own, the last one below them, indented."""
    between = " " * _GAP
    first = joined([])
    for cell in row[:-1]:
        line = marked(inline(_LINE_BREAK.sub(" ", cell)), mark)
        first = first.followed_by(line.prefixed(between)) if first.text else line
    if style:  # the heading: one line, all of it
        first = first.followed_by(marked(inline(row[-1]), mark).prefixed(between))
        first = first._replace(spans=(Span(0, len(first.text), style), *first.spans))
        return wrapped(first, width)
    result = wrapped(first, width)
    for line in _cell_lines(row[-1]):
        result += [piece.prefixed(between) for piece in wrapped(marked(line, mark), max(1, width - _GAP))]
    return result


def _row_lines(row: list[str], widths: list[int], mark: Marker, style: str) -> list[StyledLine]:
    columns = [
        [piece for line in _cell_lines(cell) for piece in wrapped(marked(line, mark), size)]
        for cell, size in zip(row, widths, strict=True)
    ]
    result = []
    for level in range(max(len(column) for column in columns)):
        text = ""
        spans: list[Span] = []
        for column, size in zip(columns, widths, strict=True):
            if level < len(column):
                shift = len(text)
                piece = column[level]
                spans += [Span(start + shift, end + shift, name) for start, end, name in piece.spans]
                text += piece.text + " " * (size - cell_len(piece.text) + _GAP)
            else:
                text += " " * (size + _GAP)
        text = text.rstrip()
        head = (Span(0, len(text), style),) if style else ()
        result.append(StyledLine(text, head + tuple(spans)))
    return result

"""Markdown, styled lightly and laid out in lines: headings, lists, quotes, tables, fenced code, bold, code, links.

This is for reading what people and agents wrote, not for faithful rendering: text that is not markdown comes out as
it is. Nothing here can fail on any text, and nothing is interpreted but what is named above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

from prima_tui.tui.code_colours import code_lines
from prima_tui.tui.inline_markdown import Marker, inline, marked
from prima_tui.tui.styled_lines import Span, StyledLine, cut, joined, wrapped
from prima_tui.tui.table_lines import is_table_line, table_lines

FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,4}[.)])\s+(?:\[([ xX])\]\s+)?")
_RULE = re.compile(r"^\s{0,3}([-*_])(?:\s*\1){2,}\s*$")


def _code(code: list[str], language: str, width: int, mark: Marker) -> list[StyledLine]:
    result: list[StyledLine] = []
    for line in code_lines("\n".join(code), language):
        result += [piece.prefixed(" ")._replace(fill="code") for piece in wrapped(marked(line, mark), width - 2)]
    return result


def _text_line(raw: str, width: int, mark: Marker) -> list[StyledLine]:
    if heading := _HEADING.match(raw):
        style = "heading" if len(heading[1]) <= 2 else "subheading"
        return wrapped(marked(inline(heading[2], style), mark), width)
    if _RULE.match(raw):
        return [joined([("─" * max(1, width), "faint")])]
    if raw.lstrip().startswith(">"):
        body = raw.lstrip()[1:].removeprefix(" ")
        lines = wrapped(marked(inline(body, "quote"), mark), width - 2)
        return [line.prefixed("▏ ", "faint") for line in lines]
    if item := _ITEM.match(raw):
        indent = " " * min(len(item[1]), max(0, width // 2))
        bullet = "•" if item[2] in "-*+" else item[2]
        if item[3] is not None:
            bullet = "☐" if item[3] == " " else "☑"
        lead = f"{indent}{bullet} "
        line = marked(inline(raw[item.end() :]), mark).prefixed(lead, "bullet")
        return wrapped(line, width, hang=cell_len(lead))
    indent_size = len(raw) - len(raw.lstrip())
    return wrapped(marked(inline(raw), mark), width, hang=indent_size)


def markdown_lines(
    text: str,
    width: int,
    mark: Marker,
    fence: str | None = None,
    columns: Sequence[int] = (),
    head: bool = True,
) -> list[StyledLine]:
    """Return ``text`` laid out to ``width`` cells.

    ``mark`` names the positions to highlight in a line as it is shown. ``fence`` is the language of a fenced block
    that the text begins inside of ("" for one without a language), None outside. ``columns`` and ``head`` are for
    text that is a part of a long table (see :func:`table_lines`).
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
        if is_table_line(raw):
            table.append(raw)
            continue
        if table:
            result += table_lines(table, width, mark, columns, head)
            table = []
        if opening := FENCE.match(raw):
            fence, closing = opening[2], opening[1]
            if fence:
                label = cut(f" {fence}", width - 1)
                result.append(StyledLine(label, (Span(0, len(label), "faint"),), "code"))
            continue
        result += _text_line(raw, width, mark)
    if table:
        result += table_lines(table, width, mark, columns, head)
    if code:
        result += _code(code, fence or "", width, mark)
    return result

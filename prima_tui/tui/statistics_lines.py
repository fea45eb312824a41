"""Statistics as a page of styled lines, in one column or two, and what on it can be searched for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from prima_tui.model.query_edit import with_filter
from prima_tui.model.statistics import Statistics
from prima_tui.model.text import one_line
from prima_tui.tui.file_rows import cut_start
from prima_tui.tui.session_rows import title_text
from prima_tui.tui.styled_lines import StyledLine, cut, joined

_TWO_COLUMNS = 112
_GAP = 3
_ROWS = 8
_BLOCKS, _PLAIN = ("·", "░", "▒", "▓", "█"), (".", ":", "+", "#", "@")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Target(NamedTuple):
    """A row of the page that can be searched for."""

    line: int
    start: int
    """First cell."""
    end: int
    column: int
    query: str
    """The filter (or the session's id) it stands for."""
    session: int = -1
    """Place among the longest sessions; -1 for any other row."""


class Page(NamedTuple):
    """Everything that is shown."""

    lines: tuple[StyledLine, ...]
    targets: tuple[Target, ...]


class _Row(NamedTuple):
    line: StyledLine
    query: str = ""
    session: int = -1


def page(found: Statistics, width: int, blocks: bool = True) -> Page:
    """Return the page laid out to ``width`` cells; ``blocks``: whether block characters can be shown."""
    two = width >= _TWO_COLUMNS
    room = (width - _GAP) // 2 if two else width
    head = [_Row(line) for line in _head(found, width)]
    left = [
        *_bars("Agents", found.agents, room, "agent", blocks, coloured=True),
        *_hours(found, room, blocks),
        *_bars("Tags", found.tags, room, "tag", blocks),
        *_bars("Branches", found.branches, room, "branch", blocks),
    ]
    right = [
        *_bars("Workspaces", found.workspaces if len(found.workspaces) > 1 else (), room, "dir", blocks),
        *_bars("Busiest folders", found.folders, room, "file", blocks, folder=True),
        *_bars("Most changed files", [(one.path, one.changes) for one in found.files], room, "file", blocks),
        *_longest(found, room),
    ]
    columns = [left, right] if two else [[*left, *right]]
    lines = [row.line for row in head]
    targets: list[Target] = []
    for column, rows in enumerate(columns):
        start = column * (room + _GAP)
        targets += [
            Target(len(head) + number, start, start + room, column, row.query, row.session)
            for number, row in enumerate(rows)
            if row.query or row.session >= 0
        ]
    for number in range(max(map(len, columns))):
        cells = [rows[number].line if number < len(rows) else StyledLine() for rows in columns]
        line = cells[0]
        if two:
            space = " " * (room + _GAP - cell_len(line.text))
            line = StyledLine(line.text + space, line.spans).followed_by(cells[1])
        lines.append(line)
    return Page(tuple(lines), tuple(targets))


def _head(found: Statistics, width: int) -> list[StyledLine]:
    figures = [
        (found.sessions, "sessions"), (found.messages, "messages"), (found.exchanges, "exchanges"),
        (len(found.files), "files"), (found.changes, "changes"), (found.days, "days"),
    ]  # fmt: skip
    size = max(9, width // len(figures))
    numbers = [(f"{count:,}".center(size)[:size], "number") for count, _name in figures]
    names = [(name.center(size)[:size], "faint") for _count, name in figures]
    lines = [joined(numbers), joined(names)]
    if found.first and found.last:
        span = f"{found.first.day} {found.first:%b %Y} – {found.last.day} {found.last:%b %Y}"
        lines.append(joined([(span.center(min(width, size * len(figures))), "faint")]))
    return [*lines, StyledLine()]


def _heading(text: str, width: int) -> _Row:
    label = f" {text} "
    return _Row(joined([(label, "heading"), ("─" * max(0, width - cell_len(label)), "rule")]))


def _bars(
    heading: str,
    names: Sequence[tuple[str, int]],
    width: int,
    filter_name: str,
    blocks: bool,
    *,
    coloured: bool = False,
    folder: bool = False,
) -> list[_Row]:
    if not names:
        return []
    most = names[0][1]
    digits = len(f"{most:,}")
    bar_room = max(6, width // 4)
    name_room = max(8, width - bar_room - digits - 5)
    rows = [_heading(heading, width)]
    for name, count in names[:_ROWS]:
        text = (
            cut_start(one_line(name), name_room) if filter_name in ("file", "dir") else cut(one_line(name), name_room)
        )
        size = max(1, round(bar_room * count / most))
        style = f"source:{name}" if coloured else "bar"
        space = " " * (name_room - cell_len(text) + 1)
        sign = ("━" if blocks else "=") * size
        line = joined([("  ", ""), (text, "name"), (space, ""), (f"{count:>{digits},} ", "count"), (sign, style)])
        value = "" if folder and name in (".", "/") else name + "/" if folder else name
        rows.append(_Row(line, with_filter("", filter_name, value) if value else ""))  # type: ignore[arg-type]
    if len(names) > _ROWS:
        rows.append(_Row(joined([(f"  and {len(names) - _ROWS:,} more", "faint")])))
    return [*rows, _Row(StyledLine())]


def _hours(found: Statistics, width: int, blocks: bool) -> list[_Row]:
    """A field for each hour of the week, the darker the more sessions ran in it."""
    most = max((count for day in found.hours for count in day), default=0)
    if not most:
        return []
    wide = 2 if width >= 6 + 48 else 1
    signs = _BLOCKS if blocks else _PLAIN
    rows = [_heading("Hours of the week", width)]
    for day, hours in zip(DAYS, found.hours, strict=True):
        cells = [(signs[level] * wide, f"heat-{level}") for level in (heat_level(count, most) for count in hours)]
        rows.append(_Row(joined([(f"  {day} ", "name"), *cells])))
    marks = "".join(f"{hour:<{6 * wide}}" for hour in (0, 6, 12, 18))
    return [*rows, _Row(joined([("      ", ""), (marks, "faint")])), _Row(StyledLine())]


def heat_level(count: int, most: int) -> int:
    """Return 0 for nothing, else 1 to 4 by quarters of the most."""
    return min(4, 1 + (4 * count - 1) // most) if count and most else 0


def _longest(found: Statistics, width: int) -> list[_Row]:
    if not found.longest:
        return []
    digits = max(8, len(f"{found.longest[0].message_count:,}"))
    rows = [_heading("Longest sessions, in messages", width)]
    for place, session in enumerate(found.longest[:_ROWS]):
        title = cut(title_text(session.title), max(6, width - digits - 4))
        space = " " * (width - digits - 4 - cell_len(title))
        colour, number = f"source:{session.source}", f"{session.message_count:>{digits},}"
        line = joined([("  ", ""), (title, colour), (space, ""), (number, "count")])
        rows.append(_Row(line, session=place))
    return [*rows, _Row(StyledLine())]

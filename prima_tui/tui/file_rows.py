"""How a changed file, and what a session did to one, look in a list: styled lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len, split_graphemes

from prima_tui.model.text import count_text, one_line, spans
from prima_tui.search.changed_files import KnownFile, SessionChange
from prima_tui.tui.inline_markdown import inline
from prima_tui.tui.session_rows import age, label_text, snippet, title_text
from prima_tui.tui.styled_lines import StyledLine, cut, fitted, joined

_BAR = "▌ "
FileRow = KnownFile | SessionChange


def cut_start(text: str, width: int) -> str:
    """Return ``text`` within ``width`` cells, its end kept: of a path that is what tells it from others."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    for left, _right, _size in split_graphemes(text)[0]:
        if cell_len(text[left:]) <= width - 1:
            return "…" + text[left:]
    return "…"


def file_row(
    row: FileRow, words: Sequence[str], width: int, now: datetime, selected: bool, first: bool = False
) -> list[StyledLine]:
    """Return the three lines of a row, ``width`` cells wide at most; ``first``: of the session one came from."""
    room = max(6, width - len(_BAR) - 1)
    if isinstance(row, KnownFile):
        lines = _known_file(row, words, room, now, first)
    else:
        lines = _session_change(row, words, room, now)
    lead, fill = (_BAR, "selected") if selected else ("  ", "")
    return [line.prefixed(lead, "bar" if selected else "")._replace(fill=fill) for line in lines]


def _headed(text: StyledLine, when: str, room: int) -> StyledLine:
    space = " " * max(1, room - cell_len(text.text) - len(when))
    return text.followed_by(joined([(space, ""), (when, "age")]))


def _known_file(file: KnownFile, words: Sequence[str], room: int, now: datetime, first: bool) -> list[StyledLine]:
    when = age(file.last.at, now)
    path = cut_start(one_line(file.shown), max(4, room - len(when) - 2))
    facts = [(count_text(file.sessions, "session"), "fact"), (count_text(file.changes, "change"), "fact")]
    if first:
        facts.insert(0, ("in the selected session", "badge"))
    last = [(label_text(file.last.session), "source"), (one_line(file.last.session.title), "snippet")]
    return [
        _headed(joined([(path, "title")]).marked(spans(path, words) if words else [], "match"), when, room),
        fitted(facts, room),
        fitted(last, room, " "),
    ]


def _session_change(change: SessionChange, words: Sequence[str], room: int, now: datetime) -> list[StyledLine]:
    when = age(change.at, now)
    title = cut(title_text(change.session.title), max(4, room - len(when) - 2))
    label = label_text(change.session)
    times = f" ×{len(change.changes)}" if len(change.changes) > 1 else ""
    tail = f"{change.changes[0].action}{times}"
    path = cut_start(one_line(change.shown), max(6, room - cell_len(label) - len(tail) - 4))
    place = joined([(path, "path")]).marked(spans(path, words) if words else [], "match")
    said = inline(one_line(next((one.explanation for one in change.changes if one.explanation), ""))).text
    return [
        _headed(joined([(title, "title")]), when, room),
        joined([(label, "source"), (" ", "")]).followed_by(place).followed_by(joined([(f" · {tail}", "fact")])),
        snippet(said, (), room) if said else joined([("no explanation recorded", "faint")]),
    ]

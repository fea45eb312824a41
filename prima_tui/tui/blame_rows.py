"""A file's lines with, beside them, the conversation that wrote each: who stands where. Pure.

Lines that follow one another and are of one conversation are a stretch: its title stands beside the first line, its
agent beside the second, and a bracket holds it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.cells import cell_len

from prima_tui.model.text import one_line, shown
from prima_tui.search.blame import Blame
from prima_tui.search.edits import Written
from prima_tui.search.file_text import FileText
from prima_tui.tui.code_colours import code_lines, language_of
from prima_tui.tui.inline_markdown import inline
from prima_tui.tui.session_rows import age, label_text, title_text
from prima_tui.tui.styled_lines import StyledLine, cut, joined, without_tabs

# Colouring is pure Python: beyond this a file is shown plain, so that it is there in a moment.
_LARGEST_COLOURED = 300_000
_NARROWEST, _WIDEST = 20, 48


class BlameView(msgspec.Struct, frozen=True):
    """A file ready to be shown."""

    blame: Blame
    code: tuple[StyledLine, ...]
    """Each line, safe to show, its words coloured."""
    starts: tuple[int, ...]
    """For each line the first line of its stretch."""
    ends: tuple[int, ...]
    """For each line the last line of its stretch."""
    conversations: int = 0
    """How many conversations edited the file."""

    @property
    def file(self) -> FileText:
        """The file."""
        return self.blame.file

    def key(self, line: int) -> tuple[str, str] | None:
        """Return the key of the session that wrote a line, None for none known."""
        author = self.blame.author(line)
        return author.session.key if author else None


def blame_view(blame: Blame) -> BlameView:
    """Return a file with its authors ready to be shown; for threads, since colouring takes its time."""
    text = "\n".join(without_tabs(shown(line)).replace("\n", " ") for line in blame.file.lines)
    code: list[StyledLine] = []
    if blame.file.lines:
        code = code_lines(text, language_of(blame.file.path), _LARGEST_COLOURED)
        # a lexer may see line ends where there are none, or pass over some
        if len(code) != len(blame.file.lines) or "\n".join(line.text for line in code) != text:
            code = [StyledLine(line) for line in text.split("\n")]
    authors = [blame.author(line) for line in range(len(code))]
    keys = [author.session.key if author else None for author in authors]
    starts = list(range(len(keys)))
    ends = list(range(len(keys)))
    for line in range(1, len(keys)):
        if keys[line] == keys[line - 1]:
            starts[line] = starts[line - 1]
    for line in range(len(keys) - 2, -1, -1):
        if keys[line] == keys[line + 1]:
            ends[line] = ends[line + 1]
    conversations = len({edit.session.key for edit in blame.edits})
    return BlameView(blame, tuple(code), tuple(starts), tuple(ends), conversations)


def gutter_width(width: int) -> int:
    """Return how many cells of a view ``width`` wide are for the conversations."""
    return max(min(_NARROWEST, width // 2), min(_WIDEST, width * 32 // 100))


def gutter(view: BlameView, line: int, width: int, now: datetime, selected: tuple[str, str] | None) -> StyledLine:
    """Return what stands beside a line, exactly ``width`` cells wide; lines of the selected conversation stand out."""
    author = view.blame.author(line)
    if author is None:
        return joined([(" " * width, "")])
    start, end = view.starts[line], view.ends[line]
    bracket = "─" if start == end else "╭" if line == start else "╰" if line == end else "│"
    style = "source" if view.key(line) == selected else "source-quiet"
    room = max(1, width - 3)
    text, text_style, tail = "", "", ""
    if line == start:
        tail = age(author.at, now)
        text, text_style = cut(title_text(author.session.title), room - len(tail) - 1), "title"
    elif line == start + 1:
        text, text_style = cut(label_text(author.session), room), "source"
    if text_style == "title" and view.key(line) == selected:
        text_style = "title-selected"
    space = " " * max(0, room - cell_len(text) - len(tail))
    return joined([(bracket, style), (" ", ""), (text, text_style), (space, ""), (tail, "age"), (" ", "")])


_SURE = {
    "wrote": "wrote this line",
    "alike": "wrote such a line; it stands elsewhere now, or beside other ones",
    "kept": "held this line in an edit, and did not write it",
}


def line_facts(view: BlameView, line: int, now: datetime) -> Sequence[tuple[str, str]]:
    """Return who wrote a line in words: parts of (text, style name), most important first."""
    author = view.blame.author(line)
    if author is None:
        return []
    parts = [(title_text(author.session.title), "title-selected"), (label_text(author.session), "source")]
    if when := age(author.at, now):
        parts.append((when if when == "now" else f"{when} ago", "age"))
    parts.append((f"exchange #{author.exchange_index + 1}", "fact"))
    if author.session.branch:
        parts.append((f"on {one_line(author.session.branch)}", "fact"))
    parts.append((_SURE[view.blame.sureness[line]], "faint"))
    return parts


def said_of(author: Written) -> str:
    """Return the explanation of an edit as one line, "" for none."""
    return inline(one_line(author.explanation)).text


def next_stretch(view: BlameView, line: int, step: int) -> int:
    """Return the first line of the next (1) or previous (-1) stretch that somebody wrote; the line itself for none."""
    if not view.starts:
        return line
    place = view.ends[line] + 1 if step > 0 else view.starts[line] - 1
    if step < 0 and line > view.starts[line] and view.key(line) is not None:
        return view.starts[line]
    while 0 <= place < len(view.starts):
        if view.key(place) is not None:
            return view.starts[place]
        place = view.ends[place] + 1 if step > 0 else view.starts[place] - 1
    return line

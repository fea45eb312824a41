"""Who wrote a line: the edit that the line of a file comes from, also of a line that is gone; and that edit's diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from prima_tui.model.hits import Cancel
from prima_tui.model.session import Session, TextEdit
from prima_tui.search.blame import Blame, blamed_file
from prima_tui.search.changed_files import absolute_path
from prima_tui.search.edits import PathTest, Tools, Written, edits_in, path_holds, same_path
from prima_tui.search.file_text import file_on_disk
from prima_tui.search.library import Entry

_EARLY = datetime.min.replace(tzinfo=UTC)
_CONTAINED, _KEPT, _WRITTEN = 1, 2, 3
"""How well an edit answers: the line is part of a line of it, an unchanged line in it, a line that it brought in."""


class EditFound(msgspec.Struct, frozen=True):
    """An edit that a line comes from."""

    written: Written
    exact: bool
    """The line as a whole is one of the edit's, white space at its ends aside; else only a part of it, or of one."""

    @property
    def path(self) -> str:
        """The file's path, absolute where the session's folder is known."""
        return absolute_path(self.written.edit.path, self.written.session)


def find_edit(
    entries: Iterable[Entry], tools: Tools, workspace: Path, part: str, line: str, cancel: Cancel | None = None
) -> EditFound | None:
    """Return the edit that a line comes from, in a file whose path contains ``part``; None for none.

    While the line stands in that file it is the edit that :func:`blame` names for it. Else it is the newest edit whose
    new text holds it: one that brought the line in comes before a newer one that only kept it, and a whole line before
    a part of one; white space at a line's ends does not count. When ``part`` is the path of a file that was changed,
    just this file counts. Raises Cancelled.
    """
    if not line.strip():
        return None
    entries = list(entries)
    found = newest_edit(entries, tools, part, line, cancel)
    path = found.path if found is not None else file_on_disk(part, workspace)
    if not path:
        return found
    blame = blamed_file(entries, tools, path, cancel=cancel)
    number = blame.line_with(line)
    whole = number >= 0 and blame.file.lines[number].strip() == line.strip()
    return _author(blame, number, "" if whole else line) or found


def line_origin(
    entries: Iterable[Entry], tools: Tools, path: str, number: int, line: str, cancel: Cancel | None = None
) -> EditFound | None:
    """Return the edit that wrote line ``number`` (from 0) of the file with this absolute path; None for none.

    ``line`` is its text, which alone is gone by where the file is too large to be looked at as a whole. Raises
    Cancelled.
    """
    entries = list(entries)
    blame = blamed_file(entries, tools, path, cancel=cancel)
    if number < len(blame.file.lines):
        return _author(blame, number)
    return newest_edit(entries, tools, path, line, cancel)


def _author(blame: Blame, number: int, part: str = "") -> EditFound | None:
    """The edit that wrote a line; ``part`` is what was asked for of the line, "" for all of it."""
    author = blame.author(number)
    if author is None:
        return None
    return EditFound(author, _has_line(author.edit.new, (part or blame.file.lines[number]).strip()))


def newest_edit(
    entries: Iterable[Entry], tools: Tools, part: str, line: str, cancel: Cancel | None
) -> EditFound | None:
    """Return the newest edit whose new text holds the line, whatever stands in the file now. Raises Cancelled."""
    wanted = line.strip()
    if not wanted:
        return None
    is_meant = path_holds(part)
    dated = [(max(times), entry) for entry in entries if (times := list(_times(entry.session, is_meant)))]
    is_same = same_path(part)
    if exact := [(when, entry) for when, entry in dated if any(_times(entry.session, is_same))]:
        dated, is_meant = exact, is_same
    dated.sort(key=lambda one: one[0], reverse=True)
    best: EditFound | None = None
    best_rank = (0, _EARLY)
    for newest, entry in dated:
        if best_rank >= (_WRITTEN, newest):
            break
        if cancel is not None:
            cancel.check()
        for written in edits_in(entry, tools, is_meant):
            level = _level(written.edit, wanted)
            rank = (level, written.use.at or _EARLY)
            # of two edits at one time the later in the conversation is the newer
            if level and rank >= best_rank:
                best_rank = rank
                best = EditFound(written, level > _CONTAINED)
    return best


def _times(session: Session, is_meant: PathTest) -> Iterator[datetime]:
    for change in session.files_changed:
        if is_meant(change.path, session):
            yield change.at or session.ended_at or _EARLY


def _level(edit: TextEdit, wanted: str) -> int:
    if wanted not in edit.new:
        return 0
    if not _has_line(edit.new, wanted):
        return _CONTAINED
    return _KEPT if _has_line(edit.old, wanted) else _WRITTEN


def _has_line(text: str, wanted: str) -> bool:
    return wanted in text and any(line.strip() == wanted for line in text.split("\n"))


def diff_of(edit: TextEdit) -> tuple[str, ...]:
    """Return an edit as the lines of a diff, each with ``+``, ``-`` or a space in front, ``@@`` lines between hunks."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (edit.old, edit.new))
    lines = difflib.unified_diff(old, new, n=3, lineterm="")
    # the first two lines name files
    return tuple(lines)[2:]

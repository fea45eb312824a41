"""Who wrote a line: the newest edit of a file whose new text holds it, and the diff of that edit."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from prima_tui.model.hits import Cancel
from prima_tui.model.session import Session, TextEdit, ToolUse, shown_path
from prima_tui.model.text import fold
from prima_tui.search.library import Entry

_EARLY = datetime.min.replace(tzinfo=UTC)
_CONTAINED, _KEPT, _WRITTEN = 1, 2, 3
"""How well an edit answers: the line is part of a line of it, an unchanged line in it, a line that it brought in."""


class EditFound(msgspec.Struct, frozen=True):
    """An edit that holds a line, where it is in its session, and what was said of it."""

    session: Session
    exchange_index: int
    use: ToolUse
    edit: TextEdit
    exact: bool
    """The line as a whole was found, white space at its ends aside; else as a part of a longer one."""

    @property
    def explanation(self) -> str:
        """The text of the reply just before the edit, "" where there is none."""
        changes = [one for one in self.session.files_changed if one.path == self.edit.path]
        same_time = (one.explanation for one in changes if one.at == self.use.at)
        return next(same_time, "")


def find_edit(
    entries: Iterable[Entry],
    tools: Callable[[Entry], Sequence[Sequence[ToolUse]]],
    part: str,
    line: str,
    cancel: Cancel | None = None,
) -> EditFound | None:
    """Return the newest edit whose new text holds the line, in a file whose path contains ``part``; None for none.

    ``tools`` gives a session's uses of tools for each of its exchanges. An edit that brought the line in comes before
    a newer one that only kept it, and a whole line before a part of one; white space at a line's ends does not count.
    When ``part`` is the path of a file that was changed, just this file counts. Raises Cancelled.
    """
    wanted = line.strip()
    if not wanted:
        return None
    is_meant = _path_test(part)
    dated = [(max(times), entry) for entry in entries if (times := list(_times(entry.session, is_meant)))]
    if exact := [(when, entry) for when, entry in dated if any(_times(entry.session, _same_path_test(part)))]:
        dated, is_meant = exact, _same_path_test(part)
    dated.sort(key=lambda one: one[0], reverse=True)
    best: EditFound | None = None
    best_rank = (0, _EARLY)
    for newest, entry in dated:
        if best_rank >= (_WRITTEN, newest):
            break
        if cancel is not None:
            cancel.check()
        for index, uses in enumerate(tools(entry)):
            for use in uses:
                for edit in () if use.failed else use.edits:
                    level = _level(edit, wanted) if is_meant(edit.path, entry.session) else 0
                    rank = (level, use.at or _EARLY)
                    # of two edits at one time the later in the conversation is the newer
                    if level and rank >= best_rank:
                        best_rank = rank
                        best = EditFound(entry.session, index, use, edit, level > _CONTAINED)
    return best


PathTest = Callable[[str, Session], bool]


def _path_test(part: str) -> PathTest:
    """Return whether a changed path, as it is shown, contains the part (capitals ignored), or is the same file."""
    folded = fold(part.removeprefix("./"))
    same = _same_path_test(part)
    return lambda path, session: folded in fold(shown_path(path, session.workspace)) or same(path, session)


def _same_path_test(part: str) -> PathTest:
    """Return whether a changed path is the same file as the path ``part``, links followed."""
    meant = Path(part).absolute()
    whole, name = os.path.realpath(meant), meant.name

    def is_same(path: str, session: Session) -> bool:
        # the name first, since links are looked up on the disk
        if not path.endswith(name):
            return False
        changed = Path(session.workspace or "/", path)
        return os.path.normpath(changed) == os.path.normpath(meant) or os.path.realpath(changed) == whole

    return is_same


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

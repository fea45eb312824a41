"""The edits of files that conversations recorded: which file an edit is of, where it was made, what was said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from prima_tui.model.session import Session, TextEdit, ToolUse, shown_path
from prima_tui.model.text import fold
from prima_tui.search.changed_files import absolute_path
from prima_tui.search.library import Entry

Tools = Callable[[Entry], Sequence[Sequence[ToolUse]]]
"""Gives a session's uses of tools for each of its exchanges."""
PathTest = Callable[[str, Session], bool]
"""Whether a path that a session recorded is a file that is meant."""


class Written(msgspec.Struct, frozen=True):
    """One edit of a file, where it is in its session, and what was said of it."""

    session: Session
    exchange_index: int
    use: ToolUse
    edit: TextEdit
    explanation: str = ""
    """The text of the reply just before the edit, "" where there is none."""

    @property
    def at(self) -> datetime | None:
        """The time of the edit, else that of the session's end."""
        return self.use.at or self.session.ended_at


def edits_in(entry: Entry, tools: Tools, is_meant: PathTest) -> Iterator[Written]:
    """Give the successful edits that a session made of the files that are meant, in its order."""
    session = entry.session
    # of several changes at one time the first one's text is that before all of them
    said = {
        (absolute_path(change.path, session), change.at): change.explanation
        for change in reversed(session.files_changed)
        if is_meant(change.path, session)
    }
    for index, uses in enumerate(tools(entry)):
        for use in uses:
            for edit in () if use.failed else use.edits:
                if is_meant(edit.path, session):
                    explanation = said.get((absolute_path(edit.path, session), use.at), "")
                    yield Written(session, index, use, edit, explanation)


def same_path(part: str) -> PathTest:
    """Return whether a changed path is the same file as the path ``part``, links followed."""
    meant = Path(part).absolute()
    normal, whole, name = os.path.normpath(meant), os.path.realpath(meant), meant.name

    def is_same(path: str, session: Session) -> bool:
        # the name first, since links are looked up on the disk
        if not path.endswith(name):
            return False
        changed = absolute_path(path, session)
        if changed in (part, normal):
            return True
        return os.path.isabs(changed) and os.path.realpath(changed) == whole  # noqa: PTH117  (asked for every change)

    return is_same


def path_holds(part: str) -> PathTest:
    """Return whether a changed path, as it is shown, contains the part (capitals ignored), or is the same file."""
    folded = fold(part.removeprefix("./"))
    same = same_path(part)
    return lambda path, session: folded in fold(shown_path(path, session.workspace)) or same(path, session)

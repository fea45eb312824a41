"""File history: which sessions changed which files, and what a person means by a path that is typed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from prima_tui.model.hits import Cancel
from prima_tui.model.session import FileChange, Session, shown_path
from prima_tui.model.text import fold
from prima_tui.search.library import Entry

_EARLY = datetime.min.replace(tzinfo=UTC)
_LINE = re.compile(r"(?P<part>.+?):(?P<line>[1-9][0-9]{0,6})\s*")
_TEXT = re.compile(r"(?P<part>\S.*?)\s+\"(?P<text>.*?)\"?\s*", re.DOTALL)
_CHECKED_EVERY = 256


class FilePlace(msgspec.Struct, frozen=True):
    """What was typed to find a file, or a line of one."""

    part: str = ""
    """A path or a part of one."""
    line: int = 0
    """Number of a line, from 1; 0 for none."""
    text: str = ""
    """Text of a line; "" for none."""


class SessionChange(msgspec.Struct, frozen=True):
    """What one session did to one file."""

    session: Session
    path: str
    """As recorded."""
    changes: tuple[FileChange, ...]
    """Latest first."""

    @property
    def at(self) -> datetime | None:
        """The time of the latest change, else the session's."""
        return self.changes[0].at or self.session.ended_at or self.session.started_at

    @property
    def shown(self) -> str:
        """The path as people read it: relative to the session's own folder."""
        return shown_path(self.path, self.session.workspace)


class KnownFile(msgspec.Struct, frozen=True):
    """A file that sessions changed, with the latest of them."""

    shown: str
    last: SessionChange
    sessions: int
    changes: int


def file_place(typed: str) -> FilePlace:
    """Return what ``path``, ``path:LINE`` or ``path "some text"`` asks for. Never raises."""
    typed = typed.strip()
    if found := _LINE.fullmatch(typed):
        return FilePlace(found["part"], line=int(found["line"]))
    if found := _TEXT.fullmatch(typed):
        return FilePlace(found["part"], text=found["text"].strip())
    return FilePlace(typed)


def session_changes(entries: Iterable[Entry], part: str, cancel: Cancel | None = None) -> list[SessionChange]:
    """Return what each session did to each file whose path contains ``part`` (capitals ignored), newest first.

    A path counts as it is shown, relative to the session's own folder; an absolute ``part`` is compared with the whole
    path. A session that another one holds a copy of and goes on from is left out. Raises Cancelled.
    """
    part = part.strip().replace("\\", "/")
    whole = part.startswith(("/", "~")) or part[1:3] == ":/"
    wanted = fold(str(Path(part).expanduser()) if part.startswith("~") else part.removeprefix("./"))
    found: list[SessionChange] = []
    for number, entry in enumerate(entries):
        if cancel is not None and number % _CHECKED_EVERY == 0:
            cancel.check()
        session = entry.session
        if session.continued_by or not session.files_changed:
            continue
        # the joined paths first: most sessions are out by one look; a Windows path has other separators
        if not whole and "\\" not in entry.all_paths and wanted not in entry.all_paths:
            continue
        by_path: dict[str, list[FileChange]] = {}
        for change in session.files_changed:
            path = change.path if whole else shown_path(change.path, session.workspace)
            if wanted in fold(path).replace("\\", "/"):
                by_path.setdefault(change.path, []).append(change)
        for path, changes in by_path.items():
            changes.sort(key=lambda change: change.at or _EARLY, reverse=True)
            found.append(SessionChange(session, path, tuple(changes)))
    found.sort(key=lambda one: one.at or _EARLY, reverse=True)
    return found


def known_files(changes: Iterable[SessionChange]) -> list[KnownFile]:
    """Return each file once, latest changed first; ``changes`` are newest first.

    One file counts once however its path was recorded: absolute, or relative to the session's folder.
    """
    by_file: dict[str, list[SessionChange]] = {}
    for one in changes:
        by_file.setdefault(absolute_path(one.path, one.session), []).append(one)
    return [
        KnownFile(found[0].shown, found[0], len(found), sum(len(one.changes) for one in found))
        for found in by_file.values()
    ]


def absolute_path(path: str, session: Session) -> str:
    """Return a recorded path as an absolute one where the session's folder is known, without ``.`` and ``..``."""
    return os.path.normpath(os.path.join(session.workspace or "", path))  # noqa: PTH118  (asked for every change)

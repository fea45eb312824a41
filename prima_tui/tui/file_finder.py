"""What the file history screen asks of the memory: blocking questions for threads, and the files read lately."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from prima_tui.model.hits import Cancel
from prima_tui.model.session import ToolUse
from prima_tui.search.changed_files import (
    FilePlace,
    KnownFile,
    SessionChange,
    absolute_path,
    known_files,
)
from prima_tui.search.file_text import file_on_disk
from prima_tui.tui.blame_rows import BlameView, blame_view
from prima_tui.tui.document import Document
from prima_tui.tui.file_document import change_document

if TYPE_CHECKING:
    from prima_tui.memory import Memory

_KEPT_VIEWS = 8


class Found(NamedTuple):
    """What a typed path leads to."""

    place: FilePlace
    changes: Sequence[SessionChange]
    files: Sequence[KnownFile]
    first: int = 0
    """How many of the files, from the start, are of the session one came from."""
    sessions: int = 0
    """How many sessions made the changes."""


class FileFinder:
    """Finds files, their changes and their lines' authors. Every method may block: a screen calls them in threads."""

    def __init__(self, memory: Memory, first: Collection[str] = ()) -> None:
        """``first`` are absolute paths of files to list first: those of the session one came from."""
        self._memory = memory
        self._first = frozenset(first)
        self._views: dict[str, tuple[object, object, BlameView]] = {}

    def forget(self) -> None:
        """Read every file anew."""
        self._views.clear()

    def find(self, place: FilePlace, cancel: Cancel) -> Found:
        """Return the changes of files whose path contains what was typed. Raises Cancelled."""
        changes = self._memory.file_changes(place.part, cancel)
        files = known_files(changes)
        first = 0
        if not place.part and self._first:
            own = [file for file in files if self._is_first(file)]
            first = len(own)
            files = own + [file for file in files if not self._is_first(file)]
        return Found(place, changes, files, first, len({one.session.key for one in changes}))

    def _is_first(self, file: KnownFile) -> bool:
        """Whether the session one came from changed the file."""
        return absolute_path(file.last.path, file.last.session) in self._first

    def path_of(self, found: Found) -> str:
        """Return the file that is meant: of that very path on the disk, else the latest changed one that fits."""
        part = found.place.part
        if path := file_on_disk(part, self._memory.scope.workspace):
            return path
        fits = [file for file in found.files if f"/{file.shown}".endswith("/" + part.lstrip("/"))] or found.files
        return absolute_path(fits[0].last.path, fits[0].last.session) if fits else ""

    def edited(self, place: FilePlace, cancel: Cancel) -> str:
        """Return the path of the file in which an edit wrote the text, "" for none. Raises Cancelled."""
        return self._memory.edited_file(place.part, place.text, cancel)

    def document(self, change: SessionChange) -> tuple[Document, int | None]:
        """Return the changes of a session as a document, and the place of the exchange with the latest."""
        tools: Sequence[Sequence[ToolUse]] = self._memory.tools(change.session)
        return change_document(change, tools)

    def view(self, path: str, report: Callable[[int, int], None], cancel: Cancel) -> BlameView:
        """Return a file with its authors, kept until the file or the history changes. Raises Cancelled."""
        stamp: object = None
        try:
            state = os.stat(path)  # noqa: PTH116  (a path that may hold anything)
            stamp = (state.st_mtime_ns, state.st_size)
        except (OSError, ValueError):
            pass
        sessions = self._memory.snapshot().sessions
        kept = self._views.get(path)
        if kept is not None and kept[0] == stamp and kept[1] is sessions:
            return kept[2]
        view = blame_view(self._memory.blame(path, report, cancel))
        while len(self._views) >= _KEPT_VIEWS:
            self._views.pop(next(iter(self._views)))
        self._views[path] = (stamp, sessions, view)
        return view

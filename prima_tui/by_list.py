"""One list of all sessions, from what was kept of the last one: each is made, put into the shape it is wanted in, left.

Of a hundred thousand sessions one is in memory at a time. Where too much changed, everything is read as ever.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypeVar

import msgspec

from prima_tui.by_word import ByWord
from prima_tui.last_list import LastHistory
from prima_tui.model.hits import Snapshot
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.query import is_hidden
from prima_tui.model.session import Session
from prima_tui.search.library import Entry, Library, build_library, newest_first
from prima_tui.sources.base import KnownFile, SourceFile
from prima_tui.upkeep import are_few

Shown = TypeVar("Shown")


class _Change(msgspec.Struct, frozen=True):
    """What changed since the list was kept."""

    known: dict[str, KnownFile]
    """The files as they are now."""
    made: Sequence[Entry] = ()
    """The sessions that it concerns, newest first, as they are now."""
    concerned: Set[str] = frozenset()
    """Paths of files: a session that was read from one of them is not as it was."""


class ByList(ByWord):
    """Keeps the history for lists that are printed too."""

    def each_listed(self, shape: Callable[[Session], Shown]) -> tuple[list[Shown], Snapshot]:
        """Look at the files and return every session that lists show, newest first, in the shape that it is wanted in.

        The snapshot tells no sessions when they came one by one. Without anything kept it is what :meth:`refresh` does.
        """
        with self._refreshing:
            if not self._known and not self._snapshot.complete and self._has_catalog():
                self._forgotten_version = self._forgotten.look()
                # what is damaged is told when it is looked at
                with contextlib.suppress(ValueError, msgspec.MsgspecError):
                    if (found := self._from_last(shape)) is not None:
                        return found
        snapshot = self.refresh()
        return list(map(shape, snapshot.sessions)), snapshot

    def _from_last(self, shape: Callable[[Session], Shown]) -> tuple[list[Shown], Snapshot] | None:
        """Take the sessions of the last time, those that a change concerns as they are now; None where that can't be.

        Raises ValueError when the list is damaged.
        """
        last = self._last.load()
        if last is None:
            return None
        shaped: list[Shown | None] = []
        paths: list[tuple[str, ...]] = []
        for place in range(len(last)):
            session = last.entry(place).session
            shaped.append(_shaped(session, shape))
            paths.append(session.paths)
        # the files were being listed until now
        files = self._list().files
        change = self._change_since(last, files)
        if change is None:
            return None
        rows = _in_order(last, paths, change)
        each = [shaped[row] if isinstance(row, int) else _shaped(row.session, shape) for row in rows]
        shown = [one for one in each if one is not None]
        with self._loading:
            self._known = change.known
            self._unloaded = dict(change.known)
            self.library = Library(OnDemand(len(rows), lambda row: _entry(last, rows[row])))
        count = len(files)
        self._snapshot = Snapshot((), count, count, False, tuple(self._all_warnings()), len(rows) - len(shown))
        return shown, self._snapshot

    def _change_since(self, last: LastHistory, files: Mapping[str, SourceFile]) -> _Change | None:
        """Return what changed in the files; None where it is too much, or can't be told."""
        known = {one.file.path: one for one in last.files}
        changed = [file for path, file in files.items() if path not in known or known[path].file != file]
        gone = [path for path in known if path not in files]
        if not changed and not gone:
            return _Change(known)
        if not are_few(changed, gone):
            return None
        read = self._read_change(changed, gone, known)
        if read is None:
            return None
        made = build_library(self._assembler.assemble(read.readings), self._part).entries
        return _Change(read.known, made, read.concerned)


def _in_order(last: LastHistory, paths: Sequence[Sequence[str]], change: _Change) -> list[int | Entry]:
    """Return the sessions as they are now, newest first: places in the list of the last time, and those made anew."""
    if not change.concerned:
        return list(range(len(last)))
    rows: list[int | Entry] = [place for place, some in enumerate(paths) if change.concerned.isdisjoint(some)]

    def is_older(row: int | Entry, one: Entry) -> bool:
        session = row.session if isinstance(row, Entry) else last.entry(row).session
        return newest_first(session) < newest_first(one.session)

    for one in change.made:
        rows.insert(bisect_left(rows, True, key=lambda row, one=one: is_older(row, one)), one)  # type: ignore[misc]
    return rows


def _shaped(session: Session, shape: Callable[[Session], Shown]) -> Shown | None:
    return None if is_hidden(session) else shape(session)


def _entry(last: LastHistory, row: int | Entry) -> Entry:
    return last.entry(row).unloaded() if isinstance(row, int) else row

"""Keeping a history up to date with the files: what is new, grown, shrunk, replaced or gone.

Nothing is done twice: while no file changed, the sessions are those of the last time; the catalog saves the reading of
what did not change; the rest is read newest first. The database is loaded only when one of these needs it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

import msgspec

from prima_tui.known_files import FEW_BYTES, KnownFiles
from prima_tui.last_list import LastList
from prima_tui.listing import Lister, Listing, Problems
from prima_tui.model.hits import Cancel, Snapshot
from prima_tui.model.query import is_hidden
from prima_tui.related import related_files, summaries_cross
from prima_tui.search.library import build_library, merged, numbered
from prima_tui.sources.assemble import Assembler
from prima_tui.sources.base import KnownFile, SourceFile
from prima_tui.sources.reading import FileReading, FileTexts
from prima_tui.startup_log import StartupLog, warning_lines

_REPORT_SECONDS = 0.25
_REPORT_TIMES = 5
"""A report of many sessions takes its time: the pause before the next one is so many times longer."""
_STORE_SECONDS = 2.0
FEW_FILES = 200
"""After a change of no more only the sessions that it concerns are put together anew."""
_KEEP_SECONDS = 60.0
"""While files change again and again, the list for the next start is written at most so often."""


class ReadChange(msgspec.Struct, frozen=True):
    """What was read of a few files that changed."""

    batch: Sequence[FileTexts]
    """The changed files with their texts."""
    readings: Sequence[FileReading]
    """All files whose sessions the change concerns."""
    concerned: Set[str]
    """Paths of files: a session that was read from one of them is not as it was."""
    known: dict[str, KnownFile]
    """Every file as it is now."""


class Upkeep(KnownFiles):
    """Keeps the sessions of one scope as the files are.

    Safe to use from several threads; one refresh runs at a time.
    """

    def __init__(self, lister: Lister, catalog: Path, last: LastList, log: StartupLog) -> None:
        super().__init__(catalog, log, lister.forgotten)
        self.scope = lister.scope
        self._lister = lister
        self._last = last
        self._unkept = False
        self._kept_at = -_KEEP_SECONDS
        self._sources = lister.sources
        self._assembler = Assembler(lister.scope, self._sources)
        self._first: list[FileTexts] = []
        """The newest files, read before anything else; the catalog doesn't have them yet."""
        self._listed: Problems = {}
        self._refreshing = threading.Lock()

    @property
    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self._snapshot

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The ids of all sources, those of other packages among them."""
        return tuple(self._sources)

    def glance(self) -> None:
        """Read the newest few files, where nothing is known from an earlier time: then a list has its first sessions.

        For a first start, while the screen is still being loaded.
        """
        with self._refreshing:
            if self._known or self._snapshot.complete or self._has_catalog():
                return
            self._forgotten_version = self._forgotten.look()
            files = self._list().files
            newest = sorted(files.values(), key=age)
            first = next(iter(self._backlog.batches(newest, Cancel())), [])
            self._first = first
            with self._loading:
                for texts in first:
                    self._remember(texts.reading)
            self._publish(len(first), len(files), None)

    def refresh(self, report: Callable[[Snapshot], None] | None = None, cancel: Cancel | None = None) -> Snapshot:
        """Look at every file of the scope and read what changed; return the sessions as they are now.

        ``report`` is called now and then while a backlog is read. When cancelled the rest stays for the next call.
        """
        cancel = cancel or Cancel()
        with self._refreshing:
            if report and self._first:
                report(self._snapshot)
            self._store_waiting()
            if self._forgotten_version != self._forgotten.look():
                self._read_again()
            whole = self._snapshot.complete or self._take_over()
            files = self._list().files
            changed = [file for file in files.values() if not self._is_current(file)]
            gone = [path for path in self._known if path not in files]
            if not changed and not gone and whole:
                return self._snapshot if self._snapshot.complete else self._show(len(files), len(files), report)
            if whole and self._patch(changed, gone):
                return self._show(len(files), len(files), report)
            if len(self._readings) < len(self._known):
                changed = list(files.values())
            self._let_go(gone)
            self._recall(changed)
            waiting = sorted((file for file in changed if not self._is_read(file)), key=age)
            if not waiting and not self._first:
                return self._publish(len(files), len(files), report)
            self._read(waiting, len(files), report, cancel)
            left = sum(not self._is_read(file) for file in files.values())
            return self._publish(len(files) - left, len(files), report)

    def _take_over(self) -> bool:
        """Have the sessions as they were made the last time, if nothing is known yet; their texts are in the catalog.

        Returns whether there are any: what changed since is up to the caller.
        """
        if self._known or not self._has_catalog():
            return False
        last = self._last.load()
        self._last.release()
        if last is None:
            return False
        try:
            known, library = {one.file.path: one for one in last.files}, last.library()
        except ValueError:
            return False
        with self._loading:
            self._known = known
            self._unloaded = dict(self._known)
            self.library = library
        self._kept_at = time.monotonic()
        return True

    def _patch(self, changed: Sequence[SourceFile], gone: Sequence[str]) -> bool:
        """Make anew only the sessions that the change of a few files concerns; False: all are to be made anew.

        The library must be that of all known files. The catalog takes what was read later: nobody waits for that.
        """
        if not are_few(changed, gone):
            return False
        batch = self._backlog.read(sorted(changed, key=age))
        readings = [texts.reading for texts in batch]
        whole = self._with_related(readings, gone, self._known)
        if whole is None:
            self._first += batch
            for texts in batch:
                self._remember(texts.reading)
            return False
        readings, related = whole
        with self._loading:
            self._let_go(gone)
            for texts in batch:
                self._remember(texts.reading)
                self._waiting[texts.reading.file.path] = texts
            self._add_messages(batch)
            made = build_library(self._assembler.assemble(readings), self._part, self.library)
            concerned = related.union(gone, (file.path for file in changed))
            self.library = merged(self.library, made, concerned)
            self._leave_out()
        return True

    def _with_related(
        self, readings: Sequence[FileReading], gone: Sequence[str], before: Mapping[str, KnownFile]
    ) -> tuple[list[FileReading], set[str]] | None:
        """Return the readings of changed files, with those of the files whose sessions the change concerns, and which.

        ``before`` are the files as they were known. None where they are too many, or can't be told.
        """
        related = related_files(readings, gone, before, self._sources)
        if related is None or len(related) > FEW_FILES:
            return None
        whole = [*readings, *self._current_readings(before[path].file for path in related)]
        return None if summaries_cross(whole, gone, before) else (whole, related)

    def _read_change(
        self, changed: Sequence[SourceFile], gone: Sequence[str], before: Mapping[str, KnownFile]
    ) -> ReadChange | None:
        """Read changed files and the others that this concerns; None where they are too many, or can't be told."""
        batch = self._backlog.read(sorted(changed, key=age))
        whole = self._with_related([texts.reading for texts in batch], gone, before)
        if whole is None:
            return None
        readings, related = whole
        known = {**before, **{texts.reading.file.path: texts.reading.known for texts in batch}}
        for path in gone:
            del known[path]
        return ReadChange(batch, readings, related.union(gone, (file.path for file in changed)), known)

    def _list(self) -> Listing:
        listing = self._lister.list()
        self._listed = listing.problems
        return listing

    def _read(
        self, waiting: Sequence[SourceFile], total: int, report: Callable[[Snapshot], None] | None, cancel: Cancel
    ) -> None:
        unkept, self._first = self._first, []
        stored = time.monotonic()
        left, report_at = len(waiting), 0.0
        if report and self._readings:
            self._publish(total - left, total, report)
        for batch in self._backlog.batches(waiting, cancel):
            with self._loading:
                for texts in batch:
                    self._remember(texts.reading)
            left -= len(batch)
            if report and time.monotonic() >= report_at:
                began = time.monotonic()
                self._publish(total - left, total, report)
                took = time.monotonic() - began
                report_at = began + took + max(_REPORT_SECONDS, _REPORT_TIMES * took)
            self._add_messages(batch)
            unkept += batch
            if time.monotonic() - stored >= _STORE_SECONDS:
                self._store(unkept)
                unkept = []
                stored = time.monotonic()
            if cancel.cancelled:
                break
        self._store(unkept)

    def _publish(self, done: int, total: int, report: Callable[[Snapshot], None] | None) -> Snapshot:
        """Put the sessions together from what was read, and show them."""
        assembled = self._assembler.assemble(list(self._readings.values()))
        library = None
        if done >= total and "columns" in vars(self.library):
            # somebody searches: what that needs is made now, not in the answer to a key
            library = build_library(assembled, self._part, self.library)
            library.columns.make_ready()
        with self._loading:
            if library is not None:
                self.library = numbered(library, self._part)  # messages may have been loaded meanwhile
            else:
                self.library = build_library(assembled, self._part, self.library)
            self._leave_out()
        return self._show(done, total, report)

    def _show(self, done: int, total: int, report: Callable[[Snapshot], None] | None) -> Snapshot:
        warnings = self._all_warnings()
        sessions = tuple(entry.session for entry in self.library.entries if not is_hidden(entry.session))
        hidden = len(self.library.entries) - len(sessions)
        self._snapshot = Snapshot(sessions, done, total, done >= total, tuple(warnings), hidden)
        if self._readings and self._snapshot.complete:
            self._unkept = True
            if time.monotonic() - self._kept_at >= _KEEP_SECONDS:
                self._keep()
        if report:
            report(self._snapshot)
        return self._snapshot

    def _all_warnings(self) -> list[str]:
        """Return everything that could not be listed, read or loaded, a line each; the startup log has them too."""
        warnings = [line for lines in self._warnings().values() for line in lines]
        warnings += warning_lines("sources", self._lister.problems)
        self._log.note(warnings)
        return warnings

    def _keep(self) -> None:
        """Keep the list for the next start."""
        if self._unkept and self._all_stored and self._snapshot.complete and not self._waiting:
            self._unkept = False
            self._last.keep(self._known.values(), self.library)
            self._kept_at = time.monotonic()

    def _warnings(self) -> dict[str, list[str]]:
        """Return for each source what could not be listed or read, a line each."""
        problems = {source: list(self._listed.get(source, ())) for source in self._sources}
        for known in self._troubled():
            if known.file.source in problems:
                problems[known.file.source] += known.problems
        return {source: warning_lines(source, found) for source, found in problems.items()}


def are_few(changed: Sequence[SourceFile], gone: Sequence[str]) -> bool:
    """Tell whether so little changed that only the sessions concerned are put together anew."""
    return len(changed) + len(gone) <= FEW_FILES and sum(file.size for file in changed) <= FEW_BYTES


def age(file: SourceFile) -> int:
    """Return a sort key: what was written last comes first."""
    return -file.mtime_ns

"""Keeping a history up to date with the files: what is new, grown, shrunk, replaced or gone.

Nothing is done twice: while no file changed, the sessions are those of the last time; the catalog saves the reading of
what did not change; the rest is read newest first. The database is loaded only when one of these needs it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from prima_tui.backlog import Backlog
from prima_tui.forgotten import Forgotten
from prima_tui.last_list import LastHistory, LastList
from prima_tui.model.hits import Cancel, Snapshot
from prima_tui.model.query import is_hidden
from prima_tui.search.library import Library, build_library, numbered
from prima_tui.sources.assemble import Assembler
from prima_tui.sources.base import KnownFile, Problem, Scope, Source, SourceFile
from prima_tui.sources.reading import FileReading, FileTexts
from prima_tui.sources.registry import all_sources
from prima_tui.startup_log import StartupLog, warning_lines

if TYPE_CHECKING:
    from prima_tui.index.catalog import Catalog
    from prima_tui.index.messages import MessageTable

_REPORT_SECONDS = 0.25
_REPORT_TIMES = 5
"""A report of many sessions takes its time: the pause before the next one is so many times longer."""
_STORE_SECONDS = 2.0
_KEEP_SECONDS = 60.0
"""While files change again and again, the list for the next start is written at most so often."""


class Upkeep:
    """Keeps the sessions of one scope as the files are.

    Safe to use from several threads; one refresh runs at a time.
    """

    def __init__(self, scope: Scope, catalog: Path, last: LastList, log: StartupLog, forgotten: Forgotten) -> None:
        self.scope = scope
        self._forgotten = forgotten
        self._forgotten_version = 0
        self._cut: set[str] = set()
        self._last = last
        self._unkept = False
        self._all_stored = True
        """Whether the catalog took all that was read: else it has to be read again at the next start."""
        self._kept_at = -_KEEP_SECONDS
        self.library = Library()
        self._log = log
        self._catalog_path = catalog
        self._backlog = Backlog(self._without_forgotten, self._note)
        self._plug_in_problems: list[Problem] = []
        self._sources: dict[str, Source] = {source.id: source for source in all_sources(self._plug_in_problems)}
        self._assembler = Assembler(scope, self._sources)
        self._known: dict[str, KnownFile] = {}
        """The files that the library is made of, by path."""
        self._first: list[FileTexts] = []
        """The newest files, read before anything else; the catalog doesn't have them yet."""
        self._readings: dict[str, FileReading] = {}
        """What was read of them, once something changed: while nothing did, the library comes from the last time."""
        self._listed: dict[str, list[Problem]] = {}
        self._unloaded: dict[str, KnownFile] = {}
        """Files whose messages are not in the table."""
        self._table: MessageTable | None = None
        self._refreshing = threading.Lock()
        self._loading = threading.RLock()
        self._snapshot = Snapshot()

    @property
    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self._snapshot

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The ids of all sources, those of other packages among them."""
        return tuple(self._sources)

    @property
    def table(self) -> MessageTable:
        """The messages, as far as they were loaded."""
        with self._loading:
            if self._table is None:
                from prima_tui.index.messages import MessageTable

                self._table = MessageTable()
            return self._table

    @cached_property
    def _catalog(self) -> Catalog:
        from prima_tui.index.catalog import Catalog

        return Catalog(self._catalog_path, self._note, self._is_unwanted)

    def _note(self, line: str) -> None:
        self._log.note([line])

    def glance(self) -> None:
        """Read the newest few files, where nothing is known from an earlier time: then a list has its first sessions.

        For a first start, while the screen is still being loaded.
        """
        with self._refreshing:
            if self._known or self._snapshot.complete or self._has_catalog():
                return
            self._forgotten_version = self._forgotten.look()
            files = self._list()
            newest = sorted(files.values(), key=_age)
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
            if self._forgotten_version != self._forgotten.look():
                self._read_again()
            files = self._list()
            if not self._known and not self._snapshot.complete and (last := self._unchanged(files)):
                return self._take_over(last, report)
            changed = [file for file in files.values() if not self._is_current(file)]
            gone = [path for path in self._known if path not in files]
            if not changed and not gone and self._snapshot.complete:
                return self._snapshot
            if len(self._readings) < len(self._known):
                changed = list(files.values())
            self._let_go(gone)
            self._recall(changed)
            waiting = sorted((file for file in changed if not self._is_read(file)), key=_age)
            if not waiting and not self._first:
                return self._publish(len(files), len(files), report)
            self._read(waiting, len(files), report, cancel)
            left = sum(not self._is_read(file) for file in files.values())
            return self._publish(len(files) - left, len(files), report)

    def _unchanged(self, files: Mapping[str, SourceFile]) -> LastHistory | None:
        """Return what was kept the last time, if these are the very files; their texts must be in the catalog."""
        last = self._last.load() if self._has_catalog() else None
        self._last.release()
        return last if last is not None and last.is_of(files) else None

    def _take_over(self, last: LastHistory, report: Callable[[Snapshot], None] | None) -> Snapshot:
        """Have the sessions as they were made the last time."""
        with self._loading:
            self._known = {one.file.path: one for one in last.files}
            self._unloaded = dict(self._known)
            self.library = last.library()
        return self._show(len(self._known), len(self._known), report)

    def _has_catalog(self) -> bool:
        """Tell whether there is a catalog to ask, without loading the database; False where it may not be seen."""
        try:
            return self._catalog_path.exists()
        except OSError:
            return False

    def _recall(self, files: Sequence[SourceFile]) -> None:
        """Take what the catalog knows of files in just this state."""
        if not self._has_catalog():
            return
        known = self._catalog.load(files)
        with self._loading:
            for reading in known:
                if not self._forgotten.touches(reading):
                    self._remember(reading)

    def _remember(self, reading: FileReading) -> None:
        """Have a file's reading; its messages are not in the table yet."""
        path = reading.file.path
        self._readings[path] = reading
        self._known[path] = self._unloaded[path] = reading.known

    def _let_go(self, paths: Iterable[str]) -> None:
        paths = list(paths)
        for path in paths:
            self._known.pop(path, None)
            self._readings.pop(path, None)
            self._unloaded.pop(path, None)
        if paths and self._table is not None:
            self._table.remove(paths)

    def load_messages(self) -> None:
        """Have every known message in the table: lists don't need them, so they come with the first words searched."""
        with self._loading:
            waiting = list(self._unloaded.values())
            if not waiting and "_catalog" not in vars(self):
                return  # what was kept is in the table
            if waiting:
                self.table.reserve((one.file.path, one.transcripts) for one in waiting)
            for known in self._catalog.load_messages(waiting, self.table, list(self._known.values())):
                texts = self._backlog.read([known.file])
                self.table.add(((one.reading.file.path, one.messages) for one in texts), reserved=True)
            if not waiting:
                return
            for known in waiting:
                del self._unloaded[known.file.path]
            self.library = numbered(self.library, self.table.part)
            self._leave_out()

    def _read_again(self) -> None:
        """Let go of every file that the list of what is forgotten is about, or was."""
        self._forgotten_version = self._forgotten.version
        if self._known:
            self._let_go(
                [
                    path
                    for path, one in self._all_readings().items()
                    if path in self._cut or self._forgotten.touches(one)
                ]
            )
        self._cut.clear()
        self._snapshot = msgspec.structs.replace(self._snapshot, complete=False)

    def _all_readings(self) -> dict[str, FileReading]:
        """Return what was read of every known file; for those that were taken over it is looked up, or read again."""
        missing = {path: one.file for path, one in self._known.items() if path not in self._readings}
        if missing:
            for reading in self._catalog.load(list(missing.values())):
                self._readings[reading.file.path] = reading
                del missing[reading.file.path]
            for texts in self._backlog.read(list(missing.values())):
                self._readings[texts.reading.file.path] = texts.reading
        return self._readings

    def _is_unwanted(self, reading: FileReading) -> bool:
        self._forgotten.look()
        return reading.file.path in self._cut or self._forgotten.touches(reading)

    def _without_forgotten(self, texts: FileTexts) -> FileTexts:
        kept = self._forgotten.without(texts)
        if kept is not texts:
            self._cut.add(texts.reading.file.path)
        return kept

    def _is_current(self, file: SourceFile) -> bool:
        known = self._known.get(file.path)
        return known is not None and known.file == file

    def _is_read(self, file: SourceFile) -> bool:
        reading = self._readings.get(file.path)
        return reading is not None and reading.file == file

    def _list(self) -> dict[str, SourceFile]:
        files: dict[str, SourceFile] = {}
        self._listed = {}
        for source in self._sources.values():
            problems: list[Problem] = []
            try:
                for file in source.files(self.scope, problems):
                    if not self._forgotten.holds_file(file.path):
                        files[file.path] = file
            except Exception as error:  # a fault of one source must not cost the others
                problems.append(Problem(f"can't be listed: {type(error).__name__}: {error}"[:200], source.id))
            self._listed[source.id] = problems
        return files

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

    def _add_messages(self, batch: Sequence[FileTexts]) -> None:
        """Put messages into the table, once somebody searched: before that they can come from the catalog."""
        with self._loading:
            if self._table is not None:
                self._table.add((texts.reading.file.path, texts.messages) for texts in batch)
                for texts in batch:
                    del self._unloaded[texts.reading.file.path]

    def _store(self, batch: Sequence[FileTexts]) -> None:
        if not self._catalog.store(batch):
            self._all_stored = False

    def _publish(self, done: int, total: int, report: Callable[[Snapshot], None] | None) -> Snapshot:
        """Put the sessions together from what was read, and show them."""
        assembled = self._assembler.assemble(list(self._readings.values()))
        with self._loading:
            self.library = build_library(assembled, self._part, self.library)
            self._leave_out()
        return self._show(done, total, report)

    def _part(self, path: str, number: int) -> int | None:
        return None if self._table is None else self._table.part(path, number)

    def _leave_out(self) -> None:
        if self._table is not None:
            self._table.leave_out(
                (number, part.left_out)
                for entry in self.library.entries
                for number, part in zip(entry.numbers, entry.parts, strict=True)
                if part.left_out and number >= 0
            )

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
        warnings += warning_lines("sources", self._plug_in_problems)
        self._log.note(warnings)
        return warnings

    def _keep(self) -> None:
        """Keep the list for the next start."""
        if self._unkept and self._all_stored and self._snapshot.complete:
            self._unkept = False
            self._last.keep(self._known.values(), self.library)
            self._kept_at = time.monotonic()

    def _warnings(self) -> dict[str, list[str]]:
        """Return for each source what could not be listed or read, a line each."""
        problems = {source: list(self._listed.get(source, ())) for source in self._sources}
        for known in self._known.values():
            if known.problems and known.file.source in problems:
                problems[known.file.source] += known.problems
        return {source: warning_lines(source, found) for source, found in problems.items()}


def _age(file: SourceFile) -> int:
    return -file.mtime_ns

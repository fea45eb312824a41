"""The files of one scope as far as they were read, and where their texts are: in catalog, table, or on the disk only.

The database is loaded only when something is asked of it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from prima_tui.backlog import Backlog
from prima_tui.forgotten import Forgotten
from prima_tui.model.hits import Snapshot
from prima_tui.model.session import Exchange
from prima_tui.search.library import Library, numbered
from prima_tui.sources.base import KnownFile, SourceFile
from prima_tui.sources.reading import FileReading, FileTexts, unpack_exchanges
from prima_tui.startup_log import StartupLog

if TYPE_CHECKING:
    from prima_tui.index.catalog import Catalog
    from prima_tui.index.messages import MessageTable

FEW_BYTES = 8 * 1024 * 1024
"""So much is read sooner than the catalog is asked for it."""


_READ_BYTES = 4 * 1024 * 1024
"""So much of files is read in less time than the database takes to be loaded and asked."""


class KeptFiles(msgspec.Struct, frozen=True):
    """Files that were kept: thousands of them, of which a search by word needs none."""

    every: Callable[[], Sequence[KnownFile]]
    troubled: tuple[KnownFile, ...]
    """Those of which something could not be read."""


class KnownFiles:
    """What is known of files, and the sessions that were made of them."""

    def __init__(self, catalog: Path, log: StartupLog, forgotten: Forgotten) -> None:
        self._forgotten = forgotten
        self._forgotten_version = 0
        self._cut: set[str] = set()
        self._all_stored = True
        """Whether the catalog took all that was read: else it has to be read again at the next start."""
        self.library = Library()
        self._log = log
        self._catalog_path = catalog
        self._backlog = Backlog(self._without_forgotten, self._note)
        self._files: dict[str, KnownFile] = {}
        self._kept: KeptFiles | None = None
        """Those files as long as nobody asked for one of them."""
        self._waiting: dict[str, FileTexts] = {}
        """What the catalog is still to take, by path."""
        self._readings: dict[str, FileReading] = {}
        """What was read of them, once something changed: while nothing did, the library comes from the last time."""
        self._unloaded: dict[str, KnownFile] = {}
        """Files whose messages are not in the table."""
        self._table: MessageTable | None = None
        self._loading = threading.RLock()
        self._snapshot = Snapshot()

    @property
    def _known(self) -> dict[str, KnownFile]:
        """The files that the library is made of, by path. Raises StoreUnusable when what was kept is damaged."""
        with self._loading:
            if self._kept is not None:
                self._files, self._kept = {one.file.path: one for one in self._kept.every()}, None
            return self._files

    @_known.setter
    def _known(self, files: dict[str, KnownFile]) -> None:
        self._files, self._kept = files, None

    def _troubled(self) -> Iterable[KnownFile]:
        """Return the files of which something could not be read."""
        kept = self._kept
        return kept.troubled if kept is not None else [one for one in self._files.values() if one.problems]

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
            self._waiting.pop(path, None)
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
                self._unloaded.pop(known.file.path, None)
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

    def _current_readings(self, files: Iterable[SourceFile]) -> list[FileReading]:
        """Return what is in files in a state that is known."""
        files = list(files)
        found = [self._readings[file.path] for file in files if self._is_read(file)]
        files = [file for file in files if not self._is_read(file)]
        if sum(file.size for file in files) > FEW_BYTES:
            found += [one for one in self._catalog.load(files) if not self._forgotten.touches(one)]
            there = {one.file.path for one in found}
            files = [file for file in files if file.path not in there]
        return found + [texts.reading for texts in self._backlog.read(files)]

    def exchanges(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        """Return the exchanges of (path, transcript number) pairs: from the catalog, else from the files themselves.

        What can be had from neither is left out.
        """
        pairs = list(dict.fromkeys(wanted))
        found = self._indexed_exchanges(pairs)
        if len(found) == len(pairs):
            return found
        pairs = [pair for pair in pairs if pair[0] in self._known]
        files = {path: self._known[path].file for path, number in pairs if (path, number) not in found}
        if "_catalog" not in vars(self) and sum(file.size for file in files.values()) <= _READ_BYTES:
            found |= self._read_exchanges(files.values())
        if missing := [pair for pair in pairs if pair not in found]:
            found |= self._catalog.exchanges((files[path], number) for path, number in missing)
            found |= self._read_exchanges(
                {path: files[path] for path, number in missing if (path, number) not in found}.values()
            )
        return found

    def _indexed_exchanges(self, pairs: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        """Return the exchanges that word indexes hold."""
        found: dict[tuple[str, int], tuple[Exchange, ...]] = {}
        if self._table is None:
            return found
        for path, number in pairs:
            if packed := self._table.exchanges(path, number):
                with contextlib.suppress(ValueError):
                    found[path, number] = unpack_exchanges(packed)
        return found

    def _read_exchanges(self, files: Iterable[SourceFile]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        return {
            (texts.reading.file.path, number): unpack_exchanges(packed)
            for texts in self._backlog.read(list(files))
            for number, packed in enumerate(texts.exchanges)
        }

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

    def _add_messages(self, batch: Sequence[FileTexts]) -> None:
        """Put messages into the table, once somebody searched: before that they can come from the catalog."""
        with self._loading:
            if self._table is not None:
                self._table.add((texts.reading.file.path, texts.messages) for texts in batch)
                for texts in batch:
                    # a search may have loaded them meanwhile, from the file
                    self._unloaded.pop(texts.reading.file.path, None)

    def _store(self, batch: Sequence[FileTexts]) -> None:
        if not self._catalog.store(batch):
            self._all_stored = False

    def _store_waiting(self) -> None:
        """Have the catalog take what was read when somebody waited for the sessions."""
        if self._waiting:
            waiting, self._waiting = list(self._waiting.values()), {}
            self._store(waiting)

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

"""The history in scope, kept up to date with the files: what is new, grown, shrunk, replaced or gone.

The catalog saves the reading of what did not change. A large backlog is read in other processes, newest first, so
that the screen has its first sessions at once and never waits for a parser.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from prima_tui.extracts import is_substantial
from prima_tui.forgotten import Forgotten
from prima_tui.index.catalog import Catalog
from prima_tui.index.messages import MessageTable
from prima_tui.index.tool_store import Blocks
from prima_tui.index.update import FileShare
from prima_tui.last_list import LastList
from prima_tui.model.hits import Cancel, Snapshot, SourceStatus
from prima_tui.model.query import is_hidden
from prima_tui.model.session import Exchange, Session, ToolUse
from prima_tui.search.library import Entry, Library, build_library
from prima_tui.sources.assemble import assemble
from prima_tui.sources.base import Problem, Scope, Source, SourceFile
from prima_tui.sources.reading import FileReading, FileTexts, read_files, unpack_exchanges
from prima_tui.sources.reading_tools import FileTools, TranscriptTools
from prima_tui.sources.registry import all_sources
from prima_tui.sources.worker import ReadingProcesses, WorkerFailed
from prima_tui.startup_log import StartupLog, warning_lines
from prima_tui.tool_history import ToolHistory

_FIRST_BYTES = 1024 * 1024
"""Read in this process before anything else, so that the newest sessions are there at once."""
_BATCH_BYTES = 8 * 1024 * 1024
_POOL_BYTES = 24 * 1024 * 1024
"""From this backlog on other processes pay for their start."""
_REPORT_SECONDS = 0.25
_STORE_SECONDS = 2.0


class History:
    """The sessions of one scope and their messages. Safe to use from several threads; one refresh runs at a time."""

    def __init__(self, scope: Scope, catalog: Path, last: LastList, log: StartupLog, forgotten: Forgotten) -> None:
        self.scope = scope
        self._forgotten = forgotten
        self._forgotten_version = 0
        self._cut: set[str] = set()
        self._last = last
        self.library = Library()
        self.table = MessageTable()
        self._log = log
        self._catalog = Catalog(catalog, lambda line: log.note([line]), self._is_unwanted)
        self._tools = ToolHistory(self._catalog.tools, self._known_tools, lambda line: log.note([line]))
        self._plug_in_problems: list[Problem] = []
        self._sources: dict[str, Source] = {source.id: source for source in all_sources(self._plug_in_problems)}
        self._readings: dict[str, FileReading] = {}
        self._listed: dict[str, list[Problem]] = {}
        self._unloaded: dict[str, FileReading] = {}
        self._refreshing = threading.Lock()
        self._loading = threading.Lock()
        self._snapshot = Snapshot()

    @property
    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self._snapshot

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The ids of all sources, those of other packages among them."""
        return tuple(self._sources)

    # -- keeping up ---------------------------------------------------------------------------------------------

    def refresh(self, report: Callable[[Snapshot], None] | None = None, cancel: Cancel | None = None) -> Snapshot:
        """Look at every file of the scope and read what changed; return the sessions as they are now.

        ``report`` is called now and then while a backlog is read. When cancelled the rest stays for the next call.
        """
        cancel = cancel or Cancel()
        with self._refreshing:
            if self._forgotten_version != self._forgotten.look():
                self._read_again()
            files = self._list()
            changed = [file for file in files.values() if not self._is_current(file)]
            gone = [path for path in self._readings if path not in files]
            if not changed and not gone and self._snapshot.complete:
                return self._snapshot
            for path in gone:
                del self._readings[path]
                self._unloaded.pop(path, None)
            self.table.remove(gone)
            known = self._catalog.load(changed, self.table.connection)
            known = [reading for reading in known if not self._forgotten.touches(reading)]
            with self._loading:
                self.table.reserve((reading.file.path, len(reading.transcripts)) for reading in known)
                for reading in known:
                    self._readings[reading.file.path] = reading
                    self._unloaded[reading.file.path] = reading
            waiting = sorted(
                (file for file in changed if not self._is_current(file)), key=lambda file: file.mtime_ns, reverse=True
            )
            if not waiting:
                return self._publish(len(files), len(files), report)
            self._read(waiting, len(files), report, cancel)
            left = sum(not self._is_current(file) for file in files.values())
            return self._publish(len(files) - left, len(files), report)

    def load_messages(self) -> None:
        """Have every known message in the table: lists don't need them, so they come with the first words searched."""
        with self._loading:
            waiting = [reading for path, reading in list(self._unloaded.items()) if self._readings.get(path) is reading]
            for reading in self._catalog.load_messages(waiting, self.table):
                texts = self._read_files([reading.file])
                self.table.add(((one.reading.file.path, one.messages) for one in texts), reserved=True)
            for reading in waiting:
                if self._unloaded.get(reading.file.path) is reading:
                    del self._unloaded[reading.file.path]

    def _read_again(self) -> None:
        """Let go of every file that the list of what is forgotten is about, or was."""
        self._forgotten_version = self._forgotten.version
        again = [path for path, one in self._readings.items() if path in self._cut or self._forgotten.touches(one)]
        for path in again:
            del self._readings[path]
            self._unloaded.pop(path, None)
        self._cut.clear()
        self.table.remove(again)
        self._snapshot = msgspec.structs.replace(self._snapshot, complete=False)

    def _is_unwanted(self, reading: FileReading) -> bool:
        self._forgotten.look()
        return reading.file.path in self._cut or self._forgotten.touches(reading)

    def _read_files(self, files: Sequence[SourceFile]) -> list[FileTexts]:
        return [self._without_forgotten(texts) for texts in read_files(files)]

    def _without_forgotten(self, texts: FileTexts) -> FileTexts:
        kept = self._forgotten.without(texts)
        if kept is not texts:
            self._cut.add(texts.reading.file.path)
        return kept

    def _is_current(self, file: SourceFile) -> bool:
        known = self._readings.get(file.path)
        return known is not None and known.file == file

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
        unkept: list[FileTexts] = []
        reported = stored = time.monotonic()
        left = len(waiting)
        if report and self._readings:
            self._publish(total - left, total, report)
        for batch in self._batches(waiting, cancel):
            with self._loading:
                self.table.add((texts.reading.file.path, texts.messages) for texts in batch)
                for texts in batch:
                    self._readings[texts.reading.file.path] = texts.reading
                    self._unloaded.pop(texts.reading.file.path, None)
            unkept += batch
            left -= len(batch)
            now = time.monotonic()
            if report and (now - reported >= _REPORT_SECONDS or left == len(waiting) - len(batch)):
                self._publish(total - left, total, report)
                reported = time.monotonic()
            if now - stored >= _STORE_SECONDS:
                self._catalog.store(unkept)
                unkept = []
                stored = time.monotonic()
            if cancel.cancelled:
                break
        self._publish(total - left, total, report)
        self._catalog.store(unkept)

    def _batches(self, waiting: Sequence[SourceFile], cancel: Cancel) -> Iterator[list[FileTexts]]:
        batches = deque(_by_size(waiting))
        while batches and (len(batches) == 1 or _bytes(batches) < _POOL_BYTES or batches[0][0] is waiting[0]):
            if cancel.cancelled:
                return
            yield self._read_files(batches.popleft())
        if batches:
            yield from self._from_processes(batches, cancel)

    def _from_processes(self, batches: deque[list[SourceFile]], cancel: Cancel) -> Iterator[list[FileTexts]]:
        try:
            with ReadingProcesses(max(1, min(8, os.cpu_count() or 1))) as processes:
                for result in processes.results(batches):
                    yield [self._without_forgotten(texts) for texts in result]
                    if cancel.cancelled:
                        return
        except WorkerFailed as error:
            # no processes here (a sandbox, too little memory): read on in this one
            self._log.note([f"reading goes on in one process: {error}"])
            while batches and not cancel.cancelled:
                yield self._read_files(batches.popleft())

    def _publish(self, done: int, total: int, report: Callable[[Snapshot], None] | None) -> Snapshot:
        assembled = assemble(list(self._readings.values()), self.scope, self._sources)
        self.library = build_library(assembled, self.table.part, self.library)
        self.table.leave_out(
            (number, part.left_out)
            for entry in self.library.entries
            for number, part in zip(entry.numbers, entry.parts, strict=True)
            if part.left_out and number >= 0
        )
        warnings = [line for source in self._sources for line in self._warnings(source)]
        warnings += warning_lines("sources", self._plug_in_problems)
        self._log.note(warnings)
        sessions = tuple(entry.session for entry in self.library.entries if not is_hidden(entry.session))
        hidden = len(self.library.entries) - len(sessions)
        self._snapshot = Snapshot(sessions, done, total, done >= total, tuple(warnings), hidden)
        if self._snapshot.complete:
            self._last.keep(sessions)
        if report:
            report(self._snapshot)
        return self._snapshot

    def _warnings(self, source: str) -> list[str]:
        problems = list(self._listed.get(source, ()))
        for reading in self._readings.values():
            if reading.problems and reading.file.source == source:
                problems += reading.problems
        return warning_lines(source, problems)

    # -- what is in it ------------------------------------------------------------------------------------------

    def sources(self) -> tuple[SourceStatus, ...]:
        """Return each source with what was found of it in the scope."""
        files: dict[str, int] = defaultdict(int)
        sessions: dict[str, int] = defaultdict(int)
        for reading in self._readings.values():
            files[reading.file.source] += 1
        for entry in self.library.entries:
            sessions[entry.session.source] += 1
        return tuple(
            SourceStatus(
                source.id,
                any(root.exists() for root in source.roots(self.scope)),
                files[source.id],
                sessions[source.id],
                tuple(self._warnings(source.id)),
            )
            for source in self._sources.values()
        )

    def roots(self) -> list[Path]:
        """Return every folder where the sources look, whether it exists or not."""
        return [root for source in self._sources.values() for root in source.roots(self.scope)]

    def exchanges(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        """Return the exchanges of (path, transcript number) pairs: from the catalog, else from the files themselves.

        What can be had from neither is left out.
        """
        pairs = [(path, number) for path, number in dict.fromkeys(wanted) if path in self._readings]
        found = self._catalog.exchanges((self._readings[path].file, number) for path, number in pairs)
        missing = list(dict.fromkeys(path for path, number in pairs if (path, number) not in found))
        for texts in self._read_files([self._readings[path].file for path in missing]):
            for number, packed in enumerate(texts.exchanges):
                found[texts.reading.file.path, number] = unpack_exchanges(packed)
        return found

    def conversation(self, entry: Entry) -> tuple[Exchange, ...]:
        """Return all exchanges of a session, its parts one after the other, what two parts share once."""
        texts = self.exchanges((part.path, part.number) for part in entry.parts)
        exchanges: list[Exchange] = []
        for part in entry.parts:
            for place, exchange in enumerate(texts.get((part.path, part.number), ())):
                if place not in part.left_out:
                    exchanges.append(_in_agent(exchange, part.agent))
        return tuple(exchanges)

    def tool_texts(self, paths: Sequence[str], cancel: Cancel) -> Iterator[Blocks]:
        """Yield the searchable texts of the tools in files, in slices. Raises Cancelled when cancelled meanwhile."""
        return self._tools.blocks([self._readings[path].file for path in paths if path in self._readings], cancel)

    def tools(self, entry: Entry, *, thinking: bool = False) -> tuple[tuple[ToolUse, ...], ...]:
        """Return the uses of tools of a session, for each exchange of :meth:`conversation` those that belong to it.

        With ``thinking`` what the model thought is among them, in its place.
        """
        paths = dict.fromkeys(part.path for part in entry.parts if part.path in self._readings)
        found = self._tools.uses([self._readings[path].file for path in paths])
        by_exchange: list[list[ToolUse]] = []
        for part in entry.parts:
            first = len(by_exchange)
            shown = [place for place in range(part.length) if place not in part.left_out]
            by_exchange += [[] for _place in shown]
            places = {place: first + number for number, place in enumerate(shown)}
            for use in found.get((part.path, part.number), ()):
                if use.position in places and (thinking or not use.thinking):
                    by_exchange[places[use.position]].append(use)
        return tuple(map(tuple, by_exchange))

    def _known_tools(self, tools: FileTools) -> FileTools:
        """Return the tools of a file without those of sessions that the history left out when it read the file."""
        reading = self._readings.get(tools.file.path)
        if reading is None or len(reading.transcripts) == len(tools.transcripts):
            return tools
        by_name = {(one.session_id, one.agent): one for one in tools.transcripts}
        known = [by_name.get((one.session_id, one.agent), TranscriptTools()) for one in reading.transcripts]
        return FileTools(tools.file, tuple(known))

    def shares(self) -> list[FileShare]:
        """Return the files of the scope with what the index wants to know of each.

        One without exchanges is among them, so that what it once held can go, unless it may just not be readable.
        """
        by_file: dict[str, list[tuple[int, Entry, str]]] = defaultdict(list)
        for entry in self.library.entries:
            for part in entry.parts:
                if part.length:
                    by_file[part.path].append((part.number, entry, part.agent))
        shares = []
        for path, reading in list(self._readings.items()):
            rows = sorted(by_file.get(path, ()), key=lambda row: row[0])
            if rows or not any(problem.what.startswith("can't be") for problem in reading.problems):
                said = tuple((number, entry.session, agent) for number, entry, agent in rows)
                shares.append(FileShare(reading.file, said))
        return shares

    def earns_extract(self, session: Session) -> bool:
        """Tell whether a session is substantial and of a source whose sessions get extracts."""
        return bool(getattr(self._sources.get(session.source), "extracted", False)) and is_substantial(session)

    def readings(self) -> list[FileReading]:
        """Return what was read of each file of the scope, without the texts."""
        return list(self._readings.values())

    def purge_catalog(self) -> None:
        """Remove what is forgotten from the catalog, down to the last byte. Raises StoreBusy, StoreUnusable."""
        self._catalog.purge()

    def close(self) -> None:
        """Let the memory go."""
        self.table.close()


def _in_agent(exchange: Exchange, agent: str) -> Exchange:
    if not agent or exchange.agent:
        return exchange
    return Exchange(
        exchange.user, exchange.assistant, exchange.at, exchange.key, agent, exchange.rewound, exchange.compacted
    )


def _by_size(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield batches in order: a small first one, then larger ones."""
    batch: list[SourceFile] = []
    size, most = 0, _FIRST_BYTES
    for file in files:
        batch.append(file)
        size += file.size
        if size >= most:
            yield batch
            batch, size, most = [], 0, _BATCH_BYTES
    if batch:
        yield batch


def _bytes(batches: Iterable[Sequence[SourceFile]]) -> int:
    return sum(file.size for batch in batches for file in batch)

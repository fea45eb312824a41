"""What the sources hold at this moment in one scope: its sessions, their conversations, their tools."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from prima_tui.extracts import is_substantial
from prima_tui.model.hits import Cancel, Snapshot, SourceStatus
from prima_tui.model.session import Exchange, Session, ToolUse
from prima_tui.search.library import Entry
from prima_tui.sources.base import KnownFile, SourceFile, state_of
from prima_tui.sources.reading import FileReading, unpack_exchanges
from prima_tui.sources.reading_tools import FileTools, TranscriptTools
from prima_tui.upkeep import Upkeep

if TYPE_CHECKING:
    from prima_tui.index.tool_store import Blocks
    from prima_tui.index.update import FileShare
    from prima_tui.tool_history import ToolHistory

_READ_BYTES = 4 * 1024 * 1024
"""So much of files is read in less time than the database takes to be loaded and asked."""

_SETTLED_SECONDS = 60
"""A file that was written longer ago than this is not likely to be written again soon."""


class History(Upkeep):
    """The sessions of one scope, kept up to date, with all that belongs to them."""

    def sources(self) -> tuple[SourceStatus, ...]:
        """Return each source with what was found of it in the scope."""
        files: dict[str, int] = defaultdict(int)
        sessions: dict[str, int] = defaultdict(int)
        for known in self._known.values():
            files[known.file.source] += 1
        for entry in self.library.entries:
            sessions[entry.session.source] += 1
        warnings = self._warnings()
        found = []
        for source in self._sources.values():
            roots = list(source.roots(self.scope))
            found.append(
                SourceStatus(
                    source.id,
                    any(root.exists() for root in roots),
                    files[source.id],
                    sessions[source.id],
                    tuple(warnings[source.id]),
                    tuple(str(root) for root in roots),
                )
            )
        return tuple(found)

    def roots(self) -> list[Path]:
        """Return every folder where the sources look, whether it exists or not."""
        return [root for source in self._sources.values() for root in source.roots(self.scope)]

    def exchanges(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        """Return the exchanges of (path, transcript number) pairs: from the catalog, else from the files themselves.

        What can be had from neither is left out.
        """
        pairs = [(path, number) for path, number in dict.fromkeys(wanted) if path in self._known]
        files = {path: self._known[path].file for path, _number in pairs}
        found: dict[tuple[str, int], tuple[Exchange, ...]] = {}
        if "_catalog" not in vars(self) and sum(file.size for file in files.values()) <= _READ_BYTES:
            found = self._read_exchanges(files.values())
        if missing := [pair for pair in pairs if pair not in found]:
            found |= self._catalog.exchanges((files[path], number) for path, number in missing)
            found |= self._read_exchanges(
                {path: files[path] for path, number in missing if (path, number) not in found}.values()
            )
        return found

    def _read_exchanges(self, files: Iterable[SourceFile]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        return {
            (texts.reading.file.path, number): unpack_exchanges(packed)
            for texts in self._backlog.read(list(files))
            for number, packed in enumerate(texts.exchanges)
        }

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
        return self._tools.blocks([self._known[path].file for path in paths if path in self._known], cancel)

    def tools(self, entry: Entry, *, thinking: bool = False) -> tuple[tuple[ToolUse, ...], ...]:
        """Return the uses of tools of a session, for each exchange of :meth:`conversation` those that belong to it.

        With ``thinking`` what the model thought is among them, in its place.
        """
        paths = dict.fromkeys(part.path for part in entry.parts if part.path in self._known)
        found = self._tools.uses([self._known[path].file for path in paths])
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

    @cached_property
    def _tools(self) -> ToolHistory:
        from prima_tui.tool_history import ToolHistory

        return ToolHistory(self._catalog.tools, self._known_tools, self._note)

    def _known_tools(self, tools: FileTools) -> FileTools:
        """Return the tools of a file without those of sessions that the history left out when it read the file."""
        known = self._known.get(tools.file.path)
        if known is None or known.transcripts == len(tools.transcripts):
            return tools
        reading = self._all_readings()[tools.file.path]
        by_name = {(one.session_id, one.agent): one for one in tools.transcripts}
        kept = [by_name.get((one.session_id, one.agent), TranscriptTools()) for one in reading.transcripts]
        return FileTools(tools.file, tuple(kept))

    def shares(self) -> list[FileShare]:
        """Return the files of the scope with what the index wants to know of each.

        One without exchanges is among them, so that what it once held can go, unless it may just not be readable.
        """
        from prima_tui.index.update import FileShare

        by_file: dict[str, list[tuple[int, Entry, str]]] = defaultdict(list)
        for entry in self.library.entries:
            for part in entry.parts:
                if part.length:
                    by_file[part.path].append((part.number, entry, part.agent))
        shares = []
        for path, known in list(self._known.items()):
            rows = sorted(by_file.get(path, ()), key=lambda row: row[0])
            if rows or not any(problem.what.startswith("can't be") for problem in known.problems):
                said = tuple((number, entry.session, agent) for number, entry, agent in rows)
                shares.append(FileShare(known.file, said))
        return shares

    def refresh_by_word(self) -> Snapshot:
        """Look at the files for one search by word: where none changed, the library is what was kept of it.

        No session is read then before it is found, and the snapshot tells none. Else it is what :meth:`refresh` does.
        """
        with self._refreshing:
            if not self._known and not self._snapshot.complete:
                self._forgotten_version = self._forgotten.look()
                if self._take_kept(self._list()):
                    return self._snapshot
        return self.refresh()

    def _take_kept(self, files: Mapping[str, SourceFile]) -> bool:
        """Have the library as it was kept for searching, if these are the files; False when anything is missing."""
        # lists need none of these
        from prima_tui.index.messages import MessageTable
        from prima_tui.index.word_indexes import WordIndexes
        from prima_tui.kept_words import KeptWords

        states = {path: state_of(file) for path, file in files.items()}
        kept = KeptWords(self._last).load(states)
        if kept is None:
            return False
        table = MessageTable()
        table.adopt(kept.parts)
        table.use(WordIndexes(self._catalog_path.with_name("words"), self._note).all(), states)
        if not table.is_all_indexed():
            return False
        table.leave_out(kept.left_out)
        with self._loading:
            self._known = {
                path: KnownFile(file, kept.parts[path][1] if path in kept.parts else 0, kept.problems.get(path, ()))
                for path, file in files.items()
            }
            self._table, self.library = table, kept.library
        warnings = self._all_warnings()
        self._snapshot = Snapshot((), len(files), len(files), False, tuple(warnings))
        return True

    def keep_by_word(self) -> None:
        """Keep the library for the next search by word, if it is whole and all of its messages are in word indexes.

        While an agent writes to one of the files it is not kept, since it would not hold for long.
        """
        with self._refreshing:
            written = max((known.file.mtime_ns for known in self._known.values()), default=0)
            if time.time_ns() - written < _SETTLED_SECONDS * 1_000_000_000:
                return
            if self._snapshot.complete and not self._unloaded and self.table.is_all_indexed():
                from prima_tui.kept_words import KeptWords

                states = {path: state_of(known.file) for path, known in self._known.items()}
                KeptWords(self._last).keep(states, self._known, self.table.parts(), self.library)

    def earns_extract(self, session: Session) -> bool:
        """Tell whether a session is substantial and of a source whose sessions get extracts."""
        return bool(getattr(self._sources.get(session.source), "extracted", False)) and is_substantial(session)

    def readings(self) -> list[FileReading]:
        """Return what was read of each file of the scope, without the texts."""
        with self._refreshing:
            return list(self._all_readings().values())

    def purge_catalog(self) -> None:
        """Remove what is forgotten from the catalog, down to the last byte. Raises StoreBusy, StoreUnusable."""
        self._catalog.purge()

    def close(self) -> None:
        """Keep the list for the next start and let the memory go."""
        if self._refreshing.acquire(blocking=False):
            self._store_waiting()
            self._keep()
            self._refreshing.release()
        if self._table is not None:
            self._table.close()


def _in_agent(exchange: Exchange, agent: str) -> Exchange:
    if not agent or exchange.agent:
        return exchange
    return Exchange(
        exchange.user, exchange.assistant, exchange.at, exchange.key, agent, exchange.rewound, exchange.compacted
    )

"""What the sources hold at this moment in one scope: its sessions, their conversations, their tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from prima_tui.by_list import ByList
from prima_tui.extracts import is_substantial
from prima_tui.model.hits import Cancel, SourceStatus
from prima_tui.model.session import Exchange, Session, ToolUse
from prima_tui.search.library import Entry
from prima_tui.sources.reading import FileReading
from prima_tui.sources.reading_tools import FileTools, TranscriptTools

if TYPE_CHECKING:
    from prima_tui.index.tool_store import Blocks
    from prima_tui.index.update import FileShare
    from prima_tui.tool_history import ToolHistory


class History(ByList):
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

"""The update of the semantic index: what is new or changed is embedded, newest first, for as long as the budget allows.

Work is done in units of some dozens of exchanges; each is written in one transaction, so a kill loses at most the
unit in hand. A text that has a vector already, in whatever file and whatever other index, is never embedded again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import msgspec

from prima_tui.errors import ModelUnavailable, StoreBusy, StoreUnusable
from prima_tui.index.elsewhere import OtherIndexes
from prima_tui.index.embedder import EmbeddingModel, embedded_text, text_hash
from prima_tui.index.embedding import embedded_in_steps
from prima_tui.index.exchange_store import FileState, Row
from prima_tui.index.vector_file import rebuild_due
from prima_tui.index.vectors import SemanticIndex
from prima_tui.model.hits import Cancel, IndexProgress
from prima_tui.model.session import Exchange, Session
from prima_tui.sources.base import SourceFile

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_UNIT = 96
"""Exchanges written in one transaction."""
STEP = 24
"""Exchanges embedded between two looks at the clock and the cancel token."""


class FileShare(msgspec.Struct, frozen=True):
    """A file to be indexed: its state, and for each of its transcripts (number, session it belongs to, subagent)."""

    file: SourceFile
    transcripts: tuple[tuple[int, Session, str], ...]


Exchanges = Callable[[Sequence[FileShare]], dict[tuple[str, int], tuple[Exchange, ...]]]
"""Gives the exchanges of files by (path, transcript number); what can't be had is left out."""


def state_text(file: SourceFile) -> str:
    """Return what identifies the state of a file in the index."""
    return f"{file.size}:{file.mtime_ns}:{file.ctime_ns}"


def pending(index: SemanticIndex, shares: Sequence[FileShare]) -> list[FileShare]:
    """Return the files that are not indexed in their present state, newest first.

    A file in which nothing is said (any more) counts only if something of it is indexed.
    """
    waiting = []
    for share in shares:
        indexed = index.state_of(share.file.path)
        if indexed != state_text(share.file) and (share.transcripts or indexed is not None):
            waiting.append(share)
    return sorted(waiting, key=lambda share: share.file.mtime_ns, reverse=True)


class Updater:
    """One update at a time for an index, whatever the number of processes: the others search it as it stands."""

    def __init__(
        self,
        index: SemanticIndex,
        embedder: EmbeddingModel,
        exchanges: Exchanges,
        lock: Path,
        make_folder: Callable[[], object],
        indexed: Callable[[Sequence[str]], None] | None = None,
        elsewhere: OtherIndexes | None = None,
    ) -> None:
        """``indexed`` is told the paths of files each time some are whole; ``elsewhere`` may have vectors to take."""
        self._elsewhere = elsewhere
        self._indexed = indexed or (lambda _paths: None)
        self._index = index
        self._embedder = embedder
        self._exchanges = exchanges
        self._lock = lock
        self._make_folder = make_folder

    def run(
        self,
        shares: Sequence[FileShare],
        budget: float | None,
        report: Callable[[IndexProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> IndexProgress:
        """Index what is pending of ``shares`` for at most ``budget`` seconds (None: until done); return how far it got.

        Raises nothing: what stops it is the ``note`` of the result.
        """
        started = time.monotonic()
        try:
            self._make_folder()
            with filelock.FileLock(self._lock, timeout=0, mode=0o600):
                return self.run_locked(shares, budget, report or (lambda _progress: None), cancel or Cancel())
        except filelock.Timeout:
            return IndexProgress(note="another prima-tui is updating the index")
        except (OSError, StoreBusy, StoreUnusable, ModelUnavailable) as error:
            return IndexProgress(seconds=time.monotonic() - started, note=f"the index was not updated: {error}")

    def run_locked(
        self,
        shares: Sequence[FileShare],
        budget: float | None,
        report: Callable[[IndexProgress], None],
        cancel: Cancel,
    ) -> IndexProgress:
        """Do what :meth:`run` does, for a caller that holds the lock.

        Raises StoreBusy, StoreUnusable, ModelUnavailable.
        """
        started = time.monotonic()
        self._index.load()
        waiting = pending(self._index, shares)
        progress = IndexProgress(files_total=len(waiting), finished=not waiting)
        if self._index.other_model:
            raise ModelUnavailable(rebuild_due(self._index.other_model, self._embedder.name))
        if waiting:
            self._index.create()  # a disk that takes no index must cost nothing
        deadline = None if budget is None else started + budget

        def out_of_time() -> bool:
            return cancel.cancelled or (deadline is not None and time.monotonic() >= deadline)

        for unit in _units(waiting, self._exchanges):
            if out_of_time():
                break
            progress = self._unit(unit, progress, started, out_of_time, report)
        return msgspec.structs.replace(
            progress,
            seconds=time.monotonic() - started,
            finished=progress.files_done == progress.files_total,
            note="cancelled" if cancel.cancelled else "",
        )

    def _unit(
        self,
        unit: _Unit,
        progress: IndexProgress,
        started: float,
        out_of_time: Callable[[], bool],
        report: Callable[[IndexProgress], None],
    ) -> IndexProgress:
        hashes = list(dict.fromkeys(row.hash for row in unit.rows))
        known = self._index.known(hashes)
        texts = {row.hash: embedded_text(row.exchange) for row in unit.rows if row.hash not in known}
        vectors: dict[str, Vector] = self._elsewhere.vectors(list(texts)) if self._elsewhere is not None else {}
        known |= vectors.keys()
        missing = {key: text for key, text in texts.items() if key not in known}
        embedded = 0
        for step in embedded_in_steps(missing, self._embedder, STEP, out_of_time):
            vectors |= step
            embedded += len(step)
            report(
                msgspec.structs.replace(
                    progress,
                    exchanges_embedded=progress.exchanges_embedded + embedded,
                    seconds=time.monotonic() - started,
                )
            )
        complete = embedded == len(missing)
        self._index.write(unit.rows, vectors, unit.whole if complete else ())
        self._index.load()
        if complete and unit.whole:
            self._indexed([one.path for one in unit.whole])
        return msgspec.structs.replace(
            progress,
            files_done=progress.files_done + (len(unit.whole) if complete else 0),
            exchanges_embedded=progress.exchanges_embedded + embedded,
            exchanges_reused=progress.exchanges_reused + sum(row.hash in known for row in unit.rows),
            seconds=time.monotonic() - started,
        )


class _Unit(msgspec.Struct):
    rows: list[Row]
    whole: list[FileState]
    """Files that are whole once these rows are stored."""


def _units(
    waiting: Sequence[FileShare],
    exchanges: Exchanges,
) -> Iterator[_Unit]:
    """Yield the work in units of at most ``_UNIT`` rows (a file's rows may spread over several)."""
    unit = _Unit([], [])
    for first in range(0, len(waiting), 16):
        shares = waiting[first : first + 16]
        texts = exchanges(shares)
        for share in shares:
            if any((share.file.path, number) not in texts for number, _session, _agent in share.transcripts):
                continue  # it changed or vanished meanwhile; the next update sees it as it is then
            rows = _rows(share, texts)
            state = FileState(
                share.file.path,
                share.file.source,
                state_text(share.file),
                frozenset((row.number, row.position, row.hash) for row in rows),
            )
            for row in rows:
                if len(unit.rows) >= _UNIT:
                    yield unit
                    unit = _Unit([], [])
                unit.rows.append(row)
            unit.whole.append(state)
    if unit.rows or unit.whole:
        yield unit


def _rows(share: FileShare, texts: dict[tuple[str, int], tuple[Exchange, ...]]) -> list[Row]:
    rows = []
    for number, session, agent in share.transcripts:
        for position, exchange in enumerate(texts[share.file.path, number]):
            text = embedded_text(exchange)
            if text:
                rows.append(
                    Row(share.file.path, number, position, session, agent or exchange.agent, exchange, text_hash(text))
                )
    return rows

"""The catalog: every file that was read, parsed, keyed by path and state. Disposable; it only saves time.

Its absence, damage or lock costs the reading of the files themselves, never an answer.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import duckdb
import msgspec

from prima_tui.errors import StoreBusy, StoreUnusable
from prima_tui.index.database import DatabaseFile
from prima_tui.index.messages import MessageTable
from prima_tui.index.rows import insert_columns, insert_rows
from prima_tui.index.tool_store import TOOL_TABLE_NAMES, TOOL_TABLES, ToolStore
from prima_tui.index.word_indexes import WORTH_IT_BYTES, WordIndexes
from prima_tui.model.session import Exchange
from prima_tui.sources.base import KnownFile, SourceFile, state_of
from prima_tui.sources.reading import FileReading, FileTexts, unpack_exchanges

_ROW_GROUP = 2048
"""The fewest that the database knows: a catalog is filled much faster than with its usual blocks."""
_MODEST = 10
"""Of 19: how far a process in the background stands back."""
_GROUP = Path("/proc/self/autogroup")
_MIGRATIONS = [
    [
        "CREATE TABLE store.files (id BIGINT, source VARCHAR, path VARCHAR, state BLOB, reading BLOB)",
        "CREATE TABLE store.exchanges (file_id BIGINT, number INTEGER, packed BLOB)",
        "CREATE TABLE store.messages"
        " (file_id BIGINT, number INTEGER, position INTEGER, by_user BOOLEAN, folded VARCHAR)",
    ],
    TOOL_TABLES,
    # What the model thought is among the uses since then: they are read again.
    [f"DELETE FROM store.{name}" for name in TOOL_TABLE_NAMES],
]


class Catalog:
    """The catalog file of one user. Every method tolerates a catalog that can't be had and then does less."""

    def __init__(
        self, path: Path, notice: Callable[[str], None], unwanted: Callable[[FileReading], bool] | None = None
    ) -> None:
        """``unwanted`` is asked, once nobody else can write, which readings must not be kept."""
        self._unwanted = unwanted or (lambda _reading: False)
        self._file = DatabaseFile(path, "prima-tui catalog", _MIGRATIONS, notice=notice, row_group=_ROW_GROUP)
        self._notice = notice
        self._swept = False
        self.tools = ToolStore(self._file, state_of, notice)
        self._words = WordIndexes(path.with_name("words"), notice)

    def load(self, files: Sequence[SourceFile]) -> list[FileReading]:
        """Return the readings of those files that are known in just this state."""
        by_path = {file.path: file for file in files}
        readings: list[FileReading] = []
        try:
            with self._file.reading() as store:
                if store is None or not files:
                    return []
                rows = store.execute(
                    f"SELECT f.path, f.reading FROM store.files f JOIN {_WANTED} USING (path, state)", _wanted(files)
                ).fetchall()
        except (StoreBusy, StoreUnusable, duckdb.Error) as error:
            self._notice(f"catalog: not used: {error}")
            return []
        for path, packed in rows:
            try:
                readings.append(msgspec.structs.replace(_READING.decode(packed), file=by_path[path]))
            except msgspec.MsgspecError:
                continue
        return readings

    def load_messages(
        self, files: Sequence[KnownFile], table: MessageTable, every: Sequence[KnownFile] = ()
    ) -> list[KnownFile]:
        """Have the messages of files looked for in the table; return those files whose messages aren't here.

        Where a word index holds them nothing is loaded. ``every`` are all files in the table, for which indexes may
        have come or gone meanwhile.
        """
        wanted = {known.file.path: known for known in files}
        if files or self._words.changed():
            states = {known.file.path: state_of(known.file) for known in (*every, *files)}
            lost = table.use(self._words.all(), states)
            wanted |= {known.file.path: known for known in every if known.file.path in lost}
        waiting = [known for path, known in wanted.items() if not table.is_indexed(path)]
        found = self._take_messages(waiting, table) if waiting else set()
        if table.plain_bytes() >= WORTH_IT_BYTES and self._file.path.exists():
            self._words.start_building(self._file.path)
        return [known for known in waiting if known.file.path not in found]

    def _take_messages(self, files: Sequence[KnownFile], table: MessageTable) -> set[str]:
        """Copy the messages of files into the table; return the paths of those that are here."""
        counts = {known.file.path: known.transcripts for known in files}
        try:
            with self._file.reading(table.connection) as store:
                if store is None:
                    return set()
                rows = store.execute(
                    f"SELECT f.id, f.path FROM store.files f JOIN {_WANTED} USING (path, state)",
                    _wanted([known.file for known in files]),
                ).fetchall()
                table.take(store, [(file_id, path, counts[path]) for file_id, path in rows])
                return {path for _file_id, path in rows}
        except (StoreBusy, StoreUnusable, duckdb.Error) as error:
            self._notice(f"catalog: not used: {error}")
            return set()

    def build_words(self) -> bool:
        """Make a word index of what is in none; False when another process does. Raises what a store raises."""
        return self._words.build(self._file)

    def store(self, batch: Sequence[FileTexts], wait: float = 0.9) -> bool:
        """Keep what reading gave, replacing older readings of the same paths, in one transaction. False: not kept."""
        if not batch:
            return True
        try:
            with self._file.writing(wait=wait) as store:
                batch = [texts for texts in batch if not self._unwanted(texts.reading)]
                if not batch:
                    return True
                paths = [texts.reading.file.path for texts in batch]
                _delete(store, paths)
                if not self._swept:
                    self._swept = True
                    self._sweep(store)
                first = _next_id(store)
                ids = range(first, first + len(batch))
                rows = [
                    (file_id, file.source, file.path, state_of(file), _ENCODER.encode(texts.reading))
                    for file_id, texts in zip(ids, batch, strict=True)
                    if (file := texts.reading.file)
                ]
                insert_rows(store, "store.files", rows)
                _insert_texts(store, [(file_id, texts) for file_id, texts in zip(ids, batch, strict=True)])
        except (StoreBusy, StoreUnusable, duckdb.Error) as error:
            self._notice(f"catalog: not kept: {error}")
            return False
        return True

    def purge(self) -> None:
        """Remove every reading that is unwanted or can't be told to be wanted, down to its last byte.

        What was once moved aside goes too, and the word indexes: all of it can be made again. Raises StoreBusy,
        StoreUnusable.
        """
        with self._file.purging(wait=10.0) as store:
            # while the catalog is ours no index is put in its place
            self._words.remove_all()
            if store is not None:
                rows = store.execute("SELECT path, reading FROM store.files").fetchall()
                _delete(store, [path for path, packed in rows if self._must_go(packed)])
        for path in self._file.asides():
            path.unlink(missing_ok=True)

    def _must_go(self, packed: bytes) -> bool:
        try:
            return self._unwanted(_READING.decode(packed))
        except msgspec.MsgspecError:
            return True

    def exchanges(self, wanted: Iterable[tuple[SourceFile, int]]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        """Return the exchanges of (file, transcript number) pairs, as far as the catalog knows them in that state."""
        pairs = list(dict.fromkeys((file.path, state_of(file), number) for file, number in wanted))
        if not pairs:
            return {}
        found: dict[tuple[str, int], tuple[Exchange, ...]] = {}
        try:
            with self._file.reading() as store:
                if store is None:
                    return {}
                rows = store.execute(
                    "SELECT f.path, e.number, e.packed FROM store.files f JOIN store.exchanges e ON e.file_id = f.id"
                    " JOIN (SELECT unnest($paths) AS path, unnest($states) AS state, unnest($numbers) AS number) w"
                    " ON w.path = f.path AND w.state = f.state AND w.number = e.number",
                    {
                        "paths": [path for path, _state, _number in pairs],
                        "states": [state for _path, state, _number in pairs],
                        "numbers": [number for _path, _state, number in pairs],
                    },
                ).fetchall()
        except (StoreBusy, StoreUnusable, duckdb.Error) as error:
            self._notice(f"catalog: not used: {error}")
            return {}
        for path, number, packed in rows:
            try:
                found[path, number] = unpack_exchanges(packed)
            except ValueError:
                continue
        return found

    def _sweep(self, store: duckdb.DuckDBPyConnection) -> None:
        """Forget readings of files that exist no more, so that the catalog doesn't grow without bound."""
        paths = [row[0] for row in store.execute("SELECT path FROM store.files").fetchall()]
        gone = [path for path in paths if not Path(path).exists() and Path(path).parent.is_dir()]
        _delete(store, gone)


def give_precedence() -> None:
    """Let every other process go first from now on, where the system knows such a thing."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_MODEST)
    # Linux shares the processors among groups of processes first, one group for each session of processes
    with contextlib.suppress(AttributeError, OSError):
        if os.getsid(0) == os.getpid():
            _GROUP.write_text(str(_MODEST))


def build_words(catalog: str) -> None:
    """Be the process that makes the word index of a catalog; what goes wrong leaves things as they were."""
    give_precedence()
    with contextlib.suppress(OSError, StoreBusy, StoreUnusable):
        Catalog(Path(catalog), lambda _line: None).build_words()


_WANTED = "(SELECT unnest($paths) AS path, unnest($states) AS state)"


def _wanted(files: Sequence[SourceFile]) -> dict[str, object]:
    return {"paths": [file.path for file in files], "states": [state_of(file) for file in files]}


def _delete(store: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    if not paths:
        return
    ids = store.execute(
        "SELECT id FROM store.files WHERE path IN (SELECT unnest($paths))", {"paths": list(paths)}
    ).fetchall()
    if not ids:
        return
    values = {"ids": [row[0] for row in ids]}
    for table in ("messages", "exchanges", *TOOL_TABLE_NAMES):
        store.execute(f"DELETE FROM store.{table} WHERE file_id IN (SELECT unnest($ids))", values)
    store.execute("DELETE FROM store.files WHERE id IN (SELECT unnest($ids))", values)


def _next_id(store: duckdb.DuckDBPyConnection) -> int:
    row = store.execute("SELECT coalesce(max(id), 0) + 1 FROM store.files").fetchone()
    return int(row[0]) if row else 1


def _insert_texts(store: duckdb.DuckDBPyConnection, batch: Sequence[tuple[int, FileTexts]]) -> None:
    packed = [(file_id, number, data) for file_id, texts in batch for number, data in enumerate(texts.exchanges)]
    insert_rows(store, "store.exchanges", packed)
    columns: tuple[list[object], ...] = ([], [], [], [], [])
    file_ids, numbers, positions, by_user, folded = columns
    for file_id, texts in batch:
        for number, messages in enumerate(texts.messages):
            size = len(messages.texts)
            file_ids += [file_id] * size
            numbers += [number] * size
            positions += messages.positions
            by_user += messages.by_user
            folded += messages.texts
    insert_columns(store, "store.messages", columns)


_ENCODER = msgspec.msgpack.Encoder()
_READING = msgspec.msgpack.Decoder(FileReading)

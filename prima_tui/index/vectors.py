"""The semantic index: every exchange with its texts and its vector, in a DuckDB file, compared in memory.

The file is opened for one unit of work at a time; what a search compares with is an in-memory copy that takes over
only what was written since it last looked.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import msgspec

from prima_tui.errors import ModelUnavailable, StoreBusy
from prima_tui.index.database import DatabaseFile, fetched, in_memory
from prima_tui.model.session import Exchange, Session

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_DIMENSIONS = 384
"""Of the vectors of a file in which nothing was written yet; the first vectors written settle it."""
FLOOR = 0.3
"""Cosine; an exchange below it is no hit, one at it is."""

_MIGRATIONS = [
    [
        # files that are indexed whole, and in which state
        "CREATE TABLE store.files (path VARCHAR, source VARCHAR, state VARCHAR, indexed_at TIMESTAMP)",
        "CREATE TABLE store.exchanges (path VARCHAR, number INTEGER, position INTEGER, source VARCHAR,"
        " session_id VARCHAR,"
        " label VARCHAR, author VARCHAR, agent VARCHAR, project_folder VARCHAR, branch VARCHAR, occurred_at TIMESTAMP,"
        f" user_text VARCHAR, assistant_text VARCHAR, hash VARCHAR, vector FLOAT[{_DIMENSIONS}], written BIGINT)",
        # what was taken out of a path, so that other processes' copies in memory follow
        "CREATE TABLE store.removals (path VARCHAR, number INTEGER, position INTEGER, hash VARCHAR, written BIGINT)",
        # each session as it was when last indexed, to show those whose file is gone
        "CREATE TABLE store.sessions (source VARCHAR, session_id VARCHAR, session BLOB)",
        # a file that takes another's place is told by its identity, whatever inode and counter it has
        "INSERT INTO store.meta VALUES ('written', '0'), ('identity', uuid()::VARCHAR)",
    ]
]


class Row(msgspec.Struct, frozen=True):
    """One exchange to be stored: where it is, what it says, and the hash under which its vector is known."""

    path: str
    number: int
    position: int
    session: Session
    agent: str
    exchange: Exchange
    hash: str


class Similar(msgspec.Struct, frozen=True):
    """The best exchange of one transcript for a query vector."""

    path: str
    number: int
    source: str
    session_id: str
    position: int
    similarity: float
    hash: str


class FileState(msgspec.Struct, frozen=True):
    """A file that is now indexed whole, in this state; ``rows`` are all (number, position, hash) it consists of."""

    path: str
    source: str
    state: str
    rows: frozenset[tuple[int, int, str]]


class SemanticIndex:
    """The index of one workspace (or of every one). Safe to use from several threads."""

    def __init__(
        self, path: Path, model: str, make_folder: Callable[[], object], notice: Callable[[str], None]
    ) -> None:
        self.path = path
        self.model = model
        self._file = DatabaseFile(path, "prima-tui index", _MIGRATIONS, make_folder=make_folder, notice=notice)
        self._memory: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.RLock()
        self._written = 0
        self._stamp: tuple[int, int, int] | None = None
        self._states: dict[str, str] = {}
        self._other_model = ""
        self._dimensions = _DIMENSIONS
        self._identity = ""

    # -- reading ------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Take over what was written since the last call. Raises StoreBusy, StoreUnusable; what is loaded stays."""
        with self._lock:
            stamp = self._now()
            if stamp is None or stamp == self._stamp:
                if stamp is None and self._stamp is not None:
                    self._forget_memory()
                return
            if self._stamp is not None and stamp[0] != self._stamp[0]:
                self._forget_memory()
            memory = self._connection()
            with self._file.reading(memory) as store:
                if store is None:
                    return
                meta = dict(store.execute("SELECT name, value FROM store.meta").fetchall())
                written = int(meta["written"])
                self._other_model = meta.get("model", self.model) if meta.get("model", self.model) != self.model else ""
                dimensions = int(meta.get("dimensions", _DIMENSIONS))
                identity = (meta.get("identity", ""), dimensions)
                if written < self._written or identity != (self._identity, self._dimensions):
                    self._forget_memory()
                    self._identity, self._dimensions = identity
                    store.execute("DROP TABLE IF EXISTS memory.vectors")
                    store.execute(_vectors_table("memory.vectors", dimensions))
                self._take(store, self._written)
                self._written = written
                self._states = dict(store.execute("SELECT path, state FROM store.files").fetchall())
            self._stamp = stamp

    def load_if_free(self) -> None:
        """Do what :meth:`load` does; when another process keeps the file, what is in memory goes on to answer.

        Raises StoreBusy when nothing is in memory, StoreUnusable.
        """
        try:
            self.load()
        except StoreBusy:
            if not self.count():
                raise

    def _take(self, store: duckdb.DuckDBPyConnection, since: int) -> None:
        if since:
            store.execute(
                "DELETE FROM memory.vectors v WHERE EXISTS (SELECT 1 FROM store.removals r WHERE r.written > $since"
                " AND r.path = v.path AND r.number = v.number AND r.position = v.position AND r.hash = v.hash)",
                {"since": since},
            )
        store.execute(
            "INSERT INTO memory.vectors SELECT path, number, position, source, session_id, hash, vector"
            " FROM store.exchanges WHERE written > $since",
            {"since": since},
        )

    def _now(self) -> tuple[int, int, int] | None:
        try:
            state = self.path.stat()
        except OSError:
            return None
        return (state.st_ino, state.st_mtime_ns, state.st_size)

    def _connection(self) -> duckdb.DuckDBPyConnection:
        if self._memory is None:
            self._memory = in_memory()
            self._memory.execute(_vectors_table("vectors", self._dimensions))
        return self._memory

    def _forget_memory(self) -> None:
        self._written = 0
        self._stamp = None
        self._states = {}
        if self._memory is not None:
            self._memory.cursor().execute("DELETE FROM vectors")

    @property
    def other_model(self) -> str:
        """The model that the stored vectors are of, when it is not the configured one; "" mostly."""
        return self._other_model

    def state_of(self, path: str) -> str | None:
        """Return the state in which a file is indexed whole, None if it isn't."""
        return self._states.get(path)

    def count(self) -> int:
        """Return the number of exchanges in memory."""
        row = self._connection().cursor().execute("SELECT count(*) FROM vectors").fetchone()
        return int(row[0]) if row else 0

    def similar(self, vector: Vector, cursor: duckdb.DuckDBPyConnection | None = None) -> list[Similar]:
        """Compare the query's vector with every stored exchange by cosine; return the best of each transcript.

        Raises Cancelled when the cursor was interrupted, ModelUnavailable when the vector is of another size.
        """
        if len(vector) != self._dimensions and self.count():
            raise ModelUnavailable(_another_size(self.model, len(vector), self._dimensions))
        cursor = cursor or self.cursor()
        rows = fetched(
            cursor,
            "SELECT path, number, any_value(source), any_value(session_id), arg_max(position, likeness),"
            " max(likeness), arg_max(hash, likeness) FROM (SELECT path, number, source, session_id, position, hash,"
            f" array_cosine_similarity(vector, $vector::FLOAT[{len(vector)}]) AS likeness FROM vectors)"
            f" WHERE likeness >= {FLOOR}::FLOAT GROUP BY path, number",
            {"vector": vector.tolist()},
        )
        return [Similar(row[0], row[1], row[2], row[3], row[4], float(row[5]), row[6]) for row in rows]

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a cursor for :meth:`similar`, to interrupt it from another thread."""
        return self._connection().cursor()

    def texts(self, wanted: Sequence[tuple[str, int, int, str]]) -> dict[tuple[str, int, int], tuple[str, str]]:
        """Return (user, assistant) text of (path, number, position, hash) rows, for files that are gone."""
        if not wanted:
            return {}
        with self._file.reading() as store:
            if store is None:
                return {}
            rows = store.execute(
                "SELECT e.path, e.number, e.position, user_text, assistant_text FROM store.exchanges e JOIN"
                " (SELECT unnest($a) AS path, unnest($b) AS number, unnest($c) AS position, unnest($d) AS hash) w"
                " ON e.path = w.path AND e.number = w.number AND e.position = w.position AND e.hash = w.hash",
                {name: list(column) for name, column in zip("abcd", zip(*wanted, strict=True), strict=True)},
            ).fetchall()
        return {(row[0], row[1], row[2]): (row[3], row[4]) for row in rows}

    def conversation(self, source: str, session_id: str) -> tuple[Exchange, ...]:
        """Return the exchanges of a session as stored, in order: for sessions whose files are gone."""
        with self._file.reading() as store:
            if store is None:
                return ()
            rows = store.execute(
                "SELECT user_text, assistant_text, occurred_at, agent FROM store.exchanges WHERE source = $source"
                " AND session_id = $id ORDER BY agent <> '', path, number, position",
                {"source": source, "id": session_id},
            ).fetchall()
        return tuple(
            Exchange(user=user, assistant=assistant, at=at.replace(tzinfo=UTC) if at else None, agent=agent or "")
            for user, assistant, at, agent in rows
        )

    def sessions(self, wanted: Iterable[tuple[str, str]]) -> list[Session]:
        """Return the sessions, by (source, id), as they were when last indexed."""
        keys = list(dict.fromkeys(wanted))
        if not keys:
            return []
        with self._file.reading() as store:
            if store is None:
                return []
            rows = store.execute(
                "SELECT session FROM store.sessions s JOIN (SELECT unnest($a) AS source, unnest($b) AS id) w"
                " ON s.source = w.source AND s.session_id = w.id",
                {"a": [source for source, _id in keys], "b": [session_id for _source, session_id in keys]},
            ).fetchall()
        sessions = []
        for (packed,) in rows:
            try:
                sessions.append(_SESSION.decode(packed))
            except msgspec.MsgspecError:
                continue
        return sessions

    def count_outside(self, paths: set[str]) -> int:
        """Return how many stored exchanges come from files that are not among ``paths``."""
        with self._file.reading() as store:
            if store is None:
                return 0
            rows = store.execute("SELECT path, count(*) FROM store.exchanges GROUP BY path").fetchall()
        return sum(count for path, count in rows if path not in paths)

    # -- writing ------------------------------------------------------------------------------------------------

    def known(self, hashes: Sequence[str]) -> set[str]:
        """Return which of the hashes have a vector already. Raises StoreBusy, StoreUnusable."""
        with self._file.reading() as store:
            if store is None or not hashes:
                return set()
            rows = store.execute(
                "SELECT DISTINCT hash FROM store.exchanges WHERE hash IN (SELECT unnest($hashes))",
                {"hashes": list(hashes)},
            ).fetchall()
        return {row[0] for row in rows}

    def stored(self, paths: Sequence[str]) -> set[tuple[str, int, int, str]]:
        """Return the (path, number, position, hash) rows that are stored of these files. Raises as :meth:`known`."""
        with self._file.reading() as store:
            if store is None or not paths:
                return set()
            rows = store.execute(
                "SELECT path, number, position, hash FROM store.exchanges WHERE path IN (SELECT unnest($paths))",
                {"paths": list(paths)},
            ).fetchall()
        return {(row[0], row[1], row[2], row[3]) for row in rows}

    def write(self, rows: Sequence[Row], vectors: dict[str, Vector], whole: Sequence[FileState]) -> None:
        """Store rows, and mark files as indexed whole, in one transaction; rows that stand already are left alone.

        A row's vector comes from ``vectors`` by its hash, else from a stored row of the same hash; a row with
        neither is passed over. When a file is whole, what was stored of an older state of it goes.
        Raises StoreBusy, StoreUnusable; ModelUnavailable when the file holds vectors of another model or size.
        """
        with self._file.writing() as store:
            self._settle_model(store, {len(vector) for vector in vectors.values()})
            written = self._count_up(store)
            present = _present(store, {row.path for row in rows} | {one.path for one in whole})
            missing = [row for row in rows if (row.path, row.number, row.position, row.hash) not in present]
            fresh = [row for row in missing if row.hash in vectors]
            if fresh:
                store.executemany(
                    f"INSERT INTO store.exchanges VALUES ({', '.join('?' * 16)})",
                    [[*_columns(row), vectors[row.hash].tolist(), written] for row in fresh],
                )
            reused = [row for row in missing if row.hash not in vectors]
            if reused:
                store.executemany(
                    f"INSERT INTO store.exchanges SELECT {', '.join('?' * 14)}, vector, ? FROM store.exchanges"
                    " WHERE hash = ? LIMIT 1",
                    [[*_columns(row), written, row.hash] for row in reused],
                )
            for one in whole:
                self._finish(store, one, written)
            self._keep_sessions(store, {row.session.key: row.session for row in rows})

    def _count_up(self, store: duckdb.DuckDBPyConnection) -> int:
        row = store.execute("SELECT value FROM store.meta WHERE name = 'written'").fetchone()
        written = int(row[0]) + 1 if row else 1
        store.execute("UPDATE store.meta SET value = ? WHERE name = 'written'", [str(written)])
        return written

    def _settle_model(self, store: duckdb.DuckDBPyConnection, sizes: set[int]) -> None:
        """See to it that all vectors in the file are of one model and one size: the first ones written decide."""
        meta = dict(store.execute("SELECT name, value FROM store.meta").fetchall())
        dimensions = int(meta.get("dimensions", _DIMENSIONS))
        model = meta.get("model")
        if model is not None and model != self.model:
            raise ModelUnavailable(rebuild_due(model, self.model))
        if model is None:
            store.execute("INSERT INTO store.meta VALUES ('model', ?)", [self.model])
        if not sizes or sizes == {dimensions}:
            return
        if len(sizes) > 1 or store.execute("SELECT 1 FROM store.exchanges LIMIT 1").fetchone():
            raise ModelUnavailable(_another_size(self.model, max(sizes - {dimensions}), dimensions))
        store.execute(f"ALTER TABLE store.exchanges ALTER vector TYPE FLOAT[{sizes.copy().pop()}] USING NULL")
        store.execute("DELETE FROM store.meta WHERE name = 'dimensions'")
        store.execute("INSERT INTO store.meta VALUES ('dimensions', ?)", [str(sizes.copy().pop())])

    def _finish(self, store: duckdb.DuckDBPyConnection, file: FileState, written: int) -> None:
        stale = [
            (path, number, position, key)
            for path, number, position, key in _present(store, {file.path})
            if (number, position, key) not in file.rows
        ]
        if stale:
            store.executemany(
                "DELETE FROM store.exchanges WHERE path = ? AND number = ? AND position = ? AND hash = ?", stale
            )
            store.executemany("INSERT INTO store.removals VALUES (?, ?, ?, ?, ?)", [[*row, written] for row in stale])
        store.execute("DELETE FROM store.files WHERE path = ?", [file.path])
        store.execute(
            "INSERT INTO store.files VALUES (?, ?, ?, ?)",
            [file.path, file.source, file.state, datetime.now(UTC).replace(tzinfo=None)],
        )

    def _keep_sessions(self, store: duckdb.DuckDBPyConnection, sessions: dict[tuple[str, str], Session]) -> None:
        for (source, session_id), session in sessions.items():
            store.execute("DELETE FROM store.sessions WHERE source = ? AND session_id = ?", [source, session_id])
            store.execute("INSERT INTO store.sessions VALUES (?, ?, ?)", [source, session_id, _ENCODER.encode(session)])

    def kept_sessions(self) -> list[Session]:
        """Return every session that something is stored of. Raises StoreBusy, StoreUnusable."""
        with self._file.reading() as store:
            rows = store.execute("SELECT session FROM store.sessions").fetchall() if store is not None else []
        sessions = []
        for (packed,) in rows:
            with contextlib.suppress(msgspec.MsgspecError):
                sessions.append(_SESSION.decode(packed))
        return sessions

    def holds(self, unwanted: Callable[[str, str], bool]) -> bool:
        """Tell whether something is stored of a session that is unwanted, by (source, id). Raises as :meth:`known`."""
        with self._file.reading() as store:
            return store is not None and bool(_unwanted_sessions(store, unwanted))

    def purge(self, unwanted: Callable[[str, str], bool]) -> None:
        """Remove the sessions that are unwanted, by (source, id), down to the last byte, and what was moved aside.

        Raises StoreBusy, StoreUnusable. The caller holds the update lock.
        """
        with self._file.purging(wait=10.0) as store:
            if store is not None:
                for key in _unwanted_sessions(store, unwanted):
                    place = "source = ? AND session_id = ?"
                    of_it = f"IN (SELECT path FROM store.exchanges WHERE {place})"
                    store.execute(f"DELETE FROM store.files WHERE path {of_it}", key)
                    store.execute(f"DELETE FROM store.removals WHERE path {of_it}", key)
                    store.execute(f"DELETE FROM store.exchanges WHERE {place}", key)
                    store.execute(f"DELETE FROM store.sessions WHERE {place}", key)
                # other processes' copies in memory are of another file now
                store.execute("UPDATE store.meta SET value = uuid()::VARCHAR WHERE name = 'identity'")
        for path in self._file.asides():
            path.unlink(missing_ok=True)

    def create(self) -> None:
        """Make the file if it isn't there. Raises StoreBusy, StoreUnusable."""
        with self._file.writing():
            pass

    def give_way_to(self, new: Path) -> None:
        """Put a complete new index file in this one's place. Raises StoreBusy, StoreUnusable, OSError."""
        with self._lock:
            self.create()  # whatever its write-ahead log holds is in the file, and nobody else writes it
            new.replace(self.path)
            self._stamp = None
            self._forget_memory()
            self.load()

    def close(self) -> None:
        """Let the memory go."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None


def _unwanted_sessions(store: duckdb.DuckDBPyConnection, unwanted: Callable[[str, str], bool]) -> list[tuple[str, str]]:
    rows = store.execute(
        "SELECT source, session_id FROM store.sessions UNION SELECT source, session_id FROM store.exchanges"
    ).fetchall()
    return [(source, session_id) for source, session_id in rows if unwanted(source, session_id)]


def rebuild_due(stored: str, configured: str) -> str:
    """Return the line that says that the index is of another model than the configured one."""
    return f"the index was made with {stored}, not {configured}: a rebuild is due"


def _another_size(model: str, got: int, stored: int) -> str:
    return f"{model} gives vectors of {got} numbers, the index holds some of {stored}: a rebuild is due"


def _vectors_table(name: str, dimensions: int) -> str:
    return (
        f"CREATE TABLE {name} (path VARCHAR, number INTEGER, position INTEGER, source VARCHAR,"
        f" session_id VARCHAR, hash VARCHAR, vector FLOAT[{dimensions}])"
    )


def _present(store: duckdb.DuckDBPyConnection, paths: set[str]) -> set[tuple[str, int, int, str]]:
    rows = store.execute(
        "SELECT path, number, position, hash FROM store.exchanges WHERE path IN (SELECT unnest($paths))",
        {"paths": sorted(paths)},
    ).fetchall()
    return {(row[0], row[1], row[2], row[3]) for row in rows}


def _columns(row: Row) -> list[object]:
    """Return the columns of ``store.exchanges`` before the vector, in their order."""
    session, exchange = row.session, row.exchange
    at = exchange.at.astimezone(UTC).replace(tzinfo=None) if exchange.at else None
    return [
        row.path,
        row.number,
        row.position,
        session.source,
        session.id,
        session.label,
        session.author,
        row.agent,
        session.workspace,
        session.branch,
        at,
        exchange.user,
        exchange.assistant,
        row.hash,
    ]


_ENCODER = msgspec.msgpack.Encoder()
_SESSION = msgspec.msgpack.Decoder(Session)

"""The database file of a semantic index: every exchange with its texts and its vector, and which files are whole in it.

It is opened for one unit of work at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import msgspec

from prima_tui.index.database import DatabaseFile
from prima_tui.index.embedder import DIMENSIONS
from prima_tui.index.rows import folded, insert_rows
from prima_tui.index.vector_file import FACTS, NEW_IDENTITY, count_up, settle_model
from prima_tui.model.session import Exchange, Session

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_MIGRATIONS = [
    [
        # files that are indexed whole, and in which state
        "CREATE TABLE store.files (path VARCHAR, source VARCHAR, state VARCHAR, indexed_at TIMESTAMP)",
        "CREATE TABLE store.exchanges (path VARCHAR, number INTEGER, position INTEGER, source VARCHAR,"
        " session_id VARCHAR,"
        " label VARCHAR, author VARCHAR, agent VARCHAR, project_folder VARCHAR, branch VARCHAR, occurred_at TIMESTAMP,"
        f" user_text VARCHAR, assistant_text VARCHAR, hash VARCHAR, vector FLOAT[{DIMENSIONS}], written BIGINT)",
        # what was taken out of a path, so that other processes' copies in memory follow
        "CREATE TABLE store.removals (path VARCHAR, number INTEGER, position INTEGER, hash VARCHAR, written BIGINT)",
        # each session as it was when last indexed, to show those whose file is gone
        "CREATE TABLE store.sessions (source VARCHAR, session_id VARCHAR, session BLOB)",
        FACTS,
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


class FileState(msgspec.Struct, frozen=True):
    """A file that is now indexed whole, in this state; ``rows`` are all (number, position, hash) it consists of."""

    path: str
    source: str
    state: str
    rows: frozenset[tuple[int, int, str]]


def index_file(
    path: Path, make_folder: Callable[[], object] | None = None, notice: Callable[[str], None] | None = None
) -> DatabaseFile:
    """Return the database file of a semantic index, not opened yet."""
    return DatabaseFile(path, "prima-tui index", _MIGRATIONS, make_folder=make_folder, notice=notice)


class ExchangeStore:
    """The file of the index of one workspace (or of every one). Safe to use from several threads."""

    def __init__(
        self, path: Path, model: str, make_folder: Callable[[], object], notice: Callable[[str], None]
    ) -> None:
        self.model = model
        self._file = index_file(path, make_folder, notice)

    # -- reading ------------------------------------------------------------------------------------------------

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
        return _decoded(rows)

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
            return _present(store, set(paths))

    def write(self, rows: Sequence[Row], vectors: dict[str, Vector], whole: Sequence[FileState]) -> None:
        """Store rows, and mark files as indexed whole, in one transaction; rows that stand already are left alone.

        A row's vector comes from ``vectors`` by its hash, else from a stored row of the same hash; a row with
        neither is passed over. When a file is whole, what was stored of an older state of it goes.
        Raises StoreBusy, StoreUnusable; ModelUnavailable when the file holds vectors of another model or size.
        """
        with self._file.writing() as store:
            settle_model(store, "store.exchanges", self.model, {len(vector) for vector in vectors.values()})
            written = count_up(store)
            present = _present(store, {row.path for row in rows} | {one.path for one in whole})
            missing = [row for row in rows if (row.path, row.number, row.position, row.hash) not in present]
            fresh = [row for row in missing if row.hash in vectors]
            if fresh:
                keys = list(dict.fromkeys(row.hash for row in fresh))
                with folded(store, [vectors[key] for key in keys]) as relation:
                    places = {key: place for place, key in enumerate(keys)}
                    _insert(store, relation, "place", fresh, [places[row.hash] for row in fresh], written)
            reused = [row for row in missing if row.hash not in vectors]
            if reused:
                known = "(SELECT hash AS key, first(vector) AS vector FROM store.exchanges GROUP BY hash)"
                _insert(store, known, "key", reused, [row.hash for row in reused], written)
            _finish(store, whole, present, written)
            _keep_sessions(store, {row.session.key: row.session for row in rows})

    def kept_sessions(self) -> list[Session]:
        """Return every session that something is stored of. Raises StoreBusy, StoreUnusable."""
        with self._file.reading() as store:
            rows = store.execute("SELECT session FROM store.sessions").fetchall() if store is not None else []
        return _decoded(rows)

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
                store.execute(NEW_IDENTITY)
        for path in self._file.asides():
            path.unlink(missing_ok=True)

    def create(self) -> None:
        """Make the file if it isn't there. Raises StoreBusy, StoreUnusable."""
        with self._file.writing():
            pass


def _unwanted_sessions(store: duckdb.DuckDBPyConnection, unwanted: Callable[[str, str], bool]) -> list[tuple[str, str]]:
    rows = store.execute(
        "SELECT source, session_id FROM store.sessions UNION SELECT source, session_id FROM store.exchanges"
    ).fetchall()
    return [(source, session_id) for source, session_id in rows if unwanted(source, session_id)]


def _finish(
    store: duckdb.DuckDBPyConnection,
    whole: Sequence[FileState],
    before: set[tuple[str, int, int, str]],
    written: int,
) -> None:
    """Mark files as indexed whole; of the rows that stood ``before``, those of an older state of a file go."""
    if not whole:
        return
    rows = {one.path: one.rows for one in whole}
    stale = [row for row in before if row[0] in rows and row[1:] not in rows[row[0]]]
    if stale:
        columns = {name: list(column) for name, column in zip("abcd", zip(*stale, strict=True), strict=True)}
        gone = "SELECT unnest($a) AS path, unnest($b) AS number, unnest($c) AS position, unnest($d) AS hash"
        store.execute(
            f"DELETE FROM store.exchanges e USING ({gone}) g"
            " WHERE e.path = g.path AND e.number = g.number AND e.position = g.position AND e.hash = g.hash",
            columns,
        )
        store.execute(f"INSERT INTO store.removals SELECT *, $written FROM ({gone})", columns | {"written": written})
    store.execute("DELETE FROM store.files WHERE path IN (SELECT unnest($paths))", {"paths": list(rows)})
    now = datetime.now(UTC).replace(tzinfo=None)
    insert_rows(store, "store.files", [(one.path, one.source, one.state, now) for one in whole])


def _keep_sessions(store: duckdb.DuckDBPyConnection, sessions: dict[tuple[str, str], Session]) -> None:
    if not sessions:
        return
    store.execute(
        "DELETE FROM store.sessions s USING (SELECT unnest($a) AS source, unnest($b) AS id) w"
        " WHERE s.source = w.source AND s.session_id = w.id",
        {"a": [source for source, _id in sessions], "b": [session_id for _source, session_id in sessions]},
    )
    insert_rows(store, "store.sessions", [(*key, _ENCODER.encode(session)) for key, session in sessions.items()])


def _decoded(rows: Iterable[tuple[bytes]]) -> list[Session]:
    """Return the sessions of packed rows, without those that can't be read."""
    sessions = []
    for (packed,) in rows:
        with contextlib.suppress(msgspec.MsgspecError):
            sessions.append(_SESSION.decode(packed))
    return sessions


def _present(store: duckdb.DuckDBPyConnection, paths: set[str]) -> set[tuple[str, int, int, str]]:
    rows = store.execute(
        "SELECT path, number, position, hash FROM store.exchanges WHERE path IN (SELECT unnest($paths))",
        {"paths": sorted(paths)},
    ).fetchall()
    return {(row[0], row[1], row[2], row[3]) for row in rows}


def _insert(
    store: duckdb.DuckDBPyConnection,
    vectors: str,
    by: str,
    rows: Sequence[Row],
    keys: Sequence[object],
    written: int,
) -> None:
    """Insert rows, each with the vector that has its key in the column ``by`` of a relation; others are passed over."""
    columns: dict[str, object] = {
        f"c{place}": list(column) for place, column in enumerate(zip(*map(_columns, rows), strict=True))
    }
    names = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
    store.execute(
        f"INSERT INTO store.exchanges SELECT {', '.join(columns)}, vector, $written"
        f" FROM (SELECT {names}, unnest($keys) AS k, generate_subscripts($keys, 1) AS rank) r"
        f" JOIN {vectors} v ON v.{by} = r.k ORDER BY rank",
        columns | {"keys": list(keys), "written": written},
    )


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

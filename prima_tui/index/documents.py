"""The index of a project's documents: every chunk with its text and its vector, in a DuckDB file, compared in memory.

The file is opened for one unit of work at a time. What a search compares with is an in-memory copy that takes over only
what was written since it last looked; it also holds documents that are not in the file yet, without vectors. Vectors
are kept by the hash of the passage they are of, so text that moves, or stands in two documents, is embedded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import msgspec

from prima_tui.documents.chunks import passages
from prima_tui.index.database import DatabaseFile
from prima_tui.index.embedder import DIMENSIONS, text_hash
from prima_tui.index.messages import MessageTable
from prima_tui.index.rows import folded
from prima_tui.index.vector_file import (
    FACTS,
    FLOOR,
    NEW_IDENTITY,
    StoredCopy,
    count_up,
    rebuild_due,
    settle_model,
    stacked,
)
from prima_tui.model.documents import Chunk, Document
from prima_tui.model.hits import Cancel
from prima_tui.model.text import fold
from prima_tui.sources.reading import Messages

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_MIGRATIONS = [
    [
        "CREATE TABLE store.files (path VARCHAR, sha256 VARCHAR, title VARCHAR, modified_at TIMESTAMP, warning VARCHAR,"
        " left_out BOOLEAN, indexed_at TIMESTAMP, written BIGINT)",
        "CREATE TABLE store.chunks (path VARCHAR, position INTEGER, headings VARCHAR[], first_line INTEGER,"
        " last_line INTEGER, text VARCHAR)",
        # what the model reads of each chunk, by the hash of the text
        "CREATE TABLE store.passages (path VARCHAR, position INTEGER, hash VARCHAR)",
        f"CREATE TABLE store.vectors (hash VARCHAR, vector FLOAT[{DIMENSIONS}])",
        FACTS,
    ],
    ["ALTER TABLE store.files ADD COLUMN given_up_after DOUBLE DEFAULT 0"],
]

_FILE_COLUMNS = ("VARCHAR", "VARCHAR", "VARCHAR", "TIMESTAMP", "VARCHAR", "BOOLEAN", "TIMESTAMP", "BIGINT", "DOUBLE")
_CHUNK_COLUMNS = ("VARCHAR", "INTEGER", "VARCHAR[]", "INTEGER", "INTEGER", "VARCHAR")
_PASSAGE_COLUMNS = ("VARCHAR", "INTEGER", "VARCHAR")

_DOCUMENTS_AT_ONCE = 100
"""Whose vectors are taken over in one go."""


class Near(msgspec.Struct, frozen=True):
    """A chunk that is like a query."""

    path: str
    position: int
    similarity: float


class StoredDocument(msgspec.Struct, frozen=True):
    """What is in memory of a document beside its texts."""

    path: str
    sha256: str
    title: str
    modified_at: datetime
    headings: tuple[str, ...]
    """The heading path of each chunk, in one line."""
    indexed_at: datetime | None = None
    """None for one that is in memory only."""
    warning: str = ""
    left_out: bool = False
    given_up_after: float = 0.0
    """Seconds after which reading it was given up; 0 when it came to its end."""


def documents_rebuild_due(stored: str, configured: str) -> str:
    """Return the line that says that the documents' index is of another model, and what to do."""
    return f"{rebuild_due(stored, configured)} (prima-tui docs index --rebuild)"


class DocumentIndex(StoredCopy):
    """The index of one project. Safe to use from several threads."""

    def __init__(
        self, path: Path, model: str, make_folder: Callable[[], object], notice: Callable[[str], None]
    ) -> None:
        file = DatabaseFile(path, "prima-tui documents", _MIGRATIONS, make_folder=make_folder, notice=notice)
        super().__init__(file, model)
        self._documents: dict[str, StoredDocument] = {}
        self._chunks: dict[str, tuple[Chunk, ...]] = {}
        self.table = MessageTable()
        self._places: list[tuple[str, int]] = []
        """Path and position of the chunk that is an owner in the matrix."""
        self._rows: dict[str, range] = {}
        """Of the matrix, those of each document."""

    # -- what is in memory --------------------------------------------------------------------------------------

    def _take(self, store: duckdb.DuckDBPyConnection, since: int) -> None:
        present = {row[0] for row in store.execute("SELECT path FROM store.files").fetchall()}
        gone = [path for path, one in self._documents.items() if one.indexed_at is not None and path not in present]
        rows = store.execute(
            "SELECT path, sha256, title, modified_at, indexed_at, warning, left_out, given_up_after"
            " FROM store.files"
            " WHERE written > $since",
            {"since": since},
        ).fetchall()
        changed = [row[0] for row in rows]
        self._drop([*gone, *changed])
        if not changed:
            return
        chunks: dict[str, list[Chunk]] = {path: [] for path in changed}
        for path, headings, first, last, text in store.execute(
            "SELECT path, headings, first_line, last_line, text FROM store.chunks"
            " WHERE path IN (SELECT unnest($paths)) ORDER BY path, position",
            {"paths": changed},
        ).fetchall():
            chunks[path].append(Chunk(tuple(headings), first, last, text))
        for path, sha256, title, modified_at, indexed_at, warning, left_out, given_up_after in rows:
            found = tuple(chunks[path])
            self._documents[path] = StoredDocument(
                path,
                sha256,
                title,
                modified_at.replace(tzinfo=UTC),
                tuple(chunk.heading for chunk in found),
                indexed_at.replace(tzinfo=UTC),
                warning,
                left_out,
                given_up_after,
            )
            self._chunks[path] = found
        self._take_vectors(store, changed)
        self.table.add([(path, _messages(self._chunks[path])) for path in changed])

    def _take_vectors(self, store: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
        for first in range(0, len(paths), _DOCUMENTS_AT_ONCE):
            columns = store.execute(
                "SELECT path, position, vector FROM store.passages JOIN store.vectors USING (hash)"
                " WHERE path IN (SELECT unnest($paths)) ORDER BY path, position",
                {"paths": paths[first : first + _DOCUMENTS_AT_ONCE]},
            ).fetchnumpy()
            if not len(columns["path"]):
                continue
            owners = []
            for place in zip(columns["path"].tolist(), columns["position"].tolist(), strict=True):
                if not self._places or self._places[-1] != place:
                    self._places.append(place)
                owners.append(len(self._places) - 1)
            rows = self._matrix.add(stacked(columns["vector"]), owners)
            for row, path in zip(rows, columns["path"].tolist(), strict=True):
                known = self._rows.get(path)
                self._rows[path] = range(known.start if known is not None else row, row + 1)

    def add_unstored(self, documents: Iterable[Document]) -> None:
        """Let documents be found by word though they are not in the file yet."""
        with self._lock:
            for one in documents:
                if one.path in self._documents:
                    continue
                headings = tuple(chunk.heading for chunk in one.chunks)
                self._documents[one.path] = StoredDocument(
                    one.path, one.sha256, one.title, one.modified_at, headings, None, one.warning, one.left_out
                )
                self._chunks[one.path] = one.chunks
                self.table.add([(one.path, _messages(one.chunks))])
                self.generation += 1

    def drop_unstored(self, paths: Iterable[str]) -> None:
        """Take documents that are in memory only out of it again."""
        with self._lock:
            self._drop([path for path in paths if path in self._documents and not self._documents[path].indexed_at])

    def _drop(self, paths: Sequence[str]) -> None:
        if not paths:
            self.generation += 1
            return
        for path in paths:
            self._documents.pop(path, None)
            self._chunks.pop(path, None)
        self.table.remove(paths)
        self._matrix.remove(row for path in paths for row in self._rows.pop(path, ()))
        self.generation += 1

    def _let_go(self) -> None:
        self._drop([path for path, one in self._documents.items() if one.indexed_at is not None])
        self._places = []
        self._rows = {}

    def count(self) -> int:
        """Return the number of documents in memory that are in the file."""
        return sum(one.indexed_at is not None for one in self._documents.values())

    def documents(self) -> list[StoredDocument]:
        """Return all documents in memory, those that are not in the file yet too."""
        with self._lock:
            return list(self._documents.values())

    def stored(self) -> dict[str, StoredDocument]:
        """Return the documents that are in the file, by path."""
        with self._lock:
            return {path: one for path, one in self._documents.items() if one.indexed_at is not None}

    def document(self, path: str) -> StoredDocument | None:
        """Return a document that is in memory; None when it is gone meanwhile."""
        return self._documents.get(path)

    def chunk(self, path: str, position: int) -> Chunk | None:
        """Return a chunk; None when it is gone meanwhile."""
        chunks = self._chunks.get(path, ())
        return chunks[position] if position < len(chunks) else None

    def near(self, vector: Vector, cancel: Cancel, floor: float = FLOOR) -> list[Near]:
        """Compare the query's vector with every passage by cosine; return each chunk with that of its nearest.

        Chunks below ``floor`` are dropped. Raises Cancelled, ModelUnavailable when the vector is of another size.
        """
        with self._lock:
            found = self._nearest(vector, floor, cancel)
            near = zip(found.owners.tolist(), found.cosines.tolist(), strict=True)
            return [Near(path, position, cosine) for owner, cosine in near for path, position in [self._places[owner]]]

    # -- writing ------------------------------------------------------------------------------------------------

    def known(self) -> set[str]:
        """Return the hashes of all texts that have a vector. Raises StoreBusy, StoreUnusable."""
        with self._file.reading() as store:
            if store is None:
                return set()
            return {row[0] for row in store.execute("SELECT hash FROM store.vectors").fetchall()}

    def create(self) -> None:
        """Make the file if it isn't there. Raises StoreBusy, StoreUnusable."""
        with self._file.writing():
            pass

    def write(self, vectors: Mapping[str, Vector], documents: Sequence[Document], gone: Sequence[str] = ()) -> None:
        """Keep vectors, put documents in the place of what was stored under their paths, and let others go, at once.

        Every text of ``documents`` must have its vector, in the file or among ``vectors``. Raises StoreBusy,
        StoreUnusable; ModelUnavailable when the file holds vectors of another model or size.
        """
        with self._file.writing() as store:
            settle_model(store, "store.vectors", self.model, {len(vector) for vector in vectors.values()})
            written = count_up(store)
            if vectors:
                hashes = list(vectors)
                with folded(store, [vectors[key] for key in hashes]) as relation:
                    store.execute(
                        "INSERT INTO store.vectors SELECT hash, vector FROM (SELECT unnest($hashes) AS hash,"
                        f" generate_subscripts($hashes, 1) - 1 AS place) JOIN {relation} USING (place)",
                        {"hashes": hashes},
                    )
            paths = [*(one.path for one in documents), *gone]
            for table in ("files", "chunks", "passages"):
                store.execute(f"DELETE FROM store.{table} WHERE path IN (SELECT unnest($paths))", {"paths": paths})
            now = datetime.now(UTC).replace(tzinfo=None)
            _insert(store, "files", _FILE_COLUMNS, [_file_row(one, now, written) for one in documents])
            _insert(store, "chunks", _CHUNK_COLUMNS, [row for one in documents for row in _chunk_rows(one)])
            _insert(store, "passages", _PASSAGE_COLUMNS, [row for one in documents for row in _passage_rows(one)])

    def forget_vectors(self) -> None:
        """Drop all vectors, and with them the model they are of; the texts stay and are found by word.

        Every document counts as changed from then on. Raises StoreBusy, StoreUnusable.
        """
        with self._file.writing() as store:
            store.execute("DELETE FROM store.vectors")
            store.execute("DELETE FROM store.meta WHERE name = 'model'")
            store.execute("UPDATE store.files SET sha256 = ''")
            store.execute(NEW_IDENTITY)

    def copy_to(self, path: Path) -> bool:
        """Copy the file to another place; whether there was one. Raises StoreBusy, StoreUnusable."""
        return self._file.copy_to(path)

    def forget_unused_vectors(self) -> None:
        """Drop the vectors of texts that stand in no document any more. Raises StoreBusy, StoreUnusable."""
        with self._file.writing() as store:
            store.execute("DELETE FROM store.vectors WHERE hash NOT IN (SELECT hash FROM store.passages)")

    def close(self) -> None:
        """Let the memory go."""
        self.table.close()


def _messages(chunks: Sequence[Chunk]) -> list[Messages]:
    """Return each chunk as a transcript of one message: the headings above it and its text, folded."""
    return [Messages([0], [False], [fold(f"{chunk.heading}\n{chunk.text}")]) for chunk in chunks]


def _insert(store: duckdb.DuckDBPyConnection, table: str, types: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Put all rows in with one statement, which takes a tenth of the time of one for each."""
    if rows:
        columns = ", ".join(f"unnest(?::{kind}[])" for kind in types)
        store.execute(
            f"INSERT INTO store.{table} SELECT {columns}", [list(column) for column in zip(*rows, strict=True)]
        )


def _file_row(one: Document, now: datetime, written: int) -> list[Any]:
    modified_at = one.modified_at.astimezone(UTC).replace(tzinfo=None)
    return [one.path, one.sha256, one.title, modified_at, one.warning, one.left_out, now, written, one.given_up_after]


def _chunk_rows(one: Document) -> list[list[Any]]:
    return [
        [one.path, position, list(chunk.headings), chunk.first_line, chunk.last_line, chunk.text]
        for position, chunk in enumerate(one.chunks)
    ]


def _passage_rows(one: Document) -> list[list[Any]]:
    return [
        [one.path, position, text_hash(text)]
        for position, chunk in enumerate(one.chunks)
        for text in passages(chunk, one.title)
    ]

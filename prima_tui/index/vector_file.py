"""What a database file with vectors says of itself: their model and size, the count of its writes, its identity.

And a copy of such a file in memory that takes over only what was written since it last looked.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import msgspec

from prima_tui.errors import ModelUnavailable, StoreBusy
from prima_tui.index.database import DatabaseFile
from prima_tui.index.embedder import DIMENSIONS
from prima_tui.model.hits import Cancel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prima_tui.index.embedder import Vector
    from prima_tui.index.matrix import Nearest, VectorMatrix

FLOOR = 0.3
"""Cosine; what is below it is no hit, what is at it is one."""

FACTS = "INSERT INTO store.meta VALUES ('written', '0'), ('identity', uuid()::VARCHAR)"
"""The statement that a new file's migration ends with."""
NEW_IDENTITY = "UPDATE store.meta SET value = uuid()::VARCHAR WHERE name = 'identity'"
"""The statement that makes every process read the file from its start."""


_WASTE = 4_096
"""Rows that were removed and more than are left: beyond that the copy is made anew."""


class FileFacts(msgspec.Struct, frozen=True):
    """What a file with vectors says of itself."""

    written: int = 0
    """How many times it was written to; each row holds the count at which it was."""
    identity: str = ""
    """A file that takes another's place is told by it, whatever inode and counter it has."""
    dimensions: int = DIMENSIONS
    """Of its vectors; the first ones written settle it."""
    model: str = ""
    """What its vectors are of; "" as long as there are none."""


def read_facts(store: duckdb.DuckDBPyConnection) -> FileFacts:
    """Return what the attached file says of itself."""
    meta = dict(store.execute("SELECT name, value FROM store.meta").fetchall())
    return FileFacts(
        int(meta["written"]),
        meta.get("identity", ""),
        int(meta.get("dimensions", DIMENSIONS)),
        meta.get("model", ""),
    )


def count_up(store: duckdb.DuckDBPyConnection) -> int:
    """Count a write to the attached file; return the count that its rows are to hold."""
    written = read_facts(store).written + 1
    store.execute("UPDATE store.meta SET value = ? WHERE name = 'written'", [str(written)])
    return written


def settle_model(store: duckdb.DuckDBPyConnection, table: str, model: str, sizes: set[int]) -> None:
    """See to it that all vectors in a table are of one model and one size: the first ones written decide.

    ``sizes`` are those of the vectors to be written. Raises ModelUnavailable when they don't go with the others.
    """
    facts = read_facts(store)
    if facts.model not in ("", model):
        raise ModelUnavailable(rebuild_due(facts.model, model))
    if not sizes:
        return
    if not facts.model:
        store.execute("INSERT INTO store.meta VALUES ('model', ?)", [model])
    if sizes == {facts.dimensions}:
        return
    if len(sizes) > 1 or store.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
        raise ModelUnavailable(another_size(model, max(sizes - {facts.dimensions}), facts.dimensions))
    (size,) = sizes
    store.execute(f"ALTER TABLE {table} ALTER vector TYPE FLOAT[{size}] USING NULL")
    store.execute("DELETE FROM store.meta WHERE name = 'dimensions'")
    store.execute("INSERT INTO store.meta VALUES ('dimensions', ?)", [str(size)])


def rebuild_due(stored: str, configured: str) -> str:
    """Return the line that says that the index is of another model than the configured one."""
    return f"the index was made with {stored}, not {configured}: a rebuild is due"


def another_size(model: str, got: int, stored: int) -> str:
    """Return the line that says that a model's vectors are of another size than the stored ones."""
    return f"{model} gives vectors of {got} numbers, the index holds some of {stored}: a rebuild is due"


class StoredCopy(ABC):
    """The copy in memory of one file with vectors. Safe to use from several threads."""

    def __init__(self, file: DatabaseFile, model: str) -> None:
        self.model = model
        self._file = file
        self._lock = threading.RLock()
        self._stamp: tuple[int, int, int] | None = None
        self._facts = FileFacts()
        self._matrix = _matrix(DIMENSIONS)
        self.generation = 0
        """Grows whenever what is in memory changes."""

    @property
    def path(self) -> Path:
        """The file, whether it is there or not."""
        return self._file.path

    @abstractmethod
    def _take(self, store: duckdb.DuckDBPyConnection, since: int) -> None:
        """Take over what was written after the count ``since``, and let go of what was removed."""

    @abstractmethod
    def _let_go(self) -> None:
        """Let go of all that came from the file, before the matrix is made anew."""

    @abstractmethod
    def count(self) -> int:
        """Return how much of the file is in memory: the number of its exchanges, or of its documents."""

    def load(self) -> None:
        """Take over what was written since the last call. Raises StoreBusy, StoreUnusable.

        What is in memory stays there when the file is busy; none of it does when the file turns out to be damaged.
        """
        with self._lock:
            stamp = self._now()
            if stamp == self._stamp:
                return
            if stamp is None or (self._stamp is not None and stamp[0] != self._stamp[0]):
                self._forget()
            if stamp is None:
                return
            with self._file.reading() as store:
                if store is None:
                    return
                facts, known = read_facts(store), self._facts
                same = (facts.identity, facts.dimensions) == (known.identity, known.dimensions)
                if not same or facts.written < known.written:
                    self._forget(facts.dimensions)
                self.generation += 1
                try:
                    self._take(store, self._facts.written)
                    if self._matrix.wasted > len(self._matrix) + _WASTE:
                        self._forget(facts.dimensions)
                        self._take(store, 0)
                except BaseException:
                    self._forget(facts.dimensions)
                    raise
                whole = not self._facts.written
                self._facts = facts
            self._stamp = stamp
            if whole:
                self._file.release()  # the database holds what it has read: as much again as the vectors

    def load_if_free(self) -> None:
        """Do what :meth:`load` does; when another process keeps the file, what is in memory goes on to answer.

        Raises StoreBusy when nothing is in memory, StoreUnusable.
        """
        try:
            self.load()
        except StoreBusy:
            if not self.count():
                raise

    def _forget(self, dimensions: int = DIMENSIONS) -> None:
        self._facts = FileFacts(dimensions=dimensions)
        self._stamp = None
        self._let_go()
        self._matrix = _matrix(dimensions)
        self.generation += 1

    def _nearest(self, vector: Vector, floor: float, cancel: Cancel) -> Nearest:
        """Compare a query's vector with what is in memory, by a caller that holds the lock.

        Raises Cancelled, ModelUnavailable when the vector is of another size than those that there are.
        """
        if len(vector) != self._matrix.dimensions and len(self._matrix):
            raise ModelUnavailable(another_size(self.model, len(vector), self._matrix.dimensions))
        return self._matrix.nearest(vector, floor, cancel.check)

    def _now(self) -> tuple[int, int, int] | None:
        try:
            state = self.path.stat()
        except OSError:
            return None
        return (state.st_ino, state.st_mtime_ns, state.st_size)

    @property
    def other_model(self) -> str:
        """The model that the stored vectors are of, when it is not the configured one; "" mostly."""
        return self._facts.model if self._facts.model not in ("", self.model) else ""


def _matrix(dimensions: int) -> VectorMatrix:
    # brings NumPy, which a search by word does without
    from prima_tui.index.matrix import VectorMatrix

    return VectorMatrix(dimensions)


def stacked(column: Any) -> NDArray[np.float32]:
    """Return the vectors of a fetched column as one array, shape (n, dimensions)."""
    import numpy as np

    return np.stack(list(column)).astype(np.float32, copy=False)

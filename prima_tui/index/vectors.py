"""The semantic index: the file of all exchanges, and a copy of its vectors in memory that a search compares with."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from prima_tui.index.exchange_store import ExchangeStore
from prima_tui.index.similar import SimilarExchanges, Transcript
from prima_tui.index.vector_file import FLOOR, StoredCopy, stacked
from prima_tui.model.hits import Cancel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prima_tui.index.embedder import Vector

_ROWS_AT_ONCE = 2_048
"""Taken over in one go: a few milliseconds, in which no other thread of the process runs."""
_HASH_BYTES = 32
"""Of the key of a text, which is written in hexadecimal."""


class SemanticIndex(ExchangeStore, StoredCopy):
    """The index of one workspace (or of every one). Safe to use from several threads.

    In memory there are, for each exchange, its vector (of the built-in model 1,536 bytes, and 396 for the quick look at
    it) and some 40 bytes more.
    """

    def __init__(
        self, path: Path, model: str, make_folder: Callable[[], object], notice: Callable[[str], None]
    ) -> None:
        ExchangeStore.__init__(self, path, model, make_folder, notice)
        StoredCopy.__init__(self, self._file, model)
        self._let_go()

    # -- the copy in memory -------------------------------------------------------------------------------------

    def _let_go(self) -> None:
        self._transcripts: dict[Transcript, int] = {}
        self._by_number: list[Transcript] = []
        # of each row of the matrix, in its order
        self._positions = array("i")
        self._hashes = bytearray()
        self._states: dict[str, str] = {}

    def _take(self, store: duckdb.DuckDBPyConnection, since: int) -> None:
        if since:
            self._remove(
                store.execute(
                    "SELECT path, number, position, hash FROM store.removals WHERE written > ?", [since]
                ).fetchall()
            )
        for columns in _rows_since(store, since):
            places = zip(*(columns[name].tolist() for name in ("path", "number", "source", "session_id")), strict=True)
            owners = [self._number(place) for place in places]
            self._matrix.add(stacked(columns["vector"]), owners)
            self._positions.extend(columns["position"].tolist())
            self._hashes += b"".join(key.encode()[:_HASH_BYTES].ljust(_HASH_BYTES, b"\0") for key in columns["hash"])
        self._states = dict(store.execute("SELECT path, state FROM store.files").fetchall())

    def _number(self, transcript: Transcript) -> int:
        number = self._transcripts.setdefault(transcript, len(self._by_number))
        if number == len(self._by_number):
            self._by_number.append(transcript)
        return number

    def _remove(self, removed: Sequence[tuple[str, int, int, str]]) -> None:
        """Let go of rows, by path, transcript number, position and hash."""
        gone: dict[tuple[str, int], set[tuple[int, str]]] = {}
        for path, number, position, key in removed:
            gone.setdefault((path, number), set()).add((position, key))
        for (path, number, _source, _session), owner in self._transcripts.items() if gone else ():
            rows = gone.get((path, number))
            if rows:
                mine = self._matrix.rows_of(owner)
                positions, hashes = self._of_rows(np.array(mine, np.int64))
                said = zip(positions.tolist(), hashes.astype(str).tolist(), strict=True)
                self._matrix.remove(row for row, one in zip(mine, said, strict=True) if one in rows)

    def _of_rows(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.bytes_]]:
        """Return the positions and the hashes of rows, copied."""
        positions = np.frombuffer(self._positions, np.int32)[rows]
        hashes = np.frombuffer(self._hashes, f"S{_HASH_BYTES}")[rows]
        return positions, hashes

    def state_of(self, path: str) -> str | None:
        """Return the state in which a file is indexed whole, None if it isn't."""
        return self._states.get(path)

    def count(self) -> int:
        """Return the number of exchanges in memory."""
        return len(self._matrix)

    def similar(self, vector: Vector, cancel: Cancel | None = None) -> SimilarExchanges:
        """Compare the query's vector with every exchange in memory by cosine; return the best of each transcript.

        Those below 0.3 are dropped. Raises Cancelled, ModelUnavailable when the vector is of another size.
        """
        with self._lock:
            found = self._nearest(vector, FLOOR, cancel or Cancel())
            return SimilarExchanges(self._by_number, found.owners, *self._of_rows(found.rows), found.cosines)

    # -- the file as a whole ------------------------------------------------------------------------------------

    def give_way_to(self, new: Path) -> None:
        """Put a complete new index file in this one's place. Raises StoreBusy, StoreUnusable, OSError."""
        with self._lock:
            self.create()  # whatever its write-ahead log holds is in the file, and nobody else writes it
            new.replace(self.path)
            self._forget()
            self.load()

    def close(self) -> None:
        """Let the memory go."""
        with self._lock:
            self._forget()


def _rows_since(store: duckdb.DuckDBPyConnection, since: int) -> Iterator[dict[str, Any]]:
    """Yield the columns of the rows written after the count ``since``, in the order of the file, some rows at once."""
    first, last = store.execute(
        "SELECT min(rowid), max(rowid) FROM store.exchanges WHERE written > ?", [since]
    ).fetchall()[0]
    for start in range(first, last + 1, _ROWS_AT_ONCE) if first is not None else ():
        columns = store.execute(
            "SELECT path, number, source, session_id, position, hash, vector FROM store.exchanges"
            " WHERE rowid >= ? AND rowid < ? AND written > ?",
            [start, start + _ROWS_AT_ONCE, since],
        ).fetchnumpy()
        if len(columns["path"]):
            yield columns

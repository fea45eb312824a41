"""Rows with large values, bytes or vectors, put into a table without a detour over Python's lists of numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_ROWS_AT_ONCE = 100


def insert_rows(store: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows, some dozens in each statement: bytes in lists are converted eight times slower than on their own."""
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        places = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        store.execute(f"INSERT INTO {table} VALUES {places}", [value for row in some for value in row])


@contextlib.contextmanager
def folded(store: duckdb.DuckDBPyConnection, vectors: Sequence[Vector]) -> Iterator[str]:
    """Yield a relation, in SQL, with the columns ``place`` (from 0) and ``vector``: the vectors, all of one size.

    They are handed over as one array and folded there, which takes a tenth of the time of lists in parameters.
    """
    import numpy as np

    size = len(vectors[0])
    store.register("numbers", np.concatenate(vectors).astype(np.float32, copy=False))
    try:
        yield (
            f"(SELECT i // {size} AS place, list(number ORDER BY i)::FLOAT[{size}] AS vector FROM"
            f" (SELECT column0 AS number, row_number() OVER () - 1 AS i FROM numbers) GROUP BY i // {size})"
        )
    finally:
        store.unregister("numbers")

"""Rows put into a table fast: many of them, or large ones with bytes or vectors."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_ROWS_AT_ONCE = 100
_MANY_ROWS = 10_000


def insert_rows(store: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows, some dozens in each statement: bytes in lists are converted eight times slower than on their own."""
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        places = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        store.execute(f"INSERT INTO {table} VALUES {places}", [value for row in some for value in row])


def insert_columns(store: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Sequence[object]]) -> None:
    """Insert rows given as columns of equal length, in the order of the table's: numbers, flags or strings, no None.

    Many rows are handed over as arrays, which takes a fifth of the time of lists in parameters; for a few NumPy is not
    loaded, which takes longer than they do.
    """
    rows = len(columns[0])
    if not rows:
        return
    names = [f"c{place}" for place in range(len(columns))]
    if not _arrays_pay(rows):
        lists = dict(zip(names, columns, strict=True))
        store.execute(f"INSERT INTO {table} SELECT {', '.join(f'unnest(${name})' for name in names)}", lists)
        return
    import numpy as np

    arrays = (np.array(column, dtype=object if isinstance(column[0], str) else None) for column in columns)
    store.register("columns_given", dict(zip(names, arrays, strict=True)))
    try:
        store.execute(f"INSERT INTO {table} SELECT {', '.join(names)} FROM columns_given")
    finally:
        store.unregister("columns_given")


def _arrays_pay(rows: int) -> bool:
    return rows >= _MANY_ROWS or "numpy" in sys.modules


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

"""DuckDB itself: a database in memory, whole columns of a query, and what its messages mean.

It has few kinds of errors, so that only their words tell what happened to a file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import duckdb

from prima_tui.model.hits import Cancelled

if TYPE_CHECKING:
    from numpy.typing import NDArray


def in_memory(threads: int = 2) -> duckdb.DuckDBPyConnection:
    """Return a new database in memory that writes nothing anywhere by itself and fetches nothing from anywhere."""
    return duckdb.connect(
        ":memory:",
        config={
            "threads": threads,
            # what does not fit into memory would go to a folder of the user's current one
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )


def fetched_columns(
    cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object]
) -> list[NDArray[Any]]:
    """Return the columns of a query, none with nulls. Raises Cancelled when the cursor was interrupted meanwhile."""
    try:
        return list(cursor.execute(sql, dict(parameters)).fetchnumpy().values())
    except duckdb.InterruptException as error:
        raise Cancelled from error


def let_go(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection and with it its database, if it is in memory.

    DuckDB refuses that while another thread asks it something, be it a search that nobody waits for any more: then the
    memory goes when nothing refers to the connection.
    """
    with contextlib.suppress(duckdb.Error):
        connection.close()


def is_lock(message: str) -> bool:
    """Tell whether it means that another process has the file open."""
    signs = ("Could not set lock", "Conflicting lock", "being used by another process", "Unique file handle conflict")
    return any(sign in message for sign in signs)


def is_damage(message: str) -> bool:
    """Tell whether it means that the file is no database that can be read, or is broken inside."""
    lowered = message.lower()
    return (
        any(
            sign in lowered
            for sign in (
                "not a valid duckdb",
                "corrupt",
                "checksum",
                "serialization",
                "deserializ",
                "wal file",
                "replaying",
                "internal error",
                "newer version",
                "version number",
                "could not read enough bytes",
                "storage version",
            )
        )
        and "permission denied" not in lowered
    )


def first_line(error: Exception) -> str:
    """Return what people are told of an error."""
    return str(error).strip().split("\n")[0]

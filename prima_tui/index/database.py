"""DuckDB files shared by several processes: opened for one unit of work, tried again for a moment, kept when damaged.

DuckDB lets one process write a file, or several read it. So no process keeps a file open while its user thinks; all
that is long-lived is in an in-memory database that files are attached to for as long as one copy takes.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import duckdb

from prima_tui.config import private_folder
from prima_tui.errors import StoreBusy, StoreUnusable
from prima_tui.index.connections import first_line, in_memory, is_damage, is_lock

WAIT_SECONDS = 0.9
"""How long a file that another process has open is tried again; nobody is blocked for more than a second."""
_PAUSE_SECONDS = 0.02
_GLANCE_SECONDS = 0.05
"""How long another thread's work on a file is waited for by somebody who can do without the file."""
_LOCKS: dict[str, threading.RLock] = {}
"""One for each file: DuckDB opens a file once in a process, and the system's locks don't hold inside one."""


class _Damaged(Exception):
    """The file is there and can be read, but is no database that can be opened."""


class DatabaseFile:
    """One DuckDB file with a schema of a numbered version.

    The SQL of ``migrations`` names its tables ``store.…``; ``migrations[v]`` holds the statements that take version v
    to v + 1 (0: an empty file), so the last one gives the current version. ``kind`` names what the file is, so that
    a foreign database is told from ours.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        migrations: Sequence[Sequence[str]],
        *,
        make_folder: Callable[[], object] | None = None,
        notice: Callable[[str], None] | None = None,
        row_group: int | None = None,
    ) -> None:
        """``row_group``: rows that are written as one block.

        Each time something is added, the last block is written anew, so small ones suit a file that grows bit by bit.
        """
        self.path = path
        self.kind = kind
        self.version = len(migrations)
        self._migrations = migrations
        self._writing = f" (ROW_GROUP_SIZE {row_group})" if row_group else ""
        self._make_folder = make_folder or (lambda: private_folder(path.parent))
        self._notice = notice or (lambda _line: None)
        self._instance: duckdb.DuckDBPyConnection | None = None
        self._lock = _LOCKS.setdefault(str(path.absolute()), threading.RLock())

    @contextlib.contextmanager
    def reading(
        self, into: duckdb.DuckDBPyConnection | None = None, *, wait: float = WAIT_SECONDS
    ) -> Iterator[duckdb.DuckDBPyConnection | None]:
        """Attach the file as ``store``, read-only, to ``into`` (else to a connection of its own) for a unit of work.

        Yields None when there is no file yet. Raises StoreBusy, StoreUnusable.
        """
        with self._attached(into, wait, write=False) as connection:
            yield connection

    @contextlib.contextmanager
    def writing(
        self, source: duckdb.DuckDBPyConnection | None = None, *, wait: float = WAIT_SECONDS
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Attach the file as ``store`` to write, made and migrated if need be; one transaction, committed at the end.

        Raises StoreBusy when another process keeps it, StoreUnusable when it can't be written here.
        """
        with self._attached(source, wait, write=True) as connection:
            assert connection is not None
            connection.execute("BEGIN")
            try:
                yield connection
                self._private_log()
                connection.execute("COMMIT")
                self._drop_empty_log()
            except BaseException:
                with contextlib.suppress(duckdb.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def glancing(self, into: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection | None]:
        """Attach somebody else's file as ``store``, read-only, for a unit of work; never change, move or wait for it.

        Yields None when it isn't there, busy, damaged or of another version. Raises what the caller's queries raise.
        """
        if not self._lock.acquire(timeout=_GLANCE_SECONDS):
            yield None
            return
        try:
            connection = into.cursor()
            try:
                connection.execute(f"ATTACH '{_quoted(self.path)}' AS store (READ_ONLY)")
                fine = self._ours(connection) and self._version(connection) == self.version
            except (duckdb.Error, _Damaged, StoreUnusable):
                fine = False
            try:
                yield connection if fine else None
            finally:
                with contextlib.suppress(duckdb.Error):
                    connection.execute("DETACH DATABASE IF EXISTS store")
                connection.close()
        finally:
            self._lock.release()

    def _private_log(self) -> None:
        """Make the write-ahead log before DuckDB does, which would let everybody read it; tighten the file itself."""
        with contextlib.suppress(OSError):
            os.close(os.open(self.path.with_name(self.path.name + ".wal"), os.O_WRONLY | os.O_CREAT, 0o600))
        with contextlib.suppress(OSError):
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(0o600)

    def _drop_empty_log(self) -> None:
        """Remove the log again when nothing was written; nobody else has the file open yet."""
        log = self.path.with_name(self.path.name + ".wal")
        with contextlib.suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()

    @contextlib.contextmanager
    def purging(self, *, wait: float = WAIT_SECONDS) -> Iterator[duckdb.DuckDBPyConnection | None]:
        """Do what :meth:`writing` does, and copy the file anew afterwards: no byte of what was deleted stays in it.

        Yields None when there is no file. Raises StoreBusy, StoreUnusable.
        """
        with self._lock:
            if not self.path.exists():
                yield None
                return
            with self.writing(wait=wait) as connection:
                yield connection
            with self._attached(None, wait, write=True) as connection:
                assert connection is not None
                self._copy_anew(connection)

    def _copy_anew(self, connection: duckdb.DuckDBPyConnection) -> None:
        new = self._new_name()
        try:
            connection.execute("CHECKPOINT store")
            _copy_store(connection, new)
            try:
                # while we have the old file open nobody else writes into it
                new.replace(self.path)
            except PermissionError:
                connection.execute("DETACH store")
                new.replace(self.path)
        except OSError as error:
            raise StoreUnusable(f"{self.path} can't be made anew: {error.strerror or error}") from error
        finally:
            _remove(new)

    def copy_to(self, path: Path) -> bool:
        """Copy the file as it is now to another place, in one step; whether there was one to copy.

        Raises StoreBusy, StoreUnusable.
        """
        new = path.with_name(f".{path.name}.{os.getpid()}")
        with self.reading() as connection:
            if connection is None:
                return False
            try:
                _copy_store(connection, new)
                new.replace(path)
            except (OSError, duckdb.IOException) as error:
                raise StoreUnusable(f"{path} can't be written: {error}") from error
            finally:
                _remove(new)
        return True

    def asides(self) -> list[Path]:
        """Return the damaged or foreign files that were once moved out of this one's place."""
        return sorted(self.path.parent.glob(f"{self.path.stem}.aside-*"))

    def _new_name(self) -> Path:
        return self.path.with_name(f".{self.path.name}.{os.getpid()}.{threading.get_ident()}")

    @contextlib.contextmanager
    def _attached(
        self, given: duckdb.DuckDBPyConnection | None, wait: float, *, write: bool
    ) -> Iterator[duckdb.DuckDBPyConnection | None]:
        with self._lock:
            if not write and not self._exists():
                yield None
                return
            connection = (given if given is not None else self._own_instance()).cursor()
            try:
                if not self._open(connection, wait, write=write):
                    yield None
                    return
                try:
                    yield connection
                except duckdb.InterruptException:
                    raise
                except duckdb.Error as error:
                    done = "written" if write else "read"
                    if is_damage(str(error)):
                        with contextlib.suppress(duckdb.Error):
                            connection.execute("DETACH store")
                        self._move_aside("is damaged inside")
                    raise StoreUnusable(f"{self.path} can't be {done}: {first_line(error)}") from error
            finally:
                self._detach(connection)
                connection.close()

    def release(self) -> None:
        """Give back the memory that reading much of the file took; the next unit of work starts a little slower."""
        with self._lock:
            if self._instance is not None:
                self._instance.close()
                self._instance = None

    def _own_instance(self) -> duckdb.DuckDBPyConnection:
        """Return an in-memory database to attach the file to: making one takes twenty times as long as attaching."""
        if self._instance is None:
            self._instance = in_memory()
        return self._instance

    def _detach(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let go of the file; an instance that can't is of no more use."""
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        try:
            connection.execute("DETACH DATABASE IF EXISTS store")
        except duckdb.Error:
            if self._instance is not None:
                self._instance.close()
                self._instance = None

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:
            raise StoreUnusable(f"{self.path} can't be read: {error.strerror or error}") from error

    def _open(self, connection: duckdb.DuckDBPyConnection, wait: float, *, write: bool) -> bool:
        """Attach and check the file; False when there is none to read (any more)."""
        if write:
            try:
                self._make_folder()
                if not self.path.exists():
                    self._create()
            except OSError as error:
                raise StoreUnusable(f"{self.path} can't be made: {error.strerror or error}") from error
        try:
            self._attach(connection, wait, write=write)
            fault = "" if self._ours(connection) else "is of a newer version or of another program"
        except _Damaged:
            fault = "is damaged or no database"
        if fault:
            with contextlib.suppress(duckdb.Error):
                connection.execute("DETACH store")
            self._move_aside(fault)
            return self._open(connection, wait, write=True) if write else False
        version = self._version(connection)
        if version < self.version:
            if not write:
                connection.execute("DETACH store")
                self._attach(connection, wait, write=True)
            self._migrate(connection, version)
        return True

    def _attach(self, connection: duckdb.DuckDBPyConnection, wait: float, *, write: bool) -> None:
        deadline = time.monotonic() + wait
        while True:
            try:
                connection.execute(
                    f"ATTACH '{_quoted(self.path)}' AS store" + (self._writing if write else " (READ_ONLY)")
                )
                return
            except duckdb.Error as error:
                message = str(error)
                if is_lock(message):
                    if time.monotonic() >= deadline:
                        raise StoreBusy(f"{self.path.name} is in use by another process") from error
                    time.sleep(_PAUSE_SECONDS)
                elif is_damage(message) and self.path.is_file() and os.access(self.path, os.R_OK):
                    raise _Damaged from error
                else:
                    raise StoreUnusable(f"{self.path} can't be opened: {first_line(error)}") from error

    def _create(self) -> None:
        """Make the file under another name and link it into place, so that two processes never make half of one."""
        new = self._new_name()
        try:
            connection = in_memory(1)
            try:
                connection.execute(f"ATTACH '{_quoted(new)}' AS store")
                self._migrate(connection, 0)
                connection.execute("DETACH store")
            finally:
                connection.close()
            new.chmod(0o600)
            try:
                os.link(new, self.path)
            except FileExistsError:
                return
            except OSError:
                if not self.path.exists():
                    new.rename(self.path)
        except duckdb.Error as error:
            raise StoreUnusable(f"{self.path} can't be made: {first_line(error)}") from error
        finally:
            _remove(new)

    def _migrate(self, connection: duckdb.DuckDBPyConnection, version: int) -> None:
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE IF NOT EXISTS store.meta (name VARCHAR, value VARCHAR)")
        for statements in self._migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute("DELETE FROM store.meta WHERE name IN ('kind', 'version')")
        connection.execute("INSERT INTO store.meta VALUES ('kind', ?), ('version', ?)", [self.kind, str(self.version)])
        connection.execute("COMMIT")

    def _version(self, connection: duckdb.DuckDBPyConnection) -> int:
        row = connection.execute("SELECT value FROM store.meta WHERE name = 'version'").fetchone()
        return int(row[0]) if row else 0

    def _ours(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Whether an attached file is of our kind and of a version that we know.

        Raises _Damaged when it can't even be told; StoreUnusable when something else than the file is at fault.
        """
        try:
            rows = dict(connection.execute("SELECT name, value FROM store.meta").fetchall())
            return rows.get("kind") == self.kind and 0 < int(rows.get("version", "0")) <= self.version
        except (duckdb.CatalogException, ValueError):
            return False
        except duckdb.Error as error:
            if is_damage(str(error)):
                raise _Damaged from error
            raise StoreUnusable(f"{self.path} can't be read: {first_line(error)}") from error

    def _move_aside(self, why: str) -> None:
        """Rename a file that we can't use, never delete it, and say so."""
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
        aside = self.path.with_name(f"{self.path.stem}.aside-{stamp}{self.path.suffix}")
        try:
            self.path.rename(aside)
            with contextlib.suppress(OSError):
                aside.chmod(0o600)
            wal = self.path.with_name(self.path.name + ".wal")
            if wal.exists():
                wal.rename(aside.with_name(aside.name + ".wal"))
        except OSError as error:
            raise StoreUnusable(f"{self.path} {why} and can't be moved aside: {error.strerror or error}") from error
        self._notice(f"{self.path} {why}; it was kept as {aside.name} and a new one is made")


def _copy_store(connection: duckdb.DuckDBPyConnection, new: Path) -> None:
    """Copy the attached database into a new file that is for this user alone."""
    connection.execute(f"ATTACH '{_quoted(new)}' AS fresh")
    try:
        connection.execute("COPY FROM DATABASE store TO fresh")
    finally:
        connection.execute("DETACH fresh")
    new.chmod(0o600)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)

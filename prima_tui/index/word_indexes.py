"""The word indexes of a catalog: files beside it, made in a process of its own, thrown away at any time.

Without them keyword search looks through the text. One index is made when much text is in none; when there are several
of them, one of everything takes their place.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from prima_tui.config import private_folder
from prima_tui.errors import StoreUnusable

if TYPE_CHECKING:
    import duckdb

    from prima_tui.index.database import DatabaseFile
    from prima_tui.index.word_index import WordIndex

WORTH_IT_BYTES = 12 * 1024 * 1024
"""Text that is looked through in the time of a keystroke; more of it is worth an index."""
_SUFFIX = ".words"
_MOST = 3
_SECONDS_BETWEEN = 60.0
"""After one index was begun: what can't be made is not tried at every search."""
_SLICE_ROWS = 50_000
_COMMAND = "import sys; from prima_tui.index.catalog import build_words; build_words(sys.argv[1])"

FileRow = tuple[int, str, bytes]
"""A file of the catalog: id, path, state."""
MessageRow = tuple[int, int, int, str]
"""File id, number of the transcript, position, folded text."""


class WordIndexes:
    """The word indexes in one folder."""

    def __init__(self, folder: Path, notice: Callable[[str], None]) -> None:
        self._folder = folder
        self._notice = notice
        self._open: dict[str, WordIndex] = {}
        self._seen: int | None = None
        self._not_before = 0.0
        self._building: subprocess.Popen[bytes] | None = None

    def changed(self) -> bool:
        """Tell whether indexes came or went since :meth:`all` was last asked."""
        return self._seen != self._state()

    def _state(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0

    def all(self) -> list[WordIndex]:
        """Return the indexes, the newest first; one that can't be used is passed over."""
        # lists need no numpy, which takes a tenth of a second to load
        from prima_tui.index.word_index import WordIndex

        self._seen = self._state()
        paths = sorted(self._paths(), reverse=True)
        for path in paths:
            if path.name not in self._open:
                with contextlib.suppress(StoreUnusable):
                    self._open[path.name] = WordIndex.open(path)
        for name in self._open.keys() - {path.name for path in paths}:
            del self._open[name]
        return [self._open[path.name] for path in paths if path.name in self._open]

    def _paths(self) -> list[Path]:
        return list(self._folder.glob(f"*{_SUFFIX}"))

    def remove_all(self) -> None:
        """Delete every index, that no text of it stays. Raises StoreUnusable."""
        self._open.clear()
        for path in self._paths():
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreUnusable(f"{path} can't be removed: {error.strerror or error}") from error

    def start_building(self, catalog: Path) -> None:
        """Start a process that makes an index of what is in none, unless one is at work; nobody waits for it."""
        if time.monotonic() < self._not_before or (self._building is not None and self._building.poll() is None):
            return
        self._not_before = time.monotonic() + _SECONDS_BETWEEN
        package = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        try:
            # -P: nothing is ever imported from the folder that the program was started in
            self._building = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND, str(catalog)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            )
        except OSError as error:
            self._notice(f"no index of words is made: {error}")

    def build(self, catalog: DatabaseFile) -> bool:
        """Make an index of what is in none, or of everything when there are many; False when another process does.

        The catalog is opened for a slice of messages at a time, so that others can write to it meanwhile. The index is
        put in its place only if every file of it is in the catalog still: nothing that was forgotten meanwhile comes
        back. Raises OSError, StoreBusy, StoreUnusable.
        """
        import filelock

        private_folder(self._folder)
        try:
            with filelock.FileLock(self._folder / "lock", timeout=0, mode=0o600):
                self._build(catalog)
                return True
        except filelock.Timeout:
            return False

    def _build(self, catalog: DatabaseFile) -> None:
        from prima_tui.index.word_writer import WordIndexWriter

        old = self.all()
        useless = [path for path in self._paths() if path.name not in self._open]
        files = _files(catalog)
        if len(old) < _MOST:
            old, known = [], {(path, state) for one in old for path, (_place, state) in one.files.items()}
            files = [file for file in files if file[1:] not in known]
        if not files:
            return
        writer = WordIndexWriter(self._folder)
        places = {file_id: place for place, (file_id, _path, _state) in enumerate(files)}
        for rows, packed in _messages(catalog, list(places)):
            for (file_id, number), some in groupby(rows, key=lambda row: row[:2]):
                messages = ((position, text) for _id, _number, position, text in some)
                writer.add(places[file_id], number, messages, packed.get((file_id, number), b""))
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        os.close(handle)
        new = Path(name)
        try:
            writer.write(new, [file[1:] for file in files])
            with catalog.reading() as store:
                if store is None or not set(files) <= set(_rows_of_files(store)):
                    return
                # while we have the catalog open nobody writes to it
                number = max((int(path.stem) for path in self._paths() if path.stem.isdigit()), default=0) + 1
                new.rename(self._folder / f"{number:08}{_SUFFIX}")
        finally:
            new.unlink(missing_ok=True)
        for path in (*useless, *(one.path for one in old)):
            if path is not None:
                path.unlink(missing_ok=True)


def _files(catalog: DatabaseFile) -> list[FileRow]:
    with catalog.reading() as store:
        return [] if store is None else _rows_of_files(store)


def _rows_of_files(store: duckdb.DuckDBPyConnection) -> list[FileRow]:
    return store.execute("SELECT id, path, state FROM store.files ORDER BY id").fetchall()


def _messages(
    catalog: DatabaseFile, ids: Sequence[int]
) -> Iterator[tuple[list[MessageRow], dict[tuple[int, int], bytes]]]:
    """Yield the messages of the files in slices, ordered by file, transcript and position, with the packed exchanges.

    A slice holds whole files.
    """
    with catalog.reading() as store:
        counts: dict[int, int] = {}
        if store is not None:
            counts = dict(store.execute("SELECT file_id, count(*) FROM store.messages GROUP BY file_id").fetchall())
    some: list[int] = []
    rows = 0
    for place, file_id in enumerate(ids):
        some.append(file_id)
        rows += counts.get(file_id, 0)
        if rows < _SLICE_ROWS and place < len(ids) - 1:
            continue
        with catalog.reading() as store:
            if store is not None:
                found = store.execute(
                    "SELECT file_id, number, position, folded FROM store.messages"
                    " WHERE file_id IN (SELECT unnest($ids)) ORDER BY file_id, number, position",
                    {"ids": some},
                ).fetchall()
                packed = store.execute(
                    "SELECT file_id, number, packed FROM store.exchanges WHERE file_id IN (SELECT unnest($ids))",
                    {"ids": some},
                ).fetchall()
        if store is not None:
            yield found, {(file_id, number): data for file_id, number, data in packed}
        some, rows = [], 0

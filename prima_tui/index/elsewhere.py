"""Vectors of texts that another index on this computer holds already: of another workspace, or of all together.

Nothing is kept for this but which texts an index has, as numbers in memory: the indexes themselves are the store, so
what is forgotten in them is forgotten here. An index that is busy, damaged or of another model is passed over; that
costs only the time to embed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import msgspec

from prima_tui.index.connections import in_memory
from prima_tui.index.database import DatabaseFile
from prima_tui.index.exchange_store import index_file
from prima_tui.index.vector_file import read_facts, stacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prima_tui.index.embedder import Vector

_MOST_INDEXES = 16
"""Looked into, those first that were written last."""
_State = tuple[int, int, int]
"""Time, inode and size of a file."""


class _Known(msgspec.Struct, frozen=True):
    """What is known of an index in one state of its file."""

    state: _State
    file: DatabaseFile
    texts: NDArray[np.uint64]
    """The first 64 bits of each text's hash, sorted; one that only seems to be there is not found then."""


class OtherIndexes:
    """The other indexes on this computer, for one that is being updated. Not for several threads at once."""

    def __init__(self, model: str, own: Path, paths: Callable[[], Iterable[Path]]) -> None:
        """``paths`` gives the files of all indexes, whether they exist or not; ``own`` is not looked into."""
        self._model = model
        self._own = own
        self._paths = paths
        self._known: dict[Path, _Known] = {}
        self._memory: duckdb.DuckDBPyConnection | None = None

    def vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that other indexes of the same model hold of texts, by their hashes. Raises nothing."""
        found: dict[str, Vector] = {}
        for known in self._looked_at() if hashes else ():
            wanted = _among([key for key in hashes if key not in found], known.texts)
            if wanted:
                found |= self._read(known.file, wanted)
        return found

    def _read(self, file: DatabaseFile, hashes: Sequence[str]) -> dict[str, Vector]:
        with file.glancing(self._connection()) as store:
            try:
                if store is None or read_facts(store).model != self._model:
                    return {}
                columns = store.execute(
                    "SELECT hash, first(vector) AS vector FROM store.exchanges"
                    " WHERE hash IN (SELECT unnest($hashes)) GROUP BY hash",
                    {"hashes": list(hashes)},
                ).fetchnumpy()
                keys = columns["hash"].tolist()
                return dict(zip(keys, stacked(columns["vector"]), strict=True)) if keys else {}
            except duckdb.Error:
                return {}

    def _looked_at(self) -> list[_Known]:
        """Return what the indexes hold, those that were written to meanwhile looked at again."""
        states = {path: state for path in dict.fromkeys(self._paths()) if (state := _state(path)) is not None}
        own = _state(self._own)
        newest = sorted((path for path in states if states[path] != own), key=lambda path: states[path], reverse=True)
        known = {}
        for path in newest[:_MOST_INDEXES]:
            before = self._known.get(path)
            known[path] = (
                before if before is not None and before.state == states[path] else self._look(path, states[path])
            )
        self._known = known
        return list(known.values())

    def _look(self, path: Path, state: _State) -> _Known:
        import numpy as np

        file = index_file(path)
        texts = np.empty(0, np.uint64)
        with file.glancing(self._connection()) as store:
            try:
                if store is not None and read_facts(store).model == self._model:
                    texts = store.execute(
                        "SELECT DISTINCT ('0x' || left(hash, 16))::UBIGINT AS text FROM store.exchanges ORDER BY text"
                    ).fetchnumpy()["text"]
            except duckdb.Error:
                pass
        return _Known(state, file, texts)

    def _connection(self) -> duckdb.DuckDBPyConnection:
        if self._memory is None:
            self._memory = in_memory()
        return self._memory


def _state(path: Path) -> _State | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino, found.st_size)


def _among(hashes: Sequence[str], sorted_numbers: NDArray[np.uint64]) -> list[str]:
    """Return the hashes whose first 64 bits are among the numbers."""
    import numpy as np

    if not len(sorted_numbers) or not hashes:
        return []
    numbers = np.fromiter((int(key[:16], 16) for key in hashes), np.uint64, len(hashes))
    places = np.minimum(np.searchsorted(sorted_numbers, numbers), len(sorted_numbers) - 1)
    return [key for key, there in zip(hashes, sorted_numbers[places] == numbers, strict=True) if there]

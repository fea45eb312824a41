"""The part of the catalog that holds what tools were given and gave back: tables of their own, read only when asked.

It is filled when tool text is first wanted, file by file, and forgotten with the reading of its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import duckdb
import msgspec

from prima_tui.errors import StoreBusy, StoreUnusable
from prima_tui.index.database import DatabaseFile
from prima_tui.index.rows import insert_rows
from prima_tui.model.session import ToolUse
from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading_tools import FileTools, ToolBlock, unpack_uses

TOOL_TABLES = [
    "CREATE TABLE store.tool_files (file_id BIGINT, bytes BIGINT)",
    "CREATE TABLE store.tools (file_id BIGINT, number INTEGER, chunk INTEGER, packed BLOB)",
    "CREATE TABLE store.tool_texts (file_id BIGINT, number INTEGER, places BLOB, packed BLOB)",
]
"""``tool_files``: the files whose tools are here, with the bytes of their packed texts; a file may have none."""
TOOL_TABLE_NAMES = ("tool_files", "tools", "tool_texts")
_SLICE_BYTES = 8 * 1024 * 1024
"""Packed bytes fetched at a time: others can use the file in between, and a search can be cancelled."""
_SLICE_FILES = 2_000

Blocks = list[tuple[str, int, ToolBlock]]
"""(file path, transcript number, block)."""


class ToolStore:
    """The tool tables of the catalog. Every method tolerates a catalog that can't be had and then does less."""

    def __init__(
        self, file: DatabaseFile, state_of: Callable[[SourceFile], bytes], notice: Callable[[str], None]
    ) -> None:
        self._file = file
        self._state_of = state_of
        self._notice = notice

    def known(self, files: Sequence[SourceFile]) -> dict[str, int]:
        """Return the path of each of the files whose tools are here in its present state, with its packed bytes."""
        rows = self._rows(
            "SELECT f.path, t.bytes FROM store.files f"
            " JOIN (SELECT unnest($paths) AS path, unnest($states) AS state) USING (path, state)"
            " JOIN store.tool_files t ON t.file_id = f.id",
            files,
        )
        return dict(rows)

    def blocks(self, files: Sequence[SourceFile], sizes: dict[str, int]) -> Iterator[Blocks]:
        """Yield the searchable texts of files in slices; ``sizes`` are those of :meth:`known`."""
        for part in _slices([file for file in files if sizes.get(file.path)], sizes):
            rows = self._rows(
                "SELECT f.path, t.number, t.places, t.packed FROM store.files f"
                " JOIN (SELECT unnest($paths) AS path, unnest($states) AS state) USING (path, state)"
                " JOIN store.tool_texts t ON t.file_id = f.id",
                part,
            )
            yield [(path, number, ToolBlock(*_PLACES.decode(places), packed)) for path, number, places, packed in rows]

    def uses(self, files: Sequence[SourceFile]) -> dict[str, dict[int, tuple[ToolUse, ...]]]:
        """Return, for the files whose tools are here, transcript number to its uses; one without any is left out."""
        found: dict[str, dict[int, tuple[ToolUse, ...]]] = {path: {} for path in self.known(files)}
        chunks: dict[tuple[str, int], list[bytes]] = {}
        rows = self._rows(
            "SELECT f.path, t.number, t.packed FROM store.files f"
            " JOIN (SELECT unnest($paths) AS path, unnest($states) AS state) USING (path, state)"
            " JOIN store.tools t ON t.file_id = f.id ORDER BY t.file_id, t.number, t.chunk",
            files,
        )
        for path, number, packed in rows:
            chunks.setdefault((path, number), []).append(packed)
        for (path, number), packed_chunks in chunks.items():
            try:
                found[path][number] = unpack_uses(packed_chunks)
            except (ValueError, KeyError):
                found.pop(path, None)
        return found

    def keep(self, batch: Sequence[FileTools]) -> None:
        """Keep the tools of files whose reading the catalog has in the same state."""
        if not batch:
            return
        by_path = {tools.file.path: tools for tools in batch}
        try:
            with self._file.writing() as store:
                rows = store.execute(
                    "SELECT f.id, f.path FROM store.files f"
                    " JOIN (SELECT unnest($paths) AS path, unnest($states) AS state) USING (path, state)"
                    " WHERE f.id NOT IN (SELECT file_id FROM store.tool_files)",
                    self._wanted([tools.file for tools in batch]),
                ).fetchall()
                _insert(store, [(file_id, by_path[path]) for file_id, path in rows])
        except (StoreBusy, StoreUnusable, duckdb.Error) as error:
            self._notice(f"catalog: tool text not kept: {error}")

    def _rows(self, sql: str, files: Sequence[SourceFile]) -> list[tuple]:  # type: ignore[type-arg]
        if not files:
            return []
        try:
            with self._file.reading() as store:
                return [] if store is None else store.execute(sql, self._wanted(files)).fetchall()
        except (StoreBusy, StoreUnusable, duckdb.Error) as error:
            self._notice(f"catalog: not used: {error}")
            return []

    def _wanted(self, files: Sequence[SourceFile]) -> dict[str, object]:
        return {"paths": [file.path for file in files], "states": [self._state_of(file) for file in files]}


def _slices(files: Iterable[SourceFile], sizes: dict[str, int]) -> Iterator[list[SourceFile]]:
    part: list[SourceFile] = []
    size = 0
    for file in files:
        part.append(file)
        size += sizes[file.path]
        if size >= _SLICE_BYTES or len(part) >= _SLICE_FILES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _insert(store: duckdb.DuckDBPyConnection, batch: Sequence[tuple[int, FileTools]]) -> None:
    if not batch:
        return
    files = [
        (file_id, sum(len(block.packed) for one in tools.transcripts for block in one.blocks))
        for file_id, tools in batch
    ]
    uses = [
        (file_id, number, place, packed)
        for file_id, tools in batch
        for number, one in enumerate(tools.transcripts)
        for place, packed in enumerate(one.uses)
    ]
    texts = [
        (file_id, number, _ENCODER.encode((block.positions, block.ends)), block.packed)
        for file_id, tools in batch
        for number, one in enumerate(tools.transcripts)
        for block in one.blocks
    ]
    insert_rows(store, "store.tool_files", files)
    insert_rows(store, "store.tools", uses)
    insert_rows(store, "store.tool_texts", texts)


_ENCODER = msgspec.msgpack.Encoder()
_PLACES = msgspec.msgpack.Decoder(tuple[list[int], list[int]])

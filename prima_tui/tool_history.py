"""What tools were given and gave back, for the files of a history: from the catalog, else from the files themselves.

Nothing of it is read until it is asked for, and nothing of it stays in memory.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from prima_tui.index.tool_store import Blocks, ToolStore
from prima_tui.model.hits import Cancel
from prima_tui.model.session import ToolUse
from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading_tools import FileTools, read_tools, unpack_uses
from prima_tui.sources.worker import ReadingProcesses, WorkerFailed

_BATCH_BYTES = 4 * 1024 * 1024
_POOL_BYTES = 24 * 1024 * 1024
"""From this backlog on other processes pay for their start."""
_STORE_SECONDS = 2.0


class ToolHistory:
    """Gives the tools of files; what it has to read it keeps in the catalog for the next time."""

    def __init__(self, store: ToolStore, known: Callable[[FileTools], FileTools], note: Callable[[str], None]) -> None:
        """``known`` leaves out the transcripts that a file has, but the history doesn't."""
        self._store = store
        self._known = known
        self._note = note

    def blocks(self, files: Sequence[SourceFile], cancel: Cancel) -> Iterator[Blocks]:
        """Yield the searchable texts of the files in slices. Raises Cancelled when cancelled meanwhile.

        What was read until then is kept, so that the next time goes on there.
        """
        sizes = self._store.known(files)
        for blocks in self._store.blocks([file for file in files if file.path in sizes], sizes):
            cancel.check()
            yield blocks
        unread = [file for file in files if file.path not in sizes]
        unkept: list[FileTools] = []
        stored = time.monotonic()
        try:
            for batch in self._read(unread, cancel):
                unkept += batch
                yield [
                    (tools.file.path, number, block)
                    for tools in map(self._known, batch)
                    for number, one in enumerate(tools.transcripts)
                    for block in one.blocks
                ]
                if time.monotonic() - stored >= _STORE_SECONDS:
                    self._store.keep(unkept)
                    unkept = []
                    stored = time.monotonic()
        finally:
            self._store.keep(unkept)
        cancel.check()

    def _read(self, files: Sequence[SourceFile], cancel: Cancel) -> Iterator[list[FileTools]]:
        batches = deque(_batches(files))
        if sum(file.size for file in files) >= _POOL_BYTES and len(batches) > 1:
            try:
                with ReadingProcesses(max(1, min(8, os.cpu_count() or 1))) as processes:
                    for result in processes.tool_results(batches):
                        yield result
                        cancel.check()
            except WorkerFailed as error:
                self._note(f"reading goes on in one process: {error}")
        while batches:
            cancel.check()
            yield read_tools(batches.popleft())

    def uses(self, files: Sequence[SourceFile]) -> dict[tuple[str, int], tuple[ToolUse, ...]]:
        """Return the uses of tools in files by (path, transcript number); a transcript without any is left out."""
        kept = self._store.uses(files)
        found = {(path, number): uses for path, numbers in kept.items() for number, uses in numbers.items()}
        for file in files:
            if file.path not in kept:
                read = read_tools([file])
                self._store.keep(read)
                for number, one in enumerate(self._known(read[0]).transcripts):
                    found[file.path, number] = unpack_uses(one.uses)
        return found


def _batches(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    batch: list[SourceFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.size
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch

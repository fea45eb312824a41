"""Reading the files that are new or changed, newest first: a few at once, many in other processes.

Parsing holds the interpreter lock, so a large backlog is read in processes of our own and the screen never waits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from prima_tui.model.hits import Cancel
from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading import FileTexts, read_files

FIRST_BYTES = 256 * 1024
"""Read in this process before anything else, so that the newest sessions are there at once."""
BATCH_BYTES = 8 * 1024 * 1024
POOL_BYTES = 24 * 1024 * 1024
"""From this backlog on other processes pay for their start."""


class Backlog:
    """Reads files in batches. ``trimmed`` is applied to all that is read; ``note`` takes lines for the startup log."""

    def __init__(self, trimmed: Callable[[FileTexts], FileTexts], note: Callable[[str], None]) -> None:
        self._trimmed = trimmed
        self._note = note

    def read(self, files: Sequence[SourceFile]) -> list[FileTexts]:
        """Read some files in this process. Raises nothing."""
        return [self._trimmed(texts) for texts in read_files(files)]

    def batches(self, waiting: Sequence[SourceFile], cancel: Cancel) -> Iterator[list[FileTexts]]:
        """Yield what reading the files gives, in their order, a small batch first; ends early when cancelled."""
        batches = deque(_by_size(waiting))
        while batches and (len(batches) == 1 or _bytes(batches) < POOL_BYTES or batches[0][0] is waiting[0]):
            if cancel.cancelled:
                return
            yield self.read(batches.popleft())
        if batches:
            yield from self._from_processes(batches, cancel)

    def _from_processes(self, batches: deque[list[SourceFile]], cancel: Cancel) -> Iterator[list[FileTexts]]:
        from prima_tui.sources.worker import ReadingProcesses, WorkerFailed

        try:
            with ReadingProcesses(max(1, min(8, os.cpu_count() or 1))) as processes:
                for result in processes.results(batches):
                    yield [self._trimmed(texts) for texts in result]
                    if cancel.cancelled:
                        return
        except WorkerFailed as error:
            # no processes here (a sandbox, too little memory): read on in this one
            self._note(f"reading goes on in one process: {error}")
            while batches and not cancel.cancelled:
                yield self.read(batches.popleft())


def _by_size(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield batches in order: a small first one, then larger ones."""
    batch: list[SourceFile] = []
    size, most = 0, FIRST_BYTES
    for file in files:
        batch.append(file)
        size += file.size
        if size >= most:
            yield batch
            batch, size, most = [], 0, BATCH_BYTES
    if batch:
        yield batch


def _bytes(batches: Iterable[Sequence[SourceFile]]) -> int:
    return sum(file.size for batch in batches for file in batch)

"""Files read in other processes: in their order, ahead of who takes the results, and with an end to every failure."""

from __future__ import annotations

import threading
import time
from collections import deque
from pathlib import Path

import pytest

from prima_tui.sources.base import SourceFile, source_file
from prima_tui.sources.reading import read_files
from prima_tui.sources.worker import ReadingProcesses, WorkerFailed
from tests.world import World


def _batches(folder: Path) -> list[list[SourceFile]]:
    world = World(folder)
    paths = [world.claude(f"session {number}", [("What is it?", f"It is {number}.")]) for number in range(20)]
    files = [source_file(str(path), "claude-code", "", []) for path in paths]
    return [[file] for file in files if file is not None]


def test_results_come_in_the_order_of_the_batches_however_many_are_read_ahead(tmp_path: Path) -> None:
    batches = _batches(tmp_path)
    with ReadingProcesses(2) as processes:
        assert list(processes.results(deque(batches))) == [read_files(batch) for batch in batches]


def test_when_the_processes_end_every_batch_is_back_and_no_thread_waits_on(tmp_path: Path) -> None:
    batches = _batches(tmp_path)
    waiting = deque(batches)
    with ReadingProcesses(2) as processes:
        results = processes.results(waiting)
        done = [next(results)]
        for process in processes._processes:
            process.kill()
        with pytest.raises(WorkerFailed):
            done.extend(results)
    read = [texts.reading.file for result in done for texts in result]
    assert read + [file for batch in waiting for file in batch] == [file for batch in batches for file in batch]
    ends = time.monotonic() + 60
    while time.monotonic() < ends and any("reader" in thread.name for thread in threading.enumerate()):
        time.sleep(0.01)
    assert not [thread.name for thread in threading.enumerate() if "reader" in thread.name]

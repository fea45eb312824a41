"""Work that a copy of this process does while this one goes on, on another processor, with no interpreter to start.

A thread would not do: where thousands of small calls each ask for the interpreter lock, it waits for it at every one.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable

_LENGTH = 8


class Forked:
    """A copy of this process that works one thing out and ends."""

    def __init__(self, process: int, pipe: int) -> None:
        self._process = process
        self._pipe = pipe

    @classmethod
    def start(cls, work: Callable[[], bytes]) -> Forked | None:
        """Have a copy of this process do the work; None where that can't be, or would gain nothing.

        There must be no other thread: a lock that it holds would stay closed in the copy.
        """
        # macOS forbids most of its own libraries in a copy that starts no program
        if sys.platform in ("darwin", "win32") or threading.active_count() > 1 or len(os.sched_getaffinity(0)) < 2:
            return None
        try:
            read, write = os.pipe()
        except OSError:
            return None
        try:
            process = os.fork()
        except OSError:
            os.close(read)
            os.close(write)
            return None
        if process == 0:
            _work(work, write)
        os.close(write)
        return cls(process, read)

    def result(self) -> bytes | None:
        """Wait for the result; None when the copy failed. To be called once."""
        with open(self._pipe, "rb") as pipe:
            data = pipe.read()
        os.waitpid(self._process, 0)
        whole = int.from_bytes(data[:_LENGTH], "big") == len(data) - _LENGTH
        return data[_LENGTH:] if whole else None


def _work(work: Callable[[], bytes], pipe: int) -> None:
    """Be the copy. Nothing that this process had open, or was to do at its end, is the copy's business."""
    try:
        gc.disable()
        data = work()
        with open(pipe, "wb") as stream:
            stream.write(len(data).to_bytes(_LENGTH, "big"))
            stream.write(data)
    finally:
        os._exit(0)

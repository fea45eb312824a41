"""A process of our own that answers one request after the other: for work that would hold this one up, or never end.

Request and answer are bytes, each behind its length (8 bytes, big endian), on the process's standard input and output.
Its input ends when its parent does, however that happened, and so it never outlives it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

_LENGTH = 8


class WorkerTooSlow(Exception):
    """An answer was not there in time; the process is ended."""


class WorkerProcess:
    """One such process. It answers one request at a time."""

    def __init__(self, command: str) -> None:
        """Start it. ``command`` is the Python statement that it runs (see :func:`answer_requests`). Raises OSError."""
        package = str(Path(__file__).parents[1])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        # -P: nothing is ever imported from the folder that the program was started in
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )

    def ask(self, request: bytes, seconds: float | None = None) -> bytes:
        """Return the answer to a request.

        Raises WorkerTooSlow when it takes longer than ``seconds``, EOFError or OSError when the process ended.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        slow = threading.Event()

        def give_up() -> None:
            slow.set()
            self._process.kill()

        timer = threading.Timer(seconds, give_up) if seconds is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            _send(self._process.stdin, request)
            return _received(self._process.stdout)
        except (EOFError, OSError) as error:
            if slow.is_set():
                raise WorkerTooSlow from error
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def kill(self) -> None:
        """Have the process end at once, from any thread; what waits for its answer gets an EOFError."""
        self._process.kill()

    def close(self) -> None:
        """End the process and let go of what belongs to it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def answer_requests(answer: Callable[[bytes], bytes]) -> None:
    """Be such a process: answer requests until the input ends."""
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            request = _received(given)
        except EOFError:
            return
        _send(answers, answer(request))


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def _received(stream: IO[bytes]) -> bytes:
    head = stream.read(_LENGTH)
    data = stream.read(int.from_bytes(head, "big")) if len(head) == _LENGTH else b""
    if not data:
        raise EOFError("the other side ended")
    return data

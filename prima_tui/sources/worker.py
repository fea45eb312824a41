"""Reading files in processes of our own: parsing holds the interpreter lock, and the screen must not wait for it.

A worker gets batches of files, and what of them is wanted, on its standard input and answers on its standard output,
each a length (8 bytes, big endian) and MessagePack. Its input ends when its parent does, however that happened, and so
it never outlives it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TypeVar

import msgspec

from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading import FileTexts, read_files
from prima_tui.sources.reading_tools import FileTools, read_tools

_LENGTH = 8
_COMMAND = "from prima_tui.sources.worker import serve; serve()"


Result = TypeVar("Result")


class _Request(msgspec.Struct):
    """What a worker is asked to read: files, or the tools in them."""

    files: list[SourceFile]
    tools: bool = False


class WorkerFailed(Exception):
    """A worker could not be started or ended early; what it was to read can be read in this process."""


class ReadingProcesses:
    """A few workers. ``with`` ends them all."""

    def __init__(self, count: int) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="reader")
        self._count = count

    def __enter__(self) -> ReadingProcesses:
        """Start the workers. Raises WorkerFailed."""
        package = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        try:
            for _ in range(self._count):
                # -P: nothing is ever imported from the folder that the program was started in
                process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _COMMAND],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": path},
                )
                self._processes.append(process)
                self._idle.put(process)
        except OSError as error:
            self.__exit__()
            raise WorkerFailed(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def results(self, batches: deque[list[SourceFile]]) -> Iterator[list[FileTexts]]:
        """Yield what reading each batch gave, in order; batches are taken from the deque as workers are free.

        Raises WorkerFailed when a worker ends early; the batches it failed on are back in the deque then.
        """
        return self._each(batches, self._read)

    def tool_results(self, batches: deque[list[SourceFile]]) -> Iterator[list[FileTools]]:
        """Yield the tools of each batch's files, in the same manner."""
        return self._each(batches, self._read_tools)

    def _each(
        self, batches: deque[list[SourceFile]], read: Callable[[list[SourceFile]], list[Result]]
    ) -> Iterator[list[Result]]:
        running: deque[tuple[list[SourceFile], Future[list[Result]]]] = deque()
        while batches or running:
            while batches and len(running) <= self._count:
                batch = batches.popleft()
                running.append((batch, self._threads.submit(read, batch)))
            try:
                result = running[0][1].result()
            except (OSError, EOFError, msgspec.MsgspecError) as error:
                batches.extendleft(batch for batch, _future in reversed(running))
                raise WorkerFailed(f"{type(error).__name__}: {error}") from error
            running.popleft()
            yield result

    def _read(self, batch: list[SourceFile]) -> list[FileTexts]:
        return _TEXTS.decode(self._asked(_Request(batch)))

    def _read_tools(self, batch: list[SourceFile]) -> list[FileTools]:
        return _TOOLS.decode(self._asked(_Request(batch, tools=True)))

    def _asked(self, request: _Request) -> bytes:
        process = self._idle.get()
        assert process.stdin is not None and process.stdout is not None
        _send(process.stdin, _ENCODER.encode(request))
        answer = _received(process.stdout)
        self._idle.put(process)
        return answer


def serve() -> None:
    """Be a worker: answer batches until the input ends."""
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            request = _REQUEST.decode(_received(given))
        except EOFError:
            return
        _send(answers, _ENCODER.encode((read_tools if request.tools else read_files)(request.files)))


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


_ENCODER = msgspec.msgpack.Encoder()
_REQUEST = msgspec.msgpack.Decoder(_Request)
_TOOLS = msgspec.msgpack.Decoder(list[FileTools])
_TEXTS = msgspec.msgpack.Decoder(list[FileTexts])

"""Reading files in processes of our own: parsing holds the interpreter lock, and the screen must not wait for it.

A worker gets batches of files, and what of them is wanted, and answers with what was read; both are MessagePack.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

import msgspec

from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading import FileTexts, read_files
from prima_tui.sources.reading_tools import FileTools, read_tools
from prima_tui.worker_process import WorkerProcess, answer_requests

_COMMAND = "from prima_tui.sources.worker import serve; serve()"
_AHEAD = 4
"""So many batches for each worker are read, or waiting for it, while what came before is being stored."""


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
        self._processes: list[WorkerProcess] = []
        self._idle: SimpleQueue[WorkerProcess] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="reader")
        self._count = count

    def __enter__(self) -> ReadingProcesses:
        """Start the workers. Raises WorkerFailed."""
        try:
            for _ in range(self._count):
                process = WorkerProcess(_COMMAND)
                self._processes.append(process)
                self._idle.put(process)
        except OSError as error:
            self.__exit__()
            raise WorkerFailed(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.close()

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
            while batches and len(running) < self._count * _AHEAD:
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
        try:
            return process.ask(_ENCODER.encode(request))
        finally:
            # also one that ended: whoever has it next fails at once, and never waits for one that does not come back
            self._idle.put(process)


def serve() -> None:
    """Be a worker: answer batches until the input ends."""

    def answer(data: bytes) -> bytes:
        request = _REQUEST.decode(data)
        return _ENCODER.encode((read_tools if request.tools else read_files)(request.files))

    answer_requests(answer)


_ENCODER = msgspec.msgpack.Encoder()
_REQUEST = msgspec.msgpack.Decoder(_Request)
_TOOLS = msgspec.msgpack.Decoder(list[FileTools])
_TEXTS = msgspec.msgpack.Decoder(list[FileTexts])

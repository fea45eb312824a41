"""The threads of the screen's work: leaving waits a moment for what they do, and no longer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from prima_tui.tui.threads import ScreenThreads


@pytest.fixture
def free() -> Iterator[threading.Event]:
    """What lets work in a thread end; the test's own end does, too."""
    event = threading.Event()
    yield event
    event.set()


def _run(work: Callable[[], object], threads: ScreenThreads, begun: threading.Event) -> None:
    """Run an event loop that is left while it waits for work in a thread."""

    async def program() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(threads)
        waiting = asyncio.ensure_future(asyncio.to_thread(work))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        waiting.cancel()

    asyncio.run(program())


def test_leaving_does_not_wait_for_work_that_goes_on(free: threading.Event) -> None:
    threads, begun = ScreenThreads(), threading.Event()

    def work() -> None:
        begun.set()
        free.wait()

    _run(work, threads, begun)  # with an ordinary pool this would never end
    assert threads.at_work


def test_what_is_nearly_done_is_done(free: threading.Event) -> None:
    threads, begun, done = ScreenThreads(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        done.set()

    _run(work, threads, begun)
    assert done.is_set()


def test_nothing_is_at_work_when_all_is_done() -> None:
    threads = ScreenThreads()
    assert threads.submit(lambda: 7).result(20) == 7
    threads.shutdown()
    assert not threads.at_work

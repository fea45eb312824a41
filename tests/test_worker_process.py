from __future__ import annotations

import threading
import time

import pytest

from prima_tui.worker_process import WorkerProcess, WorkerTooSlow

_IMPORTS = "import os, time; from prima_tui.worker_process import answer_requests; "
_DOUBLES = _IMPORTS + "answer_requests(lambda data: data * 2)"
_NEVER = _IMPORTS + "answer_requests(lambda _data: time.sleep(600))"
_ENDS = _IMPORTS + "answer_requests(lambda _data: os._exit(3))"


def test_requests_are_answered_one_after_the_other_whatever_their_size() -> None:
    worker = WorkerProcess(_DOUBLES)
    assert worker.ask(b"a") == b"aa"
    large = bytes(5_000_000)
    assert worker.ask(large, seconds=60) == large * 2
    worker.close()


def test_a_process_that_does_not_answer_in_time_is_ended() -> None:
    worker = WorkerProcess(_NEVER)
    with pytest.raises(WorkerTooSlow):
        worker.ask(b"a", seconds=0.2)
    with pytest.raises((EOFError, OSError)):
        worker.ask(b"a")
    worker.close()


def test_a_process_that_ends_by_itself_is_told_from_a_slow_one() -> None:
    worker = WorkerProcess(_ENDS)
    with pytest.raises((EOFError, OSError)):
        worker.ask(b"a", seconds=60)
    worker.close()


def test_another_thread_can_end_it_in_the_middle() -> None:
    worker = WorkerProcess(_NEVER)
    threading.Timer(0.2, worker.kill).start()
    started = time.monotonic()
    with pytest.raises((EOFError, OSError)):
        worker.ask(b"a", seconds=300)
    assert time.monotonic() - started < 200
    worker.close()
    worker.kill()

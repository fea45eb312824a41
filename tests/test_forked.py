"""Work in a copy of the process: its result comes back whole, or not at all."""

from __future__ import annotations

import os
import threading

import pytest

from prima_tui.forked import Forked

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2 or threading.active_count() > 1,
    reason="no copy is made here",
)


@pytest.mark.parametrize("data", [b"", b"some bytes", b"many" * 1_000_000])
def test_the_result_comes_back(data: bytes) -> None:
    forked = Forked.start(lambda: data)
    assert forked is not None
    assert forked.result() == data


def test_it_is_another_process() -> None:
    forked = Forked.start(lambda: str(os.getpid()).encode())
    assert forked is not None
    assert forked.result() not in (None, str(os.getpid()).encode())


def test_what_fails_or_ends_early_has_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    for work in (lambda: bytes(1 // 0), lambda: os._exit(0)):
        forked = Forked.start(work)
        assert forked is not None
        assert forked.result() is None
    assert capfd.readouterr() == ("", "")


def test_no_copy_is_made_beside_another_thread() -> None:
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    try:
        assert Forked.start(lambda: b"") is None
    finally:
        go_on.set()
        thread.join()


def test_no_copy_is_made_where_it_would_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0})
    assert Forked.start(lambda: b"") is None

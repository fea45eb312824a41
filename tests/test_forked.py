"""Work in a copy of the process: its result comes back whole, or not at all."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from prima_tui.forked import Forked

pytestmark = pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="no copy is made here")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have several processors, and no thread that another test left."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    monkeypatch.setattr(threading, "active_count", lambda: 1)


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


def test_no_copy_is_made_beside_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert Forked.start(lambda: b"") is None


def test_no_copy_is_made_where_it_would_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0})
    assert Forked.start(lambda: b"") is None

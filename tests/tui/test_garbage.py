"""Looking for garbage in short rounds: nothing is lost by it, and what stays is looked at when nobody is there."""

from __future__ import annotations

import gc
import platform
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from prima_tui.tui import garbage
from prima_tui.tui.garbage import ShortRounds


class Ring:
    """Holds itself, so that only a look for garbage finds it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def rounds() -> Iterator[ShortRounds]:
    short = ShortRounds()
    short.begin()
    yield short
    short.end()


def test_what_is_dropped_soon_is_found_in_a_short_round(rounds: ShortRounds) -> None:
    ring = weakref.ref(Ring())
    kept = [[] for _ in range(garbage._MADE * 3)]  # type: ignore[var-annotated]
    assert ring() is None
    assert len(kept) > garbage._MADE


def test_what_lives_through_the_rounds_is_not_looked_at_again(rounds: ShortRounds) -> None:
    before = gc.get_freeze_count()
    kept = [[] for _ in range(garbage._MADE * (garbage._ROUNDS + 3))]  # type: ignore[var-annotated]
    assert gc.get_freeze_count() - before > garbage._MADE
    assert sum(gc.get_count()[1:]) <= garbage._ROUNDS + 1
    assert kept


def test_all_is_looked_at_only_when_nobody_is_there(rounds: ShortRounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_GROWN", 0)
    ring = Ring()
    found = weakref.ref(ring)
    gc.collect(1)  # the ring lives through it, and so is taken for what stays
    del ring
    rounds.touched()
    assert not rounds.rest()
    assert found() is not None
    monkeypatch.setattr(garbage, "_REST_SECONDS", 0.0)
    assert rounds.rest()
    assert found() is None


def test_nothing_is_looked_at_when_little_has_come_to_it(rounds: ShortRounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_REST_SECONDS", 0.0)
    assert not rounds.rest()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library does not know how")
def test_what_was_needed_for_a_moment_goes_back_to_the_system_at_rest(
    rounds: ShortRounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "_REST_SECONDS", 0.0)
    monkeypatch.setattr(garbage, "_GROWN", 0)
    blocks = [b"x" * 100_000 for _ in range(1_000)]
    kept = blocks[::100]  # between what goes, so that the library can't shorten its heap
    del blocks
    before = resident()
    assert rounds.rest()
    assert before - resident() > 50_000_000
    assert len(kept) == 10


def resident() -> int:
    """Return how many bytes of memory of its own this process has."""
    return int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0]) * 1024


def test_python_does_again_as_before_at_the_end() -> None:
    threshold, callbacks = gc.get_threshold(), list(gc.callbacks)
    rounds = ShortRounds()
    rounds.begin()
    assert gc.get_threshold() != threshold
    rounds.end()
    assert (gc.get_threshold(), gc.callbacks, gc.get_freeze_count()) == (threshold, callbacks, 0)

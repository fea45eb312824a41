"""The files of one moment: how they are told apart from those of another, and listed beside the process."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from prima_tui import listing as listing_module
from prima_tui.forked import Forked
from prima_tui.listing import Listing, packed_states
from prima_tui.sources.base import Problem, SourceFile
from tests.world import Turn, World, session_id

FILES = {path: SourceFile("codex", path, 10, 20, 30, "rollout") for path in ("/b", "/a", "/ä c")}
PROBLEMS = {"codex": [Problem("folder can't be read", "/d", 2)], "vscode": []}


def test_it_is_the_same_at_the_other_end() -> None:
    listing = Listing.of_files(FILES, PROBLEMS)
    other = Listing.received(listing.sent())
    assert other.packed == listing.packed
    assert other.files == FILES
    assert other.problems == PROBLEMS
    assert Listing.received(Listing.of_files({}, {}).sent()).files == {}


def test_the_order_does_not_count_and_every_part_of_a_state_does() -> None:
    packed = packed_states(FILES.values())
    assert packed_states(reversed(FILES.values())) == packed
    for name, value in (("size", 11), ("mtime_ns", 21), ("ctime_ns", 31), ("kind", "archived"), ("source", "x")):
        changed = FILES | {"/a": msgspec.structs.replace(FILES["/a"], **{name: value})}
        assert packed_states(changed.values()) != packed, name
    assert packed_states([FILES["/a"], FILES["/b"]]) != packed


def test_what_changed_is_told() -> None:
    before = packed_states(FILES.values())
    new = SourceFile("codex", "/new", 1, 2, 3)
    grown = msgspec.structs.replace(FILES["/a"], size=11)
    now = Listing.of_files({"/a": grown, "/new": new, "/b": FILES["/b"]}, {})
    assert now.changes(before) == ([grown, new], ["/ä c"])
    assert Listing.of_files(FILES, {}).changes(before) == ([], [])
    assert Listing.of_files({}, {}).changes(before) == ([], sorted(FILES))


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Have even a short list listed ahead, and tell how often that was done."""
    if sys.platform in ("darwin", "win32"):
        pytest.skip("no copy is made here")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    made: list[bool] = []
    start = Forked.start

    def counted(work: object) -> Forked | None:
        made.append(True)
        return start(work)  # type: ignore[arg-type]

    monkeypatch.setattr(listing_module, "_LONG_LIST_BYTES", 0)
    monkeypatch.setattr(Forked, "start", counted)
    return made


def test_what_is_listed_ahead_is_what_is_there(world: World, forks: list[bool]) -> None:
    world.believable()
    path = world.claude("b", [Turn("Where is the window?", "There is none.")])
    world.memory().refresh()
    path.unlink()
    world.codex("c", [Turn("A second window", "Yes.")])
    memory, other = world.memory(), world.memory()
    memory._lister.look_ahead()
    memory._lister.look_ahead()
    assert memory.refresh() == other.refresh()
    assert len(forks) == 1
    assert session_id("b") not in {session.id for session in memory.snapshot().sessions}
    path = world.claude("d", [Turn("A third window", "Yes.")])
    assert session_id("d") in {session.id for session in memory.refresh().sessions}, "it is looked at each time"
    memory.close()
    other.close()


def test_what_can_not_be_listed_ahead_is_listed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.believable()

    class Failed(Forked):
        def result(self) -> bytes | None:
            return None

    monkeypatch.setattr(listing_module, "_LONG_LIST_BYTES", 0)
    monkeypatch.setattr(Forked, "start", lambda _work: Failed(0, 0))
    memory, other = world.memory(), world.memory()
    memory._lister.look_ahead()
    assert memory.refresh().sessions == other.refresh().sessions != ()
    memory.close()
    other.close()


def test_a_short_list_is_not_listed_ahead(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Forked, "start", lambda _work: pytest.fail("it was"))
    memory = world.memory()
    memory._lister.look_ahead()
    memory.close()


def test_what_it_needs_of_the_disk_it_has_itself(world: World, forks: list[bool], tmp_path: Path) -> None:
    """A folder that can't be read is told as ever."""
    folder = world.home / ".codex" / "sessions" / "2026"
    folder.mkdir(parents=True)
    folder.chmod(0)
    if os.access(folder, os.R_OK):
        pytest.skip("nothing is forbidden here")
    memory = world.memory()
    memory._lister.look_ahead()
    assert any("can't be read" in line for line in memory.refresh().warnings)
    folder.chmod(0o700)
    memory.close()

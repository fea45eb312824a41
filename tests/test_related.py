"""After a change of few files only the sessions that it concerns are made anew; all are as after a fresh reading."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from prima_tui import backlog as backlog_module
from prima_tui.memory import Memory
from prima_tui.sources.assemble import Assembler
from tests.test_history import answers, fresh_answers, heavy_modules, turns
from tests.world import NOW, START, Line, Turn, World, session_id, stamp

Change = Callable[[World], object]


@pytest.fixture
def assembled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of how many files sessions were put together, each time."""
    counts: list[int] = []
    assemble = Assembler.assemble

    def counted(self: Assembler, readings: Any) -> Any:
        readings = list(readings)
        counts.append(len(readings))
        return assemble(self, readings)

    monkeypatch.setattr(Assembler, "assemble", counted)
    return counts


def add(path: Path, *lines: Line) -> None:
    """Append records to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def forked(world: World, name: str, count: int, more: int) -> Path:
    """Write a session that begins with a copy of ``login``, and goes on."""
    copied = world.claude_records("login", turns(count, 1), start=START)
    return world.claude(name, turns(more, 2), copied=copied, start=NOW - timedelta(hours=5))


def codex_names(world: World, *names: tuple[str, str]) -> None:
    lines = [{"id": session_id(name), "thread_name": title, "updated_at": stamp(START)} for name, title in names]
    index = world.home / ".codex" / "session_index.jsonl"
    index.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")


def about_login(world: World) -> list[tuple[str, str]]:
    """A summary of a record that is in the file of ``login``."""
    return [(world.claude_records("login", turns(3, 1), start=START)[2]["uuid"], "What login was about")]


def start(world: World) -> None:
    """Sessions of every source that have to do with one another in every way."""
    world.believable()
    world.claude("login", turns(3, 1), start=START)
    world.subagent("login", "a1b2c3d4", turns(2, 0))
    forked(world, "resumed", 3, 2)
    forked(world, "forked", 2, 1)
    world.claude("teller", turns(1, 0), summaries=about_login(world), start=START)
    summary = (world.claude_records("summed", turns(3, 1))[1]["uuid"], "In short")
    world.claude("summed", turns(3, 1), summaries=[summary])
    codex_names(world, ("rates", "Rates by name"))
    for number in range(12):
        world.claude(f"other {number}", turns(2, number), start=START + timedelta(days=number))
        world.codex(f"codex {number}", turns(1, number), start=START + timedelta(days=number))


CHANGES: dict[str, Change] = {
    "a session grows": lambda world: world.claude("money", turns(4, 1), start=NOW - timedelta(days=2)),
    "a session with a subagent and copies grows": lambda world: world.claude("login", turns(5, 1), start=START),
    "a subagent grows": lambda world: world.subagent("login", "a1b2c3d4", turns(4, 0)),
    "a new subagent": lambda world: world.subagent("login", "ffff", turns(2, 1)),
    "the first subagent": lambda world: world.subagent("money", "cafe", turns(2, 1), nested=False),
    "a subagent of nobody": lambda world: world.subagent("nobody", "beef", turns(2, 1)),
    "a copy grows": lambda world: forked(world, "resumed", 3, 4),
    "a copy becomes a fork": lambda world: forked(world, "resumed", 1, 4),
    "one more copy": lambda world: forked(world, "again", 3, 3),
    "the origin of copies goes": lambda world: (world.project() / f"{session_id('login')}.jsonl").unlink(),
    "a copy goes": lambda world: (world.project() / f"{session_id('resumed')}.jsonl").unlink(),
    "a session becomes empty": lambda world: world.claude("money", []),
    "a new session": lambda world: world.claude("new", turns(3, 2), start=NOW),
    "a session and its own summary": lambda world: world.claude(
        "summed", turns(4, 1), summaries=[(world.claude_records("summed", turns(4, 1))[3]["uuid"], "Later summary")]
    ),
    "a new summary of another session": lambda world: world.claude(
        "teller two", turns(1, 1), summaries=[(about_login(world)[0][0], "Later summary")], start=NOW
    ),
    "a file gets the record of a summary": lambda world: add(
        world.project() / f"{session_id('money')}.jsonl",
        world.claude_records("login", turns(3, 1), start=START)[2],
    ),
    "the file of a summary goes": lambda world: (world.project() / f"{session_id('teller')}.jsonl").unlink(),
    "a rollout grows": lambda world: world.codex("rates", turns(3, 1), start=NOW - timedelta(days=4)),
    "another name": lambda world: codex_names(world, ("rates", "Another name"), ("codex 3", "Three")),
    "no names any more": lambda world: (world.home / ".codex" / "session_index.jsonl").unlink(),
    "a chat grows": lambda world: world.vscode("bundle", turns(3, 0)),
    "an entry changes": lambda world: world.log_entry("pool", "# Another heading\n\nAnother text.", author="bruno"),
    "several things at once": lambda world: (
        world.claude("login", turns(6, 1), start=START),
        world.codex("rates", turns(2, 2), start=NOW - timedelta(days=4)),
        world.vscode("second", turns(2, 1)),
        (world.project() / f"{session_id('forked')}.jsonl").unlink(),
    ),
}


@pytest.mark.parametrize("restarted", [True, False], ids=["after a restart", "while it runs"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_sessions_are_those_of_a_fresh_reading(world: World, change: Change, restarted: bool) -> None:
    start(world)
    memory = world.memory()
    memory.refresh()
    if restarted:
        memory.close()
        memory = world.memory()
    change(world)
    assert memory.refresh().complete
    expected = fresh_answers(world)
    assert memory.snapshot().sessions == expected[0]
    assert answers(memory) == expected
    memory.refresh()
    memory.close()
    later = world.memory()
    assert later.refresh().sessions == expected[0]
    assert later._open()._readings == {}
    assert answers(later) == expected
    later.close()


def test_of_a_session_that_grew_nothing_else_is_read_or_made(
    world: World, assembled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    start(world)
    world.memory().refresh()
    memory = world.memory()
    grown = world.claude("money", turns(4, 1), start=NOW - timedelta(days=2))
    read: list[str] = []
    read_files = backlog_module.read_files
    monkeypatch.setattr(
        backlog_module, "read_files", lambda files: read.extend(one.path for one in files) or read_files(files)
    )
    assembled.clear()
    memory.refresh()
    assert read == [str(grown)] and assembled == [1]
    world.subagent("money", "cafe", turns(2, 1))
    memory.refresh()
    assert assembled[1:] == [2]
    world.claude("money", turns(5, 1), start=NOW - timedelta(days=2))
    memory.refresh()
    assert assembled[2:] == [2]
    CHANGES["a session and its own summary"](world)
    memory.refresh()
    assert assembled[3:] == [1]


def test_a_list_of_which_few_files_changed_needs_no_database(world: World) -> None:
    start(world)
    world.memory().refresh()
    world.claude("money", turns(4, 1), start=NOW - timedelta(days=2))
    world.codex("rates", turns(2, 2), start=NOW - timedelta(days=4))
    assert heavy_modules(world, "assert memory.refresh().complete; assert memory.search('').hits") == set()


def test_what_was_read_is_stored_by_the_next_refresh_or_at_the_end(world: World) -> None:
    def is_stored(memory: Memory, path: Path) -> bool:
        history = memory._open()
        return bool(history._catalog.load([history._known[str(path)].file]))

    start(world)
    world.memory().refresh()
    memory = world.memory()
    grown = world.claude("money", turns(4, 1), start=NOW - timedelta(days=2))
    memory.refresh()
    assert not is_stored(memory, grown)
    memory.refresh()
    assert is_stored(memory, grown)
    grown = world.claude("new", [Turn("More to say", "Indeed.")], start=NOW)
    memory.refresh()
    memory.close()
    assert is_stored(memory, grown)


def test_after_a_change_of_many_files_all_is_made_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.upkeep.FEW_FILES", 3)
    start(world)
    world.memory().refresh()
    memory = world.memory()
    for number in range(5):
        world.claude(f"other {number}", turns(3, number), start=START + timedelta(days=number))
    memory.refresh()
    assert answers(memory) == fresh_answers(world)

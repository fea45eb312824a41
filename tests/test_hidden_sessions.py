"""Sessions that nobody typed in: left out of lists and searches, shown when a filter asks for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from prima_tui.cli import program
from prima_tui.memory import Memory
from tests.world import NOW, World, session_id, write_lines


def programs(world: World, name: str, words: str, *, went_on: bool = False, **fields: Any) -> Path:
    """Write a session that a program started; ``went_on``: a person took it up afterwards."""
    lines = world.claude_records(name, [(words, "Done with the needle.")], **fields)
    if went_on:
        lines += world.claude_records(name + "2", [("and now by hand", "Sure.")], entrypoint="cli")
    return write_lines(world.project() / f"{session_id(name)}.jsonl", lines)


@pytest.fixture
def memory(world: World) -> Memory:
    """Return the memory of sessions of every such kind."""
    programs(world, "sdk", "review needle", entrypoint="sdk-ts")
    programs(world, "warmup", "Warmup", entrypoint="cli")
    programs(world, "taken-up", "review needle", entrypoint="sdk-cli", went_on=True)
    programs(world, "typed", "find the needle", entrypoint="cli", promptSource="typed")
    world.subagent("typed", "a1", [("look", "Looked.")])
    memory = world.memory()
    memory.refresh()
    return memory


def found(memory: Memory, query: str) -> set[str]:
    """Return the names of the sessions that a query finds."""
    names = {session_id(name): name for name in ("sdk", "warmup", "taken-up", "typed")}
    return {names[hit.session.id] for hit in memory.search(query, "keyword", now=NOW).hits}


def test_lists_and_searches_leave_out_what_nobody_typed_in(memory: Memory) -> None:
    assert {one.id for one in memory.snapshot().sessions} == {session_id("taken-up"), session_id("typed")}
    assert memory.snapshot().hidden == 2
    for query in ("", "needle", "agent:claude", "-is:sdk", "done"):
        assert found(memory, query) == {"taken-up", "typed"}


def test_filters_that_ask_for_them_show_them(memory: Memory) -> None:
    assert found(memory, "is:sdk") == found(memory, "is:sdk needle") == {"sdk", "warmup"}
    assert found(memory, "is:warmup") == {"warmup"}
    assert memory.session(session_id("sdk")).flags == ("sdk",)


def test_sessions_with_subagents_can_be_asked_for(memory: Memory) -> None:
    assert found(memory, "is:subagent") == {"typed"}


def test_the_command_line_counts_them_and_shows_tools(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(world, "sdk", "review", entrypoint="sdk-ts")
    world.claude("app", [("do", "Doing.", ("app.py",))])  # type: ignore[list-item]
    (world.workspace / "app.py").write_text("first\n  b \n", "utf-8")
    monkeypatch.setenv("HOME", str(world.home))

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(program, [*arguments, "--workspace", str(world.workspace)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    assert json.loads(run("sessions", "--json"))["hidden"] == 1
    identifier = session_id("app")
    assert "tools" not in json.loads(run("show", identifier, "--json"))["exchanges"][0]
    [tool] = json.loads(run("show", identifier, "--json", "--tools"))["exchanges"][0]["tools"]
    assert (tool["name"], tool["gave"], tool["edits"][0]["new"]) == ("Edit", "done", "b")
    assert "▸ Edit" in run("show", identifier, "--tools")
    assert "▸ Edit" not in run("show", identifier)
    edit = json.loads(run("files", "app.py", "--line", "2", "--json"))["edit"]
    assert (edit["session"]["id"], edit["exchange"]["user"], edit["explanation"]) == (identifier, "do", "Doing.")
    assert edit["diff"] == ["@@ -1 +1 @@", "-a", "+b"]
    assert "+b" in run("files", "app.py", "--text", "b")
    assert json.loads(run("files", "app.py", "--text", "nothing", "--json"))["edit"] is None


def test_a_line_that_is_not_there_is_a_usage_error(world: World) -> None:
    from prima_tui.errors import UsageError

    (world.workspace / "app.py").write_text("one\n\n", "utf-8")
    for arguments in (["app.py", "--line", "9"], ["app.py", "--line", "2"], ["gone.py", "--line", "1"]):
        result = CliRunner().invoke(program, ["files", *arguments, "--workspace", str(world.workspace)])
        assert isinstance(result.exception, UsageError)

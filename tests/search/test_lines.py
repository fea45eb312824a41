"""The edit that a line of a file comes from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from prima_tui.memory import Memory
from prima_tui.model.session import TextEdit
from prima_tui.search.lines import diff_of
from tests.world import START, World, session_id, write_lines


def edited(world: World, name: str, days: int, *uses: dict[str, Any], failed: bool = False) -> None:
    """Write a session that said ``Because of NAME.`` and then used tools, so many days after the start."""
    start = START + timedelta(days=days)
    lines = world.claude_records(name, [(f"change {name}", f"Because of {name}.")], start=start)
    common = lines[-1] | {"uuid": None}
    for number, use in enumerate(uses):
        block = {"type": "tool_use", "id": f"{name}{number}", **use}
        lines.append(common | {"message": {"role": "assistant", "id": "m", "content": [block]}})
        result = {"type": "tool_result", "tool_use_id": f"{name}{number}", "content": "ok", "is_error": failed}
        lines.append(common | {"type": "user", "message": {"role": "user", "content": [result]}})
    write_lines(world.project() / f"{session_id(name)}.jsonl", lines)


def write_of(path: str, content: str) -> dict[str, Any]:
    return {"name": "Write", "input": {"file_path": path, "content": content}}


def edit_of(path: str, old: str, new: str) -> dict[str, Any]:
    return {"name": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}


def origin(memory: Memory, part: str, line: str) -> tuple[str, bool] | None:
    """Return the prompt of the exchange that the line comes from, and whether it was found whole."""
    found = memory.find_edit(part, line)
    if found is None:
        return None
    exchange = memory.conversation(found.session).exchanges[found.exchange_index]
    return exchange.user, found.exact


@pytest.fixture
def memory(world: World) -> Memory:
    """Return the memory of sessions that wrote one file and, in between, another."""
    path, other = str(world.workspace / "app.py"), str(world.workspace / "other.py")
    edited(world, "first", 0, write_of(path, "import os\n\ndef port():\n    return 8080\n"))
    several = [
        {"old_string": "import os", "new_string": "import os\nimport sys"},
        {"old_string": "a", "new_string": "b"},
    ]
    edited(world, "second", 1, {"name": "MultiEdit", "input": {"file_path": path, "edits": several}})
    edited(world, "third", 2, edit_of(path, "return 8080", "return 9090  # why"), edit_of(other, "", "return 8080"))
    edited(world, "refused", 3, edit_of(path, "", "import sys"), failed=True)
    memory = world.memory()
    memory.refresh()
    return memory


def test_the_newest_edit_that_wrote_the_line_is_found(memory: Memory) -> None:
    assert origin(memory, "app.py", "return 8080") == ("change first", True)
    assert origin(memory, "app.py", "import sys") == ("change second", True)
    assert origin(memory, "app.py", "   return 9090  # why ") == ("change third", True)
    found = memory.find_edit("app.py", "import sys")
    assert found is not None
    assert found.explanation == "Because of second."
    assert found.use.at == START + timedelta(days=1, seconds=20)


def test_an_edit_that_only_kept_the_line_comes_after_the_one_that_wrote_it(memory: Memory) -> None:
    assert origin(memory, "app.py", "import os") == ("change first", True)


def test_a_whole_line_comes_before_a_part_of_one(memory: Memory) -> None:
    assert origin(memory, "app.py", "9090") == ("change third", False)
    assert origin(memory, "py", "return 8080") == ("change third", True)


def test_the_path_of_a_changed_file_means_that_file_alone(memory: Memory, world: World) -> None:
    assert origin(memory, str(world.workspace / "app.py"), "return 8080") == ("change first", True)
    assert origin(memory, str(world.workspace / "none.py"), "return 8080") is None


def test_a_line_that_nobody_wrote_is_not_found(memory: Memory) -> None:
    assert origin(memory, "app.py", "never") is None
    assert origin(memory, "app.py", "  ") is None


def test_lines_of_codex_patches_are_found(world: World) -> None:
    world.codex("rates", [("limit it", "A bucket.", ("api/limits.py",))])  # type: ignore[list-item]
    memory = world.memory()
    memory.refresh()
    assert origin(memory, "limits.py", "b") == ("limit it", True)
    assert origin(memory, "limits.py", "a") is None


def test_a_diff_shows_what_was_replaced() -> None:
    assert diff_of(TextEdit("p", "a\nb\n", "a\nc\n")) == ("@@ -1,2 +1,2 @@", " a", "-b", "+c")
    assert diff_of(TextEdit("p", "", "x")) == ("@@ -0,0 +1 @@", "+x")
    assert diff_of(TextEdit("p", "", "")) == ()

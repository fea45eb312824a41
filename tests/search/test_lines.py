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
    exchange = memory.conversation(found.written.session).exchanges[found.written.exchange_index]
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
    assert found.written.explanation == "Because of second."
    assert found.written.use.at == START + timedelta(days=1, seconds=20)


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


HISTORY = (
    ("", "import os\n\ndef a():\n    return None\n\nprice = 3\ntotal = price\n"),
    ("def a():", "def b():\n    return None\n\n\ndef a():"),
    ("total = price", "total = price * 2"),
    ("price = 3", "# in cents\nprice = 300"),
    ("import os", "# removed by hand\nimport os\nimport sys"),
    ("nothing that stands", "limit = 10"),
)
STANDS = """import sys
import os

def b():
    return None


def a():
    return None

price = 300
total = price * 2
limit = 10
by_hand = 1
"""


@pytest.mark.parametrize("gone", [False, True])
def test_every_way_to_ask_for_a_line_names_the_edit_that_stands_beside_it_on_the_screen(
    world: World, gone: bool
) -> None:
    path = world.workspace / "app.py"
    for number, (old, new) in enumerate(HISTORY):
        edited(world, f"edit{number}", number, edit_of(str(path), old, new))
    if not gone:
        path.write_text(STANDS, "utf-8")
    memory = world.memory()
    memory.refresh()
    blame = memory.blame(str(path))
    lines = blame.file.lines
    assert len(lines) > 8
    for number, line in enumerate(lines):
        author = blame.author(number)
        found = memory.line_origin(str(path), number, line)
        assert (found.written if found else None) == author
        if line.strip() and lines.count(line) == 1:
            found = memory.find_edit("app.py", line)
            assert (found.written if found else None) == author, line


def test_the_newest_edit_that_brought_a_line_in_is_named_beside_it(world: World) -> None:
    path = world.workspace / "app.py"
    for number, (old, new) in enumerate(HISTORY):
        edited(world, f"edit{number}", number, edit_of(str(path), old, new))
    path.write_text(STANDS, "utf-8")
    memory = world.memory()
    memory.refresh()
    blame = memory.blame(str(path))
    named = [author.session.id if (author := blame.author(line)) else None for line in range(len(blame.file.lines))]
    of = [session_id(f"edit{number}") for number in range(len(HISTORY))]
    assert named == [
        of[4], of[0], None, of[1], of[1], of[1], of[1], of[0], of[0], None, of[3], of[2], of[5], None,
    ]  # fmt: skip


def test_a_file_too_large_to_be_looked_at_whole_is_answered_by_the_text(
    world: World, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.workspace / "app.py"
    path.write_text("by hand\nimport sys\n", "utf-8")
    monkeypatch.setattr("prima_tui.search.file_text.MOST_LINES", 1)
    found = memory.line_origin(str(path), 1, "import sys\n")
    assert found is not None and found.written.session.id == session_id("second")


def test_a_link_to_a_file_is_that_file(world: World, memory: Memory) -> None:
    (world.workspace / "app.py").write_text("import sys\n", "utf-8")
    link = world.home / "link.py"
    link.symlink_to(world.workspace / "app.py")
    (world.home / "there").symlink_to(world.workspace)
    found = memory.line_origin(str(world.home / "there" / "app.py"), 0, "import sys")
    assert found is not None and found.written.session.id == session_id("second")


def test_a_diff_shows_what_was_replaced() -> None:
    assert diff_of(TextEdit("p", "a\nb\n", "a\nc\n")) == ("@@ -1,2 +1,2 @@", " a", "-b", "+c")
    assert diff_of(TextEdit("p", "", "x")) == ("@@ -0,0 +1 @@", "+x")
    assert diff_of(TextEdit("p", "", "")) == ()

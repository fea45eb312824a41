"""Who wrote each line of a file: edits that stand where they were made, moved lines, gaps, files that are gone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.hits import Cancel, Cancelled
from prima_tui.model.session import Session, TextEdit, ToolUse
from prima_tui.search.blame import blame, last_known_text
from prima_tui.search.edits import Written
from prima_tui.search.file_text import MOST_LINES, FileText, file_on_disk, read_file_text
from tests.world import Turn, World, session_id, write_lines

START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)


def written(number: int, old: str, new: str) -> Written:
    """An edit of session number ``number``, a day after that of the number before."""
    session = Session(f"s{number}", "claude-code", "transcript", f"Session {number}")
    return Written(session, 0, ToolUse(0, at=START + timedelta(days=number)), TextEdit("/w/a.py", old, new))


def authors(text: str, *edits: Written) -> list[str]:
    """The session of each line, "" for none; ``edits`` oldest first."""
    found = blame(FileText("/w/a.py", tuple(text.split("\n"))), list(reversed(edits)))
    return [author.session.id if (author := found.author(line)) else "" for line in range(len(found.file.lines))]


def test_a_line_belongs_to_the_edit_that_brought_it_in_not_to_a_newer_one_that_kept_it() -> None:
    first = written(1, "", "def a():\n    return 1\n")
    second = written(2, "    return 1", "    # once\n    return 1\n    print(2)")
    assert authors("def a():\n    # once\n    return 1\n    print(2)", first, second) == ["s1", "s2", "s1", "s2"]


def test_the_same_line_twice_belongs_to_two_sessions_by_where_it_stands() -> None:
    first = written(1, "", "def a():\n    return None\n")
    second = written(2, "def a():", "def b():\n    return None\n\n\ndef a():")
    text = "def b():\n    return None\n\n\ndef a():\n    return None"
    assert authors(text, first, second) == ["s2", "s2", "s2", "s2", "s1", "s1"]


def test_an_edit_inside_a_line_makes_the_line_its_own() -> None:
    first = written(1, "", "total = price\nprint(total)")
    assert authors("total = price * 2\nprint(total)", first, written(2, "price", "price * 2")) == ["s2", "s1"]


def test_lines_moved_by_hand_are_known_again_and_lines_nobody_wrote_are_nobodys() -> None:
    first = written(1, "", "alpha = 1\nbeta = 2\n")
    found = blame(FileText("/w/a.py", ("import os", "beta = 2", "", "alpha = 1")), [first])
    assert found.authors == (-1, 0, 0, 0)
    assert found.sureness[1] == "alike"


def test_the_newest_edit_that_brought_a_line_in_has_it_though_its_text_stands_otherwise_now() -> None:
    first = written(1, "", "alpha = 1\nbeta = 2\n")
    second = written(2, "gamma = 3", "# why\nalpha = 1\ngamma = 4")
    assert authors("alpha = 1\nbeta = 2", first, second) == ["s2", "s1"]


def test_the_line_that_a_text_means_is_the_whole_one_the_newest_the_first() -> None:
    lines = ("by hand: price", "first price", "second price", "second price", "price")
    found = blame(FileText("/w/a.py", lines), [written(2, "", lines[2]), written(1, "", lines[1])])
    asked = ("price ", "first price", "second", "pri", "hand", "absent", " ")
    assert [found.line_with(part) for part in asked] == [4, 1, 2, 2, 0, -1, -1]


def test_a_line_that_an_edit_only_held_is_told_as_kept() -> None:
    found = blame(FileText("/w/a.py", ("before = 0", "after = 1")), [written(1, "before = 0", "before = 0\nafter = 1")])
    assert found.authors == (0, 0)
    assert found.sureness == ("kept", "wrote")


def test_a_closing_bracket_alone_is_not_known_again() -> None:
    assert authors("x = [\n]", written(1, "", "call(\n]\n")) == ["", ""]


def test_windows_line_ends_make_no_difference() -> None:
    assert authors("a = 1\nb = 2", written(1, "", "a = 1\r\nb = 2\r\n")) == ["s1", "s1"]


def test_blame_can_be_cancelled() -> None:
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        blame(FileText("/w/a.py", ("a",)), [written(1, "", "a")], cancel)


_PIECES = st.lists(st.sampled_from(["alpha", "beta", "gamma", "", ")", "delta delta"]), max_size=8)


@given(st.lists(st.tuples(_PIECES, st.integers(0, 8), st.integers(0, 4)), max_size=6))
def test_edits_that_are_replayed_leave_no_line_without_an_author(steps: list[tuple[list[str], int, int]]) -> None:
    lines = ["start line"]
    edits = [written(0, "", "start line")]
    for number, (pieces, place, length) in enumerate(steps, 1):
        place = min(place, len(lines) - 1)
        before = lines
        lines = [*lines[:place], *(f"{piece}{number}" for piece in pieces), *lines[place + length :]] or ["rest"]
        edits.append(written(number, "\n".join(before), "\n".join(lines)))
    assert "" not in authors("\n".join(lines), *edits)


def test_a_file_that_is_gone_is_shown_as_its_edits_left_it() -> None:
    edits = [written(2, "b = 2", "b = 3"), written(1, "", "a = 1\nb = 2\n")]
    text = last_known_text("/w/a.py", edits)
    assert text.lines == ("a = 1", "b = 3")
    assert text.gone and "gone" in text.note
    assert last_known_text("/w/a.py", edits[:1]).lines == ()


def test_what_cannot_be_shown_is_told(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "long.txt").write_text("x\n" * (MOST_LINES + 5))
    assert "no text" in read_file_text(str(tmp_path / "picture.png")).note
    assert "empty" in read_file_text(str(tmp_path / "empty.txt")).note
    assert read_file_text(str(tmp_path / "none.txt")).gone
    assert "folder" in read_file_text(str(tmp_path)).note or "can't be read" in read_file_text(str(tmp_path)).note
    assert "can't be read" in read_file_text("a\0b").note
    large = read_file_text(str(tmp_path / "long.txt"))
    assert len(large.lines) == MOST_LINES and "very large" in large.note


def test_a_typed_path_names_a_file_in_the_workspace_or_anywhere(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.py").write_text("1")
    assert file_on_disk("app/a.py", tmp_path) == str(tmp_path / "app" / "a.py")
    assert file_on_disk(str(tmp_path / "app" / "a.py"), Path("/")) == str(tmp_path / "app" / "a.py")
    assert file_on_disk("app", tmp_path) == ""
    assert file_on_disk("a\0b", tmp_path) == ""


def edit_lines(world: World, name: str, start: datetime, path: Path, old: str, new: str) -> None:
    """Write a session that replaces text of a file."""
    lines = world.claude_records(name, [Turn(f"Please do {name}", f"I do {name} now.", (path.name,))], start=start)
    for line in lines:
        content = line["message"]["content"]
        if isinstance(content, list) and content[0]["type"] == "tool_use":
            content[0]["input"] = {"file_path": str(path), "old_string": old, "new_string": new}
    write_lines(world.project() / f"{session_id(name)}.jsonl", lines)


def test_the_memory_tells_for_each_line_of_a_file_session_exchange_and_explanation(world: World) -> None:
    path = world.workspace / "money.py"
    path.write_text("from decimal import Decimal\n\nPRICE = 300\n")
    edit_lines(world, "decimal", START, path, "", "from decimal import Decimal\n\nPRICE = 3\n")
    edit_lines(world, "cents", START + timedelta(days=1), path, "PRICE = 3", "PRICE = 300")
    memory = world.memory()
    memory.refresh()
    told: list[tuple[int, int]] = []
    found = memory.blame(str(path), lambda done, total: told.append((done, total)))
    assert [author.session.id for line in range(3) if (author := found.author(line))] == [
        session_id("decimal"), session_id("decimal"), session_id("cents"),
    ]  # fmt: skip
    author = found.author(2)
    assert author is not None and author.explanation == "I do cents now." and author.exchange_index == 0
    assert told[-1] == (2, 2)

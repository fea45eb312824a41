"""Extracts: which sessions earn one, what it says, where it stands, and that it is never written twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from prima_tui.extracts import cell, extract_markdown, is_substantial, project_id, stored_extracts, write_extract
from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from prima_tui.model.session import Exchange, FileChange, Session
from tests.world import NOW, START, Turn, World, session_id

LOCAL = START.astimezone()


def session(**fields: object) -> Session:
    """A session of some minutes with nothing remarkable."""
    usual: dict[str, object] = {
        "id": "11111111-2222-4333-8444-555555555555",
        "source": "claude-code",
        "label": "[transcript]",
        "title": "Fix the | login",
        "started_at": START,
        "ended_at": START + timedelta(minutes=29, seconds=59),
        "workspace": "/home/mara/Example Consulting",
        "branch": "main",
        "message_count": 49,
    }
    return Session(**usual | fields)  # type: ignore[arg-type]


def changes(count: int) -> tuple[FileChange, ...]:
    return tuple(FileChange(f"/home/mara/Example Consulting/f{n}.py", "edit", START) for n in range(count))


@pytest.mark.parametrize(
    ("fields", "earned"),
    [
        ({}, False),
        ({"message_count": 50}, True),
        ({"files_changed": changes(9)}, False),
        ({"files_changed": changes(10)}, True),
        ({"files_changed": changes(1) * 10}, False),
        ({"ended_at": START + timedelta(minutes=30)}, True),
        ({"started_at": None}, False),
    ],
)
def test_fifty_messages_ten_files_or_half_an_hour_make_a_session_substantial(
    fields: dict[str, object], earned: bool
) -> None:
    assert is_substantial(session(**fields)) is earned


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/home/mara/Example Consulting", "example-consulting"),
        ("/home/mara/Example  Consulting/", "example-consulting"),
        ("/srv/my.app_v2 (old)", "myapp_v2-old"),
        ("C:\\work\\My Project", "my-project"),
        ("/home/mara/Café & Söhne", "café--söhne"),
        ("/", "project"),
        ("/srv/!!!", "project"),
    ],
)
def test_the_project_id_is_the_folders_name_made_plain(folder: str, name: str) -> None:
    assert project_id(folder) == name


def exchanges() -> list[Exchange]:
    made = [Exchange(f"Question {n}?", f"Short {n}.", START + timedelta(minutes=n)) for n in range(12)]
    made += [
        Exchange(f"Explain {n}", f"Long {n}. " + "word " * 60, START + timedelta(hours=1, minutes=n)) for n in range(7)
    ]
    made.append(Exchange("A helper's task", "Of a subagent. " + "word " * 60, START, agent="helper"))
    return made


def test_an_extract_holds_what_it_must_in_its_order() -> None:
    explained = (
        FileChange("/home/mara/Example Consulting/app/a.py", "write", START, "Because | of\nthis"),
        FileChange("/home/mara/Example Consulting/app/a.py", "edit", START, ""),
        FileChange("/etc/hosts", "edit", START, "Elsewhere"),
    )
    text = extract_markdown(session(files_changed=explained, tags=("python", "bugfix")), exchanges())
    assert text.startswith("# Fix the | login\n\n- **Session:** 11111111-2222-4333-8444-555555555555\n")
    for line in (
        f"- **Date:** {LOCAL:%Y-%m-%d %H:%M}",
        "- **Duration:** 29 min",
        "- **Project folder:** /home/mara/Example Consulting",
        "- **Branch:** main",
        "- **Messages:** 49",
        "- **Files changed:** 2",
        "- **Tags:** python, bugfix",
        "| app/a.py | edit ×2 | Because \\| of<br>this |",
        "| /etc/hosts | edit | Elsewhere |",
    ):
        assert line in text.splitlines()
    replies, last = text.split("## Last replies\n")[1].split("## Last exchanges\n")
    assert [n for n in range(7) if f"Long {n}." in replies] == [2, 3, 4, 5, 6]
    assert replies.index("Long 6.") < replies.index("Long 2.")
    assert "Short" not in replies
    assert last.count("**User:**") == last.count("**Assistant:**") == 10
    assert last.index("Question 9?") < last.index("Explain 6")
    assert "Question 8?" not in last
    assert "subagent" not in text


def test_cells_keep_a_table_a_table() -> None:
    assert cell("a | b\n\n c\r\nd") == "a \\| b<br>c<br>d"
    assert cell("") == ""


def test_it_stands_in_its_projects_folder_under_its_local_start_for_its_owner_only(tmp_path: Path) -> None:
    path = write_extract(tmp_path / "extracts", session(), exchanges())
    assert path == tmp_path / "extracts" / "example-consulting" / f"{LOCAL:%Y-%m-%d-%H%M}-session-extract.md"
    assert path is not None
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.read_text("utf-8") == extract_markdown(session(), exchanges())


def test_one_for_each_project_and_day_and_never_again(tmp_path: Path) -> None:
    first = write_extract(tmp_path, session(), [])
    assert first is not None
    first.write_text("changed by hand")
    assert write_extract(tmp_path, session(), exchanges()) is None
    other = session(id="another", started_at=START + timedelta(hours=3))
    assert write_extract(tmp_path, other, []) is None
    assert write_extract(tmp_path, msgspec.structs.replace(other, workspace="/w/other"), []) is not None
    assert write_extract(tmp_path, msgspec.structs.replace(other, started_at=START + timedelta(days=1)), []) is not None
    assert first.read_text() == "changed by hand"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (f"{LOCAL:%Y-%m-%d}-checkpoint.md", False),
        (f"{LOCAL:%Y-%m-%d}-0001-my-Checkpoint-notes.md", False),
        ("notes-11111111-2222-4333-8444-555555555555.txt", False),
        (f"{LOCAL:%Y-%m-%d}-notes.md", True),
        ("2020-01-01-0900-session-extract.md", True),
    ],
)
def test_a_checkpoint_of_the_day_or_a_file_of_the_session_stands_in_its_place(
    tmp_path: Path, name: str, written: bool
) -> None:
    folder = tmp_path / "example-consulting"
    folder.mkdir()
    (folder / name).write_text("mine")
    assert (write_extract(tmp_path, session(), []) is not None) is written
    assert (folder / name).read_text() == "mine"


def test_a_session_without_a_start_or_a_folder_gets_none(tmp_path: Path) -> None:
    assert write_extract(tmp_path, session(started_at=None), []) is None
    assert write_extract(tmp_path, session(workspace=None), []) is None
    assert list(tmp_path.iterdir()) == []


def test_stored_ones_are_found_newest_first_with_what_they_say_of_themselves(tmp_path: Path) -> None:
    write_extract(tmp_path, session(), [])
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "2026-11-25-checkpoint.md").write_text("---\ndescription: Half way\n---\n# Title\n")
    (folder / "2026-13-45-checkpoint.md").write_text("no such day")
    (folder / "notes.md").write_text("# Notes")
    (folder / "2026-11-26-extract.md").mkdir()
    found = stored_extracts(tmp_path)
    assert [(one.project, one.description) for one in found] == [
        ("p", "Half way"),
        ("example-consulting", "Fix the | login"),
    ]
    assert found[0].at == datetime(2026, 11, 25).astimezone(UTC)
    assert stored_extracts(tmp_path / "nowhere") == []


# -- with the index -------------------------------------------------------------------------------------------------


def long_turns(about: str = "checkout") -> list[Turn]:
    return [Turn(f"Step {n} of {about}?", f"I did step {n} of {about}.") for n in range(26)]


@pytest.fixture
def memory(world: World, embedder: Embedder) -> Memory:
    world.claude("long", long_turns(), title="The checkout", start=NOW - timedelta(days=1))
    world.claude("short", [("a", "b")], title="Short one")
    world.codex("codex", long_turns("rates"))
    made = world.memory(embedder)
    made.refresh()
    return made


def test_indexing_writes_them_for_substantial_claude_code_sessions_only(memory: Memory) -> None:
    assert memory.extracts() == []
    memory.index_everything()
    (one,) = memory.extracts()
    assert one.project == "shop"
    assert session_id("long") in one.text
    assert "I did step 25 of checkout." in one.text
    memory.index_everything()
    assert len(memory.extracts()) == 1


def test_an_extract_that_cannot_be_written_costs_no_index(memory: Memory, world: World) -> None:
    (world.workspace / ".prima-memory").mkdir()
    (world.workspace / ".prima-memory" / "extracts").write_text("a file")
    assert memory.index_everything().finished
    assert "not written" in memory.log_path.read_text()


def test_a_deep_search_finds_them_with_its_own_points(memory: Memory) -> None:
    memory.index_everything()
    folder = memory.extracts_folder / "shop"
    (folder / "2026-11-29-checkout-checkpoint.md").write_text("# Payment plan\n\nThe checkout waits for the bank.\n")
    assert memory.search("checkout", "keyword", now=NOW).extracts == ()
    found = memory.search("checkout", "keyword", deep=True, now=NOW).extracts
    recency = {one.path: one.score for one in found}
    by_name = {Path(one.path).name[11:]: one for one in found}
    checkpoint = by_name["checkout-checkpoint.md"]
    age = (NOW - checkpoint.at) / timedelta(days=7)
    assert checkpoint.score == pytest.approx(20 + 3 + 5 * (1 - age))
    extract = next(one for one in found if "session-extract" in one.path)
    age = (NOW - extract.at) / timedelta(days=7)
    assert extract.score == pytest.approx(15 + 3 + 5 * (1 - age))
    assert list(recency.values()) == sorted(recency.values(), reverse=True)
    assert memory.search("no-such-word", "keyword", deep=True, now=NOW).extracts == ()

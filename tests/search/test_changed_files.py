"""File history: what is typed, and which sessions it finds."""

from __future__ import annotations

from datetime import timedelta

import pytest

from prima_tui.model.hits import Cancel, Cancelled
from prima_tui.search.changed_files import FilePlace, file_place, known_files
from tests.world import NOW, Turn, World


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("app.py", FilePlace("app.py")),
        ("app.py:42", FilePlace("app.py", line=42)),
        ("app.py:", FilePlace("app.py:")),
        ("app.py:0", FilePlace("app.py:0")),
        ('app.py "return 1"', FilePlace("app.py", text="return 1")),
        ('app.py "return', FilePlace("app.py", text="return")),
        ('my app.py "', FilePlace("my app.py")),
        (r"C:\shop\app.py:7", FilePlace(r"C:\shop\app.py", line=7)),
        ("", FilePlace()),
    ],
)
def test_what_is_typed_names_a_path_a_line_or_a_text(typed: str, place: FilePlace) -> None:
    assert file_place(typed) == place


def filled(world: World) -> None:
    world.claude("one", [Turn("a", "first", ("app/money.py", "app/login.py"))], start=NOW - timedelta(days=3))
    world.claude("two", [Turn("b", "second", ("app/money.py",)), Turn("c", "third", ("app/money.py",))], start=NOW)
    world.codex("three", [Turn("d", "fourth", ("docs/Money.md",))], start=NOW - timedelta(days=1))


def test_every_session_that_changed_a_file_newest_first_with_its_changes(world: World) -> None:
    filled(world)
    memory = world.memory()
    memory.refresh()
    found = memory.file_changes("MONEY")
    assert [(one.shown, len(one.changes)) for one in found] == [
        ("app/money.py", 2), ("docs/Money.md", 1), ("app/money.py", 1),
    ]  # fmt: skip
    assert [change.explanation for change in found[0].changes] == ["third", "second"]
    assert memory.file_changes("shop") == []


def test_an_absolute_path_is_compared_with_the_whole_path(world: World) -> None:
    filled(world)
    memory = world.memory()
    memory.refresh()
    assert len(memory.file_changes(str(world.workspace / "app/money.py"))) == 2
    assert len(memory.file_changes("./app/money.py")) == 2


def test_a_file_is_known_once_with_its_sessions_and_changes(world: World) -> None:
    filled(world)
    memory = world.memory()
    memory.refresh()
    files = {file.shown: (file.sessions, file.changes) for file in known_files(memory.file_changes(""))}
    assert files == {"app/money.py": (2, 3), "docs/Money.md": (1, 1), "app/login.py": (1, 1)}


def test_it_can_be_cancelled(world: World) -> None:
    filled(world)
    memory = world.memory()
    memory.refresh()
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        memory.file_changes("money", cancel)

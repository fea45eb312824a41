"""The file history: what is typed, every key and mouse target, and what it shows of files that are odd or gone."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from textual.pilot import Pilot

from prima_tui.memory import Memory
from prima_tui.model.hits import Cancel, Cancelled
from prima_tui.model.session import Session, TextEdit, ToolUse
from prima_tui.search.blame import Blame
from prima_tui.search.changed_files import FilePlace
from prima_tui.search.edits import Written
from prima_tui.search.file_text import FileText
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.blame_pane import BlamePane
from prima_tui.tui.blame_rows import blame_view, line_facts
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.extract_pane import ExtractPane, clicked_file
from prima_tui.tui.file_finder import FileFinder
from prima_tui.tui.file_history_screen import FileHistoryScreen
from prima_tui.tui.file_list import FileList
from prima_tui.tui.session_list import SessionList
from tests.world import NOW, Turn, World, session_id, write_lines

from .driving import screen_text, sessions, settled

Edit = tuple[str, str, str]
"""Path in the workspace, text before, text after."""


def edited(world: World, name: str, days: float, *edits: Edit, title: str = "") -> None:
    """Write a session with a turn for each edit, so many days ago."""
    turns = [
        Turn(f"Please {name} number {n}", f"I do {name} {n}, since it **must** be.", (edit[0],))
        for n, edit in enumerate(edits)
    ]
    lines = world.claude_records(name, turns, start=NOW - timedelta(days=days))
    waiting = list(edits)
    for line in lines:
        content = line["message"]["content"]
        if isinstance(content, list) and content[0]["type"] == "tool_use":
            path, old, new = waiting.pop(0)
            content[0]["input"] = {"file_path": str(world.workspace / path), "old_string": old, "new_string": new}
    lines.append({"type": "custom-title", "customTitle": title or name, "sessionId": session_id(name)})
    write_lines(world.project() / f"{session_id(name)}.jsonl", lines)


def shop(world: World) -> Memory:
    """Two sessions that wrote a file of three lines, one that wrote another, and some without files."""
    edited(world, "whole", 5, ("app/money.py", "", "import decimal\n\nPRICE = 3\n"))
    edited(world, "cents", 2, ("app/money.py", "PRICE = 3", "PRICE = 300"), title="Cents instead of floats")
    edited(world, "other", 1, ("web/page.css", "", "a { color: red }\n"))
    for number in range(8):
        world.claude(f"talk{number}", [("hello", "hello")], start=NOW - timedelta(hours=number + 1))
    (world.workspace / "app").mkdir()
    (world.workspace / "app/money.py").write_text("import decimal\n\nPRICE = 300\nBY_HAND = 1\n")
    memory = world.memory()
    memory.refresh()
    return memory


@asynccontextmanager
async def file_history(
    memory: Memory, *keys: str, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[tuple[PrimaApp, Pilot[Any]]]:
    """The program with the file history open and these keys pressed."""
    app = PrimaApp(memory, mode="keyword", clock=lambda: NOW, **options)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, lambda: bool(app.screen.query_one(SessionList).hits))
        await pilot.press("alt+v")
        await settled(pilot, lambda: files(app)._found is not None)
        await pilot.press(*keys)
        await pilot.pause(0.1)
        yield app, pilot


def files(app: PrimaApp) -> FileHistoryScreen:
    assert isinstance(app.screen, FileHistoryScreen)
    return app.screen


def selected(app: PrimaApp, name: str) -> Callable[[], bool]:
    """Whether the main screen's list has this session selected."""
    return lambda: (hit := sessions(app).selected_hit) is not None and hit.session.id == session_id(name)


def titles(app: PrimaApp) -> list[str]:
    return [row.session.title for row in app.screen.query_one(FileList).rows]  # type: ignore[union-attr]


def lines(app: PrimaApp) -> BlamePane:
    return app.screen.query_one(BlamePane)


def in_lines(app: PrimaApp, line: int) -> Callable[[], bool]:
    return lambda: app.screen.has_class("-lines") and lines(app).view is not None and lines(app).selected == line


async def test_without_a_path_all_changed_files_latest_first(world: World) -> None:
    async with file_history(shop(world)) as (app, pilot):
        rows = app.screen.query_one(FileList).rows
        assert [row.shown for row in rows] == ["web/page.css", "app/money.py"]
        assert "2 sessions · 2 changes" in screen_text(app)
        await pilot.press("down", "enter")
        await settled(pilot, lambda: titles(app) == ["Cents instead of floats", "whole"])


async def test_the_files_of_the_selected_session_come_first(world: World) -> None:
    memory = shop(world)
    app = PrimaApp(memory, mode="keyword", clock=lambda: NOW, query="whole")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: len(app.screen.query_one(SessionList).hits) == 1)
        await pilot.press("alt+v")
        await settled(pilot, lambda: files(app)._found is not None)
        assert app.screen.query_one(FileList).rows[0].shown == "app/money.py"
        assert "in the selected session" in screen_text(app)


def test_what_is_found_says_how_many_are_of_the_session_and_how_many_sessions(world: World) -> None:
    memory = shop(world)
    own = str(world.workspace / "app/money.py")
    found = FileFinder(memory, [own]).find(FilePlace(), Cancel())
    assert [file.shown for file in found.files] == ["app/money.py", "web/page.css"]
    assert (found.first, found.sessions) == (1, 3)
    assert FileFinder(memory, [own]).find(FilePlace("money"), Cancel())[3:] == (0, 2)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_each_session_stands_with_reason_and_diff(world: World, size: tuple[int, int]) -> None:
    async with file_history(shop(world), *"MONEY", size=size) as (app, pilot):
        await settled(pilot, lambda: "+PRICE = 300" in screen_text(app))
        shown = screen_text(app)
        assert "-PRICE = 3" in shown
        assert "since it must be" in shown
        assert "Cents instead of floats" in shown and "whole" in shown
        assert "2 sessions · 1 file" in shown
        await pilot.press("down")
        await settled(pilot, lambda: "+import decimal" in screen_text(app))


async def test_enter_opens_the_session_at_that_exchange_in_the_main_screen(world: World) -> None:
    memory = shop(world)
    edited(world, "long", 3, *[("app/long.py", f"n = {n}", f"n = {n + 1}") for n in range(20)])
    memory.refresh()
    async with file_history(memory, *"long.py") as (app, pilot):
        await settled(pilot, lambda: "+n = 20" in screen_text(app))
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
        conversation = app.screen.query_one(ConversationPane)
        await settled(pilot, lambda: conversation.exchange_in_view() >= 10)
        hit = app.screen.query_one(SessionList).selected_hit
        assert hit and hit.session.id == session_id("long")
        # another one is shown as always
        await pilot.press("up", "down")
        await settled(pilot, lambda: app.screen._opened is None)  # type: ignore[attr-defined]


async def test_a_session_that_the_search_hides_is_opened_all_the_same(world: World) -> None:
    memory = shop(world)
    app = PrimaApp(memory, mode="keyword", clock=lambda: NOW, query="hello")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: len(app.screen.query_one(SessionList).hits) == 8)
        await pilot.press("alt+v")
        await pilot.press(*"money")
        await settled(pilot, lambda: bool(titles(app)))
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await settled(pilot, selected(app, "cents"))
        assert app.screen.query_text == ""  # type: ignore[attr-defined]


async def test_a_line_shows_the_conversation_that_wrote_it(world: World) -> None:
    async with file_history(shop(world), *"app/money.py:3") as (app, pilot):
        await settled(pilot, in_lines(app, 2))
        shown = screen_text(app)
        assert "PRICE = 300" in shown and "Cents instead of floats" in shown
        assert "wrote this line" in shown and "I do cents 0" in shown
        await pilot.press("down")
        await settled(pilot, lambda: "No conversation known here wrote this line" in screen_text(app))
        await pilot.press("enter")
        assert isinstance(app.screen, FileHistoryScreen)
        await pilot.press("backspace", "1")
        await settled(pilot, in_lines(app, 0))
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await settled(pilot, selected(app, "whole"))


async def test_a_text_shows_its_line_and_one_that_is_gone_shows_the_edits(world: World) -> None:
    async with file_history(shop(world), *'money "PRICE = 300"') as (app, pilot):
        await settled(pilot, in_lines(app, 2))
        await pilot.press("escape")
        await settled(pilot, lambda: files(app)._typed == "money" and not app.screen.has_class("-lines"))
        await pilot.press(*' "PRICE = 3"')
        await settled(pilot, in_lines(app, 2))
        await pilot.press("escape", *' "nothing like it"')
        await settled(pilot, lambda: not app.screen.has_class("-lines") and len(titles(app)) == 2)


async def test_f4_turns_between_changes_and_lines(world: World) -> None:
    async with file_history(shop(world), *"money") as (app, pilot):
        await settled(pilot, lambda: len(titles(app)) == 2)
        await pilot.press("f4")
        await settled(pilot, lambda: in_lines(app, 0)() and "f4 Changes" in screen_text(app))
        await pilot.press("f4")
        assert not app.screen.has_class("-lines")
        await settled(pilot, lambda: "f4 Lines" in screen_text(app))
        await pilot.press("f4")
        await settled(pilot, in_lines(app, 0))
        await pilot.press("escape")
        assert not app.screen.has_class("-lines") and len(titles(app)) == 2


async def test_moving_through_the_lines(world: World) -> None:
    async with file_history(shop(world), *"money.py:1", size=(80, 24)) as (app, pilot):
        await settled(pilot, in_lines(app, 0))
        for key, line in (
            ("alt+n", 2), ("alt+n", 2), ("alt+p", 0), ("down", 1), ("alt+p", 0), ("ctrl+end", 3), ("up", 2),
            ("pageup", 0), ("pagedown", 3), ("ctrl+home", 0),
        ):  # fmt: skip
            await pilot.press(key)
            assert lines(app).selected == line, key


async def test_long_lines_can_be_shifted_and_wide_characters_keep_their_columns(world: World) -> None:
    text = "名前 = '" + "日本語" * 40 + "' # END\n"
    memory = shop(world)
    (world.workspace / "wide.py").write_text(text + "\tx = '🌙'\n\x1b[31mred\u202e\n")
    edited(world, "wide", 0.5, ("wide.py", "", text))
    memory.refresh()
    async with file_history(memory, *"wide.py:1", size=(80, 24)) as (app, pilot):
        await settled(pilot, in_lines(app, 0))
        strips = app.screen._compositor.render_strips()
        assert all(strip.cell_length == 80 for strip in strips)
        assert "\x1b" not in screen_text(app) and "\u202e" not in screen_text(app)
        assert "END" not in screen_text(app)
        for _ in range(40):
            await pilot.press("alt+right")
        await settled(pilot, lambda: "END" in screen_text(app))
        for _ in range(40):
            await pilot.press("alt+left")
        await settled(pilot, lambda: "名前" in screen_text(app).replace("  ", ""))


async def test_resume_and_copy_work_from_here(world: World) -> None:
    ran: list[Any] = []

    def run(command: Any) -> int:
        ran.append(command)
        return 0

    memory = shop(world)
    async with file_history(memory, *"money.py:3", run=run) as (app, pilot):
        await settled(pilot, in_lines(app, 2))
        await pilot.press("ctrl+y")
        await pilot.press("f12")
        # no agent is installed in this home, and a test has no terminal to hand over: either way it is said
        await settled(pilot, lambda: bool(app._notifications) or len(app.screen_stack) > 2)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("a.png", b"\x89PNG\0", "no text file"), ("empty.py", b"", "empty"), ("gone.py", None, "not on the disk")],
)
async def test_a_file_without_lines_says_why(world: World, name: str, content: bytes | None, said: str) -> None:
    memory = shop(world)
    edited(world, "odd", 0.5, (name, "old", "new"))
    if content is not None:
        (world.workspace / name).write_bytes(content)
    memory.refresh()
    async with file_history(memory, *f"{name}:1") as (app, pilot):
        await settled(pilot, lambda: said in screen_text(app))
        await pilot.press("f4")
        await settled(pilot, lambda: titles(app) == ["odd"] and "since it" in screen_text(app))


async def test_a_file_that_is_gone_is_shown_as_its_edits_left_it(world: World) -> None:
    memory = shop(world)
    async with file_history(memory, *"page.css:1") as (app, pilot):
        await settled(pilot, in_lines(app, 0))
        assert "a { color: red }" in screen_text(app)
        assert "file is gone" in screen_text(app)


async def test_nothing_like_it_says_so_and_a_file_nobody_changed_can_be_shown(world: World) -> None:
    memory = shop(world)
    (world.workspace / "notes.txt").write_text("mine\n")
    async with file_history(memory, *"notes.txt") as (app, pilot):
        await settled(pilot, lambda: "No session changed such a file" in screen_text(app))
        await pilot.press("f4")
        await settled(pilot, in_lines(app, 0))
        assert "mine" in screen_text(app)
        await pilot.press("escape", "escape")
        await settled(pilot, lambda: files(app)._typed == "" and len(app.screen.query_one(FileList).rows) == 2)
        await pilot.press("escape")
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))


async def test_a_history_without_changes_says_what_is_recorded(world: World) -> None:
    world.claude("talk", [("hello", "hello")])
    memory = world.memory()
    memory.refresh()
    async with file_history(memory) as (app, pilot):
        await settled(pilot, lambda: "changed a file" in screen_text(app))


async def test_the_mouse_selects_and_chooses(world: World) -> None:
    async with file_history(shop(world), *"money") as (app, pilot):
        await settled(pilot, lambda: len(titles(app)) == 2)
        await pilot.click(FileList, offset=(5, 5))
        assert app.screen.query_one(FileList).selected == 1
        await pilot.press("f4")
        await settled(pilot, in_lines(app, 0))
        await pilot.click(BlamePane, offset=(60, 3))
        assert lines(app).selected == 2
        await pilot.click(BlamePane, offset=(60, 3), times=2)
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await settled(pilot, selected(app, "cents"))


async def test_typing_goes_to_the_field_wherever_the_focus_is(world: World) -> None:
    async with file_history(shop(world)) as (app, pilot):
        await pilot.click(FileList, offset=(5, 1))
        await pilot.press(*"page")
        await settled(pilot, lambda: titles(app) == ["other"])


async def test_alt_v_leaves_and_f5_reads_again(world: World) -> None:
    async with file_history(shop(world), *"money.py:1") as (app, pilot):
        await settled(pilot, in_lines(app, 0))
        (world.workspace / "app/money.py").write_text("PRICE = 300\n")
        await pilot.press("f5")
        await settled(pilot, lambda: bool(lines(app).view) and len(lines(app).view.code) == 1)  # type: ignore[union-attr]
        await pilot.press("alt+v")
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))


async def test_new_sessions_appear_while_one_looks(world: World) -> None:
    memory = shop(world)
    async with file_history(memory, *"money", refresh_seconds=0.1) as (app, pilot):
        await settled(pilot, lambda: len(titles(app)) == 2)
        edited(world, "later", 0.1, ("app/money.py", "PRICE = 300", "PRICE = 400"))
        await settled(pilot, lambda: titles(app)[:1] == ["later"])


async def test_leaving_cancels_what_is_read(world: World) -> None:
    memory = shop(world)
    begun, cancelled = threading.Event(), threading.Event()

    def slow(path: str, report: Any = None, cancel: Cancel | None = None) -> Blame:
        begun.set()
        assert cancel is not None
        while not cancel.cancelled:
            threading.Event().wait(0.01)
        cancelled.set()
        raise Cancelled

    memory.blame = slow  # type: ignore[method-assign]
    async with file_history(memory, *"money.py:1") as (_app, pilot):
        await settled(pilot, begun.is_set)
        await pilot.press("alt+v")
        await settled(pilot, cancelled.is_set)


async def test_a_click_on_a_file_in_the_extract_opens_its_history(world: World) -> None:
    memory = shop(world)
    app = PrimaApp(memory, mode="keyword", clock=lambda: NOW, query="cents")
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot, lambda: "app/money.py" in _pane_text(app))
        rows = _pane_text(app).split("\n")
        line = next(number for number, text in enumerate(rows) if "app/money.py" in text)
        await pilot.click(ExtractPane, offset=(rows[line].index("app/money.py") + 3, line + 1))
        await settled(pilot, lambda: isinstance(app.screen, FileHistoryScreen))
        await settled(pilot, lambda: titles(app) == ["Cents instead of floats", "whole"])


def _pane_text(app: PrimaApp) -> str:
    pane = app.screen.query_one(ExtractPane)
    return "\n".join(pane.render_line(y).text for y in range(pane.page_height))


@pytest.mark.parametrize(
    ("line", "column", "files", "found"),
    [
        ("  app/money.py   why", 4, ["app/money.py", "money.py"], "app/money.py"),
        ("  app/money.py   why", 17, ["app/money.py"], ""),
        ("  very/long/path/to/", 8, ["very/long/path/to/a.py", "b.py"], "very/long/path/to/a.py"),
        ("  app   b", 3, ["app/x.py"], ""),
        ("", 5, ["a"], ""),
    ],
)
def test_what_stands_under_the_mouse_in_an_extract(line: str, column: int, files: Sequence[str], found: str) -> None:
    assert clicked_file(line, column, files) == found


def test_an_edit_without_a_time_is_not_said_to_be_of_now() -> None:
    one = Session(source="codex", id="1", title="A", label="[codex]")
    two = Session(source="codex", id="2", title="B", label="[codex]")
    edits = tuple(Written(session, 0, ToolUse(0), TextEdit("a", new="x = 1")) for session in (one, one, two))
    view = blame_view(Blame(FileText("/a", ("x = 1",)), edits, (0,), ("wrote",)))
    assert [text for text, style in line_facts(view, 0, NOW) if style == "age"] == []
    assert view.conversations == 2


def test_a_path_too_long_keeps_its_end() -> None:
    from prima_tui.tui.file_rows import cut_start

    assert cut_start("a/b/c.py", 20) == "a/b/c.py"
    assert cut_start("a/very/long/path/c.py", 6) == "…/c.py"
    assert cut_start("日本語日本語.py", 8) == "…本語.py"
    assert cut_start("abc", 1) == "…"


async def test_an_explanation_on_one_line_shows_no_marks_of_markdown(world: World) -> None:
    async with file_history(shop(world), *"money") as (app, pilot):
        await settled(pilot, lambda: "since it must be" in screen_text(app))
        await pilot.press("f4")
        await settled(pilot, in_lines(app, 0))
        await pilot.press("alt+n")
        await settled(pilot, lambda: "exchange #1" in screen_text(app))
        assert "**" not in screen_text(app)

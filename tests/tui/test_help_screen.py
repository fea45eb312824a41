"""Help and the command palette: every key in its section, found by what one wants to do."""

from __future__ import annotations

from typing import Any

import pytest
from textual.command import CommandPalette
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from prima_tui.tui.app import PrimaApp
from prima_tui.tui.commands import Command, action_commands, command_score
from prima_tui.tui.help_screen import HelpScreen, columns, narrowed
from prima_tui.tui.key_sections import _MAIN, KeyRow, Section, sections
from prima_tui.tui.keymap import own_bindings

from .conftest import FakeMemory
from .driving import MakeApp, answered, screen_text, settled


def helped(app: PrimaApp) -> str:
    """What the open help says, all of it."""
    return str(app.screen.query_one("#help-keys", Static).visual)


async def opened(pilot: Any, app: PrimaApp) -> None:
    await pilot.press("f1")
    await settled(pilot, lambda: isinstance(app.screen, HelpScreen) and bool(helped(app).strip()))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_help_names_every_key_of_the_screen_below(
    memory: FakeMemory, make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, "login"))
        there = sections(app.screen)
        await opened(pilot, app)
        text = helped(app)
        for section in there:
            assert section.title in text
            for row in section.rows:
                assert row.told.split()[-1] in text
        assert "agent:codex" in text
        assert all(len(line) <= app.screen.query_one("#help-text").size.width for line in text.split("\n"))


async def test_help_is_narrowed_by_typing_and_closed_by_its_key(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        await opened(pilot, app)
        await pilot.press(*"fork")
        await settled(pilot, lambda: "Copy the command" not in helped(app))
        assert "alt+r" in helped(app)
        await pilot.press(*"zzz")
        await settled(pilot, lambda: "No key does that" in helped(app))
        await pilot.press("f1")
        await settled(pilot, lambda: not isinstance(app.screen, HelpScreen))
        assert app.screen.query_one("#query", Input).value == "", "what was typed there stayed there"
        await opened(pilot, app)
        await pilot.press("escape")
        await settled(pilot, lambda: not isinstance(app.screen, HelpScreen))


@pytest.mark.parametrize(
    ("key", "row"), [("alt+l", "Days, weeks, months"), ("alt+x", "Write the other form"), ("f10", "Do nothing")]
)
async def test_a_box_over_the_screen_has_its_help_and_its_palette_too(
    memory: FakeMemory, make_app: MakeApp, key: str, row: str
) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(key)
        await settled(pilot, lambda: isinstance(app.screen, ModalScreen))
        box = app.screen
        await opened(pilot, app)
        assert row in helped(app)
        await pilot.press("escape")
        await settled(pilot, lambda: app.screen is box)
        await pilot.press("ctrl+backslash")
        await settled(pilot, lambda: CommandPalette.is_open(app))


async def test_help_scrolls(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        await opened(pilot, app)
        view = app.screen.query_one("#help-text")
        await settled(pilot, lambda: view.max_scroll_y > 20)
        places = []
        for key in ("down", "pagedown", "up", "pageup"):
            await pilot.press(key)
            await pilot.pause()
            places.append(view.scroll_offset.y)
        assert places == [1, 11, 10, 0]


async def test_other_views_have_help_of_their_own(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("alt+s")
        await settled(pilot, lambda: "Statistics" in screen_text(app))
        await opened(pilot, app)
        text = helped(app)
        assert "Enter on a row searches" in text
        assert "Search for what the row counts" in text
        assert "agent:codex" not in text


def test_every_action_of_the_main_screen_stands_in_a_section() -> None:
    placed = {action for _title, found in _MAIN for action in found}
    known = {one.action.partition("(")[0] for one in own_bindings() if one.id and one.id.startswith("browse.")}
    assert known == placed


def test_pairs_share_a_row_and_a_line() -> None:
    rows = (KeyRow("alt+n p", "Next, previous", "Next, previous"),)
    line = columns([Section("Conversation", rows)], 60)[1].text
    assert line.startswith("alt+n p ")
    assert line.endswith("Next, previous")


async def test_next_and_previous_are_one_row(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        rows = {row.keys: row.told for section in sections(app.screen) for row in section.rows}
        assert rows["alt+n p"] == "Next message, previous message"
        assert rows["alt+shift+\u2191 \u2193"] == "Smaller conversation, larger conversation"


def test_every_word_must_fit() -> None:
    rows = (KeyRow("^y", "Copy", "Copy the command"), KeyRow("f5", "Refresh", "Look again"))
    assert narrowed([Section("Resume", rows)], "COPY comm") == [Section("Resume", rows[:1])]
    assert narrowed([Section("Resume", rows)], "resume") == [Section("Resume", rows)]
    assert narrowed([Section("Resume", rows)], "copy again") == []


# -- the palette ------------------------------------------------------------------------------------------------


def test_a_name_that_begins_with_what_was_typed_comes_first() -> None:
    def command(name: str, told: str) -> Command:
        return Command(name, "", told, lambda: None)

    found = [
        command("Resume", "Resume the session"),
        command("Deep resume", ""),
        command("Copies", "List the copies of a resumed session"),
        command("Rooms here", ""),
    ]
    scores = [command_score("res", one, 0.5 if "Rooms" in one.name else 0.0) for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(scores)
    assert command_score("res", command("Log", "Show what could not be read"), 0.0) == 0.0


async def test_the_palette_finds_actions_by_name_and_runs_them(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        names = [command.name for command in action_commands(app, app.screen)]
        assert names[:2] == ["Resume", "Fork"]
        assert {"Export", "Timeline", "Find", "Rebuild", "Quit"} <= set(names)
        assert not {"Up", "Page down", "Preview up"} & set(names)
        await pilot.press("ctrl+backslash")
        await settled(pilot, lambda: "Search for commands" in screen_text(app))
        await pilot.press(*"deep")
        await settled(pilot, lambda: "alt+d" in screen_text(app) and "Timeline" not in screen_text(app))
        await pilot.press("enter")
        await settled(pilot, lambda: app.screen.query("#deep") and app.screen.query_one("#deep").display)

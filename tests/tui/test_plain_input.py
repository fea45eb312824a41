"""The text fields: control characters from a paste, the cursor, Enter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Input, ListView

from prima_tui.tui.ask_screen import AskScreen
from prima_tui.tui.export_screen import ExportScreen
from prima_tui.tui.find_line import FindInput
from prima_tui.tui.plain_input import PlainInput, type_elsewhere
from prima_tui.tui.search_input import SearchInput


class NoDocuments:
    """Documents of which nothing is asked."""

    root = Path("/nowhere")


def export() -> Screen[Any]:
    return ExportScreen(Path("/nowhere/talk.md"))


def ask() -> Screen[Any]:
    return AskScreen(NoDocuments())  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [export, ask])
async def test_what_a_terminal_would_obey_stays_out_of_a_field(make: Any) -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        app.push_screen(make())
        await pilot.pause()
        field = app.screen.query_one(Input)
        field.post_message(events.Paste("a\x1b]0;title\x07\x1b[31mb"))
        await pilot.pause()
        assert "title" in field.value and field.value.isprintable()
        assert not field.cursor_blink


async def test_enter_in_the_field_is_the_key_of_the_screen() -> None:
    chosen: list[Any] = []
    app: App[None] = App()
    async with app.run_test() as pilot:
        app.push_screen(ExportScreen(Path("/nowhere/talk.md")), chosen.append)
        await pilot.pause()
        assert isinstance(app.focused, PlainInput)
        await pilot.press("enter")
        await pilot.pause()
        assert chosen == [(Path("/nowhere/talk.md"), True)]


@pytest.mark.parametrize("kind", [PlainInput, FindInput, SearchInput])
def test_every_field_has_the_editing_keys_once_and_none_that_submits(kind: type[Input]) -> None:
    keys = [key for key, bindings in kind._merge_bindings().key_to_bindings.items() for _binding in bindings]  # type: ignore[union-attr]
    assert {"left", "ctrl+w", "home"} <= set(keys)
    assert len(keys) == len(set(keys))
    actions = {one.action for bindings in kind._merge_bindings().key_to_bindings.values() for one in bindings}  # type: ignore[union-attr]
    assert not actions & {"submit", "copy"}


class TypedElsewhere(Screen[None]):
    """A screen whose field gets what is typed in its list."""

    def compose(self) -> ComposeResult:
        yield ListView(id="list")
        yield PlainInput(id="field")

    def on_key(self, event: events.Key) -> None:
        type_elsewhere(event, self.focused, self.query_one(PlainInput))


async def test_keys_struck_together_in_another_part_all_come_to_the_field_in_order() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        await app.push_screen(TypedElsewhere())
        part = app.screen.query_one(ListView).focus()
        await pilot.pause()
        for key in ("a", "b", "x", "backspace", "c"):  # all on their way to the list when the first one is typed
            part.post_message(events.Key(key, key if len(key) == 1 else None))
            await pilot.pause()
        assert app.screen.query_one(PlainInput).value == "abc"
        assert isinstance(app.focused, PlainInput)

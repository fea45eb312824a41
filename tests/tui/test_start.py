"""What the screen does, and doesn't do twice, before its first picture."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from textual import events
from textual.css.stylesheet import Stylesheet

from prima_tui.model.hits import Answer
from prima_tui.tui import app as app_module
from prima_tui.tui import browse_screen
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.search_line import SearchLine

from .driving import MakeApp, answered, browse, screen_text, settled


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was drawn, each time something was."""
    drawn: list[str] = []
    display = PrimaApp._display

    def noted(app: PrimaApp, screen: Any, renderable: Any) -> None:
        if renderable is not None and app.is_running and app.screen is screen and screen.size:
            drawn.append(screen_text(app))
        display(app, screen, renderable)

    monkeypatch.setattr(PrimaApp, "_display", noted)
    return drawn


@pytest.fixture
def begun(memory: Any) -> threading.Event:
    """Return what is set once the files are looked at."""
    looked, refresh = threading.Event(), memory.refresh

    def refreshed(*args: Any, **options: Any) -> Any:
        looked.set()
        return refresh(*args, **options)

    memory.refresh = refreshed
    return looked


async def test_the_list_as_it_was_last_time_is_in_the_first_picture(
    memory: Any, make_app: MakeApp, pictures: list[str]
) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        answer = browse(app).answer
    assert answer is not None and answer.hits
    rows = pictures[0].splitlines()
    assert "Today" in rows[4] and answer.hits[0].session.title[:20] in rows[5]


async def test_a_list_that_takes_its_time_holds_up_neither_the_screen_nor_the_reading(
    memory: Any, make_app: MakeApp, begun: threading.Event
) -> None:
    slow, search = threading.Event(), memory.search

    def late(*args: Any, **options: Any) -> Answer:
        slow.wait(20)
        return search(*args, **options)

    memory.search = late
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: "❯" in screen_text(app))
        assert browse(app).answer is None
        slow.set()
        await settled(pilot, answered(app, ""))
        await settled(pilot, begun.is_set)


async def test_files_are_looked_at_also_when_the_first_list_fails(
    memory: Any, make_app: MakeApp, begun: threading.Event
) -> None:
    def fail(*_args: Any, **_options: Any) -> Answer:
        raise RuntimeError("no list")

    memory.search = fail
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, begun.is_set)


async def test_styles_are_read_once_at_the_start_and_again_with_another_theme(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    reparse = Stylesheet.reparse

    def noted(stylesheet: Stylesheet) -> None:
        read.append(app.theme)
        reparse(stylesheet)

    monkeypatch.setattr(Stylesheet, "reparse", noted)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        first = app.theme
        dark = browse(app).styles.background
        assert not read
        app.theme = "prima-light"
        await settled(pilot, lambda: bool(read))
        await pilot.pause()
        assert browse(app).styles.background != dark
        app.theme = first
        await settled(pilot, lambda: read[-1] == first)
        await pilot.pause()
        assert browse(app).styles.background == dark


async def test_work_is_described_without_what_it_holds(memory: Any, make_app: MakeApp) -> None:
    class Held:
        def __repr__(self) -> str:
            raise AssertionError("twenty thousand sessions were written out")

    async def work(_held: Held) -> None:
        return

    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        browse(app).start_work(partial(work, Held()), group="learn")
        await pilot.pause()


@pytest.mark.parametrize("settled_seconds", [1.5, 0.3, 0.1, 0.05, 0.01, 0.001])
async def test_what_is_typed_before_the_search_line_is_there_stands_in_it_in_order(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, settled_seconds: float
) -> None:
    monkeypatch.setattr(app_module, "_SETTLED_SECONDS", settled_seconds)  # as on a computer so much slower
    app = make_app(memory, query="a")
    compose = browse_screen.BrowseScreen.compose

    def typed(screen: browse_screen.BrowseScreen) -> Any:
        for key in "bcd":
            app.post_message(events.Key(key, key))
        return compose(screen)

    app._browse.compose = partial(typed, app._browse)  # type: ignore[method-assign]
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("e")
        await settled(pilot, lambda: browse(app).query_text == "abcde")


async def test_what_stands_in_the_field_before_anything_watches_it_is_searched_for(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = SearchLine.on_mount

    def late(line: SearchLine) -> None:
        line.input.insert_text_at_cursor("login")
        watch(line)

    monkeypatch.setattr(SearchLine, "on_mount", late)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))

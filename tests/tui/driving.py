"""What the tests of the screen do all the time: wait until something is so, find the parts, read what is drawn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from prima_tui.model.hits import Answer
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.search_input import SearchInput
from prima_tui.tui.session_list import SessionList

MakeApp = Callable[..., PrimaApp]


async def settled(pilot: Pilot[Any], condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is so; fail when it never is."""
    for _ in range(int(seconds / 0.02)):
        await pilot.pause(0.02)
        if condition():
            return
    raise AssertionError("it never came about")


def browse(app: PrimaApp) -> BrowseScreen:
    """The main screen, whatever lies over it."""
    screen = app.screen_stack[0]
    assert isinstance(screen, BrowseScreen)
    return screen


def sessions(app: PrimaApp) -> SessionList:
    """The list."""
    return browse(app).query_one(SessionList)


def answered(app: PrimaApp, query: str) -> Callable[[], bool]:
    """Whether the list shows the last answer to a query."""
    return lambda: (
        browse(app).answer is not None and browse(app).answer.query == query and browse(app)._final  # type: ignore
    )


def screen_text(app: PrimaApp) -> str:
    """What is drawn, line by line, without colours."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def query_after(pilot: Pilot[Any], app: PrimaApp) -> str:
    """Wait for the main screen, and return what its search line holds."""
    await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
    return app.screen.query_one(SearchInput).value


def waiting_search(memory: Any) -> tuple[threading.Event, threading.Event]:
    """Let every search of the memory wait until it is cancelled; return what is set when one begins, and then."""
    begun, cancelled = threading.Event(), threading.Event()

    def search(query: str, mode: str, *, deep: bool = False, cancel: Any = None) -> Answer:
        begun.set()
        while not cancel.cancelled:
            threading.Event().wait(0.01)
        cancelled.set()
        cancel.check()
        return Answer(query, "keyword")

    memory.search = search
    return begun, cancelled

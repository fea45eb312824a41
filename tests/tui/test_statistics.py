"""The statistics page: what it shows, every key and mouse target, what it ends with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from prima_tui.model.hits import Answer
from prima_tui.model.statistics import statistics
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.search_line import SearchInput
from prima_tui.tui.session_list import SessionList
from prima_tui.tui.statistics_lines import heat_level, page
from prima_tui.tui.statistics_pane import StatisticsPane
from prima_tui.tui.statistics_screen import StatisticsScreen

MakeApp = Callable[..., PrimaApp]


async def until(pilot: Pilot[Any], condition: Callable[[], bool], seconds: float = 20.0) -> None:
    for _ in range(int(seconds / 0.02)):
        await pilot.pause(0.02)
        if condition():
            return
    raise AssertionError("it never came about")


def figures(app: PrimaApp) -> StatisticsScreen:
    assert isinstance(app.screen, StatisticsScreen)
    return app.screen


def pane(app: PrimaApp) -> StatisticsPane:
    return app.screen.query_one(StatisticsPane)


def text_of(app: PrimaApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def opened(pilot: Pilot[Any], app: PrimaApp) -> None:
    await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.answer is not None)
    await pilot.press("alt+s")
    await until(pilot, lambda: isinstance(app.screen, StatisticsScreen) and app.screen.found is not None)
    await pilot.pause(0.05)


async def query_after(pilot: Pilot[Any], app: PrimaApp) -> str:
    await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
    return app.screen.query_one(SearchInput).value


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_all_sessions_are_counted(memory: Any, make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        shown = text_of(app)
        assert "all sessions" in shown and "this workspace" in shown
        assert f"{len(memory.sessions)}" in shown and "claude-code" in shown and "Hours of the week" in shown
        assert all(strip.cell_length == size[0] for strip in app.screen._compositor.render_strips())
        await pilot.press("end")
        await until(pilot, lambda: "Longest sessions" in text_of(app))


async def test_enter_searches_for_what_a_row_counts(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await pilot.press("enter")
        assert isinstance(app.screen, StatisticsScreen)
        await pilot.press("down", "down", "up", "enter")
        assert await query_after(pilot, app) == "agent:claude-code"


async def test_the_present_results_are_counted_and_r_turns_to_all(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="React")
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        assert "results of React" in text_of(app)
        few = figures(app).found
        assert few and few.sessions < len(memory.sessions)
        await pilot.press("r")
        await until(pilot, lambda: figures(app).found.sessions == len(memory.sessions))  # type: ignore[union-attr]
        await pilot.press("r")
        await until(pilot, lambda: figures(app).found == few)
        await pilot.press("down", "enter")
        assert (await query_after(pilot, app)).startswith("React agent:")


async def test_a_long_session_is_opened(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        targets = pane(app)._page.targets
        first = next(place for place, target in enumerate(targets) if target.session == 0)
        for _ in range(first + 1):
            await pilot.press("down")
        longest = figures(app).found.longest[0]  # type: ignore[union-attr]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        chosen = app.screen.query_one(SessionList)
        await until(pilot, lambda: bool(chosen.selected_hit and chosen.selected_hit.session.key == longest.key))


async def test_columns_pages_and_ends(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(200, 24)) as pilot:
        await opened(pilot, app)
        await pilot.press("down")
        assert pane(app).target.column == 0  # type: ignore[union-attr]
        await pilot.press("right")
        assert pane(app).target.column == 1  # type: ignore[union-attr]
        await pilot.press("left")
        assert pane(app).target.column == 0  # type: ignore[union-attr]
        await pilot.press("end")
        assert pane(app).selected == len(pane(app)._page.targets) - 1
        await pilot.press("home")
        assert pane(app).selected == 0 and pane(app).scroll_offset.y == 0
        await pilot.press("pagedown")
        assert pane(app).scroll_offset.y > 0
        await pilot.press("pageup")
        assert pane(app).scroll_offset.y == 0
        await pilot.press("escape")
        assert await query_after(pilot, app) == ""


async def test_the_mouse_selects_and_chooses(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        target = pane(app)._page.targets[1]
        await pilot.click(StatisticsPane, offset=(6, target.line + 1))
        assert pane(app).selected == 1
        await pilot.click(StatisticsPane, offset=(6, target.line + 1), times=2)
        assert await query_after(pilot, app) == target.query


async def test_nothing_to_count_says_so(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="xyzzy")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        assert "found no session" in text_of(app)
        await pilot.press("r")
        await until(pilot, lambda: "claude-code" in text_of(app))
        await pilot.press("alt+s")
        assert await query_after(pilot, app) == "xyzzy"


async def test_leaving_cancels_the_counting(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.answer is not None)
        begun, cancelled = threading.Event(), threading.Event()

        def slow(query: str, mode: str, *, deep: bool = False, cancel: Any = None) -> Answer:
            begun.set()
            while not cancel.cancelled:
                threading.Event().wait(0.01)
            cancelled.set()
            cancel.check()
            return Answer(query, "keyword")

        memory.search = slow
        await pilot.press("alt+s")
        await until(pilot, begun.is_set)
        await pilot.press("escape")
        await until(pilot, cancelled.is_set)


@pytest.mark.parametrize("width", [40, 78, 111, 112, 198])
def test_no_line_is_wider_than_the_page(memory: Any, width: int) -> None:
    found = page(statistics(memory.sessions), width)
    assert max(cell_len(line.text) for line in found.lines) <= max(width, 54)
    assert all(0 <= target.start < target.end <= width for target in found.targets)


def test_a_terminal_without_block_characters_gets_plain_ones(memory: Any) -> None:
    found = page(statistics(memory.sessions[:2]), 80, blocks=False)
    assert not {"━", "█", "░", "·"} & set("".join(line.text for line in found.lines))


def test_the_darkest_hours_are_those_with_most() -> None:
    assert [heat_level(count, 8) for count in (0, 1, 2, 3, 4, 5, 8)] == [0, 1, 1, 2, 2, 3, 4]
    assert heat_level(0, 0) == 0 and heat_level(1, 1) == 4

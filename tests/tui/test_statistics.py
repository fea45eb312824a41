"""The statistics page: what it shows, every key and mouse target, what it ends with."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from prima_tui.model.statistics import statistics
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.session_list import SessionList
from prima_tui.tui.statistics_lines import heat_level, page
from prima_tui.tui.statistics_pane import StatisticsPane
from prima_tui.tui.statistics_screen import StatisticsScreen

from .driving import MakeApp, query_after, screen_text, settled, waiting_search


def figures(app: PrimaApp) -> StatisticsScreen:
    assert isinstance(app.screen, StatisticsScreen)
    return app.screen


def pane(app: PrimaApp) -> StatisticsPane:
    return app.screen.query_one(StatisticsPane)


async def opened(pilot: Pilot[Any], app: PrimaApp) -> None:
    await settled(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.answer is not None)
    await pilot.press("alt+s")
    await settled(pilot, lambda: isinstance(app.screen, StatisticsScreen) and app.screen.found is not None)
    await pilot.pause(0.05)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_all_sessions_are_counted(memory: Any, make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        shown = screen_text(app)
        assert "all sessions" in shown and "this workspace" in shown
        assert f"{len(memory.sessions)}" in shown and "claude-code" in shown and "Hours of the week" in shown
        assert all(strip.cell_length == size[0] for strip in app.screen._compositor.render_strips())
        await pilot.press("end")
        await settled(pilot, lambda: "Longest sessions" in screen_text(app))


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
        assert "results of React" in screen_text(app)
        few = figures(app).found
        assert few and few.sessions < len(memory.sessions)
        await pilot.press("r")
        await settled(pilot, lambda: figures(app).found.sessions == len(memory.sessions))  # type: ignore[union-attr]
        await pilot.press("r")
        await settled(pilot, lambda: figures(app).found == few)
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
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
        chosen = app.screen.query_one(SessionList)
        await settled(pilot, lambda: bool(chosen.selected_hit and chosen.selected_hit.session.key == longest.key))


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
        assert "found no session" in screen_text(app)
        await pilot.press("r")
        await settled(pilot, lambda: "claude-code" in screen_text(app))
        await pilot.press("alt+s")
        assert await query_after(pilot, app) == "xyzzy"


async def test_leaving_cancels_the_counting(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.answer is not None)
        begun, cancelled = waiting_search(memory)
        await pilot.press("alt+s")
        await settled(pilot, begun.is_set)
        await pilot.press("escape")
        await settled(pilot, cancelled.is_set)


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

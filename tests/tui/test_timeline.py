"""The timeline: how it is drawn, every key and mouse target, and the query it ends with."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from prima_tui.model.timeline import Bucket, Timeline
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.timeline_lines import axis_labels, bar, columns, draws_blocks, stretch_text
from prima_tui.tui.timeline_plot import TimelinePlot
from prima_tui.tui.timeline_screen import TagLine, TimelineScreen

from .driving import MakeApp, query_after, screen_text, settled, waiting_search


def plot(app: PrimaApp) -> TimelinePlot:
    return app.screen.query_one(TimelinePlot)


async def opened(pilot: Pilot[Any], app: PrimaApp) -> None:
    await settled(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.answer is not None)
    await pilot.press("alt+l")
    await settled(pilot, lambda: isinstance(app.screen, TimelineScreen) and bool(plot(app).timeline.buckets))
    await pilot.pause(0.05)


async def by_days(pilot: Pilot[Any], app: PrimaApp) -> None:
    await pilot.press("d")
    await settled(pilot, lambda: plot(app).timeline.scale == "days")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_results_stand_over_time_by_agent(memory: Any, make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        shown = screen_text(app)
        assert "claude-code" in shown and "codex 2" in shown and "#python" in shown
        assert "█" in shown and "30 Nov 2026" in shown
        assert sum(bucket.total for bucket in plot(app).timeline.buckets) == len(memory.sessions)
        assert all(strip.cell_length == size[0] for strip in app.screen._compositor.render_strips())


async def test_enter_makes_the_stretch_the_searchs_date(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await by_days(pilot, app)
        await pilot.press("left", "shift+left", "shift+left", "shift+right", "enter")
        assert await query_after(pilot, app) == "login date:2026-11-28..2026-11-29"


async def test_the_date_of_the_query_is_selected_and_the_plot_shows_the_rest_too(
    memory: Any, make_app: MakeApp
) -> None:
    app = make_app(memory, query="date:2026-11-28..2026-11-29")
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await by_days(pilot, app)
        buckets = plot(app).timeline.buckets
        assert [buckets[place].first.day for place in plot(app).stretch] == [28, 29]
        assert sum(bucket.total for bucket in buckets) == len(memory.sessions)
        await pilot.press("right", "enter")
        assert await query_after(pilot, app) == "date:2026-11-30"


async def test_delete_takes_the_date_out_and_escape_changes_nothing(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login date:2026-11-29")
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("left", "escape")
        assert await query_after(pilot, app) == "login date:2026-11-29"
        await opened(pilot, app)
        await pilot.press("delete")
        assert await query_after(pilot, app) == "login"


async def test_the_scale_changes_by_key_and_the_time_stays(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await by_days(pilot, app)
        await pilot.press("left")
        for key, scale in (("w", "weeks"), ("m", "months"), ("d", "days"), ("s", "weeks"), ("z", "months")):
            await pilot.press(key)
            await settled(pilot, lambda scale=scale: plot(app).timeline.scale == scale)  # type: ignore[misc]
        await pilot.press("enter")
        assert await query_after(pilot, app) == "date:2026-11"


async def test_moving_far(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        last = len(plot(app).timeline.buckets) - 1
        for key, place in (
            ("pageup", last - 10),
            ("home", 0),
            ("left", 0),
            ("pagedown", 10),
            ("end", last),
            ("right", last),
        ):
            await pilot.press(key)
            assert plot(app).cursor == place, key


async def test_a_tag_narrows_the_plot_and_joins_the_query(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await by_days(pilot, app)
        tag, count = plot(app).timeline.tags[0]
        await pilot.press("down")
        await settled(pilot, lambda: sum(b.total for b in plot(app).timeline.buckets) == count)
        await pilot.press("up")
        await settled(pilot, lambda: sum(b.total for b in plot(app).timeline.buckets) == len(memory.sessions))
        await pilot.click(TagLine, offset=(13, 0))
        await settled(pilot, lambda: sum(b.total for b in plot(app).timeline.buckets) == count)
        await pilot.press("enter")
        assert await query_after(pilot, app) == f"date:2026-11-30 tag:{tag}"


async def test_the_mouse_drags_a_stretch_and_a_double_click_chooses(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        where = plot(app)._where
        await pilot.mouse_down(TimelinePlot, offset=(5, 3))
        await pilot.hover(TimelinePlot, offset=(5 + 3 * where.width, 3))
        await pilot.mouse_up(TimelinePlot, offset=(5 + 3 * where.width, 3))
        assert plot(app).stretch == (where.first, where.first + 3)
        await pilot.click(TimelinePlot, offset=(5 + where.width, 3), times=2)
        assert (await query_after(pilot, app)).startswith("date:2026-")


async def test_a_click_beside_the_panel_closes_it(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.click(offset=(20, 3))
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))


async def test_nothing_found_says_so(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="xyzzy")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        assert "No session to show" in screen_text(app)
        await pilot.press("left", "tab", "escape")
        assert await query_after(pilot, app) == "xyzzy"


async def test_closing_cancels_the_counting(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.answer is not None)
        begun, cancelled = waiting_search(memory)
        await pilot.press("alt+l")
        await settled(pilot, begun.is_set)
        await pilot.press("escape")
        await settled(pilot, cancelled.is_set)


# -- drawing -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5), st.integers(1, 60), st.integers(1, 12))
def test_a_bar_is_never_higher_than_the_plot_and_what_is_not_zero_is_seen(
    counts: list[int], more: int, height: int
) -> None:
    bucket = Bucket(date(2026, 1, 1), date(2026, 1, 1), tuple(counts))
    cells = bar(bucket, bucket.total + more - 1, height)
    halves = [half for cell in cells for half in cell]
    assert len(cells) == height
    filled = [half for half in halves if half >= 0]
    assert halves[: len(filled)] == filled == sorted(filled)
    assert bool(filled) == bool(bucket.total)
    if more == 1 and bucket.total:
        assert len(filled) == 2 * height


@given(st.integers(1, 400), st.integers(1, 200), st.integers(0, 399))
def test_the_selected_bucket_is_always_in_view(count: int, room: int, seen: int) -> None:
    seen = min(seen, count - 1)
    where = columns(count, room, seen)
    assert where.first <= seen < where.first + where.shown
    assert where.shown * where.width <= room
    assert where.bucket_at(-5) == where.first and where.bucket_at(10_000) == where.first + where.shown - 1


def test_the_axis_names_months_and_years_without_overlap() -> None:
    starts = [date(2025 + n // 12, n % 12 + 1, 1) for n in range(15)]
    buckets = tuple(Bucket(start, start, ()) for start in starts)
    found = Timeline("months", buckets=buckets)
    assert (
        axis_labels(found, columns(15, 75, 14))
        == f"{'Jan 2025':10}"
        + "".join(f"{name:5}" for name in ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"])
        + f"{'Jan 2026':10}"
        + f"{'Mar':5}"
    )


def test_a_stretch_is_written_short() -> None:
    day = date(2026, 11, 30)
    assert stretch_text(day, day) == "Mon 30 Nov 2026"
    assert stretch_text(day - timedelta(days=2), day) == "28 – 30 Nov 2026"
    assert stretch_text(date(2026, 10, 1), day) == "1 Oct – 30 Nov 2026"
    assert stretch_text(date(2025, 12, 31), day) == "31 Dec 2025 – 30 Nov 2026"


def test_a_terminal_without_block_characters_gets_letters() -> None:
    assert draws_blocks("utf-8", {})
    assert not any(draws_blocks(name, {}) for name in ("ascii", "latin-1", "no such encoding"))


@pytest.mark.parametrize("env", [{"TERM": "linux"}, {"TERM": "vt100"}, {"LC_ALL": "C"}])
def test_a_terminal_that_is_drawn_in_ascii_gets_letters_too(env: dict[str, str]) -> None:
    assert not draws_blocks("utf-8", env)


async def test_bars_of_letters(memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.tui.timeline_plot.draws_blocks", lambda: False)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        lines = "\n".join(plot(app).render_line(y).text for y in range(plot(app).size.height))
        assert "C" in lines and lines.isascii()

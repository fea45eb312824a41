"""Painting one part at once: exactly what the next frame would show there, and only where nothing stands before it."""

from __future__ import annotations

from typing import Any

import pytest
from textual.strip import Strip

from prima_tui.tui.app import PrimaApp
from prima_tui.tui.log_screen import LogScreen
from prima_tui.tui.painting import Pieces, paint_now
from prima_tui.tui.query_choices import QueryChoices
from prima_tui.tui.search_input import SearchInput
from prima_tui.tui.search_line import SearchLine
from tests.tui.driving import MakeApp, answered, browse, sessions, settled


def displayed(app: PrimaApp, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All that Textual is given to write from now on."""
    written: list[Any] = []
    real = app._display

    def display(screen: Any, renderable: Any) -> None:
        written.append(renderable)
        real(screen, renderable)

    monkeypatch.setattr(app, "_display", display)
    return written


def cells(strip: Strip) -> list[tuple[str, Any]]:
    """Each character with its style."""
    return [(sign, segment.style) for segment in strip for sign in segment.text]


async def test_the_list_and_the_count_are_written_at_once_and_as_a_frame_would_show_them(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(memory, mode="keyword")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        answer = memory.search("login", "keyword")
        found, count = sessions(app), app.screen.query_one("#count")
        written = displayed(app, monkeypatch)
        found.show(answer, keep=False)
        browse(app).query_one(SearchLine).show_answer(answer, final=False)
        assert [type(one) for one in written] == [Pieces, Pieces]
        assert not found._repaint_regions and not count._repaint_regions
        rows, counted = written
        picture = app.screen._compositor.render_strips()
        for x, y, strip in (*rows.pieces, *counted.pieces):
            assert cells(strip) == cells(picture[y].crop(x, x + strip.cell_length))
        assert len({y for _x, y, _strip in rows.pieces}) == len(rows.pieces)
        assert len(rows.pieces) > 2 and all(found.content_region.contains(x, y) for x, y, _strip in rows.pieces)
        bar = found.vertical_scrollbar.region.x
        assert all(x + strip.cell_length <= bar for x, _y, strip in rows.pieces)
        told = "".join(strip.text for _x, _y, strip in counted.pieces)
        assert f"{len(answer.hits)} found" in told
        first = rows.pieces[0]
        sent = rows.render_segments(app.console)
        assert sent.startswith(f"\x1b[{first[1] + 1};{first[0] + 1}H") and "login" in sent.lower()
        assert not paint_now(found)  # there is nothing more to paint


async def test_what_is_typed_is_written_before_anything_is_done_with_it(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(memory, mode="keyword")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*"login")
        await settled(pilot, answered(app, "login"))
        field = app.screen.query_one(SearchInput)
        written = displayed(app, monkeypatch)
        for key, text in (("s", "logins"), ("left", "logins"), ("backspace", "logis")):
            written.clear()
            await pilot.press(key)
            if key != "left":
                await settled(pilot, answered(app, text))
                assert isinstance(written[0], Pieces)
                [(x, y, strip)] = written[0].pieces
                assert (x, y) == field.region.offset and strip.text.startswith(text)
                assert app.cursor_position == field.cursor_screen_offset


async def test_the_box_of_choices_is_not_painted_over(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(memory, mode="keyword")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"agent:")
        box = app.screen.query_one(QueryChoices)
        await settled(pilot, lambda: box.display and bool(box.region) and answered(app, "agent:")())
        written = displayed(app, monkeypatch)
        sessions(app).redraw_lines(0, 3)
        assert not paint_now(sessions(app)) and written == []
        await settled(pilot, lambda: not sessions(app)._repaint_regions)


async def test_nothing_is_painted_below_another_screen_or_before_a_layout(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    app = make_app(memory, mode="keyword")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        written = displayed(app, monkeypatch)
        sessions(app).redraw_lines(0, 3)
        app.screen._layout_required = True
        assert not paint_now(sessions(app)) and written == []
        app.screen._layout_required = False
        with app.batch_update():
            assert not paint_now(sessions(app)) and written == []
        assert paint_now(sessions(app)) and [type(one) for one in written] == [Pieces]
        await app.push_screen(LogScreen(tmp_path / "no.log"))
        written.clear()
        sessions(app).redraw_lines(0, 3)
        assert not paint_now(sessions(app)) and not any(isinstance(one, Pieces) for one in written)

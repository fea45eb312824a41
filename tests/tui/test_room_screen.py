"""How the room is shared among list, conversation and extract: by key, by mouse, remembered."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from textual.geometry import Region

from prima_tui.config import Settings, paths_below
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.remembered import Remembered, remember, remembered

from .conftest import FakeMemory
from .driving import MakeApp, answered, browse, sessions, settled

STACKED, BESIDE = (120, 40), (200, 50)


def parts(app: PrimaApp) -> tuple[Region, Region]:
    """Where conversation and extract stand."""
    return browse(app).query_one(ConversationPane).region, browse(app).query_one(ExtractPane).region


def lengths(app: PrimaApp, size: tuple[int, int]) -> tuple[int, int]:
    """How long they are in the direction in which they share the room."""
    one, other = parts(app)
    return (one.width, other.width) if size == BESIDE else (one.height, other.height)


@pytest.mark.parametrize(
    ("size", "smaller", "larger"),
    [
        (STACKED, "alt+shift+up", "alt+shift+down"),
        (BESIDE, "alt+shift+left", "alt+shift+right"),
    ],
)
async def test_conversation_and_extract_share_their_room_by_key(
    memory: FakeMemory, make_app: MakeApp, tmp_path: Path, size: tuple[int, int], smaller: str, larger: str
) -> None:
    memory.settings = Settings(paths=paths_below(tmp_path))
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, ""))
        first = lengths(app, size)
        await pilot.press(larger)
        await pilot.pause()
        then = lengths(app, size)
        assert then[0] > first[0]
        assert sum(then) == sum(first)
        await pilot.press(smaller, smaller)
        await pilot.pause()
        last = lengths(app, size)
        assert last[0] < first[0]
        await settled(pilot, lambda: remembered(memory.settings.paths.data).split == 55)
    again = make_app(memory)
    async with again.run_test(size=size) as pilot:
        await settled(pilot, answered(again, ""))
        assert lengths(again, size) == last
        other = BESIDE if size == STACKED else STACKED
        await pilot.resize_terminal(*other)

        def whole_is_shared() -> bool:
            one, two = parts(again)
            whole = browse(again).query_one("#right").region
            if other == BESIDE:
                return (one.width + two.width, one.height) == (whole.width, whole.height)
            return (one.height + two.height, one.width) == (whole.height, whole.width)

        await settled(pilot, lambda: again.screen.size == other and whole_is_shared())


async def test_the_keys_stop_at_the_ends(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=STACKED) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*["alt+shift+down"] * 9)
        await pilot.pause()
        most = lengths(app, STACKED)
        await pilot.press("alt+shift+down")
        await pilot.pause()
        assert lengths(app, STACKED) == most
        assert most[1] >= 8


@pytest.mark.parametrize(("size", "keys"), [((80, 24), ()), (STACKED, ("ctrl+o",))])
async def test_where_one_pane_is_shown_nothing_is_shared(
    memory: FakeMemory, make_app: MakeApp, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*keys, "alt+shift+up")
        await settled(pilot, lambda: any("One pane" in note.message for note in app._notifications))
        assert browse(app)._kept.split == 0


async def test_a_maximised_pane_has_all_the_room_whatever_was_shared(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    for size in (STACKED, BESIDE):
        async with make_app(memory).run_test(size=size) as pilot:
            app = pilot.app  # type: ignore[assignment]
            await settled(pilot, answered(app, ""))
            await pilot.press("alt+shift+up", "ctrl+o")
            await pilot.pause()
            assert parts(app)[0].width == size[0]
            await pilot.press("f4")
            await pilot.pause()
            extract = parts(app)[1]
            assert (extract.width, extract.height) == (size[0], browse(app).query_one("#body").region.height)


async def test_the_borders_can_be_dragged(memory: FakeMemory, make_app: MakeApp, tmp_path: Path) -> None:
    memory.settings = Settings(paths=paths_below(tmp_path))
    app = make_app(memory)
    async with app.run_test(size=STACKED) as pilot:
        await settled(pilot, answered(app, ""))
        chosen = sessions(app).selected_hit
        border = sessions(app).region.right - 1
        await pilot.mouse_down(offset=(border, 20))
        await pilot.hover(offset=(border + 12, 20))
        await pilot.mouse_up(offset=(border + 12, 20))
        await pilot.pause()
        assert sessions(app).region.right - 1 == pytest.approx(border + 12, abs=1)
        assert sessions(app).selected_hit == chosen, "a border is no row"
        extract = parts(app)[1]
        await pilot.mouse_down(offset=(extract.x + 10, extract.y))
        await pilot.hover(offset=(extract.x + 10, extract.y - 6))
        await pilot.mouse_up(offset=(extract.x + 10, extract.y - 6))
        await pilot.pause()
        assert parts(app)[1].y == pytest.approx(extract.y - 6, abs=1)
        kept = browse(app)._kept
        await settled(pilot, lambda: remembered(memory.settings.paths.data) == kept)
        assert kept.share
        assert kept.split
        # and nothing is held any more
        await pilot.hover(offset=(20, 20))
        await pilot.pause()
        assert browse(app)._kept == kept


async def test_the_border_between_panes_side_by_side_can_be_dragged(memory: FakeMemory, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=BESIDE) as pilot:
        await settled(pilot, answered(app, ""))
        border = parts(app)[1].x
        await pilot.mouse_down(offset=(border, 20))
        await pilot.hover(offset=(border + 9, 20))
        await pilot.mouse_up(offset=(border + 9, 20))
        await pilot.pause()
        assert parts(app)[1].x == pytest.approx(border + 9, abs=1)
        await pilot.mouse_down(offset=(border + 8, 20))
        await pilot.hover(offset=(199, 20))
        await pilot.mouse_up(offset=(199, 20))
        await pilot.pause()
        assert parts(app)[1].width >= 20, "neither can be dragged away"


async def test_shares_that_make_no_sense_are_put_right(memory: FakeMemory, make_app: MakeApp, tmp_path: Path) -> None:
    memory.settings = Settings(paths=paths_below(tmp_path))
    remember(memory.settings.paths.data, msgspec.structs.replace(Remembered(), split=5_000))
    app = make_app(memory)
    async with app.run_test(size=STACKED) as pilot:
        await settled(pilot, answered(app, ""))
        assert all(region.height > 4 for region in parts(app))

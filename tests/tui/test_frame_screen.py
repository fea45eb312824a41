"""The picture of the empty screen that the next start shows first."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prima_tui import first_frame
from prima_tui.config import paths_below
from prima_tui.tui import frame_screen
from prima_tui.tui.empty_frame import EmptyFrame, empty_frame
from prima_tui.tui.frame_screen import FOLDER

from .driving import MakeApp, answered, browse, screen_text, settled

SIZES = [(80, 24), (120, 40), (200, 50), (70, 10)]


@pytest.fixture
def cache(memory: Any, tmp_path: Path) -> Path:
    """The folder of the frames, in a home of the test's own."""
    memory.settings = msgspec.structs.replace(memory.settings, paths=paths_below(tmp_path))
    folder: Path = memory.settings.paths.cache / FOLDER
    return folder


def text_of(frame: EmptyFrame) -> str:
    return "\n".join(strip.text for strip in frame.lines)


@pytest.mark.parametrize("size", SIZES)
async def test_it_has_the_screens_own_parts_and_nothing_of_a_session(
    memory: Any, make_app: MakeApp, size: tuple[int, int]
) -> None:
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: "❯" in screen_text(app))
        await pilot.pause(0.5)
        drawn = screen_text(app).splitlines()
        frame = empty_frame(browse(app))
    lines = text_of(frame).splitlines()
    assert [len(line) for line in lines] == [size[0]] * size[1]
    whole = "\n".join(lines)
    for session in memory.sessions:
        assert session.title[:12] not in whole
    assert "found" not in whole and "exchanges" not in whole
    assert "Search" in whole and "combined" in whole
    if size[1] > 12:
        assert lines[-1] == drawn[-1] and "Resume" in lines[-1]
        assert lines[0] == drawn[0] and lines[1].startswith("│ ❯ Search")
    # beside our own words there are borders only
    for line in lines[3 : -1 if size[1] > 12 else None]:
        assert re.sub(r"Extract|Conversation", "", line).strip("╭╮╰╯│─ ") == ""


@pytest.mark.parametrize("no_colour", [False, True])
async def test_it_is_kept_for_the_owner_only_and_read_as_it_was(
    memory: Any, make_app: MakeApp, cache: Path, monkeypatch: pytest.MonkeyPatch, no_colour: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        browse(app).take_frame()
        await settled(pilot, lambda: cache.is_dir() and len(list(cache.iterdir())) == 1)
    (path,) = cache.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.name == first_frame.frame_name((120, 40), ("workspace", "combined", False), os.environ)
    found = first_frame.unpacked(path.read_bytes())
    assert found is not None
    picture, place, width = found
    assert picture.startswith(b"\x1b[1;1H") and picture.count(b"H\x1b[") >= 40
    assert place.startswith(b"\x1b[2;5H") and width > 20
    shades = set(re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", picture))
    assert shades and all(red == green == blue for red, green, blue in shades) is no_colour


async def test_while_something_else_is_on_the_screen_none_is_taken(memory: Any, make_app: MakeApp, cache: Path) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        screen = browse(app)
        await pilot.press("f1")
        await settled(pilot, lambda: app.screen is not screen)
        screen.take_frame()
        await pilot.press("escape")
        await settled(pilot, lambda: app.screen is screen)
        await pilot.press(*"login")
        screen.take_frame()
        await pilot.press("escape")
        await settled(pilot, answered(app, ""))
        await pilot.press("ctrl+o")
        screen.take_frame()
        await pilot.press("ctrl+o")
        screen.notify("A title")
        await pilot.pause()
        screen.take_frame()
        assert screen._kept_frame is None


async def test_the_oldest_go_and_an_unchanged_one_is_not_written_again(
    memory: Any, make_app: MakeApp, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_screen, "_MOST", 2)
    cache.mkdir(parents=True)
    for number in range(3):
        (cache / f"80x{number}-0").touch()
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        browse(app).take_frame()
        await settled(pilot, lambda: len(list(cache.iterdir())) == 2)
        (path,) = cache.glob("120x40-*")
        before = path.stat().st_mtime_ns
        browse(app)._kept_frame = None
        browse(app).take_frame()
        await app.workers.wait_for_complete([one for one in app.workers if one.group == "frame"])
        assert path.stat().st_mtime_ns == before
        path.unlink()
        app.theme = "prima-light"
        await pilot.pause()
        browse(app).take_frame()
        await settled(pilot, path.exists)

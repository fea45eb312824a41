"""Work beside a screen: it never meets a screen whose parts have gone."""

from __future__ import annotations

import asyncio

from textual.app import App, ComposeResult
from textual.widgets import Static

from prima_tui.tui.work_screen import WorkScreen


class Page(WorkScreen[None]):
    """A screen whose work looks at one part all the time, while another part takes its time to go."""

    looks = 0

    def compose(self) -> ComposeResult:
        yield Static(id="part")
        yield Lingering()

    def on_mount(self) -> None:
        self.start_work(self.look, "look")

    async def look(self) -> None:
        while True:
            assert self.query_one("#part")
            self.looks += 1
            await asyncio.sleep(0)


class Lingering(Static):
    """A part that takes its time to go, and has more work started then."""

    async def on_unmount(self) -> None:
        assert isinstance(self.screen, Page)
        self.screen.start_work(self.screen.look, "more")
        await asyncio.sleep(0.05)


async def test_work_ends_before_the_parts_of_a_screen_go() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        page = Page()
        await app.push_screen(page)
        await pilot.pause()
        assert page.looks
        await app.pop_screen()
        seen = page.looks
        await pilot.pause()
        assert page.looks == seen
        assert not list(app.workers)


async def test_work_ends_before_the_parts_of_a_screen_go_when_one_leaves() -> None:
    class Only(App[None]):
        def get_default_screen(self) -> Page:
            return Page()

    app = Only()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert isinstance(app.screen, Page)
        assert app.screen.looks

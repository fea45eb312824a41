"""The line above the keys: what runs and the state of everything never run into one another."""

from __future__ import annotations

from pathlib import Path

from textual.app import App, ComposeResult

from prima_tui.tui import status_line
from prima_tui.tui.status_line import StatusLine


class Alone(App[None]):
    """The line with its own style, and nothing else."""

    CSS_PATH = Path(status_line.__file__).with_suffix(".tcss")

    def compose(self) -> ComposeResult:
        """Textual's."""
        yield StatusLine()


async def test_a_state_that_is_too_long_is_cut_as_such_and_apart_from_what_runs() -> None:
    app = Alone()
    async with app.run_test(size=(80, 4)) as pilot:
        line = app.query_one(StatusLine)
        line.show_progress("files indexed", 19, 1_270, "40 s, F6")
        line.show_state(["sorted: longest", "of 1,462 sessions", "2,990 exchanges"], 0)
        await pilot.pause()
        shown = app.screen._compositor.render_strips()[0].text
        assert "… sorted: longest" in " ".join(shown.split())
        assert shown.rstrip().endswith("…")

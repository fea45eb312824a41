"""The line above the keys: what runs in the background and how far it is; at the right, the state of everything."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from prima_tui.tui.messages import LogWanted, StopWanted

_CELLS = 12


def bar_text(done: int, total: int, cells: int = _CELLS) -> str:
    """Return a bar of ``cells`` cells, filled as far as ``done`` of ``total``."""
    filled = min(cells, round(cells * done / total)) if total > 0 else 0
    return "━" * filled + "╌" * (cells - filled)


class Work(Static):
    """The left part; a click stops what runs."""

    def on_click(self, event: events.Click) -> None:
        """Textual's."""
        event.stop()
        self.post_message(StopWanted())


class State(Static):
    """The right part; a click opens the startup log."""

    def on_click(self, event: events.Click) -> None:
        """Textual's."""
        event.stop()
        self.post_message(LogWanted())


class StatusLine(Horizontal):
    """Progress at the left, state at the right. What stays as it was is not drawn again."""

    _told = Content("")
    _state = Content("")

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        work = Work(id="work")
        work.display = False
        yield work
        state = State(id="state")
        state.tooltip = "Open the startup log"
        yield state

    def show_progress(self, what: str, done: int, total: int, hint: str = "") -> None:
        """Show work that runs: a bar, what it does, how far, and how to stop it."""
        bar = bar_text(done, total)
        filled = bar.count("━")
        parts = Content.assemble(
            " ",
            (bar[:filled], "$accent"),
            (bar[filled:], "$foreground 30%"),
            Content(f" {what} {done:,} of {total:,}" if total else f" {what}"),
            (f"  {hint}" if hint else "", "$foreground 60%"),
        )
        self._tell(parts)

    def show_note(self, note: str) -> None:
        """Show a line instead of progress; "" for none."""
        self._tell(Content(f" {note}" if note else ""))

    def _tell(self, text: Content) -> None:
        if text == self._told and text.spans == self._told.spans:
            return
        self._told = text
        work = self.query_one(Work)
        work.display = bool(text.plain)
        self.set_class(work.display, "-working")
        work.update(text, layout=False)

    def show_state(self, parts: list[str], problems: int) -> None:
        """Show facts at the right, and how many problems the startup log tells of."""
        text = Content(" · ".join(parts))
        if problems:
            noun = "note" if problems == 1 else "notes"
            text = text + Content.assemble(" · " if parts else "", (f"{problems} {noun} (F9)", "$text-warning"))
        if text != self._state:
            self._state = text
            self.query_one(State).update(text + Content(" "), layout=False)

"""The line above the keys: what runs in the background and how far it is; at the right, the state of everything."""

from __future__ import annotations

import time

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from prima_tui.model.hits import Answer, Snapshot
from prima_tui.model.text import count_text
from prima_tui.tui.clickable import Clickable
from prima_tui.tui.messages import LogWanted, StopWanted

_CELLS = 12
_PROBLEM_SECONDS = 5.0


def bar_text(done: int, total: int, cells: int = _CELLS) -> str:
    """Return a bar of ``cells`` cells, filled as far as ``done`` of ``total``."""
    filled = min(cells, round(cells * done / total)) if total > 0 else 0
    return "━" * filled + "╌" * (cells - filled)


def state_parts(answer: Answer | None, snapshot: Snapshot, sort: str, *, rests: bool) -> list[str]:
    """Return the facts at the right: what the search line does not say already. ``rests``: the index is not at work."""
    parts = [] if sort == "best" else [f"sorted: {sort}"]
    if answer is None:
        return parts
    if answer.query.strip() and snapshot.sessions:
        parts.append(f"of {count_text(len(snapshot.sessions), 'session')}")
    if answer.indexed_exchanges:
        parts.append(count_text(answer.indexed_exchanges, "exchange"))
    if answer.pending_files:
        more = ", F5 goes on" if rests else ""
        parts.append(f"{count_text(answer.pending_files, 'file')} to index{more}")
    return parts


class StatusLine(Horizontal):
    """Progress at the left, where a click stops what runs; state at the right, where one opens the startup log.

    What stays as it was is not drawn again.
    """

    _told = Content("")
    _problem_until = 0.0
    _state: Content | None = None

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        work = Clickable(StopWanted, id="work")
        work.display = False
        yield work
        yield Clickable(LogWanted, id="state", tooltip="Open the startup log")

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
        """Show a line instead of progress; "" for none, which leaves a problem that was just told."""
        if note or time.monotonic() >= self._problem_until:
            self._tell(Content(f" {note}" if note else ""))

    def show_problem(self, problem: str) -> None:
        """Show what went wrong, long enough to be read whatever ends meanwhile."""
        self._problem_until = time.monotonic() + _PROBLEM_SECONDS
        self._tell(Content(f" {problem}"))

    def _tell(self, text: Content) -> None:
        if text == self._told and text.spans == self._told.spans:
            return
        self._told = text
        work = self.query_one("#work", Clickable)
        work.display = bool(text.plain)
        self.set_class(work.display, "-working")
        work.update(text, layout=False)

    def show_state(self, parts: list[str], problems: int) -> None:
        """Show facts at the right, and how many problems the startup log tells of."""
        text = Content(" · ".join(parts))
        if problems:
            text = text + Content.assemble(
                " · " if parts else "", (f"{count_text(problems, 'note')} (F9)", "$text-warning")
            )
        if text != self._state:
            self._state = text
            self.query_one("#state", Clickable).update(text + Content(" "), layout=False)

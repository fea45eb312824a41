"""The statistics page: what all sessions in scope come to, or those that the present search found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from prima_tui.errors import PrimaError
from prima_tui.model.hits import Cancel
from prima_tui.model.statistics import Statistics, statistics
from prima_tui.model.text import one_line
from prima_tui.tui.bindings import key_binding
from prima_tui.tui.cancellable import in_thread
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.outcome import Asked, SessionPlace
from prima_tui.tui.statistics_pane import StatisticsPane
from prima_tui.tui.work_screen import WorkScreen

if TYPE_CHECKING:
    from prima_tui.memory import Memory


def _bind(key: str, action: str, text: str, tooltip: str, show: bool = False) -> BindingType:
    return key_binding("stats", key, action, text, tooltip, show)


class StatisticsScreen(WorkScreen[SessionPlace | str | None]):
    """Its result is a query to search for, a session to open, or None."""

    CSS_PATH = "statistics.tcss"
    AUTO_FOCUS = "StatisticsPane"
    BINDING_GROUP_TITLE = "Statistics"
    HELP = """
    ## Statistics

    Figures of all sessions in scope, or of those that the search found. Enter on a row searches for what it counts.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        _bind("enter", "choose", "Search", "Search for what the row counts, or open the session", show=True),
        _bind("r,alt+r", "results", "Results", "Of the present results, or of all sessions", show=True),
        _bind("up", "move(-1)", "Up", "Go one row up"),
        _bind("down", "move(1)", "Down", "Go one row down"),
        _bind("left,right,tab", "column", "Column", "Go to the other column"),
        _bind("pageup", "scroll(-1)", "Page up", "Scroll up one page"),
        _bind("pagedown", "scroll(1)", "Page down", "Scroll down one page"),
        _bind("home", "move(-999)", "First", "Go to the first row"),
        _bind("end", "move(999)", "Last", "Go to the last row"),
        _bind("escape,q,alt+s", "leave", "Back", "Back to the sessions", show=True),
    ]

    def __init__(self, memory: Memory, asked: Asked) -> None:
        super().__init__()
        self._memory = memory
        self._asked = asked
        self._of_results = bool(asked.query.strip())
        self.found: Statistics | None = None
        """What is shown."""

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        yield StatisticsPane(id="stats")
        yield Static("Counting …", id="stats-empty")
        yield KeyLine()

    @property
    def _pane(self) -> StatisticsPane:
        return self.query_one(StatisticsPane)

    def on_mount(self) -> None:
        """Textual's."""
        self._count()

    def _count(self) -> None:
        reach = self._memory.scope.reach
        where = reach if reach == "everywhere" else f"this {reach}"
        query = one_line(self._asked.query)
        title = f"results of {query}" if self._of_results and query else "all sessions"
        self._pane.border_title = Content(f"Statistics · {title[:60]} · {where}")
        self.start_work(self._counted, "statistics", exclusive=True)

    async def _counted(self) -> None:
        try:
            found = await in_thread(partial(self._statistics, self._of_results))
        except (PrimaError, OSError) as error:
            self._tell(f"It can't be counted: {one_line(str(error))}")
            return
        self.found = found
        self._pane.show(found)
        if found.sessions:
            self.remove_class("-empty")
            self._pane.focus()
        elif self._of_results:
            self._tell("The present search found no session.\n\nr  figures of all sessions")
        else:
            self._tell("There is no session to count here yet.\n\nEsc  back")

    def _tell(self, text: str) -> None:
        self.add_class("-empty")
        self.query_one("#stats-empty", Static).update(Content(text))

    def _statistics(self, of_results: bool, cancel: Cancel) -> Statistics:
        query = self._asked.query if of_results else ""
        answer = self._memory.search(query, self._asked.mode, deep=self._asked.deep, cancel=cancel)
        cancel.check()
        return statistics(hit.session for hit in answer.hits)

    # -- keys ---------------------------------------------------------------------------------------------------

    def action_results(self) -> None:
        """Count the present results, or all sessions."""
        if not self._asked.query.strip():
            self.notify("Nothing is searched for: these are all sessions.", timeout=3)
            return
        self._of_results = not self._of_results
        self._count()

    def action_move(self, step: int) -> None:
        """Go to another row."""
        self._pane.move(step)

    def action_column(self) -> None:
        """Go to the other column."""
        self._pane.move_column()

    def action_scroll(self, step: int) -> None:
        """Scroll by pages."""
        self._pane.scroll_relative(y=step * max(1, self._pane.page_height - 2), animate=False)

    def on_statistics_pane_chosen(self, message: StatisticsPane.Chosen) -> None:
        """A double click."""
        message.stop()
        self.action_choose()

    def action_choose(self) -> None:
        """End with what the selected row counts."""
        target = self._pane.target
        if target is None or self.found is None:
            return
        if target.session >= 0:
            self.dismiss(SessionPlace(self.found.longest[target.session], None))
        else:
            self.dismiss(f"{self._asked.query} {target.query}".strip() if self._of_results else target.query)

    def action_leave(self) -> None:
        """Back to the sessions."""
        self.dismiss(None)

"""The timeline: when the present results happened, in a panel at the foot; a stretch of it becomes a date filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from prima_tui.errors import PrimaError
from prima_tui.model.hits import Cancel
from prima_tui.model.query import parse
from prima_tui.model.query_edit import with_filter, without_filter
from prima_tui.model.session import Session
from prima_tui.model.text import count_text, one_line
from prima_tui.model.timeline import SCALES, Scale, Timeline, date_value, days_of, timeline
from prima_tui.tui.bindings import help_binding, key_binding
from prima_tui.tui.cancellable import in_thread
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.outcome import Asked
from prima_tui.tui.palette import source_colour
from prima_tui.tui.timeline_lines import stretch_text
from prima_tui.tui.timeline_plot import TimelinePlot
from prima_tui.tui.work_screen import WorkScreen

if TYPE_CHECKING:
    from prima_tui.memory import Memory

_MOST_TAGS = 20
_PAGE = 10


class TagLine(Static):
    """The tags that occur, one selected; a click selects another."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._places: list[tuple[int, int, str]] = []

    def show(self, tags: Sequence[tuple[str, int]], selected: str, width: int) -> None:
        """Show as many tags as fit, the selected one among them."""
        parts: list[tuple[str, str]] = []
        self._places = []
        names = ["", *(name for name, _count in tags)]
        counts = dict(tags)
        start = max(0, names.index(selected) - 3) if selected in names else 0
        used = 0
        for name in names[start:]:
            text = f" #{one_line(name)} {counts[name]:,} " if name else " all tags "
            if used + len(text) + 1 > width:
                break
            parts += [(text, "bold $background on $accent" if name == selected else "$secondary"), (" ", "")]
            self._places.append((used, used + len(text), name))
            used += len(text) + 1
        self.update(Content.assemble(*parts))

    def on_click(self, event: events.Click) -> None:
        """Textual's: select the tag."""
        event.stop()
        found = next((name for start, end, name in self._places if start <= event.x < end), None)
        if found is not None and isinstance(self.screen, TimelineScreen):
            self.screen.choose_tag(found)


def _bind(key: str, action: str, text: str, tooltip: str, show: bool = False) -> BindingType:
    return key_binding("timeline", key, action, text, tooltip, show)


class TimelineScreen(WorkScreen[str | None], ModalScreen[str | None]):
    """Its result is the query with the date (and the tag) that was chosen; None: nothing was."""

    CSS_PATH = "timeline.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (14, "-low"), (36, "-high")]  # noqa: RUF012  (Textual's)
    BINDING_GROUP_TITLE = "Timeline"
    HELP = """
    ## Timeline

    The present results over time, by agent. Select a stretch, and Enter makes it the search's date filter.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        _bind("enter", "choose", "Filter", "Search in the selected time", show=True),
        _bind("left", "move(-1)", "Earlier", "Go to the time before"),
        _bind("right", "move(1)", "Later", "Go to the time after"),
        _bind("shift+left", "extend(-1)", "Select", "Select the time before too", show=True),
        _bind("shift+right", "extend(1)", "Select later", "Select the time after too"),
        _bind("pageup", f"move(-{_PAGE})", "Much earlier", f"Go back {_PAGE} steps"),
        _bind("pagedown", f"move({_PAGE})", "Much later", f"Go on {_PAGE} steps"),
        _bind("home", "move(-9999999)", "First", "Go to the first session's time"),
        _bind("end", "move(9999999)", "Now", "Go to now"),
        _bind("s,z", "scale(1)", "Scale", "Days, weeks, months", show=True),
        _bind("d", "scale_to('days')", "Days", "A column for each day"),
        _bind("w", "scale_to('weeks')", "Weeks", "A column for each week"),
        _bind("m", "scale_to('months')", "Months", "A column for each month"),
        _bind("down,tab", "tag(1)", "Tag", "Only sessions with the next tag", show=True),
        _bind("up,shift+tab", "tag(-1)", "Previous tag", "Only sessions with the tag before"),
        _bind("delete,backspace", "clear", "All times", "Take the date out of the search", show=True),
        _bind("escape,alt+l,q", "leave", "Close", "Close the timeline", show=True),
        help_binding(),
    ]

    def __init__(self, memory: Memory, asked: Asked, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__()
        self._memory = memory
        self._asked = asked
        self._clock = clock or (lambda: datetime.now(UTC))
        self._query = without_filter(asked.query, "date")
        self._sessions: tuple[Session, ...] | None = None
        self._scale: Scale | None = None
        self._tag = ""
        self._shown = False
        self._meant: tuple[date, date] | None = None
        """The first and the last day that one selected: a coarser scale shows more, and takes nothing back."""

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        with Vertical(id="timeline") as box:
            box.border_title = Content("Timeline · " + (one_line(self._query)[:60] or "all sessions"))
            yield Static("Counting …", id="timeline-sources")
            yield TagLine(id="timeline-tags")
            yield TimelinePlot(id="timeline-plot")
            yield Static(id="timeline-stretch")
        yield KeyLine()

    @property
    def _plot(self) -> TimelinePlot:
        return self.query_one(TimelinePlot)

    def on_mount(self) -> None:
        """Textual's."""
        self.start_work(self._count, "timeline", exclusive=True)

    # -- counting -----------------------------------------------------------------------------------------------

    async def _count(self) -> None:
        try:
            found = await in_thread(self._counted)
        except (PrimaError, OSError) as error:
            self.query_one("#timeline-sources", Static).update(Content(f"It can't be counted: {one_line(str(error))}"))
            return
        self._show(found)

    def _counted(self, cancel: Cancel) -> Timeline:
        """The timeline of the results, whatever their date. Raises Cancelled."""
        if self._sessions is None:
            answer = self._memory.search(self._query, self._asked.mode, deep=self._asked.deep, cancel=cancel)
            self._sessions = tuple(hit.session for hit in answer.hits)
        cancel.check()
        return timeline(self._sessions, self._scale, self._clock().astimezone().date(), self._tag)

    def _show(self, found: Timeline) -> None:
        """Show it: at first with the time selected that the query asks for, later with the same time as before."""
        plot = self._plot
        last = len(found.buckets) - 1
        if not self._shown:
            dates = [one.period for one in parse(self._asked.query).filters if one.name == "date" and not one.negated]
            self._meant = days_of(dates[0]) if dates and dates[0] else None
        stretch = found.touching(*self._meant) if self._meant else None
        self._shown = True
        self._scale = found.scale
        self._show_sources(found)
        plot.show(found, *(stretch or (last, last)))
        self._meant = self._meant or self._days()
        self._show_tags()

    def _days(self) -> tuple[date, date] | None:
        """The first and the last day of what is selected."""
        buckets = self._plot.timeline.buckets
        first, last = self._plot.stretch
        return (buckets[first].first, buckets[last].last) if buckets else None

    def _show_sources(self, found: Timeline) -> None:
        variables = self.app.theme_variables
        parts: list[tuple[str, str]] = []
        for source, count in found.sources:
            parts += [("■ ", source_colour(variables, source)), (f"{one_line(source)} {count:,}   ", "")]
        text = Content.assemble(*parts) if parts else Content("No session to show. Esc closes.")
        if found.undated:
            text = text + Content(f"({found.undated:,} without a date)").stylize("$foreground 60%")
        self.query_one("#timeline-sources", Static).update(text)

    def _show_tags(self) -> None:
        self.query_one(TagLine).show(self._plot.timeline.tags[:_MOST_TAGS], self._tag, self._plot.size.width)

    def on_resize(self) -> None:
        """Textual's."""
        if self._shown:
            self._show_tags()

    def on_timeline_plot_moved(self, message: TimelinePlot.Moved) -> None:
        """Another stretch: say which, and how much happened in it."""
        message.stop()
        found = self._plot.timeline
        if not found.buckets:
            return
        if message.by_hand:
            self._meant = self._days()
        first, last = self._plot.stretch
        buckets = found.buckets[first : last + 1]
        total = sum(bucket.total for bucket in buckets)
        by_source = [
            f"{sum(bucket.counts[place] for bucket in buckets):,} {one_line(source)}"
            for place, (source, _count) in enumerate(found.sources)
            if any(bucket.counts[place] for bucket in buckets)
        ]
        text = Content.assemble(
            (stretch_text(buckets[0].first, buckets[-1].last), "bold $accent"),
            f"  {count_text(total, 'session')}",
            (f": {', '.join(by_source)}" if by_source else "", "$foreground 70%"),
            (f"   by {found.scale}", "$foreground 50%"),
        )
        self.query_one("#timeline-stretch", Static).update(text)

    # -- keys ---------------------------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Go to another time."""
        self._plot.move_to(self._plot.cursor + step)

    def action_extend(self, step: int) -> None:
        """Select more, or less again."""
        self._plot.move_to(self._plot.cursor + step, extend=True)

    def action_scale(self, step: int) -> None:
        """Show columns of another length."""
        self.action_scale_to(SCALES[(SCALES.index(self._plot.timeline.scale) + step) % len(SCALES)])

    def action_scale_to(self, scale: Scale) -> None:
        """Show a column for each day, week or month."""
        self._scale = scale
        self.start_work(self._count, "timeline", exclusive=True)

    def action_tag(self, step: int) -> None:
        """Count only sessions with another tag."""
        names = ["", *(name for name, _count in self._plot.timeline.tags[:_MOST_TAGS])]
        place = names.index(self._tag) if self._tag in names else 0
        self.choose_tag(names[(place + step) % len(names)])

    def choose_tag(self, tag: str) -> None:
        """Count only sessions with a tag; "" for all."""
        self._tag = tag
        self._show_tags()
        self.start_work(self._count, "timeline", exclusive=True)

    def on_timeline_plot_chosen(self, message: TimelinePlot.Chosen) -> None:
        """A double click."""
        message.stop()
        self.action_choose()

    def action_choose(self) -> None:
        """End with the query that asks for the selected time."""
        found = self._plot.timeline
        if not found.buckets:
            self.dismiss(None)
            return
        first, last = (found.buckets[place] for place in self._plot.stretch)
        query = with_filter(self._asked.query, "date", date_value(first, last, found.scale))
        self.dismiss(with_filter(query, "tag", self._tag) if self._tag else query)

    def action_clear(self) -> None:
        """End with the query without its date."""
        self.dismiss(self._query)

    def action_leave(self) -> None:
        """End with nothing changed."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click beside the panel closes it."""
        if event.widget is self:
            self.dismiss(None)

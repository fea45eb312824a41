"""The page of statistics: scrolls, and one row of it can be selected."""

from __future__ import annotations

from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from prima_tui.model.statistics import Statistics
from prima_tui.tui.line_view import LineView
from prima_tui.tui.palette import layers, source_style
from prima_tui.tui.statistics_lines import Page, Target, page
from prima_tui.tui.styled_lines import segments
from prima_tui.tui.timeline_lines import draws_blocks

STYLES = (
    "number", "faint", "heading", "rule", "name", "count", "bar", "heat-0", "heat-1", "heat-2", "heat-3", "heat-4",
    "selected",
)  # fmt: skip


class StatisticsPane(LineView, inherit_bindings=False):
    """Shows :class:`Statistics`; the screen moves the selected row, a click selects, a double click chooses."""

    class Chosen(Message):
        """A row was chosen: what Enter does is to be done."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._found = Statistics()
        self._page = Page((), ())
        self._laid_out = 0
        self.selected = -1
        self._palette: dict[str, Style] = {}

    @property
    def target(self) -> Target | None:
        """The selected row."""
        targets = self._page.targets
        return targets[self.selected] if 0 <= self.selected < len(targets) else None

    def show(self, found: Statistics) -> None:
        """Show other figures."""
        self._found = found
        self.selected = -1
        self._lay_out()
        self.scroll_to(y=0, animate=False, force=True)

    def _lay_out(self) -> None:
        self._laid_out = self.line_width
        # a hundred short lines at most, whatever was counted: quick enough to be done here
        self._page = page(self._found, max(40, self._laid_out), draws_blocks())
        self.selected = min(self.selected, len(self._page.targets) - 1)
        self.set_line_count(len(self._page.lines))
        self.redraw()

    def on_resize(self) -> None:
        """Textual's: lay out for the new width."""
        if self.line_width != self._laid_out:
            self._lay_out()

    def move(self, step: int) -> None:
        """Select the next or previous row."""
        if not self._page.targets:
            self.scroll_relative(y=step, animate=False)
            return
        self._select(max(0, min(self.selected + step, len(self._page.targets) - 1)))

    def move_column(self) -> None:
        """Select the row of the other column that stands nearest."""
        here = self.target
        others = [
            (abs(target.line - (here.line if here else 0)), place)
            for place, target in enumerate(self._page.targets)
            if here is None or target.column != here.column
        ]
        if others:
            self._select(min(others)[1])

    def _select(self, place: int) -> None:
        before, self.selected = self.target, place
        for target in (before, self.target):
            if target is not None:
                self.redraw_lines(target.line)
        if (now := self.target) is not None:
            top, height = self.scroll_offset.y, self.page_height
            # the first row shows the head too
            if now.line < top + 1:
                self.scroll_to(y=0 if place == 0 else max(0, now.line - 2), animate=False, force=True)
            elif now.line >= top + height:
                self.scroll_to(y=now.line - height + 1, animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click selects, a double click chooses."""
        x = event.x - self.content_offset.x
        line = event.y - self.content_offset.y + self.scroll_offset.y
        for place, target in enumerate(self._page.targets):
            if target.line == line and target.start <= x < target.end:
                self._select(place)
                if event.chain == 2:
                    self.post_message(self.Chosen())

    def palette_changed(self) -> None:
        """Read the colours again when next drawing."""
        self._palette = {}

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw one line."""
        if not self._palette:
            self._palette = layers(self, "stats", STYLES).copy()
            for source in {*dict(self._found.agents), *(one.source for one in self._found.longest)}:
                self._palette[f"source:{source}"] = source_style(self, source)
        styled = self._page.lines[line]
        base = self.base_style
        here = self.target
        if here is None or here.line != line:
            return Strip(segments(styled, self._palette, base))
        strip = Strip(segments(styled, self._palette, base)).adjust_cell_length(max(width, here.end), base)
        ground = self._palette["selected"]
        middle = strip.crop(here.start, here.end).apply_style(ground)
        return Strip.join([strip.crop(0, here.start), middle, strip.crop(here.end, None)])

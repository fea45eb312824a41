"""The plot of a timeline: one draws on it with keys and mouse which stretch of time is meant."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from prima_tui.model.timeline import Timeline
from prima_tui.tui.palette import layers, source_style
from prima_tui.tui.timeline_lines import SCALE_WIDTH, Cell, Columns, axis_labels, bar, columns, draws_blocks

STYLES = ("selected", "axis", "cursor")


class TimelinePlot(Widget):
    """Shows a :class:`Timeline`; from ``origin`` to ``cursor`` is what is selected."""

    class Moved(Message):
        """Another stretch is selected."""

        def __init__(self, by_hand: bool) -> None:
            super().__init__()
            self.by_hand = by_hand
            """Whether a person selected it, and not a new plot."""

    class Chosen(Message):
        """The stretch was chosen (a double click): what Enter does is to be done."""

    def __init__(self, *, id: str | None = None, blocks: bool | None = None) -> None:
        """``blocks``: whether block characters can be shown; None: as the terminal can."""
        super().__init__(id=id)
        self.timeline = Timeline("days")
        self.cursor = 0
        self.origin = 0
        self._blocks = draws_blocks() if blocks is None else blocks
        self._drawn: tuple[object, ...] = ()
        self._lines: list[Strip] = []
        self._where = Columns(0, 0, 1)
        self._dragging = False

    def show(self, timeline: Timeline, first: int, last: int) -> None:
        """Show another timeline with buckets ``first`` to ``last`` selected."""
        self.timeline = timeline
        self.origin, self.cursor = first, last
        self._changed(by_hand=False)

    @property
    def stretch(self) -> tuple[int, int]:
        """The first and the last selected bucket."""
        return min(self.origin, self.cursor), max(self.origin, self.cursor)

    def move_to(self, place: int, extend: bool = False) -> None:
        """Put the cursor on a bucket; with ``extend`` everything from the origin to it is selected."""
        place = max(0, min(place, len(self.timeline.buckets) - 1))
        if place == self.cursor and (extend or self.origin == place):
            return
        self.cursor = place
        if not extend:
            self.origin = place
        self._changed(by_hand=True)

    def _changed(self, by_hand: bool) -> None:
        self.refresh()
        self.post_message(self.Moved(by_hand))

    # -- drawing ------------------------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Textual's: the theme may be another."""
        super().notify_style_update()
        self._drawn = ()

    def render_line(self, y: int) -> Strip:
        """Textual's: one line of the plot; all are drawn when one of them is, since they go together."""
        state = (self.size, id(self.timeline), self.origin, self.cursor)
        if self._drawn != state:
            self._lines = self._draw()
            self._drawn = state
        return self._lines[y] if y < len(self._lines) else Strip.blank(self.size.width, self.rich_style)

    def _draw(self) -> list[Strip]:
        width, height = self.size.width, max(1, self.size.height - 1)
        where = self._where = columns(len(self.timeline.buckets), width - SCALE_WIDTH, self.cursor)
        base = self.rich_style
        styles = layers(self, "timeline", STYLES)
        colours = [source_style(self, source) for source, _count in self.timeline.sources]
        shown = self.timeline.buckets[where.first : where.first + where.shown]
        highest = max((bucket.total for bucket in shown), default=0)
        bars = [bar(bucket, highest, height) for bucket in shown]
        first, last = self.stretch
        lines = []
        for line in range(height - 1, -1, -1):
            scale = f"{highest:>{SCALE_WIDTH - 1}} " if line == height - 1 and highest else " " * SCALE_WIDTH
            parts = [Segment(scale[-SCALE_WIDTH:], base + styles["axis"])]
            for place, cells in enumerate(bars):
                inside = first <= where.first + place <= last
                ground = base + styles["selected"] if inside else base
                wide = where.width - 1 if where.width > 2 else where.width
                parts.append(Segment(*self._cell(cells[line], colours, ground, wide, line == 0)))
                if wide < where.width:
                    parts.append(Segment(" " * (where.width - wide), ground))
            lines.append(Strip(parts).adjust_cell_length(width, base))
        axis = [Segment(" " * SCALE_WIDTH, base), *self._axis(where, base, styles)]
        lines.append(Strip(axis).adjust_cell_length(width, base))
        return lines

    def _axis(self, where: Columns, base: Style, styles: dict[str, Style]) -> list[Segment]:
        text = axis_labels(self.timeline, where)
        start = (self.cursor - where.first) * where.width
        end = start + where.width
        axis, cursor = base + styles["axis"], base + styles["cursor"]
        return [Segment(text[:start], axis), Segment(text[start:end], cursor), Segment(text[end:], axis)]

    def _cell(self, cell: Cell, colours: list[Style], ground: Style, wide: int, lowest: bool) -> tuple[str, Style]:
        if cell.lower < 0:
            return ("·" if self._blocks else ".") * wide if lowest else " " * wide, ground + Style(dim=True)
        lower = colours[cell.lower]
        if not self._blocks:
            letter = self.timeline.sources[cell.lower][0][:1].upper() or "#"
            return letter * wide, ground + lower
        if cell.upper == cell.lower:
            return "█" * wide, ground + lower
        if cell.upper < 0:
            return "▄" * wide, ground + lower
        return "▄" * wide, ground + lower + Style(bgcolor=colours[cell.upper].color)

    # -- mouse --------------------------------------------------------------------------------------------------

    def _bucket_at(self, event: events.MouseEvent) -> int:
        return self._where.bucket_at(event.x - self.content_offset.x - SCALE_WIDTH)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Textual's: the selection begins here; with shift it reaches to here."""
        if self.timeline.buckets:
            self._dragging = True
            self.capture_mouse()
            self.move_to(self._bucket_at(event), extend=event.shift)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Textual's: dragging selects."""
        if self._dragging:
            self.move_to(self._bucket_at(event), extend=True)

    def on_mouse_up(self) -> None:
        """Textual's."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Textual's: later."""
        event.stop()
        self.move_to(self.cursor + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Textual's: earlier."""
        event.stop()
        self.move_to(self.cursor - 1)

    def on_click(self, event: events.Click) -> None:
        """Textual's: a double click chooses."""
        if event.chain == 2:
            self.post_message(self.Chosen())

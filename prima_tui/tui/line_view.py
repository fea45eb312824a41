"""The base of everything long on the screen: lines drawn only when visible, kept in a cache of strips."""

from __future__ import annotations

from typing import Any

from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

_CACHED_LINES = 2_000


class LineView(ScrollView, can_focus=True):
    """A scrolling view whose lines are drawn on demand. A subclass says how many there are and draws one.

    Meant for an app whose animations are off: what one asks for is there in the next frame, and positions can be
    corrected while parts are laid out.
    """

    # Textual lays the whole screen out again and draws all of it when a view's virtual size changes. Here the scroll
    # bar is always shown, so nothing moves: only the bar and the lines are drawn anew.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False, repaint=False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: LRUCache[int, Strip] = LRUCache(_CACHED_LINES)
        self._base_style: Style | None = None
        self._painted: dict[int, Strip] = {}
        """What stands at each line of the view."""
        self._painted_at = (-1, -1)
        """First line of the view and its width when that was painted."""
        self._width_at = (Size(-1, -1), 0)
        """Size of the widget, and how many cells its lines then have."""

    def watch_virtual_size(self, size: Size) -> None:
        """Textual's: another number of lines."""
        if self.is_attached:
            bar = self.vertical_scrollbar
            bar.window_virtual_size = size.height
            bar.window_size = self.page_height
            self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def animate(self, attribute: str, value: Any, **how: Any) -> None:
        """Textual's: go there at once.

        Its animator ends the program when a view corrects its position in the step in which it arrives.
        """
        setattr(self, attribute, value)
        if (on_complete := how.get("on_complete")) is not None:
            on_complete()

    def draw_line(self, line: int, width: int) -> Strip:
        """Return line number ``line`` (from 0, in the whole view) for a view ``width`` cells wide."""
        raise NotImplementedError

    def palette_changed(self) -> None:
        """Forget colours: the theme or the state of the widget changed. Called before lines are drawn again."""

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return self.virtual_size.height

    @property
    def line_width(self) -> int:
        """How many cells a line has: the view without its border and scroll bar."""
        return self.scrollable_content_region.width

    def _drawn_width(self) -> int:
        """The same while the view is drawn, when it is asked for line by line: looked up once for each size."""
        if self._width_at[0] != self.outer_size:
            self._width_at = self.outer_size, self.line_width
        return self._width_at[1]

    @property
    def page_height(self) -> int:
        """How many lines are visible at once."""
        return max(1, self.scrollable_content_region.height)

    def line_clicked(self, event: events.Click) -> int:
        """Return the line, of the whole view, that a click means; -1 for one on the border."""
        offset = event.get_content_offset(self)
        return self.scroll_offset.y + offset.y if offset is not None else -1

    def set_line_count(self, count: int) -> None:
        """Say how many lines there are. What changed is drawn by a ``redraw`` after it."""
        self.virtual_size = Size(max(1, self.line_width), count)

    def redraw_lines(self, first: int, count: int = 1) -> None:
        """Draw these lines again."""
        for line in range(first, first + count):
            self._strips.discard(line)
        self.refresh_lines(first, count)

    def redraw(self) -> None:
        """Draw all lines again."""
        self._strips.clear()
        self._painted.clear()
        self.refresh()

    def redraw_changed(self) -> None:
        """Work out all lines again, and paint those in view that look different from what stands there."""
        self._strips.clear()
        width, top = self.line_width, self.scroll_offset.y
        if self._painted_at != (top, width):
            self._painted.clear()
            self.refresh()
            return
        first = end = 0
        for y in range(self.page_height):
            if (before := self._painted.get(y)) is None or before == self._strip_at(top + y, width):
                continue
            if y != end and first < end:
                self.refresh_lines(top + first, end - first)
            first, end = (first, y + 1) if y == end and first < end else (y, y + 1)
        if first < end:
            self.refresh_lines(top + first, end - first)

    def notify_style_update(self) -> None:
        """Textual's: styles changed, so cached strips have old colours."""
        super().notify_style_update()
        self._base_style = None
        self._width_at = (Size(-1, -1), 0)
        self.palette_changed()
        self._strips.clear()

    @property
    def base_style(self) -> Style:
        """The widget's own colours (kept, since Textual works them out anew for every line)."""
        if self._base_style is None:
            self._base_style = self.rich_style
        return self._base_style

    def render_line(self, y: int) -> Strip:
        """Textual's: return what stands at line ``y`` of the visible part."""
        width, top = self._drawn_width(), self.scroll_offset.y
        if self._painted_at != (top, width):
            self._painted.clear()
            self._painted_at = (top, width)
        strip = self._painted[y] = self._strip_at(top + y, width)
        return strip

    def _strip_at(self, line: int, width: int) -> Strip:
        if line >= self.line_count:
            return Strip.blank(width, self.base_style)
        strip = self._strips.get(line)
        if strip is not None and strip.cell_length != width:
            # of another width: so are all (and the cache keeps the first value it is given for a key)
            self._strips.clear()
            strip = None
        if strip is None:
            strip = self.draw_line(line, width).adjust_cell_length(width, self.base_style)
            self._strips[line] = strip
        return strip

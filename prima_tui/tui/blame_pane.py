"""A pane that shows a file line by line, and beside each line the conversation that wrote it; one line is selected."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from prima_tui.tui.blame_rows import BlameView, gutter, gutter_width, next_stretch
from prima_tui.tui.line_view import LineView
from prima_tui.tui.palette import layers, source_style
from prima_tui.tui.styled_lines import joined, segments

STYLES = (
    "selected", "title", "title-selected", "age", "number", "number-selected", "faint", "match", "code-comment",
    "code-string", "code-number", "code-keyword", "code-name", "code-added", "code-removed",
)  # fmt: skip
_SHIFT = 8


class BlamePane(LineView, inherit_bindings=False):
    """Shows a :class:`BlameView`. The screen moves the selected line; a click selects, a double click chooses."""

    BINDING_GROUP_TITLE = "Lines"
    HELP = """
    ## Lines of a file

    Beside each line stands the conversation that wrote it. Enter opens it at that exchange.
    """

    class LineMoved(Message):
        """Another line is selected."""

    class LineChosen(Message):
        """A line was chosen: what Enter does is to be done."""

    def __init__(self, *, id: str | None = None, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._now = self._clock()
        self.view: BlameView | None = None
        self.selected = 0
        self._shift = 0
        self._marked = ""
        self._palette: dict[str, Style] = {}
        self._sources: dict[str, Style] = {}

    def show(self, view: BlameView, line: int, marked: str = "") -> None:
        """Show a file with line number ``line`` (from 0) selected, and occurrences of ``marked`` marked."""
        new = self.view is None or self.view.file.path != view.file.path
        self.view, self._marked = view, marked
        self._now = self._clock()
        if new:
            self._shift = 0
        self.set_line_count(len(view.code))
        self.selected = max(0, min(line, len(view.code) - 1))
        self._keep_visible(middle=True)
        self.redraw()
        self.post_message(self.LineMoved())

    def select(self, line: int) -> None:
        """Select a line, not beyond the ends."""
        if self.view is None or not self.view.code:
            return
        line = max(0, min(line, len(self.view.code) - 1))
        if line == self.selected:
            return
        before, self.selected = self.selected, line
        if self.view.key(before) == self.view.key(line):
            self.redraw_lines(before)
            self.redraw_lines(line)
        else:
            # all lines of a conversation stand out with the selected one
            self.redraw_changed()
        self._keep_visible()
        self.post_message(self.LineMoved())

    def move(self, step: int) -> None:
        """Move the selected line by ``step`` lines."""
        self.select(self.selected + step)

    def move_page(self, step: int) -> None:
        """Move the selected line by ``step`` pages."""
        self.select(self.selected + step * max(1, self.page_height - 2))

    def move_stretch(self, step: int) -> None:
        """Go to the next or previous stretch of lines that one conversation wrote."""
        if self.view is not None:
            self.select(next_stretch(self.view, self.selected, step))
            # what follows of the stretch is to be seen, too
            if self.selected > self.scroll_offset.y + 2 * self.page_height // 3:
                self.scroll_to(y=self.selected - self.page_height // 3, animate=False, force=True)

    def shift(self, step: int) -> None:
        """Show what is farther to the right (1) or left (-1) of long lines."""
        if self.view is None:
            return
        first = self.scroll_offset.y
        seen = self.view.code[first : first + self.page_height]
        beside = gutter_width(self.line_width) + len(str(len(self.view.code))) + 3
        longest = max((cell_len(line.text) for line in seen), default=0)
        most = max(0, longest - (self.line_width - beside) + 1)
        self._shift = max(0, min(self._shift + step * _SHIFT, most))
        self.redraw()

    def _keep_visible(self, middle: bool = False) -> None:
        view, page = self.scroll_offset.y, self.page_height
        if view <= self.selected < view + page:
            return
        lead = page // 3 if middle else 0 if self.selected < view else page - 1
        self.scroll_to(y=max(0, self.selected - lead), animate=False, force=True)

    def on_resize(self) -> None:
        """Textual's: keep the selected line in view."""
        self.redraw()
        self._keep_visible()

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click selects, a double click chooses."""
        line = event.y - self.content_offset.y + self.scroll_offset.y
        if 0 <= line < self.line_count:
            self.select(line)
            if event.chain == 2:
                self.post_message(self.LineChosen())

    def palette_changed(self) -> None:
        """Read the colours again when next drawing."""
        self._palette, self._sources = {}, {}

    def styles_for(self, source: str) -> dict[str, Style]:
        """Return the styles that a line of a conversation from this source is drawn with."""
        if not self._palette:
            self._palette = layers(self, "lines", STYLES)
        if source not in self._sources:
            self._sources[source] = source_style(self, source)
        colour = self._sources[source]
        return {**self._palette, "source": colour, "source-quiet": colour + Style(dim=True)}

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw one line: the conversation, the line's number, the line."""
        view = self.view
        if view is None or line >= len(view.code):
            return Strip.blank(width, self.base_style)
        author = view.blame.author(line)
        styles = self.styles_for(author.session.source if author else "")
        is_selected = line == self.selected
        base = self.base_style + styles["selected"] if is_selected else self.base_style
        beside = gutter(view, line, gutter_width(width), self._now, view.key(self.selected))
        digits = len(str(len(view.code)))
        number = joined([(f"{line + 1:>{digits}} ", "number-selected" if is_selected else "number"), ("│ ", "faint")])
        head = Strip(segments(beside, styles, base) + segments(number, styles, base))
        room = max(1, width - head.cell_length)
        code = view.code[line]
        if self._marked and (place := code.text.find(self._marked)) >= 0:
            code = code.marked([(place, place + len(self._marked))], "match")
        strip = Strip(segments(code, styles, base))
        if strip.cell_length > self._shift + room:
            more = Strip(segments(joined([("›", "faint")]), styles, base))
            strip = Strip.join([strip.crop(self._shift, self._shift + room - 1), more])
        else:
            strip = strip.crop(self._shift, None)
        return Strip.join([head, strip]).adjust_cell_length(width, base)

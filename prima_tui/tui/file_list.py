"""A list of changed files, or of the sessions that changed one: any number of rows, one selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from prima_tui.search.changed_files import KnownFile
from prima_tui.tui.file_rows import FileRow, file_row
from prima_tui.tui.line_view import LineView
from prima_tui.tui.palette import layers, source_style
from prima_tui.tui.styled_lines import segments

STYLES = ("selected", "bar", "title", "match", "age", "path", "fact", "badge", "faint", "snippet")
ROW = 3
"""Lines of a row."""


class FileList(LineView, inherit_bindings=False):
    """Shows rows of three lines. The screen moves the selection; a click selects, a double click chooses."""

    BINDING_GROUP_TITLE = "Files"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "step(-9999999)", "First", show=False, id="files_list.home", tooltip="Select the first row"),
        Binding("end", "step(9999999)", "Last", show=False, id="files_list.end", tooltip="Select the last row"),
    ]

    class Highlighted(Message):
        """Another row is the selected one; None in an empty list."""

        def __init__(self, row: FileRow | None) -> None:
            super().__init__()
            self.row = row

    class Chosen(Message):
        """A row was chosen: what Enter does is to be done."""

    def __init__(self, *, id: str | None = None, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._now = self._clock()
        self.rows: Sequence[FileRow] = ()
        self.selected = -1
        self._words: tuple[str, ...] = ()
        self._first = 0
        self._palette: dict[str, Style] = {}
        self._sources: dict[str, Style] = {}

    @property
    def selected_row(self) -> FileRow | None:
        """The selected row; None in an empty list."""
        return self.rows[self.selected] if 0 <= self.selected < len(self.rows) else None

    def show(self, rows: Sequence[FileRow], words: tuple[str, ...], first: int = 0, keep: bool = False) -> None:
        """Show other rows; the ``first`` of them are of the session one came from. ``keep`` the selected one if it
        is still there."""
        before = _identity(self.selected_row) if keep else None
        self._now = self._clock()
        self.rows, self._words, self._first = rows, words, first
        place = next((n for n, row in enumerate(rows) if _identity(row) == before), 0) if before else 0
        self.selected = place if rows else -1
        self.set_line_count(len(rows) * ROW)
        self._keep_visible()
        self.redraw_changed()
        self.post_message(self.Highlighted(self.selected_row))

    def move(self, step: int) -> None:
        """Move the selection by ``step`` rows, not beyond the ends."""
        place = max(0, min(self.selected + step, len(self.rows) - 1))
        if not self.rows or place == self.selected:
            return
        before, self.selected = self.selected, place
        for row in (before, place):
            self.redraw_lines(row * ROW, ROW)
        self._keep_visible()
        self.post_message(self.Highlighted(self.selected_row))

    def move_page(self, step: int) -> None:
        """Move the selection by ``step`` pages."""
        self.move(step * max(1, self.page_height // ROW))

    def action_step(self, step: int) -> None:
        """Move the selection."""
        self.move(step)

    def _keep_visible(self) -> None:
        top, view, page = self.selected * ROW, self.scroll_offset.y, self.page_height
        if top < view:
            self.scroll_to(y=max(0, top), animate=False, force=True)
        elif top + ROW > view + page:
            self.scroll_to(y=top + ROW - page, animate=False, force=True)

    def on_resize(self) -> None:
        """Textual's: keep the selected row in view."""
        self.redraw()
        self._keep_visible()

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click selects, a double click chooses."""
        place = (event.y - self.content_offset.y + self.scroll_offset.y) // ROW
        if 0 <= place < len(self.rows):
            self.move(place - self.selected)
            if event.chain == 2:
                self.post_message(self.Chosen())

    def palette_changed(self) -> None:
        """Read the colours again when next drawing."""
        self._palette, self._sources = {}, {}

    def _styles(self, source: str) -> dict[str, Style]:
        if not self._palette:
            self._palette = layers(self, "files", STYLES)
        if source not in self._sources:
            self._sources[source] = source_style(self, source)
        return {**self._palette, "source": self._sources[source]}

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw one line of a row."""
        place, part = divmod(line, ROW)
        row = self.rows[place]
        session = row.last.session if isinstance(row, KnownFile) else row.session
        styled = file_row(row, self._words, width, self._now, place == self.selected, place < self._first)[part]
        styles = self._styles(session.source)
        strip = Strip(segments(styled, styles, self.base_style))
        return strip.adjust_cell_length(width, self.base_style + styles.get(styled.fill, Style.null()))


def _identity(row: FileRow | None) -> tuple[object, ...] | None:
    """What a row is about, whatever else changed of it."""
    if row is None:
        return None
    return (row.shown,) if isinstance(row, KnownFile) else (row.path, row.session.key)

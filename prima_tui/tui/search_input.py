"""The field of the search line: filters in colour, a filter completed, and what is typed on the screen at once."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from prima_tui.tui.painting import paint_now
from prima_tui.tui.palette import layers
from prima_tui.tui.plain_input import PlainInput, editing_keys
from prima_tui.tui.query_colours import QueryHighlighter, QuerySuggester

STYLES = ("filter", "bad", "phrase")
_LONGEST_PASTE = 10_000


class SearchInput(PlainInput, inherit_bindings=False):
    """The text field. Keys that move in a list are left to the screen."""

    BINDING_GROUP_TITLE = "Search"
    HELP = """
    ## Search

    Type what you remember: words are found inside longer words, and by what they mean unless the mode is `keyword`.
    Enter resumes what is selected.
    """
    BINDINGS: ClassVar[list[BindingType]] = editing_keys()
    _colours_stale = True
    completer: QuerySuggester | None = None
    """Completes what is typed; None for nothing that does."""

    def notify_style_update(self) -> None:
        """Textual's: the theme's colours may be others."""
        super().notify_style_update()
        self._colours_stale = True

    def render_line(self, y: int) -> Strip:
        """Textual's: draw the field, filters in colour."""
        if self._colours_stale and isinstance(self.highlighter, QueryHighlighter):
            self.highlighter.styles = layers(self, "query", STYLES)
            self._colours_stale = False
        return super().render_line(y)

    def validate_value(self, value: str) -> str:
        """Textual's. It starts a worker for each suggestion it asks for: it is to ask where there is one."""
        value = super().validate_value(value)
        self.suggester = self.completer if self.completer and self.completer.completion(value) else None
        return value

    def watch_value(self) -> None:
        """Textual's: another text; what was typed is on the screen before anything is done with it."""
        self.call_next(paint_now, self)

    def _on_paste(self, event: events.Paste) -> None:
        """Textual's, which would take the first line only: all lines, as one."""
        event.stop()
        event.prevent_default()
        if text := " ".join(event.text[:_LONGEST_PASTE].split()):
            self.replace(text, *self.selection)

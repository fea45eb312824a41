"""A piece of text that is a button too: a click on it posts a message, which says what was wanted."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class Clickable(Static):
    """Shows a text; a click posts the message it was made with."""

    def __init__(
        self, wanted: type[Message], text: str | Content = "", *, id: str, tooltip: str = "", classes: str = ""
    ) -> None:
        super().__init__(text if isinstance(text, Content) else Content(text), id=id, classes=classes)
        self._wanted = wanted
        self.tooltip = tooltip or None

    def on_click(self, event: events.Click) -> None:
        """Textual's: what a key does, too."""
        event.stop()
        self.post_message(self._wanted())

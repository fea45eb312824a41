"""The line in which one types what to find in the conversation, at the foot of the panes."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from prima_tui.tui.plain_input import PlainInput, editing_keys


class FindInput(PlainInput, inherit_bindings=False):
    """The field; Enter goes to the next match."""

    BINDING_GROUP_TITLE = "Find"
    BINDINGS: ClassVar[list[BindingType]] = [
        *editing_keys(),
        Binding("enter,down", "screen.match(1)", "Next", id="find.next", tooltip="Go to the next match"),
        Binding("shift+enter,up", "screen.match(-1)", "Previous", id="find.previous", tooltip="Go to the match before"),
        Binding("escape", "screen.close_find", "Close", id="find.close", tooltip="End finding"),
    ]


class FindLine(Horizontal):
    """Label, field, and how to go on."""

    class Changed(Message):
        """Something else is to be found."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        yield Static(Content("Find "), classes="find-label")
        field = FindInput(placeholder="in this conversation", id="find-text", compact=True)
        field.cursor_blink = False
        yield field
        yield Static(Content("enter next · n N in the pane · esc ends"), classes="find-hint")

    @property
    def input(self) -> FindInput:
        """The field."""
        return self.query_one(FindInput)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Textual's: told upwards as what to find."""
        event.stop()
        self.post_message(self.Changed(event.value))

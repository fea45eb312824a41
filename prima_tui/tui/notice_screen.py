"""A box over the screen that tells something and waits: why a session can't be resumed, or what to know before."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from prima_tui.model.text import shown
from prima_tui.tui.bindings import help_binding


class Choice(Static):
    """A button: its key and what it does."""

    def __init__(self, key: str, text: str, answer: str) -> None:
        super().__init__(Content.assemble((f" {key} ", "bold $accent"), f"{text} "))
        self._answer = answer

    def on_click(self, event: events.Click) -> None:
        """Textual's: what the key does."""
        event.stop()
        if isinstance(self.screen, NoticeScreen):
            self.screen.answer(self._answer)


class NoticeScreen(ModalScreen[str]):
    """Shows a title and text; its result is ``yes``, ``copy`` or ``no``."""

    BINDING_GROUP_TITLE = "This question"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", "Go on", id="notice.yes", tooltip="Do it"),
        Binding("c,ctrl+y", "copy", "Copy", id="notice.copy", tooltip="Copy what is named"),
        Binding("escape,ctrl+c", "leave", "Close", id="notice.no", tooltip="Do nothing"),
        help_binding(),
    ]

    def __init__(
        self, title: str, text: str, *, go_on: str = "", copy: bool = False, copies: str = "the command"
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._go_on = go_on
        self._copy = copy
        self._copies = copies

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        with Vertical(id="notice") as box:
            box.border_title = Content(self._title)
            with VerticalScroll(id="notice-text", can_focus=False):
                yield Static(Content("\n".join(shown(line) for line in self._text.split("\n"))))
            with Horizontal(id="notice-keys"):
                if self._go_on:
                    yield Choice("Enter", self._go_on, "yes")
                if self._copy:
                    yield Choice("c", f"copy {self._copies}", "copy")
                yield Choice("Esc", "close" if not self._go_on else "leave it", "no")

    def answer(self, answer: str) -> None:
        """Close with an answer."""
        self.dismiss(answer)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Textual's: nothing to copy where nothing is offered."""
        return self._copy if action == "copy" else super().check_action(action, parameters)

    def action_go_on(self) -> None:
        """Do it; where there is nothing to go on with, only close."""
        self.answer("yes" if self._go_on else "no")

    def action_copy(self) -> None:
        """Copy what is named."""
        self.answer("copy")

    def action_leave(self) -> None:
        """Do nothing."""
        self.answer("no")

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

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer('yes')", "Go on", id="notice.yes", tooltip="Do it"),
        Binding("c,ctrl+y", "answer('copy')", "Copy", id="notice.copy", tooltip="Copy what is named"),
        Binding("escape,ctrl+c", "answer('no')", "Close", id="notice.no", tooltip="Do nothing"),
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

    def action_answer(self, answer: str) -> None:
        """Close with an answer; Enter without anything to go on with only closes."""
        if answer == "copy" and not self._copy:
            return
        self.answer("no" if answer == "yes" and not self._go_on else answer)

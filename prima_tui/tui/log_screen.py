"""The startup log on a screen of its own: what could not be read, and why."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from prima_tui.model.text import shown
from prima_tui.tui.document import Block, Document, document_of
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.key_line import KeyLine

_LARGEST = 1_000_000


class LogScreen(Screen[None]):
    """Shows a log file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f9,q", "dismiss", "Back", id="log.back", tooltip="Back to the sessions"),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        yield DocumentPane(id="log")
        yield KeyLine()

    def on_mount(self) -> None:
        """Textual's: read the file."""
        pane = self.query_one(DocumentPane)
        pane.border_title = Content(f"Startup log · {self._path}")
        pane.show(log_document(self._path))
        pane.focus()


def log_document(path: Path) -> Document:
    """Return a log file as it is, its end when it is very long; a sentence when there is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[-_LARGEST:]
    except FileNotFoundError:
        text = "Nothing to tell: everything that was found could be read."
    except OSError as error:
        text = f"The log can't be read: {error.strerror}"
    lines = text.splitlines() or ["Nothing to tell: everything that was found could be read."]
    return document_of(Block(shown(line), fence="") for line in lines)

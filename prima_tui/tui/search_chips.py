"""The small parts of the search line that a click does something with, and what they show."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.widgets import Static

from prima_tui.model.hits import Mode
from prima_tui.model.reach import Reach
from prima_tui.tui.live_search import Kinds
from prima_tui.tui.messages import (
    ClearWanted,
    DeepWanted,
    KindsWanted,
    LogWanted,
    ModeWanted,
    ScopeWanted,
    SearchesWanted,
)

KINDS_SHOWN: dict[Kinds, str] = {"both": " + docs ", "documents": " docs ", "sessions": " no docs "}
"""What the chip of kinds shows."""


class Chip(Static):
    """A small button in the search line."""

    def __init__(
        self,
        message: type[ModeWanted] | type[ScopeWanted] | type[DeepWanted] | type[KindsWanted] | type[LogWanted],
        text: str,
        classes: str,
        *,
        id: str,
        tooltip: str,
    ) -> None:
        super().__init__(Content(text), id=id, classes=classes)
        self._message = message
        self.tooltip = tooltip

    def on_click(self, event: events.Click) -> None:
        """Textual's: what the key does, too."""
        event.stop()
        self.post_message(self._message())


def mode_text(mode: Mode) -> str:
    """Return what the mode's chip shows."""
    return f" {mode} "


def scope_text(reach: Reach, *, roomy: bool = True) -> str:
    """Return what the scope's chip shows."""
    return " this workspace " if reach == "workspace" and roomy else f" {reach} "


def placeholder_text(*, roomy: bool) -> str:
    """Return what an empty search line says, short enough to be read whole."""
    return "Search everything you and your agents said" if roomy else "Search by word or meaning"


class Sign(Static):
    """The sign before the field; a click offers earlier searches."""

    def on_click(self, event: events.Click) -> None:
        """Textual's."""
        event.stop()
        self.post_message(SearchesWanted())


class Clear(Static):
    """The cross behind what is typed; a click empties the field."""

    def on_click(self, event: events.Click) -> None:
        """Textual's."""
        event.stop()
        self.post_message(ClearWanted())

"""The small buttons of the search line, and what they and the empty line say."""

from __future__ import annotations

from prima_tui.model.hits import Mode
from prima_tui.model.reach import Reach
from prima_tui.tui.clickable import Clickable
from prima_tui.tui.live_search import Kinds

KINDS_SHOWN: dict[Kinds, str] = {"both": " + docs ", "documents": " docs ", "sessions": " no docs "}
"""What the chip of kinds shows."""
# Columns from which there is room for it beside the count and the chips.
_WHOLE_SENTENCE = 120


class Chip(Clickable):
    """A small button in the search line."""


def mode_text(mode: Mode) -> str:
    """Return what the mode's chip shows."""
    return f" {mode} "


def scope_text(reach: Reach, *, roomy: bool = True) -> str:
    """Return what the scope's chip shows."""
    return " this workspace " if reach == "workspace" and roomy else f" {reach} "


def placeholder_text(width: int) -> str:
    """Return what an empty search line says on a screen of so many columns, short enough to be read whole."""
    if width >= _WHOLE_SENTENCE:
        return "Search what you and your agents said, by word or by meaning"
    return "Search by word or meaning"

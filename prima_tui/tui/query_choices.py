"""The box below the search line: values that complete a filter, or earlier searches; chosen with keys or a click."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from prima_tui.model.text import one_line
from prima_tui.tui.styled_lines import cut

MOST_SHOWN = 10
_WIDEST = 60


class QueryChoice(NamedTuple):
    """One thing to choose: the query it makes, how it is shown, and how often it occurs or what it means."""

    query: str
    shown: str
    note: str = ""


class QueryChoices(Static):
    """Lies over the list while there is something to choose."""

    class Chosen(Message):
        """A row was clicked."""

        def __init__(self, choice: QueryChoice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = False
        self.choices: tuple[QueryChoice, ...] = ()
        self.place = 0
        """Which row is the chosen one."""
        self.moved = False
        """Whether one moved to it, so that Enter means it."""
        self._first = 0

    def offer(self, choices: tuple[QueryChoice, ...]) -> None:
        """Show what can be chosen, nothing to close."""
        if choices == self.choices:
            return
        self.choices = choices
        self.place, self.moved, self._first = 0, False, 0
        self.display = bool(choices)
        self._draw()

    def move(self, step: int) -> None:
        """Go to another row, round the end."""
        self.place = (self.place + step) % len(self.choices) if self.choices else 0
        self.moved = True
        self._first = min(max(self._first, self.place - MOST_SHOWN + 1), self.place)
        self._draw()

    @property
    def chosen(self) -> QueryChoice | None:
        """The chosen row."""
        return self.choices[self.place] if self.choices else None

    def _draw(self) -> None:
        seen = self.choices[self._first : self._first + MOST_SHOWN]
        if not seen:
            return
        texts = [cut(one_line(choice.shown), _WIDEST) for choice in seen]
        width = max(cell_len(text) for text in texts)
        notes = max(len(choice.note) for choice in seen)
        lines = []
        for number, (choice, text) in enumerate(zip(seen, texts, strict=True), self._first):
            pad = " " * (width - cell_len(text))
            here = number == self.place and self.moved
            parts = Content.assemble(
                ("▌" if here else " ", "$accent"),
                (f"{text}{pad}", "bold" if here else ""),
                (f"  {_aligned(choice.note, notes)} " if notes else " ", "$foreground 70%"),
            )
            lines.append(parts.stylize("on $primary 28%") if here else parts)
        more = len(self.choices) - self._first - len(seen)
        how = "" if self.moved else "Tab takes the first, ↓ chooses"
        if foot := " · ".join(part for part in (f"{more} more" if more > 0 else "", how) if part):
            lines.append(Content.styled(f" {foot} ", "$foreground 70%"))
        self.update(Content("\n").join(lines))

    def on_click(self, event: events.Click) -> None:
        """Textual's: choose the row under the mouse."""
        event.stop()
        number = self._first + event.y - self.content_offset.y
        if self._first <= number < min(len(self.choices), self._first + MOST_SHOWN):
            self.post_message(self.Chosen(self.choices[number]))


def _aligned(note: str, width: int) -> str:
    """Return numbers with their ends below one another, and words with their beginnings."""
    return note.rjust(width) if note[:1].isdigit() else note.ljust(width)

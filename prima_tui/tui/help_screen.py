"""All keys and filters over the screen, in sections; what one types narrows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from prima_tui.model.text import fold
from prima_tui.tui.bindings import key_binding
from prima_tui.tui.key_sections import FILTERS, KeyRow, Section
from prima_tui.tui.plain_input import plain_input
from prima_tui.tui.styled_lines import StyledLine, cut, joined, wrapped

_KEYS = 16
"""Cells of the column of keys."""
_GAP = 3
_COLUMN = 46
"""Cells that a column has at least; with less room there is one column."""


class HelpScreen(ModalScreen[None]):
    """Shows what can be done on the screen below."""

    CSS_PATH = "help_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        key_binding("help", "escape,f1", "leave", "Close", "Close the help"),
        key_binding("help", "up", "scroll(-1)", "Up", "Scroll one line up"),
        key_binding("help", "down", "scroll(1)", "Down", "Scroll one line down"),
        key_binding("help", "pageup", "scroll(-10)", "Page up", "Scroll up"),
        key_binding("help", "pagedown", "scroll(10)", "Page down", "Scroll down"),
    ]

    def __init__(self, shown: Sequence[Section], told: str = "", *, filters: bool = False) -> None:
        super().__init__()
        self._told = told
        self._sections = list(shown)
        if filters:
            rows = tuple(KeyRow(typed, "", text) for typed, text in FILTERS)
            self._sections.insert(2, Section("Filters, typed in the search line", rows))

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        with Vertical(id="help") as box:
            box.border_title = Content("Keys")
            box.border_subtitle = Content("Esc closes")
            yield plain_input("", "Type what you want to do", id="help-find")
            with VerticalScroll(id="help-text", can_focus=False):
                yield Static(id="help-keys")

    def on_mount(self) -> None:
        """Textual's: begin with finding."""
        self.query_one(Input).focus()

    def on_resize(self) -> None:
        """Textual's: as many columns as there is room for."""
        self.call_after_refresh(self._show)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Textual's: show what fits."""
        event.stop()
        self._show()

    def _show(self) -> None:
        width = self.query_one("#help-text").scrollable_content_region.width
        typed = self.query_one(Input).value
        found = narrowed(self._sections, typed)
        if not found:
            text = Content.assemble(
                ("No key does that.", "bold"), "\nThe command palette, Ctrl+\\, knows every command."
            )
        else:
            text = _content(columns(found, width, "" if typed.strip() else self._told))
        self.query_one("#help-keys", Static).update(text)
        self.query_one("#help-text").scroll_home(animate=False)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.query_one("#help-text").scroll_relative(y=lines, animate=False)


def narrowed(shown: Sequence[Section], typed: str) -> list[Section]:
    """Return the sections with the rows that hold every typed word, in a key, a name or a sentence."""
    words = fold(typed).split()
    kept = []
    for section in shown:
        texts = ((row, fold(f"{section.title} {row.keys} {row.name} {row.told}")) for row in section.rows)
        rows = tuple(row for row, text in texts if all(word in text for word in words))
        if rows:
            kept.append(Section(section.title, rows))
    return kept


def columns(shown: Sequence[Section], width: int, told: str = "") -> list[StyledLine]:
    """Return the sections as lines ``width`` cells wide, in as many columns of about one height as there is room for.

    ``told`` stands above them.
    """
    count = max(1, min(3, (width + _GAP) // (_COLUMN + _GAP)))
    room = max(24, (width - _GAP * (count - 1)) // count)
    blocks = [_section_lines(section, room) for section in shown]
    height = sum(map(len, blocks)) / count
    stacks: list[list[StyledLine]] = [[] for _ in range(count)]
    place, before = 0, 0
    for block in blocks:
        # a section that would stand for the most part beyond its share begins the next column
        if place < count - 1 and stacks[place] and before + len(block) / 2 > height * (place + 1):
            place += 1
        stacks[place] += block
        before += len(block)
    lines = [*wrapped(joined([(told, "")]), width), StyledLine()] if told else []
    for row in range(max(map(len, stacks))):
        line = StyledLine()
        for column, stack in enumerate(stacks):
            if row >= len(stack) or not stack[row].text:
                continue
            space = column * (room + _GAP) - cell_len(line.text)
            line = line.followed_by(joined([(" " * max(0, space), "")])).followed_by(stack[row])
        lines.append(line)
    return lines


def _section_lines(section: Section, room: int) -> list[StyledLine]:
    lines = [joined([(section.title, "title")])]
    for row in section.rows:
        keys = cut(row.keys, _KEYS - 2)
        texts = wrapped(joined([(row.told, "")]), max(8, room - _KEYS))
        for place, text in enumerate(texts):
            lead = keys if not place else ""
            lines.append(joined([(lead, "key"), (" " * (_KEYS - cell_len(lead)), "")]).followed_by(text))
    return [*lines, StyledLine()]


_STYLES = {"title": "bold $primary", "key": "$accent"}


def _content(lines: Sequence[StyledLine]) -> Content:
    return Content("\n").join(_painted(line) for line in lines)


def _painted(line: StyledLine) -> Content:
    text = Content(line.text)
    for span in line.spans:
        if style := _STYLES.get(span.style):
            text = text.stylize(style, span.start, span.end)
    return text

"""The list of sessions: any number of rows, headings between them, one selected, kept by what it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from prima_tui.model.hits import Answer, Hit
from prima_tui.tui.line_view import LineView
from prima_tui.tui.messages import CopiesWanted, SessionChosen, SessionHighlighted
from prima_tui.tui.painting import paint_now
from prima_tui.tui.palette import layers, source_style
from prima_tui.tui.session_arrangement import Arrangement, Heading, Key, View, arrange, copies_text, place_of
from prima_tui.tui.session_rows import Density, heading_line, session_row
from prima_tui.tui.styled_lines import StyledLine, segments

STYLES = (
    "selected", "bar", "title", "title-quiet", "match", "age", "reason", "badge", "fact", "copies", "tag", "faint",
    "snippet", "heading", "rule",
)  # fmt: skip

# Lines of the list from which a row of three lines leaves enough rows to choose from.
_ROOMY = 24


class SessionList(LineView, inherit_bindings=False):
    """Sessions in rows. Drawn line by line, so 50,000 rows cost what the visible ones cost.

    Keys that would only scroll are left to the screen, where they move the selection.
    """

    BINDING_GROUP_TITLE = "Sessions"
    HELP = """
    ## Sessions

    What was found, best first; without a query all sessions, newest first. Typing goes on in the search line.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "first", "First", show=False, id="list.home", tooltip="Select the first session"),
        Binding("end", "last", "Last", show=False, id="list.end", tooltip="Select the last session"),
    ]

    def __init__(self, *, id: str | None = None, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__(id=id)
        self.clock = clock or (lambda: datetime.now(UTC))
        self.density: Density | None = None
        """Lines of a row; None: as fits the room and what there is to show."""
        self.view = View()
        """How the list is to look."""
        self.hits: Sequence[Hit] = ()
        self.words: tuple[str, ...] = ()
        self.selected = -1
        self.moved = False
        """Whether one moved the selection since the query changed."""
        self._arrangement = Arrangement(Answer("", "combined"))
        """What is shown."""
        self._heading_lines: dict[int, str] = {}
        self._heading_order: tuple[int, ...] = ()
        self._palette: dict[str, Style] = {}
        self._sources: dict[str, Style] = {}
        self._measured: Density = 2

    @property
    def row_height(self) -> Density:
        """Lines of a row: three where there is room and something was searched, else two."""
        if self.density is not None:
            return self.density
        answer = self._arrangement.answer
        searched = bool(answer.query.strip()) and bool(answer.hits)
        return 3 if searched and self.page_height >= _ROOMY else 2

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def selected_hit(self) -> Hit | None:
        """The selected session's hit; None in an empty list."""
        return self.hits[self.selected] if 0 <= self.selected < len(self.hits) else None

    def arranged(self, answer: Answer, keep: bool = True) -> Arrangement:
        """Return the rows for an answer; ``keep`` as for :meth:`show`, which takes them.

        Takes its time with many hits, and may be called in a thread.
        """
        selected = self.selected_hit if keep else None
        return arrange(answer, self.view, self.clock(), selected.session.key if selected else None, self.selected)

    def show(self, answer: Answer | Arrangement, keep: bool) -> None:
        """Show an answer. With ``keep`` the same session stays selected, at the same place on the screen if it can."""
        arrangement = self.arranged(answer, keep) if isinstance(answer, Answer) else answer
        before = self.selected_hit
        line_before = self._top(self.selected) - self.scroll_offset.y if before else 0
        self._arrangement = arrangement
        self.hits = arrangement.hits
        self.words = arrangement.answer.words
        self._measure()
        if not keep:
            self.moved = False
        place = self._place_in(arrangement, before.session.key) if keep and before else -1
        self.selected = place if place >= 0 else (0 if self.hits else -1)
        if place >= 0:
            first = self._top(place) - line_before
            # less than a row above what would be seen: that is the top, with its heading
            self.scroll_to(y=first if first >= self._measured else 0, animate=False, force=True)
        else:
            self.scroll_to(y=0, animate=False, force=True)
        self._keep_visible()
        self.redraw_changed()
        paint_now(self)
        self.post_message(SessionHighlighted(self.selected_hit))

    def _place_in(self, arrangement: Arrangement, key: Key) -> int:
        """The place of a session, or of the one that it is folded into; -1 when it is not there."""
        kept = arrangement.kept
        found = kept is not None and kept[0] == key
        place = kept[1] if kept is not None and found else place_of(arrangement.hits, key, self.selected)
        if place < 0 and (owner := self.owner_of(key)):
            return place_of(arrangement.hits, owner, self.selected)
        return place

    def _measure(self) -> None:
        self._measured = self.row_height
        headings = self._arrangement.headings
        self._heading_lines = {
            heading.place * self._measured + number: heading.text for number, heading in enumerate(headings)
        }
        self._heading_order = tuple(self._heading_lines)
        self.set_line_count(len(self.hits) * self._measured + len(headings))

    def _top(self, place: int) -> int:
        """First line of the row at a place."""
        return place * self._measured + bisect_right(self._arrangement.headings, place, key=_place_of)

    def _place_at(self, line: int) -> int:
        """Place of the row that a line belongs to; -1 for a heading or below the list."""
        if line in self._heading_lines or not 0 <= line < self.line_count:
            return -1
        above = bisect_right(self._heading_order, line)
        return min((line - above) // self._measured, len(self.hits) - 1)

    def set_density(self, density: Density) -> None:
        """Show rows of 1, 2 or 3 lines."""
        self.density = density
        self._measure()
        self._keep_visible()
        self.redraw()

    def owner_of(self, key: Key) -> Key | None:
        """The session whose row stands for this one: itself, when it has copies; None when there are none."""
        copies = self._arrangement.copies
        if key in copies:
            return key
        return next((first for first, below in copies.items() if any(one.session.key == key for one in below)), None)

    # -- selection ----------------------------------------------------------------------------------------------

    def select(self, place: int) -> None:
        """Select the row at ``place`` (clamped to the list) and bring it into view."""
        if not self.hits:
            return
        place = max(0, min(place, len(self.hits) - 1))
        self.moved = True
        if place == self.selected:
            self._keep_visible()
            return
        before, self.selected = self.selected, place
        for row in (before, place):
            if 0 <= row < len(self.hits):
                self.redraw_lines(self._top(row), self._measured)
        self._keep_visible()
        self.post_message(SessionHighlighted(self.selected_hit))

    def move(self, step: int) -> None:
        """Move the selection by ``step`` rows."""
        self.select(self.selected + step)

    def move_page(self, step: int) -> None:
        """Move the selection by ``step`` pages."""
        self.select(self.selected + step * max(1, self.page_height // self._measured))

    def action_first(self) -> None:
        """Select the first row."""
        self.select(0)

    def action_last(self) -> None:
        """Select the last row."""
        self.select(len(self.hits) - 1)

    def _keep_visible(self) -> None:
        # without a height yet, or hidden, nothing can be in view: on_resize comes back to it
        if not 0 <= self.selected < len(self.hits) or not self.size.height:
            return
        top = self._top(self.selected)
        if top - 1 in self._heading_lines:
            top -= 1
        bottom = self._top(self.selected) + self._measured
        view, page = self.scroll_offset.y, self.page_height
        if top < view:
            self.scroll_to(y=top, animate=False, force=True)
        elif bottom > view + page:
            self.scroll_to(y=bottom - page, animate=False, force=True)

    def on_show(self) -> None:
        """Textual's: shown again, perhaps at the size it had before, which is no resize."""
        self.on_resize()

    def on_resize(self) -> None:
        """Textual's: keep the selected row in view. Lines of another width are drawn anew without being told."""
        if self.row_height != self._measured:
            self._measure()
            self.redraw()
        self._keep_visible()

    # -- mouse --------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click selects, a double click chooses."""
        line = self.line_clicked(event)
        place = self._place_at(line) if line >= 0 else -1
        if place < 0:
            return
        self.select(place)
        if self._is_copies_mark(place, event.x - self.content_offset.x, line):
            self.post_message(CopiesWanted())
        elif event.chain == 2 and (hit := self.selected_hit):
            self.post_message(SessionChosen(hit))

    def _is_copies_mark(self, place: int, x: int, line: int) -> bool:
        """Whether the mark that tells of folded copies stands at column ``x`` of a line of the row."""
        text, spans, _fill = self._row(place, self.line_width)[line - self._top(place)]
        return any(
            cell_len(text[:start]) <= x < cell_len(text[:end]) for start, end, style in spans if style == "copies"
        )

    # -- drawing ------------------------------------------------------------------------------------------------

    def palette_changed(self) -> None:
        """Read the colours again when next drawing."""
        self._palette = {}
        self._sources = {}

    def _styles_for(self, hit: Hit) -> dict[str, Style]:
        source = hit.session.source
        if source not in self._sources:
            self._sources[source] = source_style(self, source)
        return {**self._palette, "source": self._sources[source]}

    def draw_line(self, line: int, width: int) -> Strip:
        """Draw one line: of a row (all its lines are kept) or a heading."""
        if not self._palette:
            self._palette = layers(self, "list", STYLES)
        base = self.base_style
        if line in self._heading_lines:
            return self._strip(heading_line(self._heading_lines[line], width), self._palette, base, width)
        place = self._place_at(line)
        if place < 0:
            return Strip.blank(width, base)
        hit = self.hits[place]
        styles = self._styles_for(hit)
        strips = [self._strip(styled, styles, base, width) for styled in self._row(place, width)]
        for offset, strip in enumerate(strips):
            self._strips[self._top(place) + offset] = strip
        return strips[line - self._top(place)]

    def _row(self, place: int, width: int) -> list[StyledLine]:
        hit, arrangement = self.hits[place], self._arrangement
        key = hit.session.key
        return session_row(
            hit,
            self.words,
            width,
            self._measured,
            arrangement.now,
            place == self.selected,
            copies=copies_text(arrangement.copies.get(key, ())),
            nested=key in arrangement.nested,
        )

    @staticmethod
    def _strip(styled: StyledLine, styles: dict[str, Style], base: Style, width: int) -> Strip:
        parts = segments(styled, styles, base)
        used = sum(len(text) if text.isascii() else cell_len(text) for text, _style, _control in parts)
        rest = base + styles[styled.fill] if styled.fill in styles else base
        if used < width:  # one strip instead of two, each of which costs more than what is in it
            return Strip([*parts, Segment(" " * (width - used), rest)], width)
        return Strip(parts, used).adjust_cell_length(width, rest)


def _place_of(heading: Heading) -> int:
    return heading.place

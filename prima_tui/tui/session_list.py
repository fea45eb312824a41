"""The list of sessions: any number of rows, headings between them, one selected, kept by what it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from prima_tui.model.hits import Answer, Hit
from prima_tui.tui.document_rows import among_sessions
from prima_tui.tui.extract_rows import extract_hit
from prima_tui.tui.line_view import LineView
from prima_tui.tui.messages import SessionChosen, SessionHighlighted
from prima_tui.tui.palette import layers, source_style
from prima_tui.tui.remembered import Sort
from prima_tui.tui.session_rows import Density, day_headings, heading_line, session_row, session_time
from prima_tui.tui.styled_lines import StyledLine, segments

STYLES = (
    "selected", "bar", "title", "title-quiet", "match", "age", "reason", "badge", "fact", "tag", "faint", "snippet",
    "heading", "rule",
)  # fmt: skip

SORTS: tuple[Sort, ...] = ("best", "newest", "longest", "most files")
Key = tuple[str, str]
# Lines of the list from which a row of three lines leaves enough rows to choose from.
_ROOMY = 24
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Heading(NamedTuple):
    """A heading, and the place of the hit that it stands above."""

    place: int
    text: str


class SessionList(LineView):
    """Sessions in rows. Drawn line by line, so 50,000 rows cost what the visible ones cost."""

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
        self.sort: Sort = "best"
        self.each_chunk = False
        """Whether a document may have several rows, one for each chunk."""
        self.hits: Sequence[Hit] = ()
        self.words: tuple[str, ...] = ()
        self.selected = -1
        self.continued: dict[Key, int] = {}
        """How many older copies of a session are folded into its row."""
        self.moved = False
        """Whether one moved the selection since the query changed."""
        self._answer: Answer | None = None
        self._headings: tuple[Heading, ...] = ()
        self._heading_lines: dict[int, str] = {}
        self._palette: dict[str, Style] = {}
        self._sources: dict[str, Style] = {}
        self._now = self.clock()
        self._measured: Density = 2

    @property
    def row_height(self) -> Density:
        """Lines of a row: three where there is room and something was searched, else two."""
        if self.density is not None:
            return self.density
        searched = self._answer is not None and bool(self._answer.query.strip()) and bool(self._answer.hits)
        return 3 if searched and self.page_height >= _ROOMY else 2

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def selected_hit(self) -> Hit | None:
        """The selected session's hit; None in an empty list."""
        return self.hits[self.selected] if 0 <= self.selected < len(self.hits) else None

    def show(self, answer: Answer, keep: bool) -> None:
        """Show an answer. With ``keep`` the same session stays selected, at the same place on the screen if it can."""
        before = self.selected_hit
        line_before = self._top(self.selected) - self.scroll_offset.y if before else 0
        self._answer = answer
        self._arrange()
        if not keep:
            self.moved = False
        place = self._place_of_session(before.session.key) if keep and before else -1
        self.selected = place if place >= 0 else (0 if self.hits else -1)
        if place >= 0:
            self.scroll_to(y=max(0, self._top(place) - line_before), animate=False, force=True)
        else:
            self.scroll_to(y=0, animate=False, force=True)
        self._keep_visible()
        self.redraw_changed()
        self.post_message(SessionHighlighted(self.selected_hit))

    def _arrange(self) -> None:
        answer = self._answer
        if answer is None:
            return
        self._now = self.clock()
        blank = not answer.query.strip()
        hits: Sequence[Hit] = answer.hits
        self.continued = {}
        if blank:
            hits, self.continued = folded(hits)
        combined = answer.mode == "combined"
        hits = among_sessions(hits, answer.documents, answer.project, combined=combined, each_chunk=self.each_chunk)
        headings: list[Heading] = []
        if not hits and answer.similar:
            hits = tuple(Hit(session, 0.0) for session in answer.similar)
            headings = [Heading(0, "No match. Similar sessions:")]
        elif self.sort != "best":
            hits = sorted(hits, key=_ORDER[self.sort], reverse=True)
        elif blank:
            found = day_headings(len(hits), lambda place: session_time(hits[place].session), self._now)
            headings = [Heading(place, text) for place, text in found]
        if answer.extracts:
            headings.append(Heading(len(hits), "Extracts"))
            hits = (*hits, *map(extract_hit, answer.extracts))
        self.hits = hits
        self.words = answer.words
        self._headings = tuple(headings)
        self._measure()

    def _measure(self) -> None:
        self._measured = self.row_height
        self._heading_lines = {
            heading.place * self._measured + number: heading.text for number, heading in enumerate(self._headings)
        }
        self.set_line_count(len(self.hits) * self._measured + len(self._headings))

    def _top(self, place: int) -> int:
        """First line of the row at a place."""
        return place * self._measured + bisect_right(self._headings, place, key=_place_of)

    def _place_at(self, line: int) -> int:
        """Place of the row that a line belongs to; -1 for a heading or below the list."""
        if line in self._heading_lines or not 0 <= line < self.line_count:
            return -1
        above = bisect_right(list(self._heading_lines), line)
        return min((line - above) // self._measured, len(self.hits) - 1)

    def _place_of_session(self, key: Key) -> int:
        return next((place for place, hit in enumerate(self.hits) if hit.session.key == key), -1)

    def set_density(self, density: Density) -> None:
        """Show rows of 1, 2 or 3 lines."""
        self.density = density
        self._measure()
        self._keep_visible()
        self.redraw()

    def set_sort(self, sort: Sort) -> None:
        """Show the present answer in another order; the selection stays on its session."""
        before = self.selected_hit
        self.sort = sort
        self._arrange()
        self.selected = max(0, self._place_of_session(before.session.key)) if before else -1
        self._keep_visible()
        self.redraw()

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
        if not 0 <= self.selected < len(self.hits):
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
        """Textual's: keep the selected row in view."""
        if self.row_height != self._measured:
            self._measure()
        self.redraw()
        self._keep_visible()

    # -- mouse --------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click selects, a double click chooses."""
        place = self._place_at(event.y - self.content_offset.y + self.scroll_offset.y)
        if place < 0:
            return
        self.select(place)
        if event.chain == 2 and (hit := self.selected_hit):
            self.post_message(SessionChosen(hit))

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
        row = session_row(
            hit,
            self.words,
            width,
            self._measured,
            self._now,
            place == self.selected,
            self.continued.get(hit.session.key, 0),
        )
        strips = [self._strip(styled, styles, base, width) for styled in row]
        for offset, strip in enumerate(strips):
            self._strips[self._top(place) + offset] = strip
        return strips[line - self._top(place)]

    @staticmethod
    def _strip(styled: StyledLine, styles: dict[str, Style], base: Style, width: int) -> Strip:
        strip = Strip(segments(styled, styles, base))
        return strip.adjust_cell_length(width, base + styles.get(styled.fill, Style.null()))


def folded(hits: Sequence[Hit]) -> tuple[Sequence[Hit], dict[Key, int]]:
    """Return the hits without those that another of them continues, and how many of them each of the others stands for.

    A session that is resumed is copied by some agents, and goes on in the copy.
    """
    older = {hit.session.key: hit.session.continued_by for hit in hits if hit.session.continued_by}
    if not older:
        return hits, {}
    known = {hit.session.key for hit in hits}
    stands_for: dict[Key, int] = {}
    gone: set[Key] = set()
    for key in older:
        last, seen = key, {key}
        while (following := (last[0], older.get(last, ""))) in known and following not in seen:
            seen.add(following)
            last = following
        if last != key and last not in older:
            gone.add(key)
            stands_for[last] = stands_for.get(last, 0) + 1
    return [hit for hit in hits if hit.session.key not in gone], stands_for


def _place_of(heading: Heading) -> int:
    return heading.place


def _newest(hit: Hit) -> datetime:
    return session_time(hit.session) or _LONG_AGO


def _longest(hit: Hit) -> tuple[int, datetime]:
    return (hit.session.message_count, _newest(hit))


def _most_files(hit: Hit) -> tuple[int, datetime]:
    return (len({change.path for change in hit.session.files_changed}), _newest(hit))


_ORDER: dict[Sort, Callable[[Hit], Any]] = {"newest": _newest, "longest": _longest, "most files": _most_files}

"""A pane that shows one document: lays blocks out as they come into view, highlights, goes from match to match."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from prima_tui.tui.document import Document
from prima_tui.tui.line_view import LineView
from prima_tui.tui.palette import layers
from prima_tui.tui.styled_lines import StyledLine, segments

STYLES = (
    "match", "user", "code", "faint", "bold", "italic", "inline-code", "link", "heading", "subheading", "quote",
    "bullet", "table-head", "aside", "bar-user", "bar-aside", "speaker-user", "speaker-agent", "best", "divider",
    "divider-text", "code-comment", "code-string", "code-number", "code-keyword", "code-name", "code-added",
    "code-removed", "current-match",
)  # fmt: skip
# Laying out moves what lies below; a handful of rounds always finds rest.
_ROUNDS = 8


class DocumentPane(LineView):
    """Shows a :class:`Document`. Heights of blocks not yet seen are estimates; what one reads never jumps."""

    OPENS_AT_MATCH: ClassVar[bool] = True
    """Whether a document with matches opens at the first one."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Up", show=False, id="pane.up", tooltip="Scroll one line up"),
        Binding("down", "scroll_down", "Down", show=False, id="pane.down", tooltip="Scroll one line down"),
        Binding("pageup", "page_up", "Page up", show=False, id="pane.page_up", tooltip="Scroll one page up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="pane.page_down", tooltip="Scroll a page down"),
        Binding("home", "scroll_home", "Start", show=False, id="pane.home", tooltip="Go to the start"),
        Binding("end", "scroll_end", "End", show=False, id="pane.end", tooltip="Go to the end"),
    ]

    class MatchMoved(Message):
        """Another match is the current one, or the number of matches changed."""

        def __init__(self, pane: DocumentPane, place: int, count: int) -> None:
            super().__init__()
            self.pane = pane
            self.place = place
            """From 1; 0 when there is none."""
            self.count = count

        @property
        def control(self) -> DocumentPane:
            """The pane it happened in."""
            return self.pane

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.document = Document()
        self._heights: list[int] = []
        self._tops: list[int] = [0]
        self._laid: LRUCache[int, list[StyledLine]] = LRUCache(600)
        self._known: set[int] = set()
        """Blocks whose height is no estimate."""
        self._width = 0
        self._current: tuple[int, int] | None = None
        """Block and line in it of the current match."""
        self._palette: dict[str, Style] = {}
        self._settling = False

    # -- what is shown ------------------------------------------------------------------------------------------

    def show(self, document: Document, keep_place: bool = False) -> None:
        """Show another document, at its start block (or at the place one was reading, if ``keep_place``)."""
        anchor = self._kept_anchor(document) if keep_place else None
        current = self._common(document, self._current[0]) if keep_place and self._current else None
        self._current = (current, self._current[1]) if current is not None and self._current else None
        self.document = document
        self._lay_out_anew((anchor[0], 0.0) if anchor else None)
        if anchor and anchor[0] < len(self._heights):
            self._bring(anchor[0], anchor[1], lead=0)
        if not keep_place:
            self._open()
        elif document.words:
            self._report()

    def _common(self, document: Document, block: int) -> int | None:
        """The place in another document of the same conversation of a block; None for a block of a tool's."""
        place = self.document.place_of(block) if block < len(self.document.blocks) else None
        return document.block_at(place) if place is not None else None

    def _kept_anchor(self, document: Document) -> tuple[int, int] | None:
        """The block of another document that is to be at the top of the view, and the lines of it above that."""
        if not self._heights:
            return None
        top = self.scroll_offset.y
        block = min(max(0, bisect_right(self._tops, top) - 1), len(self._heights) - 1)
        inside = top - self._tops[block]
        while block >= 0:
            found = self._common(document, block)
            if found is not None:
                return found, inside
            block, inside = block - 1, 0
        return None

    def _open(self) -> None:
        """Go to the start block and, when words are highlighted, to the first match from there."""
        document = self.document
        if not self._width:
            return
        self._bring(document.start, 0, lead=0)
        if document.matches and self.OPENS_AT_MATCH:
            first = next((block for block in document.matches if block >= document.start), None)
            if first is None:
                first = next(iter(document.matches))
            line = self._match_lines(first)[0]
            # The speaker's line above the match belongs to it: it stays in view when both fit.
            self._current = (first, line)
            tall = self._tops[first] + line - self._tops[document.start] >= self.page_height - 1
            if tall or first < document.start:
                self._bring(first, line)
            self.redraw()
        self._report()

    def _report(self) -> None:
        # Of a part of a conversation nobody wants to know how many matches it holds.
        place, count = (self.match_place, self.document.match_count) if self.document.whole else (0, 0)
        self.post_message(self.MatchMoved(self, place, count))

    @property
    def match_place(self) -> int:
        """Which match is the current one, from 1; 0 for none."""
        if self._current is None or not self.document.match_count:
            return 0
        block, line = self._current
        before = sum(count for number, count in self.document.matches.items() if number < block)
        inside = sum(1 for found in self._match_lines(block) if found < line)
        return min(before + inside + 1, max(1, self.document.match_count))

    # -- layout -------------------------------------------------------------------------------------------------

    def on_show(self) -> None:
        """Textual's: shown again, perhaps at the size it had before, which is no resize."""
        self.on_resize()

    def on_resize(self) -> None:
        """Textual's: lay out for the new width; what one reads stays."""
        if self.line_width == self._width:
            self._settle()
            return
        fresh = not self._width
        self._lay_out_anew(None if fresh else self._anchor())
        if fresh:
            self._open()

    def _anchor(self) -> tuple[int, float]:
        """The block at the top of the view and how far into it, as a part of its height."""
        top = self.scroll_offset.y
        block = max(0, bisect_right(self._tops, top) - 1)
        height = self._heights[block] if block < len(self._heights) else 1
        return block, (top - self._tops[block]) / max(1, height)

    def _lay_out_anew(self, anchor: tuple[int, float] | None) -> None:
        self._width = max(0, self.line_width)
        self._laid.clear()
        self._known.clear()
        self._strips.clear()
        self._heights = []
        if not self._width:
            # Hidden: laid out when it is shown, which comes with a size.
            self._measure()
            return
        self._heights = self.document.heights(self._width)
        self._measure()
        block, part = anchor or (0, 0.0)
        if block < len(self._heights):
            self._bring(block, int(part * self._heights[block]), lead=0)
        else:
            self._bring(0, 0, lead=0)
        self.redraw()

    def _measure(self) -> None:
        self._tops = [0, *accumulate(self._heights)]
        size = Size(max(1, self._width), self._tops[-1])
        if size != self.virtual_size:
            self.virtual_size = size
        self._strips.clear()

    def _lines(self, block: int) -> list[StyledLine]:
        lines = self._laid.get(block)
        if lines is None:
            lines = self.document.blocks[block].lines(self._width, self.document.words)
            self._laid[block] = lines
        return lines

    def _know(self, block: int) -> bool:
        """Lay a block out if its height is an estimate; return whether its height changed by that."""
        if block in self._known:
            return False
        self._known.add(block)
        height = len(self._lines(block))
        changed = height != self._heights[block]
        self._heights[block] = height
        return changed

    def _settle(self) -> None:
        """Lay out what is in view and a page around it, keeping the line at the top of the view where it is."""
        if self._settling or not self._width or not self._heights:
            return
        self._settling = True
        try:
            page = self.page_height
            for _ in range(_ROUNDS):
                top = self.scroll_offset.y
                anchor = min(max(0, bisect_right(self._tops, top) - 1), len(self._heights) - 1)
                offset = top - self._tops[anchor]
                changed = False
                block, seen = anchor, -offset
                while block < len(self._heights) and seen < page * 2:
                    changed |= self._know(block)
                    seen += self._heights[block]
                    block += 1
                block, seen = anchor - 1, 0
                while block >= 0 and seen < page:
                    changed |= self._know(block)
                    seen += self._heights[block]
                    block -= 1
                if not changed:
                    break
                self._measure()
                place = self._tops[anchor] + min(offset, max(0, self._heights[anchor] - 1))
                if place != top:
                    self.scroll_to(y=place, animate=False, force=True)
                self.refresh()
        finally:
            self._settling = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Textual's: the view moved, so other blocks are in view."""
        super().watch_scroll_y(old_value, new_value)
        self._settle()

    def _bring(self, block: int, line: int, lead: int | None = None) -> None:
        """Scroll so that a line of a block stands ``lead`` lines below the top (a third of the view by default)."""
        if not self._width or not self._heights:
            return
        lead = self.page_height // 3 if lead is None else lead
        for _ in range(_ROUNDS):
            self._know(block)
            if self._tops[block + 1] - self._tops[block] != self._heights[block]:
                self._measure()
            target = max(0, min(self._tops[block] + line - lead, self._tops[-1] - self.page_height))
            if self.scroll_offset.y == target:
                self._settle()
                if (
                    self.scroll_offset.y
                    == target
                    == max(0, min(self._tops[block] + line - lead, self._tops[-1] - self.page_height))
                ):
                    break
            self.scroll_to(y=target, animate=False, force=True)

    # -- matches ------------------------------------------------------------------------------------------------

    def _match_lines(self, block: int) -> list[int]:
        """The lines of a block that hold a match, one entry for each match; [0] when layout left none whole."""
        found = [
            number
            for number, line in enumerate(self._lines(block))
            for _start, _end, style in line.spans
            if style == "match"
        ]
        return found or [0]

    def go_to_match(self, step: int) -> bool:
        """Make the next (``step`` 1) or previous (-1) match the current one, round the end; whether there is any."""
        blocks = list(self.document.matches)
        if not blocks or not self._width:
            return False
        block, line = self._current or (self._anchor()[0], -1)
        here = sorted(set(self._match_lines(block))) if block in self.document.matches else []
        onward = [found for found in here if (found > line if step > 0 else found < line)]
        if onward:
            target = (block, onward[0] if step > 0 else onward[-1])
        else:
            place = bisect_right(blocks, block) if step > 0 else bisect_left(blocks, block) - 1
            other = blocks[place % len(blocks)]
            lines = self._match_lines(other)
            target = (other, lines[0] if step > 0 else lines[-1])
        self._current = target
        self._bring(*target)
        self.redraw()
        self._report()
        return True

    # -- drawing ------------------------------------------------------------------------------------------------

    def palette_changed(self) -> None:
        """Read the colours again when next drawing."""
        self._palette = {}

    def _line_at(self, line: int) -> tuple[StyledLine, bool]:
        """The styled line at a place of the document, and whether the current match is on it."""
        block = bisect_right(self._tops, line) - 1
        if not 0 <= block < len(self._heights):
            return StyledLine(), False
        lines = self._lines(block)
        inside = line - self._tops[block]
        if inside >= len(lines):
            return StyledLine(), False
        return lines[inside], self._current == (block, inside)

    def draw_line(self, line: int, width: int) -> Strip:
        """Textual's line, from the block that stands there."""
        if not self._palette:
            self._palette = layers(self, "pane", STYLES)
        styled, current = self._line_at(line)
        if current:
            styled = styled._replace(
                spans=tuple(s._replace(style="current-match") if s.style == "match" else s for s in styled.spans)
            )
        base = self.base_style
        strip = Strip(segments(styled, self._palette, base))
        return strip.extend_cell_length(width, base + self._palette.get(styled.fill, Style.null()))

    def _strip_at(self, line: int, width: int) -> Strip:
        if width != self._width:
            # Textual paints a new size before it tells of it: what stood here stays for that frame, cut or filled
            kept = self._strips.get(line)
            return kept.adjust_cell_length(width, self.base_style) if kept else Strip.blank(width, self.base_style)
        return super()._strip_at(line, width)

    def render_line(self, y: int) -> Strip:
        """Textual's: a line of the view, with the text that a mouse selected marked."""
        strip = super().render_line(y)
        line = self.scroll_offset.y + y
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(line)) is not None:
            start, end = span[0], span[1] if span[1] != -1 else len(strip.text)
            styled = self.screen.get_component_rich_style("screen--selection")
            left, middle, right = strip.crop(0, start), strip.crop(start, end), strip.crop(end)
            strip = Strip.join([left, middle.apply_style(styled), right])
        return strip.apply_offsets(0, line)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Textual's: the text that the mouse selected, without the marks in the margin."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._tops[-1] - 1
        texts = []
        for line in range(first, min(last, self._tops[-1] - 1) + 1):
            text = self._line_at(line)[0].text
            span = selection.get_span(line)
            if span is None:
                continue
            texts.append(text[span[0] : span[1] if span[1] != -1 else None].lstrip("▌┊ ").rstrip())
        return "\n".join(texts), "\n"

    def exchange_in_view(self) -> int:
        """Return the place of the exchange with the current match, if in view, else of the topmost; -1 for none."""
        current = self._current[0] if self._current else None
        return self._exchange_from(current if current is not None and self.is_in_view(current) else self._anchor()[0])

    def _exchange_from(self, block: int) -> int:
        """The exchange that a block belongs to, or for one of none the next below; -1 for none."""
        after = (self.document.blocks[number].exchange for number in range(block, len(self.document.blocks)))
        return next((exchange for exchange in after if exchange >= 0), -1)

    def is_in_view(self, block: int) -> bool:
        """Return whether the first line of a block is in view."""
        top = self.scroll_offset.y
        return block < len(self._heights) and top <= self._tops[block] < top + self.page_height

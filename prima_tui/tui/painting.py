"""Painting what changed in one part of the screen at once, where waiting for the next frame of everything is felt.

Textual paints what changed together, in its next frame: all parts between a line at the top and one at the bottom are
put together anew, whether they changed or not. A part with nothing before it can be written as it is.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from textual._compositor import CompositorUpdate
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from prima_tui.tui.line_view import LineView

Piece: TypeAlias = tuple[int, int, Strip]
"""A piece of a line, with the column and the line of the screen where it begins."""


class Pieces(CompositorUpdate):
    """Pieces of lines for the terminal."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Rich's: the same as segments."""
        for x, y, strip in self.pieces:
            yield Control.move_to(x, y).segment
            yield from strip

    def render_segments(self, console: Console) -> str:
        """Textual's: return what is written to the terminal."""
        return "".join(f"{Control.move_to(x, y).segment.text}{strip.render(console)}" for x, y, strip in self.pieces)


def paint_now(widget: Widget) -> bool:
    """Write what changed in a widget to the terminal now; return False where that is left to the next frame.

    It is left to it whenever more than the look of the widget may change: while something is to be laid out or was
    never laid out, where something else lies before what changed, on a screen that another covers, and when the
    program is being left. The next frame has nothing more to do for what was painted.
    """
    if not widget.is_attached:
        return False
    screen: Screen[object] = widget.screen
    app = screen.app
    if not app.is_running or app.screen is not screen or app._batch_count or app.is_inline or screen._layout_required:
        return False
    changed = _changed(screen, widget)
    if not changed:
        return False
    drawn = _content(widget, changed) if isinstance(widget, LineView) else None
    pieces = drawn or _cut_out(widget, screen._compositor.visible_widgets[widget][0], changed)
    widget._exchange_repaint_regions()
    app._display(screen, Pieces(pieces))
    return True


def _content(view: LineView, changed: list[Region]) -> list[Piece]:
    """Return the changed lines of a view as it draws them; nothing where its border changed too.

    Textual puts a line's border to it with more work than the line is, and keeps that for its next frame: here only
    what lies between is wanted.
    """
    inside = view.scrollable_content_region
    if any((part.x, part.width) != (inside.x, inside.width) or not inside.contains_region(part) for part in changed):
        return []
    filters, background = view.get_line_filters(), view.background_colors[1]
    pieces = []
    for part in changed:
        for y in part.line_range:
            strip = view.render_line(y - inside.y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            pieces.append((part.x, y, strip))
    return pieces


def _cut_out(widget: Widget, origin: Region, changed: list[Region]) -> list[Piece]:
    """Return what changed out of the lines of the whole widget, which begins at ``origin``."""
    first, end = min(part.y for part in changed), max(part.bottom for part in changed)
    lines = widget.render_lines(Region(0, first - origin.y, origin.width, end - first))
    return [
        (part.x, y, lines[y - first].crop(part.x - origin.x, part.right - origin.x))
        for part in changed
        for y in part.line_range
    ]


def _changed(screen: Screen[object], widget: Widget) -> list[Region]:
    """Return what changed in a widget, on the screen; nothing where something else lies before a part of it.

    What lies before the right end of all of it, as a scroll bar does, only makes it narrower.
    """
    shown = screen._compositor.visible_widgets
    if widget not in shown:
        return []
    origin, clip = shown[widget]
    own = origin.intersection(clip)
    above = takewhile(lambda other: other is not widget, shown)  # the foremost are the first
    covers = [cover for other in above if (cover := shown[other][0].intersection(shown[other][1])).overlaps(own)]
    found = []
    for region in widget._repaint_regions:
        part = region.translate(origin.offset).intersection(own)
        for cover in covers:
            if not part.overlaps(cover):
                continue
            if cover.x <= part.x or cover.right < part.right or cover.y > part.y or cover.bottom < part.bottom:
                return []
            part = Region(part.x, part.y, cover.x - part.x, part.height)
        if part:
            found.append(part)
    return found

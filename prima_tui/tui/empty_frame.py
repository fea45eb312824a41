"""A picture of the screen with nothing in it: borders, search line, chips and keys as they stand, all else blank.

Nothing of a session is in it, so that it may be kept, and nothing in it could be taken for a list of today.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from prima_tui.first_frame import packed

if TYPE_CHECKING:
    from rich.console import Console

    from prima_tui.tui.results_screen import ResultsScreen

_BORDER_SIGNS = frozenset("─│╭╮╰╯━┃═║-|+ ")
_OWN_TITLES = frozenset(("Conversation", "Extract"))
"""Titles of panes that are ours; another may be a session's."""
_BLANK = "#count, #notes, #clear, StatusLine"
"""Beside the list and the panes, what shows what was found."""
_QUERY = "\x1e"


class EmptyFrame(NamedTuple):
    """The picture, line by line, and where the query goes."""

    size: tuple[int, int]
    """Columns and rows."""
    lines: tuple[Strip, ...]
    place: Region
    """Where the query stands."""
    style: Strip
    """A sign in the colours of the query."""

    def drawn(self, console: Console) -> bytes:
        """Return the frame as it is kept: what a terminal like the console's draws it with."""
        picture = "".join(f"\x1b[{row};1H{line.render(console)}" for row, line in enumerate(self.lines, 1))
        colours = self.style.render(console).partition(_QUERY)[0]
        place = f"\x1b[{self.place.y + 1};{self.place.x + 1}H{colours}"
        return packed(picture.encode(), place.encode(), self.place.width)


def empty_frame(screen: ResultsScreen) -> EmptyFrame:
    """Take the picture of a screen that is drawn. What it shows of sessions is left blank."""
    lines = screen._compositor.render_strips()
    body = screen.query_one("#body")
    for widget in body.walk_children(Widget):
        if not widget.children or widget.border_title:
            _empty(lines, widget)
    for widget in screen.query(_BLANK).results(Widget):
        _fill(lines, widget, widget.region)
    field = screen.query_one("#query")
    sign = _filtered(field, Strip([Segment(_QUERY, _colours(field))]))
    return EmptyFrame((screen.size.width, screen.size.height), tuple(lines), field.region, sign)


def _empty(lines: list[Strip], widget: Widget) -> None:
    """Leave of a pane its border only, with the title if that is ours."""
    region = widget.region
    if not widget.display or not region:
        return
    inside = region.shrink(widget.styles.border.spacing)
    _fill(lines, widget, inside)
    title = str(widget.border_title or "")
    for y in {region.y, region.bottom - 1} - set(inside.line_range):
        if (y == region.y and title and title not in _OWN_TITLES) or (y != region.y and widget.border_subtitle):
            _only_border(lines, y, region)


def _only_border(lines: list[Strip], y: int, region: Region) -> None:
    """Draw a line of a border through where a title stands in it."""
    if not 0 <= y < len(lines):
        return
    line = lines[y]
    edge = line.crop(region.right - 2, region.right - 1)
    sign, style = edge.text, next((segment.style for segment in edge), None)
    drawn = Strip([Segment((sign if sign in _BORDER_SIGNS else " ") * max(0, region.width - 2), style)])
    lines[y] = Strip.join([line.crop(0, region.x + 1), drawn, line.crop(region.right - 1)])


def _fill(lines: list[Strip], widget: Widget, region: Region) -> None:
    """Blank a part of the picture in the widget's own colour."""
    if not widget.display or not region.width:
        return
    blank = _filtered(widget, Strip.blank(region.width, _colours(widget)))
    for y in region.line_range:
        if 0 <= y < len(lines):
            line = lines[y]
            lines[y] = Strip.join([line.crop(0, region.x), blank, line.crop(region.right)])


def _colours(widget: Widget) -> Style:
    return widget.rich_style


def _filtered(widget: Widget, strip: Strip) -> Strip:
    for line_filter in widget.app.get_line_filters():
        strip = strip.apply_filter(line_filter, widget.background_colors[1])
    return strip

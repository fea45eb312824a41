"""From style names to colours: classes of a widget's parts as Rich styles that can be laid over one another.

Textual's own component classes are worked out anew, a hundred rules matched each, at every change of a class on the
screen or of the focus. These are worked out when something is drawn with them, once for each theme.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color
from textual.dom import DOMNode

if TYPE_CHECKING:
    from textual.widget import Widget

# Places in a theme for sources that have no colour of their own: they take one of these by their name.
SPARE_SOURCE_COLOURS = ("source-a", "source-b", "source-c", "source-d")


_Layers = dict[str, Style]
_KEPT: dict[tuple[object, ...], _Layers] = {}
_MOST_KEPT = 64


def layer(widget: Widget, part: str) -> Style:
    """Return the class of a widget's part as a style with only what its rule sets: no colour where it names none.

    A background with transparency is blended over the widget's own; so it can be laid over any text of the widget.
    """
    node = DOMNode(classes=part)
    node._attach(widget)  # as Textual does for component classes; there is no public way
    widget.app.stylesheet.apply(node, animate=False)
    styles = node.styles
    under = widget.background_colors[1]
    background: Color | None = None
    if styles.has_rule("background") and styles.background.a > 0:
        background = under + styles.background
    colour: Color | None = None
    if styles.has_rule("color"):
        colour = (background or under) + styles.color
    return Style(color=colour.rich_color if colour else None, bgcolor=background.rich_color if background else None) + (
        styles.text_style if styles.has_rule("text_style") else Style.null()
    )


def layers(widget: Widget, prefix: str, names: Iterable[str]) -> _Layers:
    """Return the styles of the classes ``<prefix>--<name>`` of a widget's parts, by name."""
    app = widget.app
    key = (prefix, app.theme, hash(tuple(app.theme_variables.values())), widget.background_colors[1])
    kept = _KEPT.get(key)
    if kept is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        kept = _KEPT[key] = {name: layer(widget, f"{prefix}--{name}") for name in names}
    return kept


def source_style(widget: Widget, source: str) -> Style:
    """Return the colour of a source: the theme's ``source-<id>``, else one of the spare ones, always the same."""
    variables = widget.app.theme_variables
    value = variables.get(f"source-{source}")
    if value is None:
        value = variables[SPARE_SOURCE_COLOURS[sum(source.encode()) % len(SPARE_SOURCE_COLOURS)]]
    return Style(color=Color.parse(value).rich_color)

"""From style names to colours: classes of a widget's parts as Rich styles that can be laid over one another.

Textual's own component classes are worked out anew, a hundred rules matched each, at every change of a class on the
screen or of the focus. These are worked out when something is drawn with them, once for each theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color
from textual.dom import DOMNode

from prima_tui.tui.plain_terminal import few_colours

if TYPE_CHECKING:
    from textual.widget import Widget

# Places in a theme for sources that have no colour of their own: they take one of these by their name.
SPARE_SOURCE_COLOURS = ("source-a", "source-b", "source-c", "source-d")


SELECTED = "selected"
READABLE = 4.5
"""The least contrast of text with what is behind it."""
_NO_TEXT = frozenset({"rule", "faint", "off", "bar", "divider"})
"""Styles of lines and signs that say nothing by themselves."""
_WHITE, _BLACK = Color(255, 255, 255), Color(0, 0, 0)
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
    background = widget.background_colors[1]
    key = (prefix, app.theme, hash(tuple(app.theme_variables.values())), background, few_colours(app))
    kept = _KEPT.get(key)
    if kept is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        made = {name: layer(widget, f"{prefix}--{name}") for name in names}
        kept = _KEPT[key] = _distinct(_readable(made, widget), widget)
    return kept


def _readable(styles: _Layers, widget: Widget) -> _Layers:
    """Return the styles with text that can be read on the widget and on its selected row, in every theme."""
    backs = [widget.background_colors[1]]
    selected = styles.get(SELECTED)
    if selected is not None and selected.bgcolor is not None:
        backs.append(Color.from_rich_color(selected.bgcolor))
    found = {}
    for name, style in styles.items():
        if style.color is not None and name not in _NO_TEXT:
            own = [Color.from_rich_color(style.bgcolor)] if style.bgcolor is not None else backs
            found[name] = style + Style(color=readable(Color.from_rich_color(style.color), own).rich_color)
        else:
            found[name] = style
    return found


def _distinct(styles: _Layers, widget: Widget) -> _Layers:
    """Return the styles with a selected row that can be told where shades of the background can't."""
    if SELECTED in styles and few_colours(widget.app):
        return styles | {SELECTED: Style(reverse=True)}
    return styles


def luminance(colour: Color) -> float:
    """Return a colour's relative luminance, 0 to 1, as WCAG 2 defines it."""
    parts = [part / 255 for part in colour.rgb]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two colours, 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def readable(colour: Color, backs: Sequence[Color]) -> Color:
    """Return the colour, moved towards white or black as far as it takes to be read on each of the backgrounds."""

    def least(one: Color) -> float:
        return min(contrast(one, back) for back in backs)

    if least(colour) >= READABLE:
        return colour
    end = max((_WHITE, _BLACK), key=least)
    mixed = (colour.blend(end, step / 20, 1.0) for step in range(1, 21))
    return next((one for one in mixed if least(one) >= READABLE), end)


def source_colour(variables: Mapping[str, str], source: str) -> str:
    """Return the colour of a source as a theme's ``variables`` name it: ``source-<id>``, else one of the spare ones,
    always the same."""
    spare = SPARE_SOURCE_COLOURS[sum(source.encode()) % len(SPARE_SOURCE_COLOURS)]
    return variables.get(f"source-{source}") or variables[spare]


def source_style(widget: Widget, source: str) -> Style:
    """Return the colour of a source as a style, made readable where the widget is."""
    colour = Color.parse(source_colour(widget.app.theme_variables, source))
    return Style(color=readable(colour, [widget.background_colors[1]]).rich_color)

"""From style names to colours: a widget's component classes as Rich styles that can be laid over one another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color

if TYPE_CHECKING:
    from textual.widget import Widget

# Places in a theme for sources that have no colour of their own: they take one of these by their name.
SPARE_SOURCE_COLOURS = ("source-a", "source-b", "source-c", "source-d")


def layer(widget: Widget, component: str) -> Style:
    """Return a component class as a style with only what its rule sets: no colour where the rule names none.

    A background with transparency is blended over the widget's own; so it can be laid over any text of the widget.
    """
    styles = widget.get_component_styles(component)
    under, _ = widget.background_colors[1], None
    background: Color | None = None
    if styles.has_rule("background") and styles.background.a > 0:
        background = under + styles.background
    colour: Color | None = None
    if styles.has_rule("color"):
        colour = (background or under) + styles.color
    return Style(color=colour.rich_color if colour else None, bgcolor=background.rich_color if background else None) + (
        styles.text_style if styles.has_rule("text_style") else Style.null()
    )


def layers(widget: Widget, prefix: str, names: Iterable[str]) -> dict[str, Style]:
    """Return the styles of the component classes ``<prefix>--<name>``, by name."""
    return {name: layer(widget, f"{prefix}--{name}") for name in names}


def source_style(widget: Widget, source: str) -> Style:
    """Return the colour of a source: the theme's ``source-<id>``, else one of the spare ones, always the same."""
    variables = widget.app.theme_variables
    value = variables.get(f"source-{source}")
    if value is None:
        value = variables[SPARE_SOURCE_COLOURS[sum(source.encode()) % len(SPARE_SOURCE_COLOURS)]]
    return Style(color=Color.parse(value).rich_color)

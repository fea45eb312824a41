"""Two themes of our own, one dark and one light, and the variables that every other theme gets by default."""

from __future__ import annotations

from textual.theme import Theme

_DARK_SOURCES = {
    "source-claude-code": "#e0a57a",
    "source-codex": "#74c7b8",
    "source-vscode": "#7ab4f5",
    "source-shared-log": "#c9a3f5",
    "source-docs": "#b9c77c",
    "source-a": "#e391b4",
    "source-b": "#9fb4e8",
    "source-c": "#8fcf93",
    "source-d": "#dcc27a",
}
_LIGHT_SOURCES = {
    "source-claude-code": "#9c4f16",
    "source-codex": "#0c6b5e",
    "source-vscode": "#1a5fb4",
    "source-shared-log": "#7a3cb8",
    "source-docs": "#58680f",
    "source-a": "#a52a63",
    "source-b": "#3b529e",
    "source-c": "#226b2a",
    "source-d": "#7d5c00",
}

DARK = Theme(
    name="prima-dark",
    primary="#7aa8f8",
    secondary="#a78bfa",
    accent="#f2b45c",
    success="#7fcf8e",
    warning="#f0c26a",
    error="#f27a86",
    foreground="#d9dce6",
    background="#10131a",
    surface="#161a23",
    panel="#212735",
    dark=True,
    variables={
        **_DARK_SOURCES,
        "border": "#7aa8f8",
        "border-blurred": "#2b3345",
        "footer-background": "#161a23",
        "footer-key-foreground": "#f2b45c",
        "footer-description-foreground": "#9aa3b8",
        "input-selection-background": "#7aa8f8 35%",
        "input-cursor-background": "#f2b45c",
        "input-cursor-foreground": "#10131a",
        "scrollbar": "#323b50",
        "scrollbar-background": "#161a23",
        "scrollbar-hover": "#46526e",
        "scrollbar-active": "#7aa8f8",
        "scrollbar-background-hover": "#161a23",
        "scrollbar-background-active": "#161a23",
    },
)

LIGHT = Theme(
    name="prima-light",
    primary="#2a5fc9",
    secondary="#6d41c4",
    accent="#a85300",
    success="#1f7a3d",
    warning="#8a5a00",
    error="#bb2740",
    foreground="#252935",
    background="#f7f6f2",
    surface="#fffefb",
    panel="#ecebe4",
    dark=False,
    variables={
        **_LIGHT_SOURCES,
        "border": "#2a5fc9",
        "border-blurred": "#d3d1c7",
        "footer-background": "#ecebe4",
        "footer-key-foreground": "#a85300",
        "footer-description-foreground": "#5d6272",
        "input-selection-background": "#2a5fc9 25%",
        "input-cursor-background": "#a85300",
        "input-cursor-foreground": "#fffefb",
        "scrollbar": "#cbc9be",
        "scrollbar-background": "#f3f2ec",
        "scrollbar-hover": "#a9a79b",
        "scrollbar-active": "#2a5fc9",
        "scrollbar-background-hover": "#f3f2ec",
        "scrollbar-background-active": "#f3f2ec",
    },
)

OWN_THEMES = (DARK, LIGHT)


def variable_defaults(dark: bool) -> dict[str, str]:
    """Return values for our own variables, for themes that don't set them."""
    return dict(_DARK_SOURCES if dark else _LIGHT_SOURCES)

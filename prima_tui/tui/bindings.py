"""Bindings of the main screen, each with what is needed to find it and to change its keys."""

from __future__ import annotations

from textual.binding import Binding


def browse_binding(key: str, action: str, text: str, tooltip: str, show: bool = False) -> Binding:
    """Return a binding with an id (so that its keys can be set), a description and a tooltip."""
    identifier = "browse." + action.replace("(", ".").replace(")", "").replace("'", "").replace("-", "back_")
    return Binding(key, action, text, show=show, tooltip=tooltip, id=identifier)

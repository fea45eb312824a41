"""How a key is bound: always with an id (so that its keys can be set), a description and a tooltip."""

from __future__ import annotations

from textual.binding import Binding


def key_binding(
    group: str, key: str, action: str, text: str, tooltip: str, show: bool = False, priority: bool = False
) -> Binding:
    """Return a binding of a group of keys; its id is ``<group>.<action>``, parameters joined by dots.

    With ``priority`` the key comes before what a text field does with it.
    """
    name = action.replace("(", ".").replace(")", "").replace("'", "").replace("-", "back_")
    return Binding(key, action, text, show=show, tooltip=tooltip, id=f"{group}.{name}", priority=priority)


def help_binding() -> Binding:
    """Return the binding of the help's key, which a modal screen needs too: the program's own bindings end at it."""
    return Binding("f1", "app.toggle_help", "Keys", show=True, id="app.help", tooltip="Show all keys and help")


def told(binding: Binding) -> str:
    """Return what a key does, in a sentence."""
    return binding.tooltip or binding.description


def browse_binding(
    key: str, action: str, text: str, tooltip: str, show: bool = False, priority: bool = False
) -> Binding:
    """Return a binding of the main screen."""
    return key_binding("browse", key, action, text, tooltip, show, priority)

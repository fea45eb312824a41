"""The text field of one line, as every screen has it: the editing keys, and nothing in it that a terminal obeys."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Input

from prima_tui.model.text import shown


def editing_keys() -> list[BindingType]:
    """Return Textual's editing keys, out of the list of keys (everyone knows them).

    Enter and copying are left out: they are the screen's.
    """
    keys = Binding.make_bindings(Input.BINDINGS)
    return [replace(key, system=True) for key in keys if key.action not in ("submit", "copy")]


class PlainInput(Input, inherit_bindings=False):
    """A text field with the editing keys only; no control character gets into it."""

    BINDINGS: ClassVar[list[BindingType]] = editing_keys()

    # The field has one line of a fixed width: a change of its text moves nothing, so nothing is laid out again.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def validate_value(self, value: str) -> str:
        """Textual's: keep control characters (from a paste) out of the field, and so off the terminal."""
        return shown(value) if not value.isprintable() else value


def plain_input(value: str, placeholder: str = "", *, id: str) -> PlainInput:
    """Return a text field whose cursor doesn't blink."""
    field = PlainInput(value, placeholder=placeholder, select_on_focus=False, id=id)
    field.cursor_blink = False
    return field


def type_elsewhere(event: events.Key, focused: Widget | None, field: Input) -> None:
    """Put a typed key that came to the screen into the field, which gets the focus.

    A field that has the focus passes on nothing that is typed. What comes to the screen all the same was typed before
    it had it, right after the key that gave it to the field, and is for the field.
    """
    typed = event.character if event.is_printable else None
    if not typed and event.key != "backspace":
        return
    event.stop()
    event.prevent_default()
    if isinstance(focused, Input):
        field = focused
    else:
        field.focus()
    if typed:
        field.insert_text_at_cursor(typed)
    else:
        field.action_delete_left()

"""No key and no place for the mouse without a test that uses it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

import prima_tui.tui

for _module in pkgutil.iter_modules(prima_tui.tui.__path__):
    importlib.import_module(f"prima_tui.tui.{_module.name}")

HERE = Path(__file__)
TESTS = "\n".join(path.read_text("utf-8") for path in sorted(HERE.parent.glob("test_*.py")) if path != HERE)
PRESSED = set(re.findall(r'"([A-Za-z0-9_+]+)"', TESTS))
# Ids and names by which the tests click on what takes a click.
CLICKED = {
    "Choice": "Choice",
    "Clickable": "#mode",
    "ExportKey": "#export-write",
    "KeyLine": "KeyLine",
    "QueryChoices": "QueryChoices",
    "SessionList": "SessionList",
    "TimelineScreen": "offset",
}


def ours(base: type[DOMNode] = DOMNode) -> Iterator[type[DOMNode]]:
    if base.__module__.startswith("prima_tui."):
        yield base
    for one in base.__subclasses__():
        yield from ours(one)


def bindings() -> dict[str, Binding]:
    found = (one for owner in set(ours()) for one in owner.__dict__.get("BINDINGS", ()))
    return {one.id: one for one in found if isinstance(one, Binding) and one.id and not one.system}


@pytest.mark.parametrize("name", sorted(bindings()))
def test_every_binding_is_pressed_in_a_test(name: str) -> None:
    keys = [key.strip() for key in bindings()[name].key.split(",")]
    assert PRESSED.intersection(keys), f"no test presses {' or '.join(keys)}"


@pytest.mark.parametrize("name", sorted({one.__name__ for one in ours() if {"on_click", "_on_click"} & set(vars(one))}))
def test_everything_that_takes_a_click_is_clicked_in_a_test(name: str) -> None:
    place = CLICKED.get(name, name)
    assert re.search(rf"(click|mouse_down)\(\s*[\"']?{re.escape(place)}\b", TESTS), f"no test clicks on {place}"


@pytest.mark.parametrize(
    "place", ["#prompt", "#clear", "#notes", "#mode", "#deep", "#kinds", "#scope", "#work", "#state"]
)
def test_every_small_button_is_clicked_in_a_test(place: str) -> None:
    assert re.search(rf"click\(\s*\"{place}\"", TESTS), f"no test clicks on {place}"

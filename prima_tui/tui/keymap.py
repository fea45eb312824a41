"""Keys of the user's own: which of them can't be used, and why."""

from __future__ import annotations

import pkgutil
import unicodedata
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys

from prima_tui import tui
from prima_tui.tui.bindings import told

_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
_NAMES = frozenset(key.value.rsplit("+", 1)[-1] for key in Keys)


def own_bindings() -> list[Binding]:
    """Return every binding of this program's own screens and widgets, those of views not opened yet among them."""
    for module in pkgutil.iter_modules(tui.__path__):
        import_module(f"{tui.__name__}.{module.name}")
    return [
        binding
        for owner in _classes(DOMNode)
        if owner.__module__.startswith(f"{tui.__name__}.")
        for binding in owner.__dict__.get("BINDINGS", ())
        if isinstance(binding, Binding)
    ]


def binding_ids() -> set[str]:
    """Return the id of every binding of this program's own screens and widgets."""
    return {binding.id for binding in own_bindings() if binding.id}


class ActionKeys(NamedTuple):
    """An action of the screen: the id that ``[keys]`` knows it by, its keys with commas between, what it does."""

    id: str
    keys: str
    description: str


def action_keys(chosen: Mapping[str, str]) -> list[ActionKeys]:
    """Return every action that has a key, those of the main screen first, with the keys that were set for it."""
    usable = usable_keys(chosen)
    bindings = {binding.id: binding for binding in own_bindings() if binding.id and not binding.system}
    return [
        ActionKeys(name, usable.get(name, binding.key), told(binding))
        for name, binding in sorted(bindings.items(), key=lambda each: (not each[0].startswith("browse."), each[0]))
    ]


def _classes(base: type[DOMNode]) -> Iterator[type[DOMNode]]:
    yield base
    for one in base.__subclasses__():
        yield from _classes(one)


def is_key(text: str) -> bool:
    """Tell whether this is the name of a key: ``f12``, ``ctrl+k``, ``alt+shift+up``, ``question_mark``."""
    *modifiers, name = text.strip().split("+")
    if not name or not _MODIFIERS.issuperset(modifiers):
        return False
    if len(name) == 1 or name in _NAMES:
        return True
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return True


def keymap_problems(keys: Mapping[str, str]) -> list[str]:
    """Return what is wrong with keys that were set, one sentence each."""
    known = binding_ids() if keys else set()
    problems = []
    for name, given in keys.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            problems.append(f"[keys] {name} is no action; `prima-tui keys` lists them.{hint}")
        bad = [key.strip() for key in given.split(",") if not is_key(key)]
        if bad:
            problems.append(f"[keys] {name}: {', '.join(map(repr, bad))} is no key. Keys are like f12, ctrl+k, alt+up.")
    return problems


def usable_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that can be used; an action whose keys can't be keeps its own."""
    return {name: given for name, given in keys.items() if all(is_key(key) for key in given.split(","))}

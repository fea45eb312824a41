"""Every key that acts where one is, in sections by what it is for: what help shows, and the palette's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from prima_tui.tui.bindings import told

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.screen import Screen

_MAIN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Resume", ("resume", "fork", "copy_command", "open_folder", "copy_id")),
    ("Search", ("filters", "next_mode", "toggle_scope", "deep", "kinds", "earlier_searches", "back")),
    ("Other views", ("file_history", "timeline", "statistics", "ask")),
    (
        "Conversation",
        ("match", "find", "message", "prompt", "tools", "thinking", "preview_lines", "preview_page"),
    ),
    ("Copy and write", ("copy_exchange", "copy_code", "copy_all", "copy_citation", "export", "edit_extract")),
    ("List", ("move", "move_page", "edge", "sort", "group", "density", "copies")),
    (
        "Room",
        ("turn_pane", "maximise_pane", "resize", "split", "app.focus_next", "app.focus_previous"),
    ),
    ("Program", ("refresh_now", "stop_work", "rebuild", "show_log", "open_demo", "take_over")),
)
"""Titles, and the actions of the main screen below each. An action in none stands under the last."""
_PROGRAM = _MAIN[-1][0]
FILTERS = (
    ("agent:codex", "sessions of one agent"),
    ("date:<7d", "younger than that; also >2w, today, month, 2026-10..2026-11"),
    ("file:app.py", "that changed a file"),
    ("tag:python", "with a language, or bugfix, feature, refactor, testing"),
    ("dir:backend", "whose folder contains it"),
    ("branch:main", "on a git branch"),
    ("is:resumable", "that can be taken up again"),
    ("in:tools", "search what tools were given and gave back, too"),
    ('"two words"', "side by side in one message"),
    ("-agent:codex", "a minus turns a filter round"),
)
"""Filters as one types them, and which sessions they leave."""


class KeyRow(NamedTuple):
    """One action: its keys as the screen names them, its name, and what it does in a sentence."""

    keys: str
    name: str
    told: str
    active: ActiveBinding | None = None


class Section(NamedTuple):
    """Actions that belong together."""

    title: str
    rows: tuple[KeyRow, ...]


def sections(screen: Screen[object]) -> list[Section]:
    """Return what can be done on a screen by key, in sections; pairs such as next and previous in one row each."""
    placed: dict[str, dict[str, list[KeyRow]]] = {title: {} for title in _titles(screen)}
    for active in actions(screen):
        title = _title(active, screen)
        row = KeyRow(
            screen.app.get_key_display(active.binding), active.binding.description, told(active.binding), active
        )
        placed.setdefault(title, {}).setdefault(_action(active), []).append(row)
    return [Section(title, tuple(map(_paired, _ordered(title, found)))) for title, found in placed.items() if found]


def actions(screen: Screen[object]) -> Iterator[ActiveBinding]:
    """Yield the bindings of this program that act on a screen, each action once, by its first key."""
    seen = set()
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id is None or binding.system or not active.enabled or binding.action in seen:
            continue
        seen.add(binding.action)
        yield active


def _titles(screen: Screen[object]) -> list[str]:
    main = [title for title, _actions in _MAIN]
    here = screen.BINDING_GROUP_TITLE or ""
    return [here, *main] if here else main


def _group(active: ActiveBinding) -> str:
    return (active.binding.id or "").partition(".")[0]


def _action(active: ActiveBinding) -> str:
    """The action without its parameters."""
    return active.binding.action.partition("(")[0]


def _title(active: ActiveBinding, screen: Screen[object]) -> str:
    group, action = _group(active), _action(active)
    if group == "app":
        return _PROGRAM
    if group == "browse":
        return next((title for title, found in _MAIN if action in found), _PROGRAM)
    return active.node.BINDING_GROUP_TITLE or screen.BINDING_GROUP_TITLE or _PROGRAM


def _ordered(title: str, found: dict[str, list[KeyRow]]) -> list[list[KeyRow]]:
    known = dict(_MAIN).get(title, ())
    places = {action: place for place, action in enumerate(known)}
    return [found[action] for action in sorted(found, key=lambda action: places.get(action, len(places)))]


def _paired(rows: list[KeyRow]) -> KeyRow:
    """The rows of one action, which differ in its parameter, as one."""
    first = rows[0]
    if len(rows) == 1:
        return first
    lead = first.keys.rpartition("+")[0]
    same = bool(lead) and all(row.keys.rpartition("+")[0] == lead for row in rows)
    keys = " ".join(row.keys.rpartition("+")[2] if same and place else row.keys for place, row in enumerate(rows))
    names = ", ".join(row.name if not place else row.name.lower() for place, row in enumerate(rows))
    return first._replace(keys=keys, name=names, told=names)

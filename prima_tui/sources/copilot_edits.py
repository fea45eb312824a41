"""Which files the tools of GitHub Copilot write, and the text that they replace, from the arguments of a tool."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from prima_tui.model.session import Action, TextEdit
from prima_tui.sources.jsonl import Record
from prima_tui.sources.patches import patch_edits, patched_files

_CHANGING_TOOLS: dict[str, Action] = {
    "create_file": "write",
    "create_new_jupyter_notebook": "write",
    "create": "write",
    "write": "write",
    "edit": "edit",
    "edit_file": "edit",
    "edit_files": "edit",
    "edit_notebook_file": "edit",
    "insert": "edit",
    "insert_edit_into_file": "edit",
    "multi_replace_string_in_file": "edit",
    "replace_string_in_file": "edit",
    "str_replace": "edit",
    "str_replace_editor": "edit",
    "write_file": "write",
}
"""Names of tools that write files, in VS Code's chat and in Copilot CLI, and what they do to the file."""
_PATH_NAMES = ("filePath", "path", "file_path", "file")


def changed_paths(tool: str, arguments: Any) -> Iterator[tuple[str, Action]]:
    """Yield (path, action) for each file that a tool with these arguments writes; nothing for one that writes none.

    The arguments are an object, or text: JSON, or the bare text of a patch.
    """
    arguments = parsed(arguments)
    if tool == "apply_patch":
        yield from patched_files(_patch_in(arguments))
        return
    action = _CHANGING_TOOLS.get(tool)
    if action is None or not isinstance(arguments, dict):
        return
    command = arguments.get("command")
    if tool == "str_replace_editor" and command == "view":
        return
    if command == "create":
        action = "write"
    several = arguments.get("replacements") or arguments.get("files")
    for holder in [arguments, *(several if isinstance(several, list) else ())]:
        path = holder if isinstance(holder, str) else ""
        if isinstance(holder, dict):
            path = _first(holder, _PATH_NAMES)
        if path.strip():
            yield path, action


def parsed(arguments: Any) -> Any:
    """Return the arguments of a tool as an object where they are the JSON text of one, else as they are."""
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        with contextlib.suppress(ValueError):
            return orjson.loads(arguments)
    return arguments


def _patch_in(arguments: Any) -> str:
    if isinstance(arguments, dict):
        return _text(arguments.get("input")) or _text(arguments.get("patch"))
    return _text(arguments)


_OLD_NAMES = ("oldString", "old_str", "old_string")
_NEW_NAMES = ("newString", "new_str", "new_string", "content", "file_text", "newCode", "code", "insert_text")


def replaced_texts(tool: str, arguments: Any) -> tuple[TextEdit, ...]:
    """Return what a tool with these (parsed) arguments replaces in files; nothing for one that writes none."""
    if tool == "apply_patch":
        return tuple(patch_edits(_patch_in(arguments)))
    files = list(changed_paths(tool, arguments))
    if not files or not isinstance(arguments, dict):
        return ()
    several = arguments.get("replacements") or arguments.get("files")
    found = []
    for holder in [arguments, *(several if isinstance(several, list) else ())]:
        if not isinstance(holder, dict):
            continue
        path = _first(holder, _PATH_NAMES) or files[0][0]
        old, new = (
            next((text for name in names if (text := _text(holder.get(name)))), "")
            for names in (_OLD_NAMES, _NEW_NAMES)
        )
        if old or new:
            found.append(TextEdit(path, old, new, files[0][1]))
    return tuple(found)


def _first(holder: Record, names: Sequence[str]) -> str:
    """Return the first of these members that is text and not empty."""
    return next((text for name in names if (text := _text(holder.get(name)))), "")


def _text(value: object) -> str:
    """Return a value that is text, "" for anything else."""
    return value if isinstance(value, str) else ""

"""What the tools of a Codex session were given and gave back, from every kind of record that tells of it.

A call and its output (``response_item``) are joined by ``call_id``. Events and items for the screen tell of the same
use under the same id, or of uses inside another one (a script that runs commands), which then stand on their own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import orjson

from prima_tui.model.session import TextEdit
from prima_tui.sources.codex_changes import call_failed, recorded_changes
from prima_tui.sources.patches import BEGIN, joined, patch_edits, script_patches, shell_patches, unified_diff_edits
from prima_tui.sources.tool_text import ToolLog, command_line, gave_text, given_text, summary_of

Item = dict[str, Any]


class RolloutTools:
    """The tool uses of one rollout; the anchor of each is the number of its record in the file."""

    def __init__(self) -> None:
        self.log: ToolLog[int] = ToolLog()
        self._thoughts: set[str] = set()
        """What the model thought since the last call, for telling the same from being told twice."""

    def item(self, place: int, item: Item, folder: str, stamp: object) -> None:
        """Take in a call or an output from the traffic with the model."""
        kind = item.get("type")
        call_id = _text(item.get("call_id"))
        if kind == "reasoning":
            self._thought(place, stamp, item.get("summary") or item.get("content"))
            return
        self._thoughts.clear()
        if isinstance(kind, str) and kind.endswith("_output"):
            content = item.get("output", item.get("tools"))
            self.log.result(call_id, place, stamp, _output_text(content), failed=call_failed(content))
            return
        name = _text(item.get("name")) or _name_of(item)
        given: object = next((item[key] for key in _GIVEN if item.get(key) is not None), "")
        if kind == "local_shell_call":
            name, given = "shell", item.get("action")
        elif kind == "web_search_call":
            name, given = "web_search", item.get("action")
        if isinstance(given, str) and given.startswith("{"):
            with contextlib.suppress(ValueError):
                given = orjson.loads(given)
        edits = tuple(_edits(name, given, folder))
        summary = summary_of(given) if not edits else edits[0].path
        self.log.use(call_id or _text(item.get("id")), place, stamp, name, given_text(given), summary, edits)

    def event(self, place: int, event: Item, folder: str, stamp: object) -> None:
        """Take in an event, or an item for the screen, that tells of a tool that ended."""
        call_id = _text(event.get("call_id")) or _text(event.get("id"))
        kind = event.get("type")
        failed = event.get("success") is False or event.get("status") in ("failed", "declined")
        if kind in ("agent_reasoning", "Reasoning"):
            self._thought(place, stamp, event.get("text") or event.get("summary_text") or event.get("raw_content"))
        elif kind in ("patch_apply_end", "FileChange"):
            changes = event.get("changes")
            edits = tuple(_recorded_edits(changes, folder))
            if call_id not in self.log:
                given = "\n".join(f"{edit.path}\n{edit.old}\n{edit.new}" for edit in edits)
                self.log.use(call_id, place, stamp, "apply_patch", given, edits[0].path if edits else "")
            # a patch with nothing but names of files says less than the call itself
            if any(edit.old or edit.new for edit in edits):
                self.log.changed(call_id, place, stamp, edits)
            self.log.result(call_id, place, stamp, _printed(event), failed=failed)
        elif kind in ("exec_command_end", "CommandExecution"):
            command = event.get("command")
            line = command_line(command) if isinstance(command, list) else _text(command)
            if call_id not in self.log:
                self.log.use(call_id, place, stamp, "shell", line, summary_of(line))
            code = event.get("exit_code")
            output = _text(event.get("aggregated_output")) or _printed(event)
            self.log.result(call_id, place, stamp, output, failed=failed or (isinstance(code, int) and code != 0))
        elif kind in ("mcp_tool_call_end", "McpToolCall", "DynamicToolCall"):
            called = event.get("invocation")
            called = called if isinstance(called, dict) else event
            if call_id not in self.log:
                arguments = called.get("arguments")
                name = ".".join(text for key in ("server", "tool") if (text := _text(called.get(key))))
                self.log.use(call_id, place, stamp, name, given_text(arguments), summary_of(arguments))
            result = event.get("result", event.get("content_items"))
            if isinstance(result, dict):
                failed = failed or "Err" in result or result.get("isError") is True
                result = result.get("Ok", result.get("Err", result))
                result = result.get("content", result) if isinstance(result, dict) else result
            self.log.result(call_id, place, stamp, gave_text(result), failed=failed)

    def _thought(self, place: int, stamp: object, content: object) -> None:
        """Take in reasoning: its summary, where there is one; an event tells of the same as the item beside it."""
        for part in content if isinstance(content, list) else (content,):
            text = (_text(part.get("text")) if isinstance(part, dict) else _text(part)).strip()
            if text not in self._thoughts:
                self._thoughts.add(text)
                self.log.thought("", place, stamp, text)


_GIVEN = ("input", "arguments", "parameters", "action")


def _name_of(item: Item) -> str:
    function = item.get("function")
    return _text(function.get("name")) if isinstance(function, dict) else ""


def _output_text(output: object) -> str:
    """Return the text of an output: itself, or in older versions inside JSON text with the exit code beside it."""
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            value = orjson.loads(output)
        except ValueError:
            return gave_text(output)
        if isinstance(value, dict) and isinstance(text := value.get("output"), str):
            return text
    if isinstance(output, dict) and isinstance(output.get("output"), str):
        return gave_text(output["output"])
    if isinstance(output, dict) and ("content" in output or "body" in output):
        return gave_text(output.get("content", output.get("body")))
    return gave_text(output)


def _edits(name: str, given: object, folder: str) -> Iterator[TextEdit]:
    """Yield what the patches in a call replace."""
    if isinstance(given, str):
        if BEGIN in given or name == "apply_patch":
            if given.lstrip().startswith(BEGIN) or name in ("apply_patch", "applypatch"):
                yield from patch_edits(given, folder)
            else:
                for patch in script_patches(given):
                    yield from patch_edits(patch.text, joined(folder, patch.folder) if patch.folder else folder)
        return
    if not isinstance(given, dict):
        return
    for key in ("input", "patch"):
        if isinstance(text := given.get(key), str) and (BEGIN in text or name == "apply_patch"):
            yield from patch_edits(text, folder)
    command = given.get("command", given.get("cmd"))
    if isinstance(command, str | list):
        base = _text(given.get("workdir")) or _text(given.get("working_directory"))
        base = joined(folder, base) if base else folder
        for patch in shell_patches(command):
            yield from patch_edits(patch.text, joined(base, patch.folder) if patch.folder else base)


def _recorded_edits(changes: object, folder: str) -> Iterator[TextEdit]:
    """Yield what the program recorded of an applied patch: whole new files, and unified diffs."""
    details = dict(_details(changes))
    for given, file in recorded_changes(changes):
        detail = details.get(given, {})
        content, diff = _text(detail.get("content")), _text(detail.get("unified_diff"))
        path = joined(folder, file.path)
        pairs = (
            list(unified_diff_edits(diff)) if diff else [("", content) if file.action != "delete" else (content, "")]
        )
        for old, new in pairs:
            yield TextEdit(path, old, new, file.action)


def _details(changes: object) -> Iterator[tuple[str, Item]]:
    if isinstance(changes, list):
        entries: list[tuple[Any, Any]] = [(one.get("path"), one) for one in changes if isinstance(one, dict)]
    else:
        entries = list(changes.items()) if isinstance(changes, dict) else []
    for path, detail in entries:
        if isinstance(detail, dict):
            inner = next(iter(detail.values())) if len(detail) == 1 else detail
            yield path, inner if isinstance(inner, dict) else detail


def _printed(event: Item) -> str:
    return "\n".join(text for name in ("stdout", "stderr") if (text := _text(event.get(name))))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

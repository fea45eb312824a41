"""The files that a Codex session changed: from its records of applied patches, else from the calls themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from prima_tui.model.session import FileChange
from prima_tui.sources.jsonl import instant
from prima_tui.sources.patches import BEGIN, PatchedFile, joined, patched_files, script_patches, shell_patches


class _Call(NamedTuple):
    """One use of apply_patch, as a call of the model or as a record of the program."""

    turn: int
    call_id: str
    files: tuple[PatchedFile, ...]
    at: datetime | None
    explanation: str


def may_patch(item: dict[str, Any]) -> bool:
    """Tell cheaply whether a tool call could hold a patch, since hardly any does."""
    given = item.get("input") or item.get("arguments") or item.get("action")
    return BEGIN in given or "+++ " in given if isinstance(given, str) else isinstance(given, dict)


class Changes:
    """Collects the changes of one rollout. ``turn`` numbers turns; within one the records count before the calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._records: list[_Call] = []
        self._recorded_turns: set[int] = set()
        self._seen: set[str] = set()
        self._failed: set[str] = set()

    def call(self, turn: int, item: dict[str, Any], folder: str, stamp: object, explanation: str) -> None:
        """Take in a tool call (``response_item`` of a call type); relative paths are joined to ``folder``."""
        files = tuple(PatchedFile(joined(folder, file.path), file.action) for file in _files_of_call(item))
        if files:
            self._calls.append(_Call(turn, _string(item.get("call_id")), files, instant(stamp), explanation))

    def output(self, item: dict[str, Any]) -> None:
        """Take in a tool's output, which tells whether the call failed."""
        if not self._calls:
            return
        call_id = item.get("call_id")
        if isinstance(call_id, str) and call_failed(item.get("output")):
            self._failed.add(call_id)

    def record(self, turn: int, record: dict[str, Any], folder: str, stamp: object, explanation: str) -> None:
        """Take in what the program recorded of an applied patch: an event or an item with ``changes``."""
        if "changes" not in record:
            return
        self._recorded_turns.add(turn)
        call_id = _string(record.get("call_id")) or _string(record.get("id"))
        if call_id and call_id in self._seen:
            return
        self._seen.add(call_id)
        if record.get("success") is False or record.get("status") in ("failed", "declined", "inProgress"):
            return
        found = (file for _given, file in recorded_changes(record["changes"]))
        files = tuple(PatchedFile(joined(folder, file.path), file.action) for file in found)
        self._records.append(_Call(turn, call_id, files, instant(stamp), explanation))

    def all(self) -> tuple[FileChange, ...]:
        """Return every change that did not fail, in order of turns."""
        calls = [
            call for call in self._calls if call.turn not in self._recorded_turns and call.call_id not in self._failed
        ]
        # a stable sort, so that within a turn the order of the file stays
        ordered = sorted([*self._records, *calls], key=lambda call: call.turn)
        return tuple(
            FileChange(file.path, file.action, call.at, call.explanation) for call in ordered for file in call.files
        )


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _files_of_call(item: dict[str, Any]) -> Iterator[PatchedFile]:
    """Yield the files of the patches in one call, relative to the session's folder or absolute."""
    name = _string(item.get("name"))
    given = item.get("input") if "input" in item else item.get("arguments")
    if item.get("type") == "local_shell_call":
        given = item.get("action")
    if isinstance(given, str):
        if BEGIN not in given and not (name == "apply_patch" and "+++ " in given):
            return
        if item.get("type") == "custom_tool_call" and not given.lstrip().startswith("{"):
            if name in ("apply_patch", "applypatch"):
                yield from patched_files(given)
            else:
                for patch in script_patches(given):
                    yield from _moved(patched_files(patch.text), patch.folder)
            return
        try:
            given = orjson.loads(given)
        except ValueError:
            return
    if not isinstance(given, dict):
        return
    if name in ("apply_patch", "applypatch"):
        for key in ("input", "patch"):
            if isinstance(text := given.get(key), str):
                yield from patched_files(text)
        return
    command = given.get("command", given.get("cmd"))
    if not isinstance(command, str | list):
        return
    base = _string(given.get("workdir")) or _string(given.get("working_directory"))
    for patch in shell_patches(command):
        yield from _moved(patched_files(patch.text), joined(base, patch.folder) if patch.folder else base)


def _moved(files: Iterable[PatchedFile], folder: str) -> Iterator[PatchedFile]:
    for file in files:
        yield PatchedFile(joined(folder, file.path), file.action)


def recorded_changes(changes: object) -> Iterator[tuple[str, PatchedFile]]:
    """Yield (path as recorded, file) of a ``changes`` value: path to change, the kind inside it or its only key.

    It can be a list too. Of a file that was moved the recorded path is the old one.
    """
    if isinstance(changes, dict):
        entries: list[tuple[object, object]] = list(changes.items())
    elif isinstance(changes, list):
        entries = [(entry.get("path"), entry.get("kind", entry)) for entry in changes if isinstance(entry, dict)]
    else:
        return
    for path, change in entries:
        if not isinstance(path, str) or not path:
            continue
        kind: object = change
        target: object = None
        if isinstance(change, dict):
            kind = change.get("type")
            if kind is None and len(change) == 1:
                kind, change = next(iter(change.items()))
            target = change.get("move_path") if isinstance(change, dict) else None
        if isinstance(target, str) and target:
            yield path, PatchedFile(target, "move")
        elif kind in ("add", "delete", "update"):
            yield path, PatchedFile(path, kind)


_FAILED_START = re.compile(
    r"\s*(?:exit code:\s*-?[1-9]|apply_patch (?:verification failed|handler)|patch rejected|execution error|failed to "
    r"|aborted|error\b|script (?:failed|error)|sandbox error|invalid patch)",
    re.IGNORECASE,
)
_FAILED_EXIT = re.compile(r"process exited with code -?[1-9]|rejected by (?:the )?user", re.IGNORECASE)


def call_failed(output: object) -> bool:
    """Tell whether a tool's output says that the call failed: text, JSON text, an object or a list of parts.

    What says nothing is no failure.
    """
    if isinstance(output, list):
        return any(call_failed(part.get("text")) for part in output if isinstance(part, dict))
    if isinstance(output, str):
        if output.startswith("{"):
            try:
                value = orjson.loads(output)
            except ValueError:
                value = None
            if isinstance(value, dict) and ("metadata" in value or "output" in value):
                return call_failed(value)
        head = output[:400].split("\nOutput:")[0]
        return _FAILED_START.match(head) is not None or _FAILED_EXIT.search(head) is not None
    if isinstance(output, dict):
        if output.get("success") is False:
            return True
        metadata = output.get("metadata")
        if isinstance(metadata, dict) and isinstance(code := metadata.get("exit_code"), int):
            return code != 0
        return any(call_failed(output.get(key)) for key in ("output", "content", "text"))
    return False

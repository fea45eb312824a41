"""What the tools of a Claude Code session were given and gave back, and the text that its edits replaced.

A use is a ``tool_use`` block of an assistant record, its output a ``tool_result`` block of a later user record, joined
by the use's id; a ``thinking`` block stands beside them. Outputs that were too large are moved out: the block then
holds ``<persisted-output>`` with the path of a file below the session's ``tool-results`` folder, and ``toolUseResult``
beside the message may hold them whole.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from prima_tui.model.session import Action, TextEdit
from prima_tui.sources.claude_code_conversation import FILE_TOOLS, Conversation
from prima_tui.sources.claude_code_records import Record
from prima_tui.sources.jsonl import Record as Object
from prima_tui.sources.tool_text import ToolLog, gave_text, given_text, summary_of

_POINTER = "<persisted-output>"
_MOVED_TO = re.compile(r"tool-results[/\\]([^\s/\\<>\"']+)")
_LARGEST_MOVED = 64 * 1024 * 1024
"""Bytes; a larger output that was moved out stays the pointer that it is."""
_LARGEST_ORIGINAL = 200_000
"""Characters; of a larger file the text before a Write isn't kept."""
_WHOLE_OUTPUTS = ("stdout", "stderr", "content", "result", "output", "text")


class SessionTools:
    """The tool uses of one conversation."""

    def __init__(self, conversation: Conversation, results: Path) -> None:
        """``results`` is the folder where outputs of the session are moved to."""
        self._conversation = conversation
        self._results = results
        self.log: ToolLog[object] = ToolLog()

    def add(self, record: Record, line: Object) -> None:
        """Take in the tool blocks of a record, which the conversation has taken in before; ``line`` is all of it."""
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = content if isinstance(content, list) else []
        if not blocks and str(line.get("type", "")).endswith(("tool_use", "tool_result")):
            blocks = [line]
        named = message.get("id") if isinstance(message, dict) else None
        anchor = self._conversation.anchor(named if isinstance(named, str) else "")
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if not isinstance(kind, str):
                continue
            if kind.endswith("tool_use"):
                self._use(record, block, anchor)
            elif kind.endswith("tool_result"):
                self._result(record, block, anchor, line.get("toolUseResult") if len(blocks) == 1 else None)
            elif kind == "thinking":
                # newer versions keep an empty text with a signature; a copied record holds the same again
                text = _text(block.get("thinking"))
                self.log.thought(f"thinking {named} {text[:200]}", anchor, record.timestamp, text)

    def _use(self, record: Record, block: Object, anchor: object) -> None:
        given = block.get("input")
        name = _text(block.get("name"))
        edits = edits_of(name, given) if isinstance(given, dict) else ()
        self.log.use(
            _text(block.get("id")), anchor, record.timestamp, name, given_text(given), summary_of(given), edits
        )

    def _result(self, record: Record, block: Object, anchor: object, whole: object) -> None:
        identifier = _text(block.get("tool_use_id"))
        gave = gave_text(block.get("content"))
        if _POINTER in gave:
            gave = self._moved_out(gave) or _whole_output(whole) or gave
        elif not gave:
            gave = _whole_output(whole)
        self.log.result(identifier, anchor, record.timestamp, gave, failed=block.get("is_error") is True)
        if isinstance(whole, dict) and whole.get("type") in ("create", "update"):
            path, new, old = (whole.get(name) for name in ("filePath", "content", "originalFile"))
            if isinstance(path, str) and isinstance(new, str) and isinstance(old, str) and len(old) < _LARGEST_ORIGINAL:
                self.log.changed(identifier, anchor, record.timestamp, [TextEdit(path, old, new, "write")])

    def _moved_out(self, pointer: str) -> str:
        """Return the output that was moved out of the transcript; "" when its file isn't there (any more)."""
        named = _MOVED_TO.search(pointer)
        if named is None or named[1] in (".", ".."):
            return ""
        # the recorded path may be that of another computer, and only the session's own folder is looked into
        path = self._results / named[1]
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_MOVED:
                return ""
            return path.read_text("utf-8", "replace")
        except OSError:
            return ""


def edits_of(name: str, given: dict[str, Any]) -> tuple[TextEdit, ...]:
    """Return what the arguments of Write, Edit, MultiEdit or NotebookEdit replace; nothing for any other tool."""
    action: Action | None = FILE_TOOLS.get(name)
    path = _text(given.get("file_path")) or _text(given.get("notebook_path"))
    if action is None or not path:
        return ()
    if name == "Write":
        return (TextEdit(path, "", _text(given.get("content")), action),)
    if name == "NotebookEdit":
        return (TextEdit(path, "", _text(given.get("new_source")), action),)
    several = given.get("edits")
    edits = several if isinstance(several, list) else [given]
    return tuple(
        TextEdit(path, _text(edit.get("old_string")), _text(edit.get("new_string")), action)
        for edit in edits
        if isinstance(edit, dict)
    )


def _whole_output(whole: object) -> str:
    """Return the output that stands beside a message, "" when there is none."""
    if isinstance(whole, str):
        return whole
    if isinstance(whole, dict):
        file = whole.get("file")
        if isinstance(file, dict) and isinstance(content := file.get("content"), str):
            return content
        return "\n".join(text for name in _WHOLE_OUTPUTS if (text := gave_text(whole.get(name))))
    return gave_text(whole)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

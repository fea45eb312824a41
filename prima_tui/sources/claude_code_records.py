"""The lines of a Claude Code transcript as typed records, whatever stands in them.

Only the fields that are of use are decoded, the rest is passed over without being built (tool output is most of a
file). A line whose fields have other types than they should is read field by field, and the odd ones are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from prima_tui.sources.jsonl import Lines


class ToolInput(msgspec.Struct, gc=False):
    """The input of a tool use, as far as it names a file."""

    file_path: str | None = None
    notebook_path: str | None = None


class Block(msgspec.Struct, gc=False):
    """One block of a message's content: text, thinking, tool_use, tool_result, image …"""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: ToolInput | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None


Content = str | list[Block | str] | None


class Origin(msgspec.Struct, gc=False):
    """Who a user record is from, in newer files."""

    kind: str | None = None


class Message(msgspec.Struct, gc=False):
    """The message of a user or assistant record."""

    id: str | None = None
    model: str | None = None
    content: Content = None


class Attachment(msgspec.Struct, gc=False):
    """Context put in front of the model; of type ``queued_command`` it can hold what a person typed."""

    type: str | None = None
    prompt: Content = None
    commandMode: str | None = None
    origin: Origin | None = None
    isMeta: bool | None = None


class PreservedSegment(msgspec.Struct, gc=False):
    """The messages that a compaction kept."""

    headUuid: str | None = None


class CompactMetadata(msgspec.Struct, gc=False):
    """What a compaction notes about itself."""

    preservedSegment: PreservedSegment | None = None


class WorktreeSession(msgspec.Struct, gc=False):
    """The worktree that a session went into."""

    originalCwd: str | None = None


class Record(msgspec.Struct, gc=False):
    """One line. The names are Claude Code's; which fields are set depends on ``type``."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    logicalParentUuid: str | None = None
    timestamp: str | int | float | None = None
    sessionId: str | None = None
    session_id: str | None = None
    agentId: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    entrypoint: str | None = None
    promptSource: str | None = None
    sessionKind: str | None = None
    origin: Origin | None = None
    message: Message | None = None
    attachment: Attachment | None = None
    compactMetadata: CompactMetadata | None = None
    worktreeSession: WorktreeSession | None = None
    relocatedCwd: str | None = None
    operation: str | None = None
    content: Content = None
    summary: str | None = None
    leafUuid: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    tag: str | None = None


class Records:
    """Iterate over the records of a file; afterwards ``malformed`` and ``too_long`` hold counts of passed-over lines.

    Raises OSError from iteration when the file can't be opened or read.
    """

    def __init__(self, path: str) -> None:
        self._lines = Lines(path)

    @property
    def malformed(self) -> int:
        """How many lines held no usable object, or a broken part."""
        return self._lines.malformed

    @property
    def too_long(self) -> int:
        """How many lines were passed over for their length."""
        return self._lines.too_long

    def __iter__(self) -> Iterator[Record]:
        decode = _DECODER.decode
        for line in self._lines.raw():
            try:
                yield decode(line)
                continue
            except (msgspec.DecodeError, RecursionError):
                pass
            for value in self._lines.objects(line):
                yield _lenient(value)

    def with_tools(self) -> Iterator[tuple[Record, dict[str, Any] | None]]:
        """Iterate as above, each record with its whole object where that holds a use of a tool or thinking."""
        decode = _DECODER.decode
        for line in self._lines.raw():
            about_tools = b"tool_use" in line or b"tool_result" in line or b'"thinking"' in line
            try:
                record = decode(line)
                yield record, orjson.loads(line) if about_tools else None
                continue
            except (ValueError, RecursionError):
                pass
            for value in self._lines.objects(line):
                yield _lenient(value), value


_DECODER = msgspec.json.Decoder(Record)


def _lenient(value: dict[str, Any]) -> Record:
    """Return the record that an object of any shape stands for: fields of a wrong type count as missing."""
    message, attachment, metadata = (_object(value, name) for name in ("message", "attachment", "compactMetadata"))
    worktree = _object(value, "worktreeSession")
    timestamp = value.get("timestamp")
    fields: dict[str, Any] = {name: _text(value, name) for name in _TEXT_FIELDS}
    fields |= {name: value.get(name) is True for name in _FLAG_FIELDS}
    if isinstance(timestamp, str | int | float):
        fields["timestamp"] = timestamp
    if message is not None:
        fields["message"] = Message(_text(message, "id"), _text(message, "model"), _content(message.get("content")))
    if attachment is not None:
        fields["attachment"] = Attachment(
            _text(attachment, "type"),
            _content(attachment.get("prompt")),
            _text(attachment, "commandMode"),
            _origin(attachment),
            attachment.get("isMeta") is True,
        )
    if metadata is not None:
        fields["compactMetadata"] = _compact_metadata(metadata)
    if worktree is not None:
        fields["worktreeSession"] = WorktreeSession(_text(worktree, "originalCwd"))
    return Record(origin=_origin(value), content=_content(value.get("content")), **fields)


_TEXT_FIELDS = (
    *("type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "agentId", "cwd"),
    *("gitBranch", "entrypoint", "promptSource", "sessionKind", "relocatedCwd", "operation", "summary", "leafUuid"),
    *("customTitle", "aiTitle", "tag"),
)
_FLAG_FIELDS = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")


def _text(value: dict[str, Any], name: str) -> str | None:
    found = value.get(name)
    return found if isinstance(found, str) else None


def _object(value: dict[str, Any], name: str) -> dict[str, Any] | None:
    found = value.get(name)
    return found if isinstance(found, dict) else None


def _origin(value: dict[str, Any]) -> Origin | None:
    origin = _object(value, "origin")
    return None if origin is None else Origin(_text(origin, "kind"))


def _compact_metadata(value: dict[str, Any]) -> CompactMetadata:
    segment = _object(value, "preservedSegment")
    return CompactMetadata(None if segment is None else PreservedSegment(_text(segment, "headUuid")))


def _content(value: object) -> Content:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    blocks: list[Block | str] = []
    for item in value:
        if isinstance(item, str):
            blocks.append(item)
        elif isinstance(item, dict):
            tool_input = _object(item, "input")
            block = Block(
                type=_text(item, "type"),
                text=_text(item, "text"),
                id=_text(item, "id"),
                name=_text(item, "name"),
                tool_use_id=_text(item, "tool_use_id"),
                is_error=item.get("is_error") is True,
            )
            if tool_input is not None:
                block.input = ToolInput(_text(tool_input, "file_path"), _text(tool_input, "notebook_path"))
            blocks.append(block)
    return blocks


def text_blocks(content: Content) -> list[str]:
    """Return the texts of a content: the string itself, or each of its text blocks; blank ones left out."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content] if content.strip() else []
    texts = (item if isinstance(item, str) else item.text if item.type == "text" else None for item in content)
    return [text for text in texts if text and not text.isspace()]

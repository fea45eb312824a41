"""What tools were given and gave back, as plain text, collected while the records of a file go by.

Arguments and outputs are objects of any shape. Their texts are kept as they are, one after the other; pictures and
other binary data are only named. Long texts are held compressed, since they are most of what a file holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar, overload

import orjson
import zstandard

from prima_tui.model.session import TextEdit, ToolUse
from prima_tui.sources.jsonl import instant

_SUMMARY_WIDTH = 200
_HELD_PLAIN = 2_000
"""Characters; a longer text is held compressed."""
_DEEPEST = 40
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=_-]*")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\s-]{64,}={0,2}\s*")
_BINARY_NAMES = frozenset({"data", "base64", "blob", "bytes", "image_url", "b64_json"})
_MAIN_NAMES = (
    *("command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "description"),
    *("skill", "subagent_type", "prompt", "message", "input", "code", "explanation"),
)
"""Arguments that say best, in one line, what a tool was asked for, the best first."""

Anchor = TypeVar("Anchor")


def given_text(arguments: object) -> str:
    """Return the texts of a tool's arguments, one after the other; numbers and such with their names."""
    return "\n".join(_texts(arguments, "", _DEEPEST))


def gave_text(content: object) -> str:
    """Return the text of a tool's output: text itself, blocks of text and pictures, or an object of any shape."""
    return "\n".join(text for text in _texts(content, "", _DEEPEST) if text)


def _texts(value: object, name: str, depth: int) -> Iterable[str]:
    if isinstance(value, str):
        yield _without_binary(value, name)
    elif isinstance(value, bool):
        yield f"{name}: {str(value).lower()}" if name else str(value).lower()
    elif isinstance(value, int | float):
        yield f"{name}: {value}" if name else str(value)
    elif depth == 0:
        yield _dumped(value)
    elif isinstance(value, list):
        if value and all(type(item) is str for item in value):
            # the words of a command
            yield " ".join(_without_binary(item, name) for item in value)
        else:
            for item in value:
                yield from _texts(item, name, depth - 1)
    elif isinstance(value, dict):
        kind = value.get("type")
        if isinstance(kind, str) and (named := _block_name(kind, value)):
            yield named
            return
        for key, item in value.items():
            if key == "type" and isinstance(kind, str) and ("text" in value or "content" in value):
                continue
            yield from _texts(item, key, depth - 1)


def _block_name(kind: str, block: Mapping[str, Any]) -> str:
    """Return how a block that holds binary data is named, "" for any other."""
    if kind not in ("image", "document", "audio", "input_image", "image_url", "file", "resource"):
        return ""
    source = block.get("source")
    holder = source if isinstance(source, dict) else block
    names = [holder.get(key) for key in ("media_type", "mimeType", "mime_type")]
    media = next((name for name in names if isinstance(name, str)), "")
    if kind in ("file", "resource") and not isinstance(block.get("data", block.get("blob")), str):
        return ""
    if isinstance(source, dict) and source.get("type") == "text":
        return ""
    return f"[{kind.removeprefix('input_').removesuffix('_url')}{' ' + media if media else ''}]"


def _without_binary(text: str, name: str) -> str:
    if "base64," in text:
        text = _DATA_URL.sub(lambda found: f"[{found[1] or 'data'}]", text)
    if name in _BINARY_NAMES and len(text) > 200 and _BASE64.fullmatch(text):
        return "[data]"
    return text


def _dumped(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return str(value)


def summary_of(arguments: object) -> str:
    """Return one line that says what was run or which file was worked on, at most 200 characters; "" for nothing."""
    if isinstance(arguments, dict):
        value: object = next((arguments[name] for name in _MAIN_NAMES if arguments.get(name)), None)
        if value is None:
            value = next((item for item in arguments.values() if isinstance(item, str) and item), "")
        arguments = value
    if isinstance(arguments, list):
        arguments = command_line(arguments)
    if not isinstance(arguments, str):
        return ""
    line = " ".join(arguments[: 4 * _SUMMARY_WIDTH].split())
    return line if len(line) <= _SUMMARY_WIDTH else line[: _SUMMARY_WIDTH - 1] + "…"


def command_line(words: Sequence[object]) -> str:
    """Return a command given as a list of words as one line; of a shell's ``-c`` only what it runs."""
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) == 3 and texts[1] in ("-c", "-lc", "-Command", "/c"):
        return texts[2]
    return " ".join(texts)


class _Draft(Generic[Anchor]):
    """One use of a tool in the making; its long texts are compressed."""

    __slots__ = ("anchor", "edits", "failed", "gave", "given", "name", "stamp", "summary", "thinking")

    def __init__(self, anchor: Anchor, stamp: object) -> None:
        self.anchor = anchor
        self.stamp = stamp
        self.name = self.summary = ""
        self.given: str | bytes = ""
        self.gave: str | bytes = ""
        self.failed = self.thinking = False
        self.edits: bytes | tuple[TextEdit, ...] = ()


class ToolLog(Generic[Anchor]):
    """Collects the uses of tools of one transcript. An anchor is whatever tells the exchange later."""

    def __init__(self) -> None:
        self._drafts: dict[str, _Draft[Anchor]] = {}
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._unnamed = 0

    def use(
        self,
        identifier: str,
        anchor: Anchor,
        stamp: object,
        name: str,
        given: str,
        summary: str,
        edits: Sequence[TextEdit] = (),
    ) -> None:
        """Take in what a tool was given; of two uses with one id the first counts, unless it held less."""
        draft = self._draft(identifier, anchor, stamp)
        if draft.name and not (given and not draft.given):
            if edits and not draft.edits:
                draft.edits = self._packed_edits(edits)
            return
        draft.name, draft.summary, draft.given = name, summary, self._kept(given)
        if edits:
            draft.edits = self._packed_edits(edits)

    def result(self, identifier: str, anchor: Anchor, stamp: object, gave: str, *, failed: bool = False) -> None:
        """Take in what a tool gave back; of two outputs of one use the first that says something counts."""
        draft = self._draft(identifier, anchor, stamp)
        draft.failed = draft.failed or failed
        if gave and not draft.gave:
            draft.gave = self._kept(gave)

    def changed(self, identifier: str, anchor: Anchor, stamp: object, edits: Sequence[TextEdit]) -> None:
        """Take in what the program itself recorded of a use's changes: it counts before the tool's arguments."""
        draft = self._draft(identifier, anchor, stamp)
        if edits:
            draft.edits = self._packed_edits(edits)

    def thought(self, identifier: str, anchor: Anchor, stamp: object, text: str) -> None:
        """Take in what the model thought; the same under the same id is taken once, nothing of an empty one."""
        text = text.strip()
        if text and (not identifier or identifier not in self._drafts):
            draft = self._draft(identifier, anchor, stamp)
            draft.name, draft.summary, draft.gave = "thinking", summary_of(text), self._kept(text)
            draft.thinking = True

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._drafts

    def _draft(self, identifier: str, anchor: Anchor, stamp: object) -> _Draft[Anchor]:
        if not identifier:
            self._unnamed += 1
            identifier = f"#{self._unnamed}"
        draft = self._drafts.get(identifier)
        if draft is None:
            draft = self._drafts[identifier] = _Draft(anchor, stamp)
        return draft

    def _kept(self, text: str) -> str | bytes:
        return text if len(text) <= _HELD_PLAIN else self._compressed(text.encode("utf-8", "replace"))

    def _compressed(self, data: bytes) -> bytes:
        # copied, since what the compressor returns keeps the room of the text that it was made from
        return memoryview(self._compressor.compress(data)).tobytes()

    def _packed_edits(self, edits: Sequence[TextEdit]) -> bytes | tuple[TextEdit, ...]:
        if sum(len(edit.old) + len(edit.new) for edit in edits) <= _HELD_PLAIN:
            return tuple(edits)
        plain = [[edit.path, edit.old, edit.new, edit.action] for edit in edits]
        return self._compressed(orjson.dumps(plain))

    def tools(self, position_of: Callable[[Anchor], int]) -> Tools:
        """Return the uses in the order of the file. Nothing may be added afterwards."""
        drafts = list(self._drafts.values())
        return Tools(drafts, [position_of(draft.anchor) for draft in drafts])


class Tools(Sequence[ToolUse]):
    """Uses of tools whose long texts are expanded only when one is asked for."""

    def __init__(self, drafts: Sequence[_Draft[Any]], positions: Sequence[int]) -> None:
        self._drafts = drafts
        self._positions = positions
        self._decompressor = zstandard.ZstdDecompressor()

    def __len__(self) -> int:
        return len(self._drafts)

    @overload
    def __getitem__(self, place: int) -> ToolUse: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ToolUse, ...]: ...
    def __getitem__(self, place: int | slice) -> ToolUse | tuple[ToolUse, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        draft = self._drafts[place]
        edits = draft.edits
        if isinstance(edits, bytes):
            edits = tuple(TextEdit(*values) for values in orjson.loads(self._decompressor.decompress(edits)))
        return ToolUse(
            self._positions[place],
            draft.name,
            draft.summary,
            self._text(draft.given),
            self._text(draft.gave),
            draft.failed,
            _time(draft.stamp),
            edits,
            draft.thinking,
        )

    def _text(self, held: str | bytes) -> str:
        return held if isinstance(held, str) else self._decompressor.decompress(held).decode()


def _time(stamp: object) -> datetime | None:
    return stamp if isinstance(stamp, datetime) else instant(stamp)

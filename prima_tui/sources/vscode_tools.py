"""What the tools of a chat in VS Code were given and gave back, and the edits that stand in its replies.

A tool is a part of the response (``toolInvocationSerialized``); what the model asked for and got is in the request's
``result.metadata``: ``toolCallRounds`` with names and arguments, ``toolCallResults`` with outputs, both by call id.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from prima_tui.model.session import TextEdit
from prima_tui.sources.copilot_edits import parsed, replaced_texts
from prima_tui.sources.jsonl import Record
from prima_tui.sources.tool_text import ToolLog, gave_text, given_text, summary_of


class ChatTools:
    """The tool uses of one chat; the anchor of each is the number of its exchange."""

    def __init__(self) -> None:
        self.log: ToolLog[int] = ToolLog()
        self._edits = 0

    def request(self, place: int, request: Record, at: datetime | None) -> None:
        """Take in the tools of one request, whose exchange has this place."""
        response = request.get("response")
        parts = [part for part in response if isinstance(part, dict)] if isinstance(response, list) else []
        for part in parts:
            if part.get("kind") == "thinking":
                value = part.get("value")
                text = "".join(map(_text, value)) if isinstance(value, list) else _text(value)
                self.log.thought("", place, at, text)
        result = request.get("result")
        metadata = result.get("metadata") if isinstance(result, dict) else None
        metadata = metadata if isinstance(metadata, dict) else {}
        for call in _calls(metadata.get("toolCallRounds")):
            name, arguments = _text(call.get("name")), parsed(call.get("arguments"))
            edits = replaced_texts(name, arguments)
            summary = edits[0].path if edits else summary_of(arguments)
            self.log.use(_plain_id(call.get("id")), place, at, name, given_text(arguments), summary, edits)
        for part in parts:
            self._part(place, part, at)
        results = metadata.get("toolCallResults")
        for identifier, output in results.items() if isinstance(results, dict) else ():
            content = output.get("content") if isinstance(output, dict) else output
            self.log.result(_plain_id(identifier), place, at, _contents(content))

    def _part(self, place: int, part: Record, at: datetime | None) -> None:
        kind = part.get("kind")
        if kind == "toolInvocationSerialized":
            self._invocation(place, part, at)
        elif kind in ("textEditGroup", "notebookEditGroup") and part.get("edits"):
            path = path_of_uri(part.get("uri"))
            new = "\n".join(text for text in map(_text, _inner_texts(part["edits"])) if text)
            self._edits += 1
            self.log.use(f"edit {self._edits}", place, at, "edit", new, path, [TextEdit(path, "", new)])

    def _invocation(self, place: int, part: Record, at: datetime | None) -> None:
        identifier = _plain_id(part.get("toolCallId"))
        message = _message(part.get("pastTenseMessage")) or _message(part.get("invocationMessage"))
        specific, details = part.get("toolSpecificData"), part.get("resultDetails")
        specific = specific if isinstance(specific, dict) else {}
        command = specific.get("commandLine")
        line = _text(command.get("original")) if isinstance(command, dict) else _text(specific.get("command"))
        given = line or given_text(parsed(specific.get("rawInput"))) or message
        if isinstance(details, dict) and details.get("input"):
            given = given_text(parsed(details["input"]))
        self.log.use(identifier, place, at, _text(part.get("toolId")), given, summary_of(line) or summary_of(message))
        printed = specific.get("terminalCommandOutput")
        gave = _contents(details.get("output")) if isinstance(details, dict) else ""
        gave = gave or (_text(printed.get("text")) if isinstance(printed, dict) else "")
        state = specific.get("terminalCommandState")
        code = state.get("exitCode") if isinstance(state, dict) else None
        failed = bool(isinstance(details, dict) and details.get("isError")) or (isinstance(code, int) and code != 0)
        if gave or failed:
            self.log.result(identifier, place, at, gave, failed=failed)


def _calls(rounds: Any) -> list[Record]:
    found: list[Record] = []
    for each in rounds if isinstance(rounds, list) else ():
        calls = each.get("toolCalls") if isinstance(each, dict) else None
        found += [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return found


def _plain_id(identifier: Any) -> str:
    """Return a call's id without the suffix that the editor adds in some places."""
    return _text(identifier).split("__vscode-", maxsplit=1)[0]


def _contents(content: Any) -> str:
    """Return the texts of an output's parts: ``value`` of each, which is text or a tree of what was shown."""
    parts = content if isinstance(content, list) else [content]
    texts = [gave_text(part.get("value", part)) if isinstance(part, dict) else gave_text(part) for part in parts]
    return "\n".join(text for text in texts if text)


def _inner_texts(edits: Any) -> list[Any]:
    """Return the new text of each edit in nested lists of them, at most three deep."""
    level = edits if isinstance(edits, list) else []
    for _ in range(3):
        level = [inner for each in level for inner in (each if isinstance(each, list) else [each])]
    return [each.get("text") for each in level if isinstance(each, dict)]


def _message(value: Any) -> str:
    return _text(value.get("value")) if isinstance(value, dict) else _text(value)


def path_of_uri(uri: Any) -> str:
    """Return the path that a URI stands for: its text or VS Code's object form; "" for anything else.

    Percent signs are decoded in the text form only, since the object form holds the path as it is. A Windows drive
    gives a Windows path (``file:///c%3A/x`` is ``c:\\x``); the place of another computer is left out.
    """
    if isinstance(uri, dict):
        native = _text(uri.get("fsPath"))
        return native or _native(
            _text(uri.get("authority")) if uri.get("scheme") == "file" else "", _text(uri.get("path"))
        )
    text = _text(uri)
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)(/[^?#]*)?", text)
    if not found:
        return text
    return _native(unquote(found[2]) if found[1].lower() == "file" else "", unquote(found[3] or ""))


def _native(host: str, path: str) -> str:
    """Return the path as the system it is from writes it."""
    if re.match(r"/[A-Za-z]:(/|$)", path):
        return path[1:].replace("/", "\\")
    if host and host.lower() != "localhost":
        return "\\\\" + host + path.replace("/", "\\")
    return path


def _text(value: object) -> str:
    """Return a value that is text, "" for anything else."""
    return value if isinstance(value, str) else ""

"""VS Code's own record of a chat: ``chatSessions/*.json``, and the mutation log ``*.jsonl`` that replaced it in 1.109.

Both hold one object with a list of requests; a log holds it as a first state and the changes made to it since, so that
its first line mostly has no requests at all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from prima_tui.model.session import Exchange, FileChange, ToolUse
from prima_tui.sources.base import Problem
from prima_tui.sources.copilot_events import problems_of, with_own_keys
from prima_tui.sources.jsonl import Lines, Record, instant, whole_value, without_surrogates
from prima_tui.sources.vscode_tools import ChatTools, path_of_uri

_LARGEST_SNAPSHOT = 512 * 1024 * 1024
"""Bytes; a ``.json`` chat has to be decoded at once, so that a larger one is passed over."""
_MISFIT = "changes that do not fit the chat"
_TEXT_KINDS = ("", "markdown", "markdownContent", "markdownVuln", "text")
_KINDS_WITHOUT_TEXT_NAMES = """
agentDetection chatEditingSessionAction clearToPreviousToolInvocation codeBlock codeCitation codeblockUri
command confirmation elicitation elicitation2 elicitationSerialized extensions externalEdits hook
mcpServersStarting mcpServersStartingSerialized move multiDiffData multiDiffDataSerialized notebookEdit
notebookEditGroup prepareToolInvocation progressMessage progressTask progressTaskResult progressTaskSerialized
pullRequest questionCarousel reference references systemNotification textEdit textEditGroup thinking
toolInvocation toolInvocationSerialized treeData undoStop usedContext warning workspaceEdit
"""
_KINDS_WITHOUT_TEXT = frozenset(_KINDS_WITHOUT_TEXT_NAMES.split())
_FENCE_LINE = re.compile(r"(?m)^[ \t]*`{3,}")
_OPENING_FENCE = re.compile(r"(?:\A|\n)[ \t]*`{3,}[^\n`]*\s*\Z")
_CLOSING_FENCE = re.compile(r"\s*`{3,}[ \t]*(?:\n|\Z)")


class Chat(msgspec.Struct):
    """What one chat file says. Times are UTC; ``exchanges`` is empty for a chat that nobody wrote in."""

    session_id: str = ""
    given_title: str = ""
    generated_title: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    model: str | None = None
    exchanges: tuple[Exchange, ...] = ()
    tools: Sequence[ToolUse] = ()
    files_changed: tuple[FileChange, ...] = ()
    message_count: int = 0
    problems: tuple[Problem, ...] = ()


def read_chat(path: str, fallback_id: str, *, with_tools: bool = False) -> Chat:
    """Read a chat file of either kind; ``fallback_id`` is the session's id when the file doesn't tell it.

    With ``with_tools`` what tools were given and gave back is read too.
    Raises OSError when the file can't be opened or read; anything wrong inside is a problem of the result.
    """
    passed_over: Counter[str] = Counter()
    if path.lower().endswith(".jsonl"):
        lines = Lines(path)
        state = _replayed(lines, passed_over)
        problems = list(problems_of(path, lines, Counter()))
    else:
        state = _snapshot(path, passed_over)
        problems = []
    chat = _chat(state, fallback_id, passed_over, ChatTools() if with_tools else None)
    chat.problems = (*problems, *(Problem(what, path, count) for what, count in passed_over.items()))
    return chat


def _snapshot(path: str, passed_over: Counter[str]) -> Record:
    """Return the object of a ``.json`` chat; of a cut one its whole requests."""
    if Path(path).stat().st_size > _LARGEST_SNAPSHOT:
        passed_over["chats that are too large"] += 1
        return {}
    with open(path, "rb") as file:
        content = file.read()
    if not content.strip(b"\xef\xbb\xbf \t\r\n\0"):
        return {}
    try:
        state = whole_value(content)
    except ValueError:
        passed_over["malformed chat"] += 1
        state = _whole_requests(content.decode("utf-8", "replace"))
    if not isinstance(state, dict):
        passed_over["malformed chat"] += 1
        return {}
    return state


def _whole_requests(text: str) -> Record:
    """Return a chat with those requests that stand undamaged in damaged JSON, and its titles where they do."""
    decoder = json.JSONDecoder(strict=False)
    state: Record = {}
    for name in ("sessionId", "customTitle", "computedTitle"):
        found = re.search(rf'"{name}"\s*:\s*("(?:[^"\\]|\\.)*")', text)
        if found:
            try:
                state[name] = without_surrogates(decoder.decode(found[1]))
            except ValueError:
                continue
    requests: list[Any] = []
    # each request begins with its own id, so that one which is damaged inside does not cost those behind it
    place = 0
    for found in re.finditer(r'\{\s*"requestId"\s*:', text):
        if found.start() < place:
            continue
        try:
            request, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        requests.append(without_surrogates(request))
    state["requests"] = requests
    return state


def _replayed(lines: Lines, passed_over: Counter[str]) -> Record:
    """Return the chat as it stands after all changes of a mutation log."""
    state: Any = {}
    for record in lines:
        kind, path, value = record.get("kind"), record.get("k"), record.get("v")
        if kind is None and isinstance(record.get("requests"), list):
            state = record
        elif kind == 0 or (kind == 1 and path == []):
            state = value
        elif kind in (1, 2, 3) and isinstance(path, list) and path:
            if not _apply(state, kind, path, value, record.get("i")):
                passed_over[_MISFIT] += 1
        else:
            passed_over[f"unknown kind of change {str(kind)[:40]}"] += 1
    return state if isinstance(state, dict) else {}


def _apply(state: Any, kind: int, path: list[Any], value: Any, length: Any) -> bool:
    """Make one change in the state; False when its place does not exist or is of another shape."""
    holder = state
    for part in path[:-1]:
        if isinstance(holder, dict) and isinstance(part, str):
            holder = holder.get(part)
        elif isinstance(holder, list) and _is_place(part, len(holder)):
            holder = holder[part]
        else:
            return False
    last = path[-1]
    if isinstance(holder, dict) and isinstance(last, str):
        return _apply_in_object(holder, kind, last, value, length)
    if isinstance(holder, list) and _is_place(last, len(holder) + (kind == 1)):
        if kind == 1:
            holder[last : last + 1] = [value]
        elif kind == 3:
            # JavaScript's delete leaves a hole, so that later places stay valid
            holder[last] = None
        else:
            return _append(holder[last], value, length)
        return True
    return False


def _apply_in_object(holder: Record, kind: int, name: str, value: Any, length: Any) -> bool:
    """Set, extend or delete one member of an object."""
    if kind == 1:
        holder[name] = value
        return True
    if kind == 3:
        holder.pop(name, None)
        return True
    if holder.get(name) is None:
        holder[name] = []
    return _append(holder[name], value, length)


def _append(target: Any, value: Any, length: Any) -> bool:
    """Cut a list to ``length`` when that is given, then append the values."""
    if not isinstance(target, list):
        return False
    if isinstance(length, int) and not isinstance(length, bool) and length >= 0:
        del target[length:]
    if isinstance(value, list):
        target.extend(value)
    return value is None or isinstance(value, list)


def _is_place(part: Any, length: int) -> bool:
    """Tell whether a part of a path is an index below ``length``."""
    return isinstance(part, int) and not isinstance(part, bool) and 0 <= part < length


def _chat(state: Record, fallback_id: str, passed_over: Counter[str], tools: ChatTools | None) -> Chat:
    """Turn the state of a chat into exchanges: one reply for each request that got one."""
    chat = Chat(
        session_id=_text(state.get("sessionId")).strip() or fallback_id,
        given_title=_text(state.get("customTitle")).strip(),
        generated_title=_text(state.get("computedTitle")).strip(),
    )
    requests = state.get("requests")
    exchanges: list[Exchange] = []
    changes: list[FileChange] = []
    times: list[datetime] = []
    for request in requests if isinstance(requests, list) else ():
        if not isinstance(request, dict):
            # a deleted element of a list leaves a hole
            passed_over["requests of an unknown shape"] += request is not None
            continue
        at = instant(request.get("timestamp"))
        if at is not None:
            times.append(at)
        response = request.get("response")
        reply = _Reply(at)
        for part in response if isinstance(response, list) else [response]:
            reply.take(part, passed_over)
        changes += reply.changes
        if tools is not None:
            tools.request(len(exchanges), request, at)
        chat.message_count += 1 + bool(response)
        chat.model = _text(request.get("modelId")) or chat.model
        user, assistant = _prompt(request.get("message")), reply.text()
        if user.strip() or assistant.strip():
            key = _text(request.get("requestId")) or _text(request.get("responseId"))
            exchanges.append(Exchange(user=user, assistant=assistant, at=at, key=key))
    if not times:
        times = [at for name in ("creationDate", "lastMessageDate") if (at := instant(state.get(name)))]
    chat.started_at, chat.ended_at = (min(times), max(times)) if times else (None, None)
    if tools is not None:
        last = max(0, len(exchanges) - 1)
        chat.tools = tools.log.tools(lambda place: min(place, last))
    chat.exchanges = with_own_keys(exchanges, chat.session_id)
    chat.files_changed = tuple(changes)
    passed_over += Counter()
    return chat


def _prompt(message: Any) -> str:
    """Return what was typed: a string, or an object with the text whole or in parts."""
    if isinstance(message, dict):
        text = _text(message.get("text"))
        parts = message.get("parts")
        if not text and isinstance(parts, list):
            return "".join(_text(part.get("text")) for part in parts if isinstance(part, dict))
        return text
    return _text(message)


class _Reply:
    """The parts of one response: the running text, and the edits that stand between its pieces."""

    def __init__(self, at: datetime | None) -> None:
        self.at = at
        self.pieces: list[str] = []
        self.changes: list[FileChange] = []
        self.since_tool = 0
        self.explanation = ""
        self.in_edit_fence = False

    def take(self, part: Any, passed_over: Counter[str]) -> None:
        """Add one part. Only markdown and inline references are text; a reference belongs into its sentence."""
        if isinstance(part, str):
            self.add_text(part)
            return
        if not isinstance(part, dict):
            passed_over["response parts of an unknown shape"] += part is not None
            return
        kind = part.get("kind")
        if kind is None or (isinstance(kind, str) and kind in _TEXT_KINDS):
            for piece in _markdown(part):
                self.add_text(piece)
        elif kind == "inlineReference":
            self.add_text(_reference_name(part))
        elif isinstance(kind, str) and kind in _KINDS_WITHOUT_TEXT:
            if kind not in ("thinking", "codeblockUri"):
                self.end_of_text(kind, part)
        else:
            passed_over[f'unknown kind of response part "{str(kind)[:60]}"'] += 1

    def add_text(self, piece: str) -> None:
        """Add a piece of the running text."""
        if self.in_edit_fence and piece.strip():
            self.in_edit_fence = False
            piece = _CLOSING_FENCE.sub("\n", piece, count=1) if _CLOSING_FENCE.match(piece) else piece
        self.pieces.append(piece)

    def end_of_text(self, kind: str, part: Record) -> None:
        """Note what was said just before a part that is no text, and the file it changes if it is an edit."""
        edit = kind in ("textEditGroup", "notebookEditGroup")
        if edit and self.pieces and len(_FENCE_LINE.findall(self.pieces[-1])) % 2:
            # VS Code puts an edit between two lines of a code fence, but keeps its text elsewhere: an empty code block
            shortened = _OPENING_FENCE.sub("", self.pieces[-1])
            self.in_edit_fence = shortened != self.pieces[-1]
            self.pieces[-1] = shortened
        text = "".join(self.pieces[self.since_tool :]).strip()
        self.since_tool = len(self.pieces)
        self.explanation = text or self.explanation
        if edit and part.get("edits"):
            path = path_of_uri(part.get("uri"))
            if path:
                self.changes.append(FileChange(path=path, at=self.at, explanation=self.explanation))

    def text(self) -> str:
        """Return the pieces joined as they are, since a reference splits a sentence."""
        return "".join(self.pieces)


def _markdown(part: Record) -> Iterator[str]:
    """Yield the text of a markdown part: ``value``, or the same inside ``content``; rarely a list of texts."""
    value = part.get("value")
    if value is None:
        content = part.get("content")
        value = content.get("value") if isinstance(content, dict) else content
    if value is None:
        value = part.get("text")
    for piece in value if isinstance(value, list) else [value]:
        yield _text(piece.get("value") if isinstance(piece, dict) else piece)


def _reference_name(part: Record) -> str:
    """Return how an inline reference reads in its sentence: its name, else the file's."""
    name = _text(part.get("name"))
    target = part.get("inlineReference")
    if not name and isinstance(target, dict):
        name = _text(target.get("name"))
        place = target.get("location") if isinstance(target.get("location"), dict) else target
        if not name and isinstance(place, dict):
            path = path_of_uri(place.get("uri") if "uri" in place else place)
            name = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    return name


def _text(value: object) -> str:
    """Return a value that is text, "" for anything else."""
    return value if isinstance(value, str) else ""

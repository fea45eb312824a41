"""The event files that GitHub Copilot writes: one envelope, used by VS Code's transcripts and by Copilot CLI.

One object per line, ``{type, data, id, timestamp, parentId}``. A prompt is one ``user.message``; each round of the
model is one ``assistant.message`` whose content may be empty; tools are ``tool.execution_start`` and ``…_complete``,
joined by ``toolCallId``, since those of one round are written while the next one is being prepared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec
import orjson

from prima_tui.model.session import Exchange, FileChange, ToolUse
from prima_tui.sources.base import Problem
from prima_tui.sources.copilot_edits import changed_paths, parsed, replaced_texts
from prima_tui.sources.jsonl import Lines, Record, first_and_last, instant
from prima_tui.sources.tool_text import ToolLog, gave_text, given_text, summary_of

_WITHOUT_TEXT_NAMES = """
abort assistant.intent assistant.message_delta assistant.reasoning assistant.reasoning_delta
assistant.streaming_delta assistant.turn_end assistant.turn_retry assistant.turn_start assistant.usage
command.completed command.execute command.queued elicitation.completed elicitation.requested
exit_plan_mode.completed exit_plan_mode.requested external_tool.completed external_tool.requested hook.end
hook.start model.call_failure pending_messages.modified permission.completed permission.requested
session.auto_mode_resolved session.background_tasks_changed session.compaction_start session.context_cleared
session.error session.handoff session.idle session.info session.mode_changed session.permissions_changed
session.plan_changed session.remote_steerable_changed session.session_limits_changed session.shutdown
session.skills_loaded session.task_complete session.todos_changed session.tools_updated session.truncation
session.usage_checkpoint session.usage_info session.warning session.workspace_file_changed skill.invoked
subagent.completed subagent.deselected subagent.failed subagent.selected system.message system.notification
tool.execution_partial_result tool.execution_progress tool.user_requested user_input.completed
user_input.requested
"""
_WITHOUT_TEXT = frozenset(_WITHOUT_TEXT_NAMES.split())
"""Record types that say nothing a person said or was told, and no change of a file."""
_COPIED = frozenset({"user.message", "assistant.message", "tool.execution_complete"})
"""Record types that a resume or a replay can have written once more."""

_UNIQUE_LENGTH = 16
"""Characters; ids of this length or longer do not meet by chance."""


class Events(msgspec.Struct):
    """What one event file says. Times are UTC; texts are as recorded."""

    session_id: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    workspace: str | None = None
    branch: str | None = None
    model: str | None = None
    title: str = ""
    exchanges: tuple[Exchange, ...] = ()
    tools: Sequence[ToolUse] = ()
    files_changed: tuple[FileChange, ...] = ()
    message_count: int = 0
    problems: tuple[Problem, ...] = ()


def read_events(path: str, fallback_id: str, *, with_tools: bool = False) -> Events:
    """Read an event file; ``fallback_id`` is the session's id when no record tells it.

    With ``with_tools`` what tools were given and gave back is read too.
    Raises OSError when the file can't be opened or read; anything wrong inside is a problem of the result.
    """
    lines = Lines(path)
    reading = _Reading(ToolLog() if with_tools else None)
    for record in lines:
        reading.take(record)
    return reading.result(path, fallback_id, lines)


class _Reading:
    """The state while the records of one file go by."""

    def __init__(self, log: ToolLog[int] | None) -> None:
        self.events = Events()
        self.exchanges: list[Exchange] = []
        self.log = log
        self.anchors: list[int] = []
        """For each exchange the number that stands for it until the order of all is known."""
        self.next_anchor = 0
        self.prompt_anchor = 0
        self.anchor_of_agent: dict[str, int] = {}
        self.prompt: Exchange | None = None
        self.compacted = False
        self.last_reply = ""
        self.reply_of_tool: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        self.tools: list[tuple[str, FileChange]] = []
        self.failed: set[str] = set()
        self.stamps: list[object] = []
        self.seen: dict[str, set[int]] = {}
        self.unknown: Counter[str] = Counter()
        self.place_of: dict[str, int] = {}

    def take(self, record: Record) -> None:
        """Add one record."""
        kind, data = record.get("type"), record.get("data")
        if not isinstance(kind, str):
            self.unknown["record without a type"] += 1
            return
        if not isinstance(data, dict):
            data = {}
        stamp = record.get("timestamp")
        self.stamps.append(stamp)
        if kind in _WITHOUT_TEXT:
            return
        at = instant(stamp)
        identifier = _text(record.get("id"))
        if kind in _COPIED and self.is_copy(identifier, record):
            return
        match kind:
            case "user.message":
                self.take_prompt(data, identifier, at)
            case "assistant.message":
                self.take_reply(data, identifier, at)
            case "tool.execution_start":
                self.take_tool(data, at)
            case "tool.execution_complete":
                self.take_output(data, at)
                self.events.message_count += not _agent_call(data)
                if data.get("success") is False:
                    self.failed.add(_text(data.get("toolCallId")))
            case "session.start" | "session.resume" | "session.context_changed":
                self.take_context(kind, data)
            case "session.model_change":
                self.events.model = _text(data.get("newModel")) or self.events.model
            case "session.title_changed":
                self.events.title = _text(data.get("title")).strip()
            case "session.compaction_complete":
                self.compacted = True
            case "session.snapshot_rewind":
                self.rewind(_text(data.get("upToEventId")))
            case "subagent.started":
                name = _text(data.get("agentDisplayName")) or _text(data.get("agentName"))
                self.agents[_text(data.get("toolCallId"))] = name
            case _:
                self.unknown[f'unknown record type "{kind[:60]}"'] += 1

    def is_copy(self, identifier: str, record: Record) -> bool:
        """Tell whether the same record stood in the file before: its id alone is no proof, its data must agree."""
        if not identifier:
            return False
        try:
            content = hash(orjson.dumps(record, option=orjson.OPT_SORT_KEYS))
        except (TypeError, ValueError):
            return False
        before = self.seen.setdefault(identifier, set())
        if content in before:
            return True
        before.add(content)
        return False

    def take_context(self, kind: str, data: Record) -> None:
        """Note where the session was started; what a later record says counts only where nothing was known."""
        if kind == "session.start":
            self.events.session_id = self.events.session_id or _text(data.get("sessionId")).strip()
        context = data.get("context")
        place = data if kind == "session.context_changed" else context if isinstance(context, dict) else {}
        self.events.workspace = self.events.workspace or _text(place.get("cwd")) or None
        self.events.branch = self.events.branch or _text(place.get("branch")) or None
        self.events.model = _text(data.get("selectedModel")) or self.events.model

    def take_prompt(self, data: Record, identifier: str, at: datetime | None) -> None:
        """Keep what a person typed until its first reply comes. What a skill or an agent put in is not typed."""
        if (
            data.get("parentAgentTaskId")
            or _agent_call(data)
            or _text(data.get("source")).startswith(("skill", "system"))
        ):
            return
        self.events.message_count += 1
        text = _text(data.get("content"))
        if not text.strip():
            return
        self.store_prompt()
        self.prompt = Exchange(user=text, at=at, key=identifier)
        self.next_anchor += 1
        self.prompt_anchor = self.next_anchor
        self.place_of[identifier] = len(self.exchanges)
        self.last_reply = ""

    def take_reply(self, data: Record, identifier: str, at: datetime | None) -> None:
        """Store a reply with visible text; each round of the model that says something is a reply of its own."""
        call = _agent_call(data)
        self.events.message_count += not call
        text = _text(data.get("content"))
        visible = bool(text.strip())
        if visible and not call:
            self.last_reply = text.strip()
        requests = data.get("toolRequests")
        for request in requests if isinstance(requests, list) else ():
            if isinstance(request, dict):
                self.reply_of_tool[_text(request.get("toolCallId"))] = text.strip() if visible else self.last_reply
        if not call:
            self.events.model = _text(data.get("model")) or self.events.model
        if self.log is not None:
            self.log.thought(f"thinking {identifier}", self.anchor(data), at, _text(data.get("reasoningText")))
        if not visible:
            return
        key = _text(data.get("messageId")) or identifier
        self.place_of[identifier] = len(self.exchanges)
        if self.prompt is None or call:
            self.next_anchor += 1
            self.anchors.append(self.next_anchor)
        else:
            self.anchors.append(self.prompt_anchor)
        if call:
            self.anchor_of_agent[call] = self.next_anchor
            agent = self.agents.get(call) or call
            self.exchanges.append(Exchange(assistant=text, at=at, key=key, agent=agent))
            return
        prompt, self.prompt = self.prompt, None
        user, began = (prompt.user, prompt.at or at) if prompt else ("", at)
        self.exchanges.append(Exchange(user=user, assistant=text, at=began, key=key, compacted=self.compacted))
        self.compacted = False

    def take_tool(self, data: Record, at: datetime | None) -> None:
        """Note which files a tool is about to change; whether it did is known only when it completes."""
        call = _text(data.get("toolCallId"))
        explanation = self.reply_of_tool.get(call, self.last_reply)
        for path, action in changed_paths(_text(data.get("toolName")), data.get("arguments")):
            self.tools.append((call, FileChange(path=path, action=action, at=at, explanation=explanation)))
        if self.log is not None:
            name, arguments = _text(data.get("toolName")), parsed(data.get("arguments"))
            edits = replaced_texts(name, arguments)
            summary = edits[0].path if edits else summary_of(arguments)
            self.log.use(call, self.anchor(data), at, name, given_text(arguments), summary, edits)

    def take_output(self, data: Record, at: datetime | None) -> None:
        """Take in what a tool gave back; VS Code leaves that out of its transcripts."""
        if self.log is None:
            return
        result, error = data.get("result"), data.get("error")
        if isinstance(result, dict):
            # the detailed form says the same at greater length
            result = result.get("detailedContent") or result.get("content") or result.get("contents")
        gave = gave_text(result) or gave_text(error.get("message") if isinstance(error, dict) else error)
        failed = data.get("success") is False
        self.log.result(_text(data.get("toolCallId")), self.anchor(data), at, gave, failed=failed)

    def anchor(self, data: Record) -> int:
        """Return what stands for the exchange that a tool belongs to: the waiting prompt's, else the latest one."""
        agent = _agent_call(data)
        if agent in self.anchor_of_agent:
            return self.anchor_of_agent[agent]
        if self.prompt is not None:
            return self.prompt_anchor
        mains = (place for place in range(len(self.exchanges) - 1, -1, -1) if not self.exchanges[place].agent)
        return self.anchors[place] if (place := next(mains, None)) is not None else 0

    def rewind(self, identifier: str) -> None:
        """Mark what was said from the named event on as left by going back."""
        place = self.place_of.get(identifier)
        if place is None:
            return
        self.store_prompt()
        self.exchanges[place:] = [msgspec.structs.replace(each, rewound=True) for each in self.exchanges[place:]]

    def store_prompt(self) -> None:
        """Store a prompt that got no reply before the next one, or before the end."""
        if self.prompt is not None:
            self.exchanges.append(self.prompt)
            self.anchors.append(self.prompt_anchor)
            self.prompt = None

    def result(self, path: str, fallback_id: str, lines: Lines) -> Events:
        """Return what was read, the main conversation first, its subagents' replies after it."""
        self.store_prompt()
        events = self.events
        # main conversation first; a stable sort keeps the rest as it is
        order = sorted(range(len(self.exchanges)), key=lambda place: bool(self.exchanges[place].agent))
        ordered = [self.exchanges[place] for place in order]
        if self.log is not None:
            places = {self.anchors[place]: new for new, place in enumerate(order)}
            events.tools = self.log.tools(lambda anchor: places.get(anchor, 0))
        events.session_id = events.session_id or fallback_id
        events.exchanges = with_own_keys(ordered, events.session_id)
        events.files_changed = tuple(change for call, change in self.tools if not call or call not in self.failed)
        events.started_at, events.ended_at = first_and_last(self.stamps)
        events.problems = tuple(problems_of(path, lines, self.unknown))
        return events


def problems_of(path: str, lines: Lines, passed_over: Counter[str]) -> Iterator[Problem]:
    """Yield one problem for each kind of thing that was passed over in a file of lines."""
    if lines.malformed:
        yield Problem("malformed lines", path, lines.malformed)
    if lines.too_long:
        yield Problem("lines that are too long", path, lines.too_long)
    for what, count in passed_over.items():
        yield Problem(what, path, count)


def with_own_keys(exchanges: list[Exchange], session_id: str) -> tuple[Exchange, ...]:
    """Give every exchange of a session a key of its own, the same at each reading.

    A recorded id that is long enough to be unique is taken as it is; a short one is made so with the session's id, a
    repeated or missing one with a count.
    """
    used: Counter[str] = Counter()
    result = []
    for exchange in exchanges:
        key = exchange.key if len(exchange.key) >= _UNIQUE_LENGTH else f"{session_id}/{exchange.key}"
        used[key] += 1
        if used[key] > 1 or not exchange.key:
            key = f"{key}#{used[key]}"
        result.append(exchange if key == exchange.key else msgspec.structs.replace(exchange, key=key))
    return tuple(result)


def _agent_call(data: Record) -> str:
    """Return the id of the tool call that runs the subagent a record is from, "" in the main conversation."""
    return _text(data.get("parentToolCallId"))


def _text(value: object) -> str:
    """Return a value that is text, "" for anything else."""
    return value if isinstance(value, str) else ""

"""Reading one file of Codex: a rollout, compressed or not, a chat that was saved, the names given to sessions."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import orjson
import zstandard

from prima_tui.model.session import Exchange, ResumeCommand, ToolUse, Transcript, packed_keys
from prima_tui.model.tags import topic_tags
from prima_tui.model.titles import first_title
from prima_tui.sources.base import (
    Problem,
    ReadResult,
    ReadTranscript,
    SourceFile,
)
from prima_tui.sources.codex_legacy import chat_id, saved_chat
from prima_tui.sources.codex_places import ELSEWHERE, FOLDERS, LABEL, SOURCE
from prima_tui.sources.codex_rollout import Rollout
from prima_tui.sources.codex_tools import RolloutTools
from prima_tui.sources.codex_turns import exchanges_of
from prima_tui.sources.jsonl import Lines, instant

_FILE_NAME = re.compile(r"rollout-(\d{4}-\d\d-\d\d)(?:T(\d\d)-(\d\d)-(\d\d))?-?(.*?)\.json.*")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_NO_PARENT = "unknown"
"""Parent of a subagent whose file doesn't name one; it is no session all the same."""


def read_file(file: SourceFile, *, with_tools: bool) -> ReadResult:
    """Read a rollout, a saved chat, or the file of names; what can't be read is a problem in the result."""
    tools = RolloutTools() if with_tools else None
    problems: list[Problem] = []
    try:
        if file.kind == "names":
            return _read_names(file)
        read = _read_saved_chat if file.path.endswith(".json") else _read_rollout
        transcript = read(file, problems, tools)
    except OSError as error:
        return ReadResult(problems=(Problem(f"can't be read: {error.strerror or error}", file.path),))
    return ReadResult(() if transcript is None else (transcript,), problems=tuple(problems))


class _CompressedLines(Lines):
    """The lines of a file in a zstd frame, decompressed as they are read; ``damaged`` tells that its end was lost."""

    damaged = False

    def raw(self) -> Iterator[bytes]:
        with open(self.path, "rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            try:
                yield from self.lines_of(io.BufferedReader(reader, 1024 * 1024))
            except zstandard.ZstdError:
                self.damaged = True


def _read_names(file: SourceFile) -> ReadResult:
    """Read names given to sessions; the last line of an id counts, and a blank name takes it away."""
    names: dict[str, str] = {}
    lines = Lines(file.path)
    strange = 0
    for line in lines:
        identifier, name = line.get("id"), line.get("thread_name")
        if not isinstance(identifier, str):
            strange += 1
        elif isinstance(name, str) and name.strip():
            names[identifier] = name.strip()
        else:
            names.pop(identifier, None)
    counts = {"malformed lines": lines.malformed, "lines too long": lines.too_long, "lines without an id": strange}
    return ReadResult(names=names, problems=_problems(file, counts))


def _problems(file: SourceFile, counts: Mapping[str, int]) -> tuple[Problem, ...]:
    return tuple(Problem(what, file.path, count) for what, count in counts.items() if count)


def _read_rollout(file: SourceFile, problems: list[Problem], tools: RolloutTools | None) -> ReadTranscript | None:
    lines = _CompressedLines(file.path) if file.path.endswith(".zst") else Lines(file.path)
    rollout = Rollout(tools)
    take, loads = rollout.take, orjson.loads
    # lines are decoded here for speed; one that is not a plain object goes the careful way
    for line in lines.raw():
        try:
            record = loads(line)
        except ValueError:
            record = None
        if type(record) is dict:
            take(record)
        else:
            for salvaged in lines.objects(line):
                take(salvaged)
    counts = Counter({"malformed lines": lines.malformed, "lines too long": lines.too_long})
    if isinstance(lines, _CompressedLines) and lines.damaged:
        counts["damaged compressed files"] += 1
    problems += _problems(file, counts + rollout.unknown)
    if not rollout.records:
        return None
    turns = rollout.finished()
    meta = rollout.meta
    session_id = _string(meta.get("id")) or _id_in_name(file.path)
    exchanges, places = exchanges_of(turns, rollout.root_id or session_id)
    parent, agent = _parent(meta, session_id)
    archived = file.kind.startswith("archived")
    folder = rollout.first_folder or None
    git = meta.get("git")
    resume = None
    if parent:
        exchanges = [msgspec.structs.replace(exchange, agent=agent) for exchange in exchanges]
    elif meta.get("id") or _UUID.fullmatch(session_id):
        # a name that stands in for a missing id is nothing that Codex could find
        fork = ("codex", "fork", session_id)
        resume = ResumeCommand(("codex", "resume", session_id), folder, _environment(file), fork=fork)
    started, ended = rollout.times() or (_started(meta, file.path),) * 2
    return _transcript(
        file,
        session_id,
        exchanges,
        tools=_placed(tools, places),
        goal=rollout.goal,
        parent_id=parent,
        agent=agent,
        given_title=rollout.name,
        started_at=started,
        ended_at=ended,
        workspace=folder,
        branch=(_string(git.get("branch")) or None) if isinstance(git, dict) else None,
        repository=_string(git.get("repository_url")) if isinstance(git, dict) else "",
        outputs=sum(turn.outputs for turn in turns),
        model=rollout.model or None,
        files_changed=rollout.changes.all(),
        resume=resume,
        flags=_flags(meta, archived),
        rank=0 if archived else 1,
    )


def _read_saved_chat(file: SourceFile, problems: list[Problem], tools: RolloutTools | None) -> ReadTranscript | None:
    chat = saved_chat(file.path)
    rollout = Rollout(tools)
    for item in chat.items:
        rollout.take(item)
    problems += _problems(file, Counter({"malformed items": chat.malformed}) + rollout.unknown)
    if not (rollout.records or chat.session):
        return None
    turns = rollout.finished()
    session_id = chat_id(chat)
    started = _started(chat.session, file.path)
    # an early save ends with a message still without its reply, which must count as the same exchange later
    exchanges, places = exchanges_of(turns, session_id, keys_by_user=True)
    return _transcript(
        file,
        session_id,
        exchanges,
        tools=_placed(tools, places),
        started_at=started,
        ended_at=started,
        workspace=rollout.first_folder or None,
        outputs=sum(turn.outputs for turn in turns),
        files_changed=rollout.changes.all(),
        rank=len(chat.items),
    )


def _placed(tools: RolloutTools | None, places: Sequence[int]) -> Sequence[ToolUse]:
    """Return the uses of tools, each with the exchange that the file had come to."""
    if tools is None:
        return ()
    return tools.log.tools(lambda place: max(0, bisect_right(places, place) - 1))


def _transcript(
    file: SourceFile,
    session_id: str,
    exchanges: Sequence[Exchange],
    *,
    tools: Sequence[ToolUse],
    outputs: int,
    goal: str = "",
    **facts: Any,
) -> ReadTranscript:
    prompts = [exchange.user for exchange in exchanges if exchange.user]
    replies = sum(1 for exchange in exchanges if exchange.assistant)
    title = first_title([*prompts, goal])
    transcript = Transcript(
        source=SOURCE,
        session_id=session_id,
        path=file.path,
        label=LABEL,
        prompt_title=title,
        exchange_keys=packed_keys([exchange.key for exchange in exchanges]),
        message_count=len(prompts) + replies + outputs,
        reply_count=replies,
        topics=topic_tags(text for exchange in exchanges for text in (exchange.user, exchange.assistant) if text),
        **facts,
    )
    return ReadTranscript(transcript, tuple(exchanges), tools)


def _id_in_name(path: str) -> str:
    """Return the UUID at the end of the file's name, else the name itself."""
    stem = Path(path).name.removesuffix(".zst").rpartition(".")[0]
    found = _UUID.search(stem)
    return found[0] if found is not None else stem


def _parent(meta: Mapping[str, Any], session_id: str) -> tuple[str, str]:
    """Return the session that started this one as a subagent, and the subagent's name; ("", "") for a session."""
    source = meta.get("source")
    if not isinstance(source, dict) or "subagent" not in source:
        return "", ""
    how = source["subagent"]
    spawned = how.get("thread_spawn") if isinstance(how, dict) else None
    spawned = spawned if isinstance(spawned, dict) else {}
    named = (spawned.get("parent_thread_id"), *(meta.get(key) for key in ("parent_thread_id", "forked_from_id")))
    # since 0.145 the session id of a subagent is that of the conversation at the top
    candidates = [_string(value) for value in (*named, meta.get("session_id"))]
    parent = next((value for value in candidates if value and value != session_id), _NO_PARENT)
    names = [spawned.get("agent_nickname"), spawned.get("agent_role"), meta.get("agent_nickname"), how]
    names.append(how.get("other") if isinstance(how, dict) else None)
    return parent, next((name for value in names if (name := _string(value))), session_id)


def _flags(meta: Mapping[str, Any], archived: bool) -> tuple[str, ...]:
    source = meta.get("source")
    by_program = source == "mcp" or (isinstance(source, dict) and "internal" in source)
    # `codex exec` is as much a person's own command as the full screen
    by_person = ("exec",) if source == "exec" else ()
    return (*(("sdk",) if by_program else by_person), *(("archived",) if archived else ()))


def _environment(file: SourceFile) -> dict[str, str]:
    """Return the variable that leads Codex to this file's root, where that is not the home folder's own."""
    if not file.kind.endswith(ELSEWHERE):
        return {}
    root = next((parent.parent for parent in Path(file.path).parents if parent.name in FOLDERS), None)
    return {} if root is None else {"CODEX_HOME": str(root)}


def _started(meta: Mapping[str, Any], path: str) -> datetime | None:
    """Return the start recorded for the whole session, else the one in the file's name, which is local time."""
    recorded = instant(meta.get("timestamp"))
    if recorded is not None:
        return recorded
    named = _FILE_NAME.fullmatch(Path(path).name)
    if named is None:
        return None
    day, *clock = named.groups()[:4]
    try:
        local = datetime.fromisoformat(f"{day}T{':'.join(clock)}" if all(clock) else day)
        return local.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""

"""Reading one transcript of Claude Code into sessions: its own, and those of subagents in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import orjson

from prima_tui.model.session import Exchange, ResumeCommand, Transcript, packed_keys
from prima_tui.model.tags import topic_tags
from prima_tui.model.titles import first_title
from prima_tui.sources.base import Problem, ReadResult, ReadTranscript, SourceFile
from prima_tui.sources.claude_code_conversation import Conversation
from prima_tui.sources.claude_code_folders import (
    LABEL,
    OTHER_ROOT,
    SOURCE,
    is_agent_file,
    is_compaction_run,
    session_folder,
)
from prima_tui.sources.claude_code_reading import Reading
from prima_tui.sources.claude_code_records import Records
from prima_tui.sources.jsonl import LONGEST_LINE, first_and_last

_WARM_UP = "Warmup"
_ELSEWHERE = (
    "Claude Code finds a session from another folder since version 2.1.223; an older one says that there is no such "
    "conversation, unless a link to the new folder stands in the old one's place"
)
"""What resuming has against a folder that isn't the session's own: before, only that folder's sessions were found."""


def read_file(file: SourceFile, *, with_tools: bool) -> ReadResult:
    """Read one file: the session first, then the subagents that older versions wrote into the same file."""
    path = Path(file.path)
    if is_compaction_run(path):
        return ReadResult()
    reading = Reading(path, is_agent=is_agent_file(path))
    records = Records(file.path)
    problems: list[Problem] = []
    try:
        if with_tools:
            for record, line in records.with_tools():
                reading.add_with_tools(record, line)
        else:
            for record in records:
                reading.add(record)
    except OSError as error:
        problems.append(Problem(f"can't be read: {error.strerror or error}", file.path))
    if records.malformed:
        problems.append(Problem("malformed lines", file.path, records.malformed))
    if records.too_long:
        problems.append(Problem(f"lines over {LONGEST_LINE >> 20} MB", file.path, records.too_long))
    problems += reading.problems()
    make = _agent_transcripts if reading.is_agent else _session_transcripts
    return ReadResult(tuple(make(file, reading)), problems=tuple(problems))


def _session_transcripts(file: SourceFile, reading: Reading) -> Iterator[ReadTranscript]:
    session_id = reading.path.stem
    exchanges = reading.main.exchanges()
    transcript = _transcript(file, reading, session_id, reading.main, exchanges)
    if exchanges or transcript.files_changed:
        flags = {"sdk": reading.is_program_s(), "background": reading.is_background}
        flags["warmup"] = set(reading.main.prompt_candidates()) == {_WARM_UP} and False not in reading.prompt_sources
        yield ReadTranscript(
            msgspec.structs.replace(
                transcript,
                given_title=reading.given_title,
                generated_title=reading.generated_title,
                summaries=tuple(reading.summaries),
                own_tags=(reading.own_tag,) if reading.own_tag else (),
                resume=_resume_command(file, reading, session_id),
                flags=tuple(name for name, holds in flags.items() if holds),
            ),
            exchanges,
            reading.tools_of(reading.main),
        )
    elif reading.summaries:
        carrier = Transcript(SOURCE, session_id, file.path, summaries=tuple(reading.summaries), flags=("carrier",))
        yield ReadTranscript(carrier)
    for name, sidechain in reading.sidechains.items():
        if sidechain.first_words == _WARM_UP:
            continue
        exchanges = sidechain.exchanges(name)
        transcript = _transcript(file, reading, f"{session_id}/{name}", sidechain, exchanges, part=name)
        if exchanges or transcript.files_changed:
            child = msgspec.structs.replace(transcript, parent_id=session_id, agent=name)
            yield ReadTranscript(child, exchanges, reading.tools_of(sidechain))


def _agent_transcripts(file: SourceFile, reading: Reading) -> Iterator[ReadTranscript]:
    """Yield the subagent's transcript, unless the run was a mere warm-up.

    It belongs to the session whose folder the file lies in (a fork copies the records, ids of the first session among
    them); a file beside the sessions belongs to the session that its records name.
    """
    if reading.main.first_words == _WARM_UP:
        return
    folder = session_folder(reading.path)
    parent_id = folder.name if folder is not None else reading.parent_id
    agent = _recorded_name(reading.path) or reading.agent_id or reading.path.stem.removeprefix("agent-")
    exchanges = reading.main.exchanges(agent)
    transcript = _transcript(file, reading, reading.path.stem, reading.main, exchanges)
    if exchanges or transcript.files_changed:
        child = msgspec.structs.replace(transcript, parent_id=parent_id, agent=agent)
        yield ReadTranscript(child, exchanges, reading.tools_of(reading.main))


def _transcript(
    file: SourceFile,
    reading: Reading,
    session_id: str,
    conversation: Conversation,
    exchanges: tuple[Exchange, ...],
    *,
    part: str = "",
) -> Transcript:
    """Return what is said alike of a session and of a subagent; ``part`` names the inline sidechain."""
    started_at, ended_at = first_and_last(reading.stamps.get(part, []))
    return Transcript(
        source=SOURCE,
        session_id=session_id,
        path=file.path,
        label=LABEL,
        prompt_title=first_title(conversation.prompt_candidates()),
        record_keys=b"" if part else packed_keys(list(reading.record_ids)),
        exchange_keys=packed_keys([exchange.key for exchange in exchanges]),
        started_at=started_at,
        ended_at=ended_at,
        workspace=reading.workspace(),
        branch=reading.branch or None,
        repository=reading.original_folder,
        message_count=conversation.message_count,
        reply_count=sum(1 for exchange in exchanges if exchange.assistant),
        model=conversation.model,
        topics=topic_tags(text for exchange in exchanges for text in (exchange.user, exchange.assistant) if text),
        files_changed=conversation.files_changed(),
    )


def _resume_command(file: SourceFile, reading: Reading, session_id: str) -> ResumeCommand:
    env = {"CLAUDE_CONFIG_DIR": str(reading.path.parent.parent.parent)} if file.kind.endswith(OTHER_ROOT) else {}
    argv = ("claude", "--resume", session_id)
    return ResumeCommand(argv, reading.workspace(), env, _ELSEWHERE, fork=(*argv, "--fork-session"))


def _recorded_name(path: Path) -> str:
    """Return the name or else the type of a subagent, from the file beside its transcript; "" if there is none."""
    try:
        described = orjson.loads(path.with_suffix(".meta.json").read_bytes())
    except (OSError, ValueError):
        return ""
    if isinstance(described, dict):
        for field in ("name", "agentType"):
            value = described.get(field)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return ""

"""Claude Code: JSON Lines transcripts below ``~/.claude/projects``, one file a session, subagents inline or beside it.

What its records mean is known from Anthropic's own readers and from files of versions 1.0 to 2.1.240.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import orjson

from prima_tui.model.session import Exchange, ResumeCommand, ToolUse, Transcript, packed_keys
from prima_tui.model.tags import topic_tags
from prima_tui.model.titles import title_from_prompt
from prima_tui.sources.base import Problem, ReadResult, ReadTranscript, Scope, SourceFile
from prima_tui.sources.claude_code_branches import Branches
from prima_tui.sources.claude_code_cleanup import deleted_at
from prima_tui.sources.claude_code_conversation import Conversation, Stamp
from prima_tui.sources.claude_code_folders import (
    OTHER_ROOT,
    config_root,
    config_roots,
    is_agent_file,
    is_compaction_run,
    is_own_place,
    is_workspace_folder,
    project_folder,
    project_folder_name,
    recorded_folders,
    session_folder,
    stands_for,
    transcript_files,
)
from prima_tui.sources.claude_code_records import Record, Records
from prima_tui.sources.claude_code_tools import SessionTools
from prima_tui.sources.jsonl import LONGEST_LINE, first_and_last
from prima_tui.sources.places import same_place

_SILENT = frozenset(
    {
        *("agent-name", "agent-setting", "last-prompt", "file-history-snapshot", "mode", "permission-mode", "pr-link"),
        *("frame-link", "bridge-session", "atis-latch", "content-replacement", "started", "result", "progress"),
    }
)
"""Known record types that hold nothing of use, beyond their id, time and folder."""
_ERROR_SUMMARIES = ("API Error", "Invalid API key", "Please run /login", "Credit balance is too low")
"""How texts begin that became a summary because the call that should have written one failed."""
_SOURCE = "claude-code"
_LABEL = "[transcript]"
_WARM_UP = "Warmup"
_ELSEWHERE = (
    "Claude Code finds a session from another folder since version 2.1.223; an older one says that there is no such "
    "conversation, unless a link to the new folder stands in the old one's place"
)
"""What resuming has against a folder that isn't the session's own: before, only that folder's sessions were found."""
_UNKNOWN_TYPES_SHOWN = 20
_SHORT_ID = 8


class ClaudeCode:
    """The source of Claude Code's transcripts."""

    id = _SOURCE
    label = _LABEL
    extracted = True
    """Substantial sessions get an extract when they are indexed."""

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return Claude Code's configuration folders: those of ``CLAUDE_CONFIG_DIR``, else the two usual ones."""
        return [root for root, _other in config_roots(scope)]

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield the files of sessions and subagents in the workspace's project folders, or everywhere in all."""
        return transcript_files(scope, self.id, problems)

    def read(self, file: SourceFile) -> ReadResult:
        """Read one file: the session first, then the subagents that older versions wrote into the same file."""
        return self._read(file, with_tools=False)

    def read_tools(self, file: SourceFile) -> ReadResult:
        """Read one file with what tools were given and gave back."""
        return self._read(file, with_tools=True)

    def _read(self, file: SourceFile, *, with_tools: bool) -> ReadResult:
        path = Path(file.path)
        if is_compaction_run(path):
            return ReadResult()
        reading = _Reading(path, is_agent=is_agent_file(path))
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

    def expires_at(self, file: SourceFile) -> datetime | None:
        """Return when Claude Code deletes the file: some days, which its settings say, after it was last written to."""
        return deleted_at(config_root(file.path), file.mtime_ns)

    def contains(self, transcript: Transcript, scope: Scope) -> bool:
        """Tell whether a session lies in a project folder of the workspace and is not another project's there.

        Different paths can give one folder name. A session whose own folder fits the name, but is another one, is the
        other project's; one whose folder doesn't fit was moved there, or the folder has a name of the user's choice.
        """
        if scope.everywhere:
            return True
        folder, own = project_folder_name(transcript.path), transcript.workspace
        if is_workspace_folder(folder, scope):
            others = own is not None and stands_for(folder, own)
            if not others or any(same_place(own or "", place) for place in scope.own_folders):
                return True
        elif own is not None and is_own_place(folder, own, scope):
            return True
        return scope.repository and own is not None and scope.takes(own, transcript.repository)

    def recorded_folders(self, scope: Scope) -> Iterable[str]:
        """Return the folders in which sessions of any workspace were recorded, as far as their first records tell."""
        return recorded_folders(scope)

    def finish(
        self,
        transcripts: Sequence[Transcript],
        names: Mapping[str, str],  # noqa: ARG002
        folders: Mapping[str, str],  # noqa: ARG002
    ) -> list[Transcript]:
        """Return the transcripts as they are: each file says all about its session but the owner of a summary."""
        return list(transcripts)


class _Reading:
    """Collects what the records of one file say."""

    def __init__(self, path: Path, *, is_agent: bool) -> None:
        self.path = path
        self.is_agent = is_agent
        self.folder = project_folder(path).name
        self.branches = None if is_agent else Branches()
        self.main = Conversation(path.stem, self.branches)
        self.sidechains: dict[str, Conversation] = {}
        self.stamps: dict[str, list[Stamp]] = {"": []}
        """Record times: of the whole file under "", of each inline sidechain under its name."""
        self._stamps = self.stamps[""]
        self.record_ids: dict[str, None] = {}
        self.sidechain_of: dict[str, str] = {}
        self.folders: dict[str, None] = {}
        self.sidechain_folders: dict[str, None] = {}
        self.summaries: list[tuple[str, str]] = []
        self.given_title = self.generated_title = self.own_tag = ""
        self.relocated = self.original_folder = ""
        self.branch = ""
        self.parent_id = self.agent_id = ""
        self.is_background = False
        self.entrypoints: set[bool] = set()
        self.prompt_sources: set[bool] = set()
        """Whether programs (True) or people (False) are recorded as those who started it, or who wrote a prompt."""
        self._unknown: Counter[str] = Counter()
        self.tools: dict[int, SessionTools] = {}
        """The ``id()`` of a conversation to its uses of tools, when they are asked for."""

    def add_with_tools(self, record: Record, line: dict[str, Any] | None) -> None:
        """Take one record in; ``line`` is all of it when it holds a use of a tool or thinking."""
        conversation = self.add(record)
        if line is None or record.isApiErrorMessage:
            return
        tools = self.tools.get(id(conversation))
        if tools is None:
            folder = session_folder(self.path) or self.path.with_suffix("")
            tools = self.tools[id(conversation)] = SessionTools(conversation, Path(folder) / "tool-results")
        tools.add(record, line)

    def tools_of(self, conversation: Conversation) -> Sequence[ToolUse]:
        """Return the uses of tools in one conversation, in order; nothing when they were not asked for."""
        found = self.tools.get(id(conversation))
        if found is None:
            return ()
        places = conversation.places()
        return found.log.tools(lambda anchor: places.get(id(anchor), 0))

    def add(self, record: Record) -> Conversation:
        """Take one record in, of any type; return the conversation that it is part of."""
        stamp, uuid = record.timestamp, record.uuid
        if stamp is not None:
            self._stamps.append(stamp)
        if uuid:
            self.record_ids[uuid] = None
        kind = record.type or ""
        if self.is_agent:
            conversation = self.main
            self.parent_id = self.parent_id or record.sessionId or record.session_id or ""
            self.agent_id = self.agent_id or record.agentId or ""
            self._note_place(record)
        elif record.isSidechain:
            conversation = self._sidechain(record)
            if record.cwd:
                self.sidechain_folders[record.cwd] = None
        else:
            conversation = self.main
            self._note_place(record)
            if self.branches is not None:
                self.branches.add(record)
        if kind == "assistant":
            conversation.add_assistant(record)
        elif kind == "user":
            conversation.add_user(record)
            self._note_origin(record)
        elif kind == "attachment":
            conversation.add_attachment(record)
        elif kind == "system":
            if record.subtype == "compact_boundary":
                conversation.add_compaction()
        elif kind not in _SILENT:
            self._add_metadata(kind, record)
        return conversation

    def _add_metadata(self, kind: str, record: Record) -> None:
        if kind == "queue-operation":
            self.main.add_queue_operation(record)
        elif kind == "summary":
            text = (record.summary or "").strip()
            if text and record.leafUuid and not text.startswith(_ERROR_SUMMARIES):
                self.summaries.append((record.leafUuid, text))
        elif kind == "custom-title":
            self.given_title = (record.customTitle or "").strip()
        elif kind == "ai-title":
            self.generated_title = (record.aiTitle or "").strip()
        elif kind == "tag":
            self.own_tag = (record.tag or "").strip()
        elif kind == "relocated":
            self.relocated = record.relocatedCwd or self.relocated
        elif kind == "worktree-state":
            if record.worktreeSession is not None:
                self.original_folder = record.worktreeSession.originalCwd or self.original_folder
        else:
            self._unknown[kind] += 1

    def _note_place(self, record: Record) -> None:
        folder, branch = record.cwd, record.gitBranch
        if folder:
            self.folders[folder] = None
        if branch and (branch != "HEAD" or not self.branch):
            self.branch = branch

    def _note_origin(self, record: Record) -> None:
        """Note who wrote the prompts, as entry points and, in newer versions, prompts themselves tell."""
        if record.entrypoint:
            self.entrypoints.add(record.entrypoint.startswith("sdk"))
        if record.promptSource and record.promptSource.startswith(("typed", "sdk")):
            self.prompt_sources.add(record.promptSource != "typed")
        if record.sessionKind == "bg":
            self.is_background = True

    def is_program_s(self) -> bool:
        """Tell whether a program made the session; one that a person went on with is that person's."""
        return (self.prompt_sources or self.entrypoints) == {True}

    def _sidechain(self, record: Record) -> Conversation:
        """Return the inline sidechain that a record is part of: by its agent, else by its parent, else a new one."""
        name = record.agentId or self.sidechain_of.get(record.parentUuid or "")
        if name is None:
            root = record.uuid or f"sidechain-{len(self.sidechains) + 1}"
            name = root[:_SHORT_ID] if root[:_SHORT_ID] not in self.sidechains else root
        if record.uuid:
            self.sidechain_of[record.uuid] = name
        if record.timestamp is not None:
            self.stamps.setdefault(name, []).append(record.timestamp)
        conversation = self.sidechains.get(name)
        if conversation is None:
            conversation = self.sidechains[name] = Conversation(f"{self.path.stem}/{name}")
        return conversation

    def workspace(self) -> str | None:
        """Return the folder to resume in: a recorded one that the project folder stands for; else where it began."""
        places = list(self.folders) or list(self.sidechain_folders)
        noted = [place for place in (self.relocated, self.original_folder) if place]
        fitting = next((place for place in places + noted if stands_for(self.folder, place)), None)
        return fitting or next(iter(noted + places), None)

    def problems(self) -> Iterator[Problem]:
        """Yield one problem for each record type that isn't known."""
        for kind, count in self._unknown.most_common(_UNKNOWN_TYPES_SHOWN):
            name = kind.encode("unicode_escape").decode()[:60]
            yield Problem(f'unknown record type "{name}"' if kind else "records without a type", str(self.path), count)


def _session_transcripts(file: SourceFile, reading: _Reading) -> Iterator[ReadTranscript]:
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
        carrier = Transcript(_SOURCE, session_id, file.path, summaries=tuple(reading.summaries), flags=("carrier",))
        yield ReadTranscript(carrier)
    for name, sidechain in reading.sidechains.items():
        if sidechain.first_words == _WARM_UP:
            continue
        exchanges = sidechain.exchanges(name)
        transcript = _transcript(file, reading, f"{session_id}/{name}", sidechain, exchanges, part=name)
        if exchanges or transcript.files_changed:
            child = msgspec.structs.replace(transcript, parent_id=session_id, agent=name)
            yield ReadTranscript(child, exchanges, reading.tools_of(sidechain))


def _agent_transcripts(file: SourceFile, reading: _Reading) -> Iterator[ReadTranscript]:
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
    reading: _Reading,
    session_id: str,
    conversation: Conversation,
    exchanges: tuple[Exchange, ...],
    *,
    part: str = "",
) -> Transcript:
    """Return what is said alike of a session and of a subagent; ``part`` names the inline sidechain."""
    started_at, ended_at = first_and_last(reading.stamps.get(part, []))
    titles = (title_from_prompt(text) for text in conversation.prompt_candidates())
    return Transcript(
        source=_SOURCE,
        session_id=session_id,
        path=file.path,
        label=_LABEL,
        prompt_title=next((title for title in titles if title), ""),
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


def _resume_command(file: SourceFile, reading: _Reading, session_id: str) -> ResumeCommand:
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

"""What one Claude Code transcript says, record by record: conversations, folder, titles, who wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prima_tui.model.session import ToolUse
from prima_tui.sources.base import Problem
from prima_tui.sources.claude_code_branches import Branches
from prima_tui.sources.claude_code_conversation import Conversation, Stamp
from prima_tui.sources.claude_code_folders import project_folder, session_folder, stands_for
from prima_tui.sources.claude_code_records import Record
from prima_tui.sources.claude_code_tools import SessionTools

_SILENT = frozenset(
    {
        *("agent-name", "agent-setting", "last-prompt", "file-history-snapshot", "mode", "permission-mode", "pr-link"),
        *("frame-link", "bridge-session", "atis-latch", "content-replacement", "started", "result", "progress"),
    }
)
"""Known record types that hold nothing of use, beyond their id, time and folder."""
_ERROR_SUMMARIES = ("API Error", "Invalid API key", "Please run /login", "Credit balance is too low")
"""How texts begin that became a summary because the call that should have written one failed."""
_UNKNOWN_TYPES_SHOWN = 20
_SHORT_ID = 8


class Reading:
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

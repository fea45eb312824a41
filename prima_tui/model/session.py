"""Sessions and what they are made of: frozen structs that flow from the sources up to every door.

A source reads one file into a :class:`Transcript` (what that one file says of one session). Transcripts that belong
together (a session's main file, its subagents, a second copy of it) are put together into one :class:`Session`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

KEY_BYTES = 8
Action = Literal["write", "edit", "add", "update", "delete", "move"]


class FileChange(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One file written or edited by a tool of the agent (a change made through a terminal command is none)."""

    path: str
    """As recorded, mostly absolute; :func:`shown_path` gives the form for people and for matching."""
    action: Action = "edit"
    at: datetime | None = None
    explanation: str = ""
    """The text of the reply just before the tool use, "" where there is none."""


class Exchange(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One reply of the assistant, with the typed message it answers when it is the first reply after one.

    ``assistant`` is "" for a typed message that got no reply; ``user`` is "" for a further reply of the same turn.
    """

    user: str = ""
    assistant: str = ""
    at: datetime | None = None
    """When it began: the time of the user message, else of the reply (UTC)."""
    key: str = ""
    """Identity across copies of a conversation: the agent's own id of the reply, else of the user message."""
    agent: str = ""
    """Name or id of the subagent it happened in; "" in the main conversation."""
    rewound: bool = False
    """On a branch of the conversation that the user left by going back."""
    compacted: bool = False
    """The agent compacted its context just before this exchange."""


class TextEdit(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One stretch of a file that a tool replaced: enough to draw a diff of it."""

    path: str
    """As recorded, mostly absolute."""
    old: str = ""
    """The text before, "" for a new file or where it isn't recorded."""
    new: str = ""
    action: Action = "edit"


class ToolUse(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One use of a tool: what it was given, what it gave back. Pictures and other binary data are named, not kept."""

    position: int
    """Place, from 0, of the exchange it belongs to, the one shown just before or around it, in its transcript."""
    name: str = ""
    """The tool's name as recorded; "" when only what it gave back is recorded."""
    summary: str = ""
    """One line: what was run, or which file it is about."""
    given: str = ""
    gave: str = ""
    failed: bool = False
    at: datetime | None = None
    edits: tuple[TextEdit, ...] = ()
    """What it changed in files, where that is recorded; also that of a use that failed."""
    thinking: bool = False
    """No use of a tool, but what the model thought at this point: the text is ``gave``. It is never searched."""

    @property
    def path(self) -> str:
        """The first file it changed, "" when it changed none."""
        return self.edits[0].path if self.edits else ""


class ResumeCommand(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """How the agent itself takes a session up again: arguments, the folder to start in, variables to set."""

    argv: tuple[str, ...]
    cwd: str | None = None
    env: dict[str, str] = {}
    elsewhere: str = ""
    """What the agent has against being started in another folder than ``cwd``; "" when that is all the same to it."""
    fork: tuple[str, ...] = ()
    """The arguments that take the session up as a new one, the old one left as it is; empty where the agent can't."""


class Transcript(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What one file says of one session, before files are put together.

    Titles are kept apart by where they come from, because which one counts can depend on other files.
    """

    source: str
    session_id: str
    path: str
    """The file it was read from."""
    label: str = ""
    parent_id: str = ""
    """Set for a subagent's file: the session that started it. Such a transcript is never a session of its own."""
    agent: str = ""
    """Set with ``parent_id``: the subagent's name or id."""
    given_title: str = ""
    """The title a person gave it."""
    generated_title: str = ""
    """The title the agent's program gave it."""
    prompt_title: str = ""
    """The cleaned first real user message (:func:`prima_tui.model.titles.title_from_prompt`); "" when there is none."""
    summaries: tuple[tuple[str, str], ...] = ()
    """(leaf record id, text) of every summary line in the file, in order; they may belong to other files."""
    record_keys: bytes = b""
    """:func:`key64` of every record id in the file, 8 bytes each, little endian: tells which file owns a summary."""
    exchange_keys: bytes = b""
    """:func:`key64` of each exchange's ``key``, in order, 8 bytes each."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    workspace: str | None = None
    """The folder the session belongs to and is resumed in, as recorded; None where none is."""
    branch: str | None = None
    repository: str = ""
    """What the agent recorded of the folder's repository: a remote's address, or the folder whose worktree it is."""
    message_count: int = 0
    """User and assistant records of the main conversation, tool results among them, copies once."""
    reply_count: int = 0
    """Replies of the assistant with visible text; for the main file of a session its exchange count."""
    author: str | None = None
    model: str | None = None
    topics: tuple[str, ...] = ()
    """The tags that the words of the conversation give (bugfix, refactor, testing, feature)."""
    own_tags: tuple[str, ...] = ()
    """Tags recorded in the file itself (Claude Code's ``/tag``)."""
    files_changed: tuple[FileChange, ...] = ()
    resume: ResumeCommand | None = None
    flags: tuple[str, ...] = ()
    """Facts a filter can ask for: ``sdk`` (a program's session), ``exec`` (a command's), ``warmup``, ``background``,
    ``archived``, ``remote``."""
    rank: int = 0
    """Between two files of one session id the higher rank leads; then the later ``ended_at``."""


class Session(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One session as people see it. Its exchanges are fetched apart, by ``(id, source)``."""

    id: str
    source: str
    label: str
    title: str
    tags: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    workspace: str | None = None
    branch: str | None = None
    message_count: int = 0
    exchange_count: int = 0
    author: str | None = None
    model: str | None = None
    files_changed: tuple[FileChange, ...] = ()
    paths: tuple[str, ...] = ()
    """The files it was read from, the main one first."""
    resume: ResumeCommand | None = None
    flags: tuple[str, ...] = ()
    """Those of the transcript, ``subagent`` for a session that started some, and ``deleted`` for a conversation whose
    file is gone and only the index still has."""
    continued_by: str = ""
    """Id of the session that holds a copy of this whole conversation and goes on from it; "" mostly."""
    copied_from: str = ""
    """Id of the session that this one begins with copies of (a fork); "" mostly."""
    expires_at: datetime | None = None
    """When its agent will delete it, as it is now (UTC); None: never, or not known."""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies a session on this computer: source and id."""
        return (self.source, self.id)


def key64(identifier: str) -> bytes:
    """Return 8 bytes that stand for a record's or a reply's id (collisions are as unlikely as for any 64-bit hash)."""
    return hashlib.blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def packed_keys(identifiers: Sequence[str]) -> bytes:
    """Return :func:`key64` of each id, joined: ``8 * len(identifiers)`` bytes."""
    return b"".join(map(key64, identifiers))


def split_keys(keys: bytes) -> list[bytes]:
    """Return the keys that were joined."""
    return [keys[place : place + KEY_BYTES] for place in range(0, len(keys), KEY_BYTES)]


def holds_key(keys: bytes, key: bytes) -> bool:
    """Tell whether a key is among joined ones."""
    place = keys.find(key)
    while place >= 0 and place % KEY_BYTES:
        place = keys.find(key, place + 1)
    return place >= 0


def shown_path(path: str, workspace: str | None) -> str:
    """Return ``path`` relative to the session's own folder when it lies inside, else as it is.

    So the workspace's own name, which stands in every absolute path, does not match every session.
    Both separators are understood; a Windows path is compared without regard to case.
    """
    if not workspace:
        return path
    base = workspace.rstrip("/\\")
    head, rest = path[: len(base)], path[len(base) :]
    windows = "\\" in base or base[1:2] == ":"
    same = head.replace("\\", "/").lower() == base.replace("\\", "/").lower() if windows else head == base
    if base and same and rest[:1] in ("/", "\\") and len(rest) > 1:
        return rest[1:]
    return path

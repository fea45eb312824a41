"""What a search gives back, and what the doors (screen, command line, MCP) show of the work behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from prima_tui.model.documents import DocumentHit
from prima_tui.model.session import Exchange, ResumeCommand, Session

Mode = Literal["keyword", "semantic", "combined"]
MODES: tuple[Mode, ...] = ("combined", "keyword", "semantic")


class Reason(msgspec.Struct, frozen=True, gc=False):
    """Why a session was found: one part of its score."""

    kind: Literal["title", "file", "words", "meaning", "recent", "changes", "tool"]
    points: float
    """Points of the keyword score; for ``meaning`` the cosine."""
    detail: str = ""
    """The file's path for ``file``; "" mostly."""


class Hit(msgspec.Struct, frozen=True, gc=False):
    """One session that a search found, with its best exchange."""

    session: Session
    score: float
    """What orders the list."""
    keyword_score: float | None = None
    similarity: float | None = None
    exchange_index: int | None = None
    """Place of the best exchange in the session's conversation, from 0; None when only title or files matched."""
    exchange: Exchange | None = None
    reasons: tuple[Reason, ...] = ()


class ExtractFound(msgspec.Struct, frozen=True):
    """An extract or checkpoint file that a deep search found."""

    path: str
    project: str
    at: datetime
    description: str
    text: str
    score: float


class PastEntry(msgspec.Struct, frozen=True):
    """A summary of the session history, shown when the conversations held nothing."""

    month: str
    """``YYYY-MM``."""
    date: str
    """``YYYY-MM-DD``, "" where none is recorded."""
    time: str
    text: str
    projects: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The answer to one query, complete in itself: it carries the query, so a stale one can be told and dropped."""

    query: str
    mode: Mode
    hits: Sequence[Hit] = ()
    """Best first; each may be made only when it is looked at."""
    words: tuple[str, ...] = ()
    """What to highlight: the plain words and quoted phrases of the query, filters left out."""
    similar: tuple[Session, ...] = ()
    """When nothing was found: sessions with a like title or file path, for a heading of their own."""
    extracts: tuple[ExtractFound, ...] = ()
    """Of a deep search only."""
    documents: tuple[DocumentHit, ...] = ()
    """The best of the project's documents, best first, where it has a memory."""
    project: str = ""
    """The root that the documents' paths are relative to; "" when no documents were looked for or there are none."""
    session_history: tuple[PastEntry, ...] = ()
    """Under the heading ``Session History Summaries``, when there are no hits."""
    warnings: tuple[str, ...] = ()
    took_ms: float = 0.0
    indexed_exchanges: int = 0
    pending_files: int = 0
    kin: Sequence[int] | None = None
    """Places of the only hits that have copies or are one; None: not known."""


class Conversation(msgspec.Struct, frozen=True):
    """A session with all its exchanges, the main conversation's in file order, its subagents' after them."""

    session: Session
    exchanges: tuple[Exchange, ...] = ()


class Snapshot(msgspec.Struct, frozen=True, gc=False):
    """The sessions in scope as far as they are known, newest first."""

    sessions: Sequence[Session] = ()
    files_done: int = 0
    files_total: int = 0
    complete: bool = False
    warnings: tuple[str, ...] = ()
    hidden: int = 0
    """How many sessions are left out because nobody typed in them: programs' sessions and warm-ups."""


class IndexProgress(msgspec.Struct, frozen=True):
    """How far an update or a rebuild of the semantic index is."""

    files_done: int = 0
    files_total: int = 0
    exchanges_embedded: int = 0
    exchanges_reused: int = 0
    seconds: float = 0.0
    finished: bool = False
    note: str = ""
    """Why it stopped early or did nothing, for the status line; "" mostly."""


class SourceStatus(msgspec.Struct, frozen=True):
    """One source as ``status`` shows it."""

    source: str
    installed: bool
    files: int
    sessions: int
    warnings: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    """The folders it is looked for in, whether they exist or not."""


class Status(msgspec.Struct, frozen=True):
    """The state of everything, as ``prima-tui status`` shows it."""

    workspace: str
    sources: tuple[SourceStatus, ...]
    index_path: str
    exchanges: int
    pending_files: int
    model: str
    rebuild: str | None
    log: str
    catalog_path: str = ""
    warnings: tuple[str, ...] = ()


class ResumePlan(msgspec.Struct, frozen=True):
    """What resuming a session will run, and what stands against it."""

    session: Session
    command: ResumeCommand | None
    shell_line: str = ""
    """``cd FOLDER && COMMAND`` quoted for the shell; "" when the session can't be resumed."""
    problem: str = ""
    """Why it can't run now, with what can be done; "" when it can."""
    warning: str = ""
    """Something to know that does not stop it (a very large file, say)."""


class Cancelled(Exception):
    """Raised inside long work when its token was cancelled."""


class Cancel:
    """A token that one thread cancels and another asks. ``on_cancel`` callbacks run in the cancelling thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Ask the work that holds this token to stop."""
        self._event.set()
        for callback in list(self._callbacks):
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` when cancelled (at once if that has happened)."""
        self._callbacks.append(callback)
        if self._event.is_set():
            callback()

    @property
    def cancelled(self) -> bool:
        """Whether the work should stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise :class:`Cancelled` if the work should stop."""
        if self._event.is_set():
            raise Cancelled

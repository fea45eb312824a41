"""The one service behind every door: open a workspace, search, show, index, plan a resume.

It does nothing until it is asked, and loads the database and the model only when a question needs them. All methods
block; a screen calls them in threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from prima_tui.config import MEMORY_FOLDER, Settings, memory_folder, private_folder
from prima_tui.documents.project import find_root
from prima_tui.documents_memory import Documents
from prima_tui.errors import ModelUnavailable, PrimaError, StoreBusy, StoreUnusable, UsageError
from prima_tui.extracts import StoredExtract, extract_markdown, stored_extracts, write_extract
from prima_tui.forgotten import Forgotten, ForgottenSession, IndexPlaces
from prima_tui.last_list import LastList
from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import (
    Answer,
    Cancel,
    Conversation,
    Hit,
    IndexProgress,
    Mode,
    PastEntry,
    ResumePlan,
    Snapshot,
    Status,
)
from prima_tui.model.query import Query, parse
from prima_tui.model.session import Exchange, Session, ToolUse
from prima_tui.resume import plan_resume
from prima_tui.sources.base import Problem, Scope, inside
from prima_tui.startup_log import StartupLog, warning_lines

if TYPE_CHECKING:
    from prima_tui.history import History
    from prima_tui.index.embedder import EmbeddingModel
    from prima_tui.index.rebuild import Rebuild, RebuildState
    from prima_tui.index.update import FileShare, Updater
    from prima_tui.index.vectors import SemanticIndex
    from prima_tui.search.combined import Found
    from prima_tui.search.lines import EditFound

_DOCUMENTS_SHOWN = 5
"""Documents beside the sessions of a search."""


class Memory:
    """Everything a person or an agent can ask of the history in one scope."""

    def __init__(self, scope: Scope, settings: Settings) -> None:
        self.scope = scope
        self.settings = settings
        self.log = StartupLog(settings.paths.log)
        self._remembered: tuple[Session, ...] | None = None
        self._last = LastList(settings.paths.cache, scope.workspace, scope.everywhere)
        self.forgotten = Forgotten(settings.paths.data)
        self._places = IndexPlaces(settings.paths.data)
        self._opening = threading.RLock()
        self._history: History | None = None
        self._index: SemanticIndex | None = None
        self._embedder: EmbeddingModel | None = None
        self._other: Memory | None = None
        self._project: Documents | None = None

    # -- the history --------------------------------------------------------------------------------------------

    def everything(self, everywhere: bool) -> Memory:
        """Return the memory of the same workspace with the scope widened to every workspace, or narrowed again."""
        if everywhere == self.scope.everywhere:
            return self
        if self._other is None:
            scope = msgspec.structs.replace(self.scope, everywhere=everywhere)
            self._other = Memory(scope, self.settings)
            self._other._other = self
            self._other._embedder = self._model()
        return self._other

    def snapshot(self) -> Snapshot:
        """Return the sessions as far as they are known, newest first; never waits."""
        return self._history.snapshot if self._history else Snapshot()

    def refresh(self, report: Callable[[Snapshot], None] | None = None, cancel: Cancel | None = None) -> Snapshot:
        """Bring the sessions up to date with the files; ``report`` is called now and then while a backlog is read.

        The first call reports the list as it was last time before anything is opened.
        """
        if report is not None and (last := self._first_picture()):
            report(Snapshot(last))
        return self._open().refresh(report, cancel)

    def _first_picture(self) -> tuple[Session, ...]:
        """Return the list as it was last time, until there is one of this time."""
        if self.snapshot().sessions or self.snapshot().complete:
            return ()
        if self._remembered is None:
            self._remembered = self._last.load()
        return self._remembered

    def session(self, identifier: str) -> Session:
        """Return the session with this id, or the only one whose id starts so. Raises UsageError when there is none."""
        sessions = [entry.session for entry in self._open().library.entries]
        exact = [session for session in sessions if session.id == identifier]
        like = exact or [session for session in sessions if identifier and session.id.startswith(identifier)]
        if len(like) == 1 or exact:
            return like[0]
        if like:
            shown = ", ".join(session.id for session in like[:5])
            raise UsageError(f"{identifier!r} is the start of {len(like)} session ids: {shown}")
        raise UsageError(f"there is no session {identifier!r} here; `prima-tui sessions` lists them (--all for all)")

    def conversation(self, session: Session) -> Conversation:
        """Return the session with all its exchanges; for one whose file is gone, as the index has them."""
        history = self._open()
        entry = history.library.by_key.get(session.key)
        if entry is not None:
            return Conversation(entry.session, history.conversation(entry))
        try:
            return Conversation(session, self._semantic().conversation(session.source, session.id))
        except (StoreBusy, StoreUnusable) as error:
            self.log.note([str(error)])
            return Conversation(session)

    def tools(self, session: Session) -> tuple[tuple[ToolUse, ...], ...]:
        """Return the uses of tools, for each exchange of :meth:`conversation` those that belong to it, in order.

        Tool text isn't kept for a conversation whose file is gone: nothing is returned then.
        """
        history = self._open()
        entry = history.library.by_key.get(session.key)
        return () if entry is None else history.tools(entry)

    def all_sessions(self) -> list[Session]:
        """Return every session in scope, newest first, those that lists leave out among them."""
        return [entry.session for entry in self._open().library.entries]

    def find_edit(self, part: str, line: str) -> EditFound | None:
        """Return the newest edit that wrote a line, in a file whose path contains ``part``; None when there is none."""
        from prima_tui.search.lines import find_edit

        history = self._open()
        return find_edit(history.library.entries, history.tools, part, line)

    def extract(self, session: Session, conversation: Conversation) -> str:
        """Return the session's extract as markdown."""
        return extract_markdown(session, conversation.exchanges)

    def resume_plan(self, session: Session) -> ResumePlan:
        """Return what resuming the session will run and what stands against it."""
        return plan_resume(session, self.scope.env)

    # -- search -------------------------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        mode: Mode = "combined",
        *,
        limit: int | None = None,
        deep: bool = False,
        cancel: Cancel | None = None,
        now: datetime | None = None,
    ) -> Answer:
        """Answer a query from the sessions and the index as they stand (call ``refresh``, ``update_index`` before).

        A blank query lists all sessions, newest first. With ``limit`` at most so many hits come back, each with its
        best exchange; without it all of them, with the place of the exchange only. When the semantic half fails the
        keyword hits come with a warning. ``deep`` looks into extracts and checkpoints too. When the conversations hold
        nothing the session history's summaries are looked through. Raises Cancelled when cancelled meanwhile.
        """
        started = time.perf_counter()
        text = text.encode("utf-8", "replace").decode()  # a shell may pass on bytes that are no text
        if not text.strip() and (last := self._first_picture()):
            shown = tuple(Hit(session, 0.0) for session in last)
            return Answer(text, mode, shown, took_ms=(time.perf_counter() - started) * 1000)
        from prima_tui.search import combined
        from prima_tui.search.deep import search_extracts
        from prima_tui.search.keyword import query_words

        now = now or datetime.now(UTC).astimezone()
        cancel = cancel or Cancel()
        history = self._open()
        query = parse(text, now, history.source_ids)
        if query.words or query.phrases:
            history.load_messages()
        library = history.library
        warnings = list(query.problems)
        indexed, waiting = 0, 0
        found = combined.search(
            library,
            history.table,
            partial(self._similar, library),
            query,
            mode,
            now,
            cancel,
            warnings,
            history.tool_texts,
        )
        similar = () if found or not query.text else combined.alike(library, query, cancel)
        words = query_words(query)
        past = () if found else self._past(query, words, now)
        extracts = search_extracts(self.extracts_folder, query, words, now)[: limit or None] if deep else ()
        if mode != "keyword" and query.text:
            indexed, waiting = self._coverage()
        hits = self._with_exchanges(found[:limit]) if limit is not None else [one.hit for one in found]
        documents = self._documents_found(text, mode, limit, cancel, now, warnings)
        return Answer(
            query=text,
            mode=mode,
            hits=tuple(hits),
            words=(*query.words, *query.phrases),
            similar=tuple(similar),
            extracts=tuple(extracts),
            documents=documents,
            session_history=tuple(past),
            warnings=tuple(warnings),
            took_ms=(time.perf_counter() - started) * 1000,
            indexed_exchanges=indexed,
            pending_files=waiting,
        )

    def documents(self) -> Documents | None:
        """Return the service over the documents of the workspace's project, None when it has no memory of them."""
        root = find_root(self.scope.workspace)
        with self._opening:
            if root is None:
                self._project = None
            elif self._project is None or self._project.root != root:
                self._project = Documents(
                    root,
                    self.settings,
                    env=self.scope.env,
                    model=self._model(),
                    notice=lambda line: self.log.note([line]),
                )
            return self._project

    def update_documents(self, budget: float | None = None, spent: float = 0.0) -> list[str]:
        """Index new and changed documents within what is left of the budget; return what is to be said of it."""
        documents = self.documents()
        if documents is None:
            return []
        budget = self.settings.budget_seconds if budget is None else budget
        progress = documents.index(budget=max(0.0, budget - spent))
        return [f"documents: {line}" for line in (*progress.warnings, progress.note) if line]

    def _documents_found(
        self, text: str, mode: Mode, limit: int | None, cancel: Cancel, now: datetime, warnings: list[str]
    ) -> tuple[DocumentHit, ...]:
        """Return the best documents beside a limited number of sessions; warnings that are new are added."""
        documents = self.documents() if limit is not None else None
        if documents is None:
            return ()
        found = documents.find(text, mode, _DOCUMENTS_SHOWN, cancel=cancel, now=now)
        warnings += [line for line in found.warnings if line not in warnings]
        return found.hits

    def _past(self, query: Query, words: Sequence[str], now: datetime) -> list[PastEntry]:
        from prima_tui.search.past import search_past

        if query.filters:
            return []
        problems: list[Problem] = []
        found = search_past(self.scope.workspace, words, now.date(), problems)
        self.log.note(warning_lines("session history", problems))
        return found

    def _similar(self, library: object, query: Query, cancel: Cancel) -> list[object]:
        from prima_tui.index.vectors import rebuild_due
        from prima_tui.search.semantic import search_semantic

        index = self._semantic()
        index.load_if_free()
        if index.other_model:
            raise ModelUnavailable(rebuild_due(index.other_model, self._model().name))
        found = search_semantic(library, index, query, self._model().query, cancel)  # type: ignore[arg-type]
        return [hit for hit in found if not self.forgotten.holds(*hit.session.key)]

    def _with_exchanges(self, found: Sequence[Found]) -> list[Hit]:
        history = self._open()
        places = [one.place(history.library) for one in found]
        texts = history.exchanges((place[0], place[1]) for place in places if place is not None)
        gone = [one for one, place in zip(found, places, strict=True) if place is None and one.stored is not None]
        stored: dict[tuple[str, int, int], tuple[str, str]] = {}
        if gone:
            try:
                stored = self._semantic().texts(
                    [(s.path, s.number, s.position, s.hash) for one in gone if (s := one.stored) is not None]
                )
            except (StoreBusy, StoreUnusable) as error:
                self.log.note([str(error)])
        hits = []
        for one, place in zip(found, places, strict=True):
            exchange: Exchange | None = None
            if place is not None:
                exchanges = texts.get((place[0], place[1]), ())
                exchange = exchanges[place[2]] if place[2] < len(exchanges) else None
            elif one.stored is not None:
                sides = stored.get((one.stored.path, one.stored.number, one.stored.position))
                exchange = Exchange(*sides) if sides else None
            hits.append(msgspec.structs.replace(one.hit, exchange=exchange))
        return hits

    # -- the index ----------------------------------------------------------------------------------------------

    def update_index(
        self,
        budget: float | None = None,
        report: Callable[[IndexProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> IndexProgress:
        """Index what is new or changed, newest first, for at most ``budget`` seconds (None: the configured budget)."""
        budget = self.settings.budget_seconds if budget is None else budget
        self._purge_index()
        return self._update().run(self._open().shares(), budget, report, cancel)

    def index_everything(
        self, report: Callable[[IndexProgress], None] | None = None, cancel: Cancel | None = None
    ) -> IndexProgress:
        """Index all that is pending, however long it takes."""
        self._purge_index()
        return self._update().run(self._open().shares(), None, report, cancel)

    def _purge_index(self) -> None:
        """Remove from this index what was forgotten where it could not be reached."""
        from prima_tui.forgetting import purge_index

        try:
            if self.forgotten.sessions() and self._semantic().holds(self.forgotten.holds):
                purge_index(self._index_path().parent, self.forgotten)
        except (OSError, PrimaError) as error:
            self.log.note([f"forgotten sessions are not removed from the index yet: {error}"])

    def rebuild(
        self, report: Callable[[IndexProgress], None] | None = None, cancel: Cancel | None = None
    ) -> IndexProgress:
        """Make the index anew, going on with an interrupted rebuild; the old one answers until the new one is whole."""
        return self._rebuild().run(self._open().shares(), report or (lambda _progress: None), cancel or Cancel())

    # -- forgetting ---------------------------------------------------------------------------------------------

    def known_session(self, identifier: str) -> Session:
        """Return the session with this id, or the only one whose id starts so, also of those whose file is gone.

        Raises UsageError when there is none, or several.
        """
        try:
            return self.session(identifier)
        except UsageError:
            like = {one.key: one for one in self._semantic().kept_sessions() if one.id.startswith(identifier)}
            if len(like) != 1 or not identifier:
                raise
            return next(iter(like.values()))

    def workspace_sessions(self) -> list[Session]:
        """Return every session of this workspace: those recorded in it, and those whose files lie in it.

        Sessions that only happen to be in scope, since they record no folder, are not among them.
        """
        found = {one.key: one for one in (*self.snapshot().sessions, *self._semantic().kept_sessions())}
        return [
            session
            for session in found.values()
            if any(inside(place, self.scope.workspace) for place in (session.workspace, *session.paths) if place)
        ]

    def forget(self, sessions: Sequence[Session]) -> list[str]:
        """Put sessions on the list of what is forgotten and remove them from every store, down to the last byte.

        Called with none, it only goes through the stores again. Returns what could not be reached, one line each;
        until that has been done again it may still be found there by its bytes, never by a search. Raises PrimaError.
        """
        from prima_tui.forgetting import purge_everywhere

        history = self._open()
        if sessions:
            self.forgotten.add(sessions, history.readings())
        folders = [*self._places.all(), self.scope.workspace / MEMORY_FOLDER, self.settings.paths.data]
        left = purge_everywhere(self.forgotten, sessions, folders, history.purge_catalog, self._last, self.log)
        self.refresh()
        return left

    def recall(self, names: Sequence[str]) -> list[ForgottenSession]:
        """Take sessions off the list of what is forgotten, by id or key or the start of one. Raises UsageError."""
        gone = []
        for name in names:
            found = self.forgotten.find(name)
            if len(found) != 1:
                raise UsageError(f"{name!r} is {'no' if not found else 'the start of more than one'} forgotten session")
            gone += found
        self.forgotten.remove(one.key for one in gone)
        return gone

    def rebuild_state(self) -> RebuildState | None:
        """Return whether a rebuild is ``running`` (in any process), was ``interrupted``, or None."""
        return self._rebuild().state()

    def rebuild_loss(self) -> int:
        """Return how many exchanges a rebuild would lose because their files no longer exist. Raises PrimaError."""
        return self._rebuild().lost(share.file.path for share in self._open().shares())

    def _coverage(self) -> tuple[int, int]:
        """Return (exchanges in the index, files in scope not indexed in their present state)."""
        from prima_tui.index.update import pending

        try:
            index = self._semantic()
            index.load_if_free()
            return index.count(), len(pending(index, self._open().shares()))
        except PrimaError:
            return 0, sum(bool(share.transcripts) for share in self._open().shares())

    def status(self) -> Status:
        """Return the state of everything, with the index opened to count what it covers."""
        history = self._open()
        exchanges, waiting = self._coverage()
        return Status(
            workspace=str(self.scope.workspace),
            sources=history.sources(),
            index_path=str(self._index_path()),
            exchanges=exchanges,
            pending_files=waiting,
            model=self._model().name,
            rebuild=self._rebuild().state(),
            log=str(self.log.path),
            catalog_path=str(self.settings.paths.catalog),
            warnings=(*self.settings.problems, *history.snapshot.warnings),
        )

    def places(self) -> list[Path]:
        """Return the folders where conversations are looked for, whether they exist or not."""
        return self._open().roots()

    @property
    def extracts_folder(self) -> Path:
        """The folder below which extracts are kept, one folder for each project."""
        return self._index_path().with_name("extracts")

    def extracts(self) -> list[StoredExtract]:
        """Return the extracts and checkpoints that are kept, newest first."""
        return stored_extracts(self.extracts_folder)

    @property
    def log_path(self) -> Path:
        """The startup log's file."""
        return self.log.path

    def embedding_model(self) -> EmbeddingModel:
        """Return the model that texts and queries are embedded with, to be shared; it is loaded at its first use."""
        return self._model()

    def close(self) -> None:
        """Let the memory of the databases go."""
        if self._history is not None:
            self._history.close()
        if self._index is not None:
            self._index.close()
        if self._project is not None:
            self._project.close()

    # -- what is opened at first use ----------------------------------------------------------------------------

    def _open(self) -> History:
        with self._opening:
            if self._history is None:
                from prima_tui.history import History

                self._history = History(self.scope, self.settings.paths.catalog, self._last, self.log, self.forgotten)
                self.log.note(self.settings.problems)
            return self._history

    def _folder(self) -> Path:
        """Return the folder of the index, made if missing. Raises OSError."""
        if self.scope.everywhere:
            return private_folder(self.settings.paths.data)
        folder = memory_folder(self.scope.workspace)
        self._places.add(folder)
        return folder

    def _index_path(self) -> Path:
        folder = self.settings.paths.data if self.scope.everywhere else self.scope.workspace / MEMORY_FOLDER
        return folder / "index.duckdb"

    def _model(self) -> EmbeddingModel:
        with self._opening:
            if self._embedder is None:
                from prima_tui.index.models import chosen_model

                self._embedder = chosen_model(self.settings.model, self.settings.paths.cache, self.scope.env)
            return self._embedder

    def _semantic(self) -> SemanticIndex:
        with self._opening:
            if self._index is None:
                from prima_tui.index.vectors import SemanticIndex

                self._index = SemanticIndex(
                    self._index_path(), self._model().name, self._folder, lambda line: self.log.note([line])
                )
            return self._index

    def _exchanges(self, shares: Sequence[FileShare]) -> dict[tuple[str, int], tuple[Exchange, ...]]:
        self.forgotten.look()  # this may have been asked for long ago, and another process said "forget" since
        return self._open().exchanges(
            (share.file.path, number)
            for share in shares
            for number, session, _agent in share.transcripts
            if not self.forgotten.holds(*session.key)
        )

    def _update(self) -> Updater:
        from prima_tui.index.update import Updater

        lock = self._index_path().with_name("update.lock")
        return Updater(self._semantic(), self._model(), self._exchanges, lock, self._folder, self._write_extracts)

    def _write_extracts(self, paths: Sequence[str]) -> None:
        """Write the extracts that the sessions of newly indexed files earn; one that can't be written is noted."""
        history = self._open()
        indexed = set(paths)
        for entry in history.library.entries:
            session = entry.session
            if session.paths[0] not in indexed or not history.earns_extract(session):
                continue
            if self.forgotten.holds(*session.key):
                continue
            try:
                write_extract(self.extracts_folder, session, history.conversation(entry))
            except OSError as error:
                self.log.note([f"extract of {session.id} not written: {error}"])

    def _rebuild(self) -> Rebuild:
        from prima_tui.index.rebuild import Rebuild

        lock = self._index_path().with_name("update.lock")
        return Rebuild(
            self._semantic(), self._model(), self._exchanges, lock, self._folder, lambda line: self.log.note([line])
        )

"""The one service behind every door: open a workspace, search, show, index, plan a resume.

It does nothing until it is asked, and loads the database and the model only when a question needs them. All methods
block; a screen calls them in threads.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from prima_tui.config import MEMORY_FOLDER, add_moved_from, load_settings
from prima_tui.earlier import earlier_folders
from prima_tui.errors import PrimaError, StoreBusy, StoreUnusable, UsageError
from prima_tui.extracts import StoredExtract, extract_markdown, stored_extracts
from prima_tui.file_history import FileHistory
from prima_tui.forgotten import ForgottenSession
from prima_tui.model.documents import DocumentsProgress
from prima_tui.model.hits import (
    Cancel,
    Conversation,
    IndexProgress,
    ResumePlan,
    Snapshot,
    Status,
)
from prima_tui.model.reach import Reach
from prima_tui.model.session import Session, ToolUse
from prima_tui.model.text import fold
from prima_tui.sources.places import inside

if TYPE_CHECKING:
    from prima_tui.index.rebuild import RebuildState

Shown = TypeVar("Shown")


class Memory(FileHistory):
    """Everything a person or an agent can ask of the history in one scope."""

    # -- the history --------------------------------------------------------------------------------------------

    def reaching(self, reach: Reach) -> Self:
        """Return the memory of the same workspace with the scope widened, or narrowed again; always the same one."""
        self._by_reach.setdefault(self.scope.reach, self)
        if reach not in self._by_reach:
            other = type(self)(self.scope.reaching(reach), self.settings)
            other._embedder = self._model()
            self._by_reach[reach] = other
            other._by_reach = self._by_reach
        return self._by_reach[reach]

    def earlier_folders(self) -> tuple[str, ...]:
        """Return folders that may be what this workspace was before it moved, when nothing was recorded in it itself.

        They are gone, have its name, and hold sessions; one whose sessions name another repository is none of them.
        """
        history = self._open()
        sessions = (entry.session for entry in history.library.entries)
        return earlier_folders(self.scope, sessions, history.readings)

    def take_over(self, folder: str) -> Self:
        """Note in the workspace's configuration that it was ``folder`` before; return the memory that knows so.

        Raises UsageError when that folder still exists, PrimaError or OSError when the note can't be written.
        """
        add_moved_from(self.scope.workspace, folder)
        settings = load_settings(self.scope.workspace, self.settings.paths)
        scope = msgspec.structs.replace(self.scope, moved_from=())
        memory = type(self)(scope, settings)
        memory._embedder = self._model()
        return memory

    def glance(self) -> None:
        """Read the newest sessions, and no more, where there is neither a list nor a catalog of an earlier time."""
        if self._last.load() is None:
            self._open().glance()

    def refresh(self, report: Callable[[Snapshot], None] | None = None, cancel: Cancel | None = None) -> Snapshot:
        """Bring the sessions up to date with the files; ``report`` is called now and then while a backlog is read.

        The first call reports the list as it was last time before anything is opened.
        """
        if report is not None and (last := self._first_picture()):
            report(Snapshot(last.sessions()))
        return self._open().refresh(report, cancel)

    def refresh_by_word(self, text: str | None = None) -> Snapshot:
        """Look at the files for one search by word: where none changed, no session is read that it doesn't find.

        The snapshot tells no sessions then. While the files are looked at, ``text`` is looked for in what was kept, so
        that the search itself, which only then knows what holds, finds what it needs at hand.
        """
        from prima_tui.search.loading import get_ready, load_search

        history = self._open()
        self._lister.look_ahead()
        load_search()
        if text is None:
            return history.refresh_by_word()
        return history.refresh_by_word(lambda library, table: get_ready(text, library, table))

    def each_listed(self, shape: Callable[[Session], Shown]) -> tuple[list[Shown], Snapshot]:
        """Look at the files for one list: return every session that lists show, newest first, put into a shape.

        Each is let go as soon as it has its shape; the snapshot tells no sessions then.
        """
        return self._open().each_listed(shape)

    def keep_by_word(self) -> None:
        """Keep what the next :meth:`refresh_by_word` takes, if the history is one in which that saves time."""
        self._open().keep_by_word()

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

    def tools(self, session: Session, *, thinking: bool = False) -> tuple[tuple[ToolUse, ...], ...]:
        """Return the uses of tools, for each exchange of :meth:`conversation` those that belong to it, in order.

        With ``thinking`` what the model thought is among them (:attr:`ToolUse.thinking`), in its place. Neither is kept
        for a conversation whose file is gone: nothing is returned then.
        """
        history = self._open()
        entry = history.library.by_key.get(session.key)
        return () if entry is None else history.tools(entry, thinking=thinking)

    def sessions_changing(self, part: str) -> list[Session]:
        """Return the sessions that changed a file whose path contains ``part`` (capitals ignored), newest first."""
        return [entry.session for entry in self._open().library.changing(fold(part))]

    def all_sessions(self) -> list[Session]:
        """Return every session in scope, newest first, those that lists leave out among them."""
        return [entry.session for entry in self._open().library.entries]

    def extract(self, session: Session, conversation: Conversation) -> str:
        """Return the session's extract as markdown."""
        return extract_markdown(session, conversation.exchanges)

    def resume_plan(self, session: Session, *, fork: bool = False) -> ResumePlan:
        """Return what resuming the session, or with ``fork`` a copy of it, will run and what stands against it."""
        from prima_tui.resume import plan_resume

        return plan_resume(
            session,
            self.scope.env,
            moved_from=self.scope.moved_from,
            now_in=self.scope.workspace,
            arguments=self.settings.resume_arguments.get(session.source, ()),
            fork=fork,
        )

    # -- the documents ------------------------------------------------------------------------------------------

    def update_documents(
        self,
        budget: float | None = None,
        report: Callable[[DocumentsProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> list[str]:
        """Index new and changed documents within the budget; return what is to be said of it."""
        documents = self.documents()
        if documents is None:
            return []
        budget = self.settings.budget_seconds if budget is None else budget
        return documents.index(report, cancel, budget=budget).said

    def update_both(
        self,
        budget: float | None = None,
        report: Callable[[IndexProgress], None] | None = None,
        documents_report: Callable[[DocumentsProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> tuple[IndexProgress, DocumentsProgress | None]:
        """Index sessions and documents for at most ``budget`` seconds together (None: the configured budget).

        Each may take half of them, and what the other leaves. The second is None without documents.
        """
        budget = self.settings.budget_seconds if budget is None else budget
        documents = self.documents()
        if documents is None:
            return self.update_index(budget, report, cancel), None
        end = time.monotonic() + budget
        sessions = self.update_index(budget / 2, report, cancel)
        found = documents.index(documents_report, cancel, budget=max(0.0, end - time.monotonic()))
        left = end - time.monotonic()
        if left > 0 and not sessions.finished and not sessions.note:
            more = self.update_index(left, report, cancel)
            sessions = msgspec.structs.replace(
                more,
                files_done=sessions.files_done + more.files_done,
                files_total=max(sessions.files_total, sessions.files_done + more.files_total),
                exchanges_embedded=sessions.exchanges_embedded + more.exchanges_embedded,
                exchanges_reused=sessions.exchanges_reused + more.exchanges_reused,
                seconds=sessions.seconds + more.seconds,
            )
        return sessions, found

    def make_project(self) -> bool:
        """Make the workspace a project with documents; return whether git ignores its memory. Raises PrimaError."""
        from prima_tui.documents import project

        return project.is_ignored(project.make_root(self.scope.workspace))

    # -- the index ----------------------------------------------------------------------------------------------

    def update_index(
        self,
        budget: float | None = None,
        report: Callable[[IndexProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> IndexProgress:
        """Index what is new or changed, newest first, for at most ``budget`` seconds (None: the configured budget)."""
        return self._index_within(self.settings.budget_seconds if budget is None else budget, report, cancel)

    def index_everything(
        self, report: Callable[[IndexProgress], None] | None = None, cancel: Cancel | None = None
    ) -> IndexProgress:
        """Index all that is pending, however long it takes."""
        return self._index_within(None, report, cancel)

    def _index_within(
        self, budget: float | None, report: Callable[[IndexProgress], None] | None, cancel: Cancel | None
    ) -> IndexProgress:
        self._purge_index()
        return self._update().run(self._open().shares(), budget, report, cancel)

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

    def sessions_recorded_in(self, folder: str) -> list[Session]:
        """Return the sessions in scope that were recorded in a folder or inside it, the files looked at anew."""
        return [one for one in self.refresh().sessions if one.workspace and inside(one.workspace, folder)]

    def workspace_sessions(self) -> list[Session]:
        """Return every session of this workspace: those recorded in it, and those whose files lie in it.

        Sessions that only happen to be in scope, since they record no folder, are not among them.
        """
        found = {one.key: one for one in (*self.snapshot().sessions, *self._semantic().kept_sessions())}
        return [
            session
            for session in found.values()
            if any(
                inside(place, own)
                for place in (session.workspace, *session.paths)
                if place
                for own in self.scope.own_folders
            )
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

    def extracts(self) -> list[StoredExtract]:
        """Return the extracts and checkpoints that are kept, newest first."""
        return stored_extracts(self.extracts_folder)

    @property
    def log_path(self) -> Path:
        """The startup log's file."""
        return self.log.path

    def warm_words(self) -> None:
        """Load the words, and what of the sessions is compared, so that the first letter finds as soon as the next."""
        history = self._open()
        history.load_messages()
        history.library.columns.make_ready()

    def warm(self) -> None:
        """Load the index and the model, so that the next search by meaning is quick. What can't be loaded is left."""
        with contextlib.suppress(PrimaError, OSError):
            self._semantic().load_if_free()
            self._model().query("warm")

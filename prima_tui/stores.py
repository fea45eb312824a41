"""What a memory keeps and opens: each store is opened at its first use, and never on import.

Loading the database takes a tenth of a second and the model more, so a question that needs neither pays for neither.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from prima_tui.config import MEMORY_FOLDER, Settings, memory_folder, private_folder
from prima_tui.documents.project import find_root
from prima_tui.documents_memory import Documents
from prima_tui.errors import PrimaError
from prima_tui.extracts import write_extract
from prima_tui.forgotten import Forgotten, IndexPlaces
from prima_tui.last_list import LastList
from prima_tui.listing import Lister
from prima_tui.model.reach import Reach
from prima_tui.model.session import Exchange
from prima_tui.sources.base import Scope
from prima_tui.startup_log import StartupLog

if TYPE_CHECKING:
    from prima_tui.history import History
    from prima_tui.index.elsewhere import OtherIndexes
    from prima_tui.index.embedder import EmbeddingModel
    from prima_tui.index.rebuild import Rebuild
    from prima_tui.index.update import FileShare, Updater
    from prima_tui.index.vectors import SemanticIndex
    from prima_tui.search.library import Library

_INDEX = "index.duckdb"
_REPOSITORY = "repository"
"""Folder, in the workspace's own, of the index over its whole repository. An index answers for one scope: what is in it
and no longer in the scope counts as deleted by its agent."""


class Stores:
    """The stores of one scope. Safe to use from several threads."""

    def __init__(self, scope: Scope, settings: Settings, lister: Lister | None = None) -> None:
        """``lister`` may already be at work, for this very scope."""
        self.scope = msgspec.structs.replace(
            scope, moved_from=tuple(dict.fromkeys((*scope.moved_from, *settings.moved_from)))
        )
        self.settings = settings
        self.log = StartupLog(settings.paths.log)
        if lister is None or lister.scope != self.scope:
            lister = Lister(self.scope, settings.paths.cache, Forgotten(settings.paths.data))
        self._lister = lister
        self.forgotten = lister.forgotten
        self._last = LastList(settings.paths.cache, self.scope, self.forgotten)
        self._places = IndexPlaces(settings.paths.data)
        self._opening = threading.RLock()
        self._history: History | None = None
        self._index: SemanticIndex | None = None
        self._embedder: EmbeddingModel | None = None
        self._elsewhere: OtherIndexes | None = None
        self._covered: tuple[Library, int, int] | None = None
        """How many files are pending for a state of the sessions and a generation of the index."""
        self._by_reach: dict[Reach, Self] = {}
        """The memories of the same workspace that reach less or further, as far as they were asked for."""
        self._project: Documents | None = None

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

    @property
    def extracts_folder(self) -> Path:
        """The folder below which extracts are kept, one folder for each project."""
        return self._index_path().with_name("extracts")

    def give_way(self) -> None:
        """Someone is at the keys: what is being indexed pauses for a moment, so that the screen has the processor."""
        if self._embedder is not None:
            self._embedder.give_way()

    def go_on(self) -> None:
        """Nobody is at the keys any more: what is being indexed goes on at once, or ends if it was cancelled."""
        if self._embedder is not None:
            self._embedder.give_way(0.0)

    def close(self) -> None:
        """Let the memory of the databases go."""
        if self._history is not None:
            self._history.close()
        if self._index is not None:
            self._index.close()
        if self._project is not None:
            self._project.close()

    def _open(self) -> History:
        with self._opening:
            if self._history is None:
                from prima_tui.history import History

                self._history = History(self._lister, self.settings.paths.catalog, self._last, self.log)
                self.log.note(self.settings.problems)
            return self._history

    def _folder(self) -> Path:
        """Return the folder of the index, made if missing. Raises OSError."""
        if self.scope.everywhere:
            return private_folder(self.settings.paths.data)
        folder = memory_folder(self.scope.workspace)
        if self.scope.repository:
            folder = private_folder(folder / _REPOSITORY)
        self._places.add(folder)
        return folder

    def _index_path(self) -> Path:
        if self.scope.everywhere:
            return self.settings.paths.data / _INDEX
        folder = self.scope.workspace / MEMORY_FOLDER
        return (folder / _REPOSITORY if self.scope.repository else folder) / _INDEX

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
        from prima_tui.index.elsewhere import OtherIndexes
        from prima_tui.index.update import Updater

        with self._opening:
            if self._elsewhere is None:
                self._elsewhere = OtherIndexes(self._model().name, self._index_path(), self._indexes)
        return Updater(
            self._semantic(),
            self._model(),
            self._exchanges,
            self._lock_path,
            self._folder,
            self._write_extracts,
            self._elsewhere,
        )

    @property
    def _lock_path(self) -> Path:
        """What an update and a rebuild hold: one of them at a time, in all processes."""
        return self._index_path().with_name("update.lock")

    def _indexes(self) -> list[Path]:
        """Return where indexes were ever made: that of everything, those of workspaces."""
        return [folder / _INDEX for folder in (self.settings.paths.data, *self._places.all())]

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

        return Rebuild(
            self._semantic(),
            self._model(),
            self._exchanges,
            self._lock_path,
            self._folder,
            lambda line: self.log.note([line]),
        )

    def _coverage(self) -> tuple[int, int]:
        """Return (exchanges in the index, files in scope not indexed in their present state)."""
        from prima_tui.index.update import pending

        try:
            index = self._semantic()
            index.load_if_free()
            library, generation = self._open().library, index.generation
            # every search by meaning asks, and nothing of it changes until a file or the index does
            if self._covered is None or self._covered[0] is not library or self._covered[1] != generation:
                self._covered = (library, generation, len(pending(index, self._open().shares())))
            return index.count(), self._covered[2]
        except PrimaError:
            return 0, sum(bool(share.transcripts) for share in self._open().shares())

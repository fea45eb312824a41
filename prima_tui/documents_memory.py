"""The one service over a project's documents, behind every door: find the root, index, search, ask.

It does nothing until it is asked, and loads the database and the model only when a question needs them. All methods
block; a screen calls them in threads.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from prima_tui.config import Settings
from prima_tui.documents import project
from prima_tui.errors import PrimaError
from prima_tui.model.documents import (
    Asked,
    DocumentHit,
    DocumentsAnswer,
    DocumentsProgress,
    DocumentsStatus,
    DocumentText,
)
from prima_tui.model.hits import Cancel, Mode
from prima_tui.model.text import count_text

if TYPE_CHECKING:
    from prima_tui.documents.answering import Written
    from prima_tui.documents.collections import Collection
    from prima_tui.documents.settings import DocumentSettings
    from prima_tui.index.documents import DocumentIndex
    from prima_tui.index.embedder import EmbeddingModel
    from prima_tui.search.documents import DocumentSearch

_LOOK_AGAIN_SECONDS = 2.0
"""Between two searches as near as this the project is not walked again for new files."""
_NEW_FILES_SECONDS = 3.0
"""After so long a search begins no further new file whose reading may take long: it goes on without those."""


class Documents:
    """Everything a person or an agent can ask of the documents below one project root."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        env: Mapping[str, str] | None = None,
        model: EmbeddingModel | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        """``root`` holds ``.memory``; ``model`` may be loaded already; ``notice`` is told of files moved aside."""
        self.root = root
        self.settings = settings
        self._env = os.environ if env is None else env
        self._embedder = model
        self._notice = notice or (lambda _line: None)
        self._opening = threading.RLock()
        self._index: DocumentIndex | None = None
        self._search: DocumentSearch | None = None
        self._new: dict[str, tuple[int, int]] = {}
        """Size and time of the files that are in memory only."""
        self._new_waiting = 0
        """New files that the last look did not come to."""
        self._looked_at = 0.0
        self._notices: list[str] = []

    @staticmethod
    def find_root(start: Path) -> Path | None:
        """Return the nearest folder, from ``start`` upwards, that holds a ``.memory`` folder, or None."""
        return project.find_root(start)

    @staticmethod
    def init(folder: Path) -> Path:
        """Make ``folder`` a project root by making its ``.memory`` folder; return the root. Raises PrimaError."""
        return project.make_root(folder)

    def index(
        self,
        report: Callable[[DocumentsProgress], None] | None = None,
        cancel: Cancel | None = None,
        budget: float | None = None,
        *,
        rebuild: bool = False,
    ) -> DocumentsProgress:
        """Bring the index up to date with the files, for at most ``budget`` seconds (None: until done).

        ``rebuild``: embed everything anew, as another model asks for. Raises nothing that a user can meet: what
        stopped it is the result's ``note``.
        """
        from prima_tui.index.document_update import DocumentUpdater

        lock = self.index_path.with_name("update.lock")
        updater = DocumentUpdater(self.root, self._document_settings(), self._opened(), self._model(), lock)
        progress = updater.run(budget, report or (lambda _progress: None), cancel or Cancel(), rebuild=rebuild)
        return msgspec.structs.replace(progress, warnings=(*self._said(), *progress.warnings))

    def search(
        self,
        query: str,
        mode: Mode = "combined",
        limit: int | None = 10,
        *,
        cancel: Cancel | None = None,
        now: datetime | None = None,
    ) -> list[DocumentHit]:
        """Return the documents found, best first, each with its best chunk (:meth:`find` has the warnings too)."""
        return list(self.find(query, mode, limit, cancel=cancel, now=now).hits)

    def find(
        self,
        query: str,
        mode: Mode = "combined",
        limit: int | None = 10,
        *,
        cancel: Cancel | None = None,
        now: datetime | None = None,
        every_chunk: bool = False,
        collection: str = "",
    ) -> DocumentsAnswer:
        """Answer a query from the index as it stands, and from files too new to be in it by word.

        Each document stands there once with its best chunk. With ``every_chunk`` the query is taken as a question, and
        the chunks that answer it best come back, whatever document they are of and whatever the mode. ``collection``
        names the only one whose documents count. When the semantic half fails, keyword hits come with a warning.
        Raises Cancelled.
        """
        from prima_tui.model.query import parse
        from prima_tui.search.documents import DocumentSearch, unknown_collections

        started = time.perf_counter()
        query = query.encode("utf-8", "replace").decode()  # a shell may pass on bytes that are no text
        now = now or datetime.now(UTC).astimezone()
        cancel = cancel or Cancel()
        index = self._opened()
        warnings: list[str] = []
        try:
            index.load_if_free()
        except PrimaError as error:
            warnings.append(f"documents are read anew, and found by word only: {error}")
        warnings += self._take_new_files(cancel)
        parsed = parse(f'{query} collection:"{collection}"' if collection else query, now)
        warnings += parsed.problems
        with self._opening:
            if self._search is None:
                self._search = DocumentSearch(index)
            self._search.collections = self._document_settings().collections
            warnings += unknown_collections(parsed, [one.name for one in self._search.collections])
        if every_chunk:
            hits = self._search.chunks(parsed, self._model().question, cancel, warnings, limit)
        else:
            hits = self._search.search(parsed, mode, self._model().question, now, cancel, warnings, limit)
        return DocumentsAnswer(
            query=query,
            mode=mode,
            hits=tuple(self._with_staleness(hits) if limit is not None else hits),
            warnings=(*self._said(), *warnings),
            took_ms=(time.perf_counter() - started) * 1000,
            words=(*parsed.words, *parsed.phrases),
            project=str(self.root),
        )

    def _take_new_files(self, cancel: Cancel) -> list[str]:
        """Let files that are too new to be in the index be found by word; return what is to be said of them."""
        from prima_tui.documents.formats import missing_extra
        from prima_tui.documents.reader import SECONDS_IN_PASSING, DocumentReader, is_quickly_read
        from prima_tui.documents.walk import walk

        with self._opening:
            if time.monotonic() - self._looked_at < _LOOK_AGAIN_SECONDS:
                return self._unread_new()
            settings = self._document_settings()
            index = self._opened()
            found = walk(
                self.root, settings.include, settings.exclude, lambda: cancel.cancelled, settings.in_a_collection
            )
            cancel.check()
            stored = index.stored()
            new = {
                file.path: file
                for file in found.files
                if file.path not in stored
                and file.size <= settings.largest_megabytes * 1_000_000
                and not missing_extra(file.path)
            }
            states = {path: (file.size, file.mtime_ns) for path, file in new.items()}
            index.drop_unstored([path for path, state in self._new.items() if states.get(path) != state])
            self._new = {path: state for path, state in self._new.items() if states.get(path) == state}
            waiting = [file for path, file in new.items() if path not in self._new]
            waiting.sort(key=lambda file: not is_quickly_read(file.path, file.size))
            deadline = time.monotonic() + _NEW_FILES_SECONDS
            self._new_waiting = 0
            with DocumentReader(SECONDS_IN_PASSING, cancel) as reader:
                for place, file in enumerate(waiting):
                    cancel.check()
                    if time.monotonic() > deadline and not is_quickly_read(file.path, file.size):
                        self._new_waiting = len(waiting) - place
                        break
                    try:
                        index.add_unstored([reader.read(file, (self.root / file.path).read_bytes())])
                    except OSError:
                        continue
                    self._new[file.path] = states[file.path]
            self._looked_at = time.monotonic()
            return self._unread_new()

    def _unread_new(self) -> list[str]:
        count = self._new_waiting
        return [f"{count_text(count, 'new document')} could not be looked through yet"] if count else []

    def _with_staleness(self, hits: Sequence[DocumentHit]) -> list[DocumentHit]:
        """Mark the hits whose file is not any more what was stored of it."""
        from prima_tui.documents.document import digest

        known = {one.path: one.sha256 for one in self._opened().documents()}
        stale: dict[str, bool] = {}
        for hit in hits:
            if hit.path not in stale:
                try:
                    stale[hit.path] = digest((self.root / hit.path).read_bytes()) != known.get(hit.path)
                except OSError:
                    stale[hit.path] = True
        return [msgspec.structs.replace(hit, stale=stale[hit.path]) if stale[hit.path] else hit for hit in hits]

    def text(self, path: str) -> DocumentText:
        """Return a document as it is now, for reading; what stands against that is its ``problem``."""
        from prima_tui.documents.reader import SECONDS_IN_PASSING, DocumentReader

        try:
            with DocumentReader(SECONDS_IN_PASSING) as reader:
                return reader.text(path, (self.root / path).read_bytes())
        except OSError as error:
            return DocumentText(path, "", problem=f"{path} can't be read: {error.strerror or error}")

    def status(self) -> DocumentsStatus:
        """Return how many documents and chunks there are and which files are stale; every file is looked at."""
        from prima_tui.index.document_update import look
        from prima_tui.index.documents import documents_rebuild_due

        index = self._opened()
        warnings = self._said()
        try:
            index.load_if_free()
        except PrimaError as error:
            warnings.append(str(error))
        settings = self._document_settings()
        found = look(self.root, settings, index, lambda: False)
        stored = index.stored().values()
        if index.other_model:
            warnings.append(documents_rebuild_due(index.other_model, self._model().name))
        return DocumentsStatus(
            project=str(self.root),
            index_path=str(self.index_path),
            files=len(found.files) - sum(one.left_out for one in stored),
            chunks=sum(len(one.headings) for one in stored),
            last_indexed=max((one.indexed_at for one in stored if one.indexed_at), default=None),
            stale_files=tuple(sorted([*(file.path for file in found.changed), *found.gone])),
            model=self._model().name,
            answering_model=self.answering_model,
            collections=tuple(
                (one.name, sum(one.holds(file.path) for file in found.files)) for one in settings.collections
            ),
            warnings=(*warnings, *found.warnings),
        )

    def ask(
        self,
        question: str,
        limit: int = 6,
        on_text: Callable[[str], None] | None = None,
        *,
        on_hits: Callable[[tuple[DocumentHit, ...]], None] | None = None,
        cancel: Cancel | None = None,
        collection: str = "",
    ) -> Asked:
        """Return the best chunks for a question and, where a model is configured, an answer written from them.

        ``on_hits`` gets the chunks before the model is asked, ``on_text`` each piece of the answer as it comes.
        """
        started = time.perf_counter()
        cancel = cancel or Cancel()
        found = self.find(question, "combined", limit, cancel=cancel, every_chunk=True, collection=collection)
        settings = self._document_settings()
        if on_hits is not None:
            on_hits(found.hits)
        asked = Asked(found.query, found.hits, model=settings.ask.name, warnings=(*settings.problems, *found.warnings))
        if not found.hits:
            asked = msgspec.structs.replace(asked, note="nothing in the documents is like the question")
        elif not settings.ask.configured:
            asked = msgspec.structs.replace(asked, model="")
        else:
            written = self.answer_from(found.query, found.hits, on_text, cancel)
            asked = msgspec.structs.replace(
                asked,
                answer=written.text,
                citations=written.citations,
                complete=written.complete,
                note=written.note,
            )
        return msgspec.structs.replace(asked, took_ms=(time.perf_counter() - started) * 1000)

    @property
    def answering_model(self) -> str:
        """The model that writes answers, "" when none is configured."""
        ask = self._document_settings().ask
        return ask.name if ask.configured else ""

    def close(self) -> None:
        """Let the memory of the database go."""
        if self._index is not None:
            self._index.close()

    # -- for what is done with states of the index ----------------------------------------------------------------

    def loaded_index(self) -> DocumentIndex:
        """Return the index with what is stored by now. Raises StoreBusy, StoreUnusable."""
        index = self._opened()
        index.load_if_free()
        return index

    def embedding_model(self) -> EmbeddingModel:
        """Return the model that the index is made with."""
        return self._model()

    def collections(self) -> tuple[Collection, ...]:
        """Return the collections that are set."""
        return self._document_settings().collections

    def answer_from(
        self,
        question: str,
        hits: Sequence[DocumentHit],
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Written:
        """Have the configured model answer a question from chunks; what stops it is the ``note``."""
        from prima_tui.documents.answering import write_answer

        settings = self._document_settings().ask
        return write_answer(settings, self._env, question, hits, on_text or (lambda _text: None), cancel or Cancel())

    # -- what is opened at first use ----------------------------------------------------------------------------

    @property
    def index_path(self) -> Path:
        """The index's database file, whether it is there or not."""
        return self.root / project.MEMORY_FOLDER / "index.duckdb"

    def _document_settings(self) -> DocumentSettings:
        from prima_tui.documents.settings import load_document_settings

        return load_document_settings(self.root, self.settings.paths.config / "config.toml")

    def _model(self) -> EmbeddingModel:
        with self._opening:
            if self._embedder is None:
                from prima_tui.index.models import chosen_model

                self._embedder = chosen_model(self.settings.model, self.settings.paths.cache, self._env)
            return self._embedder

    def _opened(self) -> DocumentIndex:
        with self._opening:
            if self._index is None:
                from prima_tui.index.documents import DocumentIndex

                self._index = DocumentIndex(self.index_path, self._model().name, self._folder, self._note)
            return self._index

    def _folder(self) -> Path:
        """Return the folder of the index. Raises OSError when it is gone: a project ends where its owner ended it."""
        folder = self.index_path.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder} is gone")
        return folder

    def _note(self, line: str) -> None:
        self._notices.append(line)
        self._notice(line)

    def _said(self) -> list[str]:
        """Return what happened to the index's file since this was last asked."""
        said, self._notices = self._notices, []
        return said

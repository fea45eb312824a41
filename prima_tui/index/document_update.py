"""The update of a project's document index: what is new or changed is read, split, embedded and put in at once.

A document's old chunks answer until its new ones are stored with their vectors, in one transaction. Content is told by
SHA-256, so an unchanged file costs a look at its bytes and nothing else. A kill loses at most some hundreds of
vectors.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import msgspec

from prima_tui.documents.chunks import passages
from prima_tui.documents.document import digest
from prima_tui.documents.formats import missing_extra
from prima_tui.documents.reader import SECONDS_IN_PASSING, SECONDS_ON_REQUEST, DocumentReader, is_quickly_read
from prima_tui.documents.settings import DocumentSettings
from prima_tui.documents.walk import DocumentFile, Walk, walk
from prima_tui.errors import ModelUnavailable, PrimaError, StoreBusy, StoreUnusable
from prima_tui.index.documents import DocumentIndex, documents_rebuild_due
from prima_tui.index.embedder import EmbeddingModel, text_hash
from prima_tui.index.embedding import embedded_in_steps
from prima_tui.model.documents import Document, DocumentsProgress
from prima_tui.model.hits import Cancel, Cancelled
from prima_tui.model.text import count_text

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

_UNIT = 384
"""Vectors written in one transaction, those of a group as a rule: opening the file takes as long as ten texts."""
_GROUP = 128
"""Chunks that are gathered from several documents before any of them is embedded, for all workers to be busy."""
_STEP = 48
"""Texts embedded between two looks at the clock and the cancel token: with fewer the workers would often wait for the
last one."""


class Look(msgspec.Struct, frozen=True):
    """What a project's files are, compared with what is stored of them."""

    files: tuple[DocumentFile, ...]
    changed: tuple[DocumentFile, ...]
    """New ones too; newest first, but what may take long to read after all others."""
    gone: tuple[str, ...]
    warnings: tuple[str, ...]


class _Stopped(Exception):
    """Time is up, or the work was cancelled."""


def look(
    root: Path, settings: DocumentSettings, index: DocumentIndex, stop: Callable[[], bool], seconds: float = 0.0
) -> Look:
    """Walk the project and compare each document's bytes, by their SHA-256, with what the index has loaded.

    A document whose reading was given up counts as changed when it is given more ``seconds`` now.
    """
    found = walk(root, settings.include, settings.exclude, stop, settings.in_a_collection)
    stored = index.stored()
    warnings = [*settings.problems, *found.warnings]
    files: list[DocumentFile] = []
    changed: list[DocumentFile] = []
    missing: Counter[str] = Counter()
    for file in found.files:
        if stop():
            return Look(tuple(files), (), (), tuple(warnings))
        if extra := missing_extra(file.path):
            missing[extra] += 1
            continue
        if file.size > settings.largest_megabytes * 1_000_000:
            warnings.append(f"{file.path}: left out: it is larger than {settings.largest_megabytes:g} MB")
            continue
        known = stored.get(file.path)
        try:
            same = known is not None and known.sha256 == digest((root / file.path).read_bytes())
            same = same and not (known is not None and 0 < known.given_up_after < seconds)
        except FileNotFoundError:
            continue
        except OSError as error:
            warnings.append(f"{file.path}: can't be read: {error.strerror or error}")
            files.append(file)
            continue
        files.append(file)
        if not same:
            changed.append(file)
        elif known is not None and known.warning:
            warnings.append(f"{file.path}: {known.warning}")
    for extra, count in sorted(missing.items()):
        needed = f"reading them needs an extra (pip install 'prima-tui[{extra}]')"
        warnings.append(f"{count_text(count, f'{extra} file')} left out: {needed}")
    present = {file.path for file in files}
    gone = [] if stop() else [path for path in stored if path not in present and not _unknown(path, found)]
    return Look(
        tuple(files),
        tuple(sorted(changed, key=lambda file: (not _is_quickly_read(file), -file.mtime_ns))),
        tuple(gone),
        tuple(warnings),
    )


def _is_quickly_read(file: DocumentFile) -> bool:
    return is_quickly_read(file.path, file.size)


def _unknown(path: str, found: Walk) -> bool:
    return any(path.startswith(folder) for folder in found.unread)


class DocumentUpdater:
    """One update at a time for a project, whatever the number of processes: the others search it as it stands."""

    def __init__(
        self, root: Path, settings: DocumentSettings, index: DocumentIndex, model: EmbeddingModel, lock: Path
    ) -> None:
        self._root = root
        self._settings = settings
        self._index = index
        self._model = model
        self._lock = lock

    def run(
        self,
        budget: float | None,
        report: Callable[[DocumentsProgress], None],
        cancel: Cancel,
        *,
        rebuild: bool = False,
    ) -> DocumentsProgress:
        """Index what is pending for at most ``budget`` seconds (None: until done); return how far it got.

        Raises nothing: what stops it is the ``note`` of the result.
        """
        started = time.monotonic()
        if not self._lock.parent.is_dir():
            return DocumentsProgress(note=f"{self._root} has no {self._lock.parent.name} folder any more")
        try:
            with filelock.FileLock(self._lock, timeout=0, mode=0o600):
                self._index.load()
                if rebuild:
                    self._index.create()
                    self._index.forget_vectors()
                    self._index.load()
                elif self._index.other_model:
                    return DocumentsProgress(note=documents_rebuild_due(self._index.other_model, self._model.name))
                return _Run(self._root, self._index, self._model, started, budget, report, cancel).run(self._settings)
        except filelock.Timeout:
            return DocumentsProgress(note="another prima-tui is updating the documents' index")
        except (OSError, StoreBusy, StoreUnusable, ModelUnavailable, PrimaError) as error:
            note = f"the documents' index was not updated: {error}"
            return DocumentsProgress(seconds=time.monotonic() - started, note=note)


class _Run:
    """One update, by a caller that holds the lock."""

    def __init__(
        self,
        root: Path,
        index: DocumentIndex,
        model: EmbeddingModel,
        started: float,
        budget: float | None,
        report: Callable[[DocumentsProgress], None],
        cancel: Cancel,
    ) -> None:
        self._root = root
        self._index = index
        self._model = model
        self._started = started
        self._deadline = None if budget is None else started + budget
        self._seconds_each = SECONDS_ON_REQUEST if budget is None else SECONDS_IN_PASSING
        self._report = report
        self._cancel = cancel
        self._progress = DocumentsProgress()
        self._known: set[str] = set()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="documents")
        self._writing: Future[None] | None = None
        """What is being put in while the next documents are embedded."""
        self._once_written: dict[str, int] = {}
        """What the progress counts then."""

    def run(self, settings: DocumentSettings) -> DocumentsProgress:
        found = look(self._root, settings, self._index, self._out_of_time, self._seconds_each)
        warnings = list(found.warnings)
        self._tell(files_total=len(found.changed), files_unchanged=len(found.files) - len(found.changed))
        if self._out_of_time():
            return self._ended(warnings, finished=False)
        if found.changed or found.gone:
            self._index.write({}, (), found.gone)  # a disk that takes no index must cost nothing
            self._index.load()
            self._known = self._index.known()
            self._tell(files_removed=len(found.gone))
        try:
            with self._writer:
                for documents in self._groups(found.changed):
                    warnings += [f"{one.path}: {one.warning}" for one in documents if one.warning]
                    self._embed(documents)
            self._written()
        except _Stopped:
            self._written()
            return self._ended(warnings, finished=False)
        if found.changed or found.gone:
            self._index.forget_unused_vectors()
            self._index.load()
        return self._ended(warnings, finished=True)

    def _out_of_time(self) -> bool:
        return self._cancel.cancelled or (self._deadline is not None and time.monotonic() >= self._deadline)

    def _tell(self, **changes: int) -> None:
        seconds = time.monotonic() - self._started
        self._progress = msgspec.structs.replace(self._progress, seconds=seconds, **changes)
        self._report(self._progress)

    def _ended(self, warnings: Sequence[str], *, finished: bool) -> DocumentsProgress:
        return msgspec.structs.replace(
            self._progress,
            seconds=time.monotonic() - self._started,
            finished=finished,
            note="cancelled" if self._cancel.cancelled else "" if finished else "time was up; the rest comes later",
            warnings=tuple(dict.fromkeys(warnings)),
        )

    def _groups(self, changed: Sequence[DocumentFile]) -> Iterator[list[Document]]:
        """Yield documents, as they are now, in groups with enough to embed for all workers to be busy."""
        with DocumentReader(self._seconds_each, self._cancel) as reader:
            # what may take long is in groups of its own: nothing that was read waits for it
            for _quick, files in groupby(changed, key=_is_quickly_read):
                group: list[Document] = []
                waiting = 0
                for file in files:
                    if self._out_of_time():
                        raise _Stopped
                    try:
                        document = reader.read(file, (self._root / file.path).read_bytes())
                    except Cancelled:
                        raise _Stopped from None
                    except OSError:
                        continue  # it vanished meanwhile; the next update sees it as it is then
                    group.append(document)
                    waiting += len(document.chunks)
                    if waiting >= _GROUP or len(group) >= _UNIT:
                        yield group
                        group, waiting = [], 0
                if group:
                    yield group

    def _embed(self, documents: Sequence[Document]) -> None:
        """Embed what is not known of some documents and store them. Raises _Stopped, with what was done stored."""
        texts: dict[str, str] = {}
        fresh = 0
        for one in documents:
            for chunk in one.chunks:
                read = {text_hash(text): text for text in passages(chunk, one.title)}
                fresh += any(key not in self._known and key not in texts for key in read)
                texts.update(read)
        chunks = sum(len(one.chunks) for one in documents)
        missing = {key: text for key, text in texts.items() if key not in self._known}
        vectors: dict[str, Vector] = {}
        embedded = self._progress.chunks_embedded
        done = 0
        for step in embedded_in_steps(missing, self._model, _STEP, self._out_of_time):
            vectors |= step
            done += len(step)
            self._tell(chunks_embedded=embedded + fresh * done // len(missing))
            if len(vectors) >= _UNIT and done < len(missing):
                self._write(vectors, ())
                vectors = {}
        if done < len(missing):
            self._write(vectors, ())
            raise _Stopped
        self._write(vectors, documents, files_done=len(documents), chunks_reused=chunks - fresh)

    def _write(self, vectors: dict[str, Vector], documents: Sequence[Document], **counted: int) -> None:
        """Have vectors and documents put in; what is ``counted`` is told when they are.

        Raises what putting in those before raised.
        """
        self._written()
        self._known.update(vectors)
        self._once_written = counted
        self._writing = self._writer.submit(self._put_in, vectors, documents)

    def _put_in(self, vectors: dict[str, Vector], documents: Sequence[Document]) -> None:
        self._index.write(vectors, documents)
        if documents:
            self._index.load()

    def _written(self) -> None:
        """Wait until all is in that was to be put in. Raises StoreBusy, StoreUnusable, ModelUnavailable."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()
            self._tell(**{name: getattr(self._progress, name) + more for name, more in self._once_written.items()})

"""One search by word, from what was kept of the last one: of the files only those are read that changed since.

What it finds is what a search of everything finds. Where too much changed, or anything is missing, everything it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from prima_tui.model.hits import Snapshot
from prima_tui.search.library import Library, build_library
from prima_tui.sources.base import KnownFile, SourceFile, state_of
from prima_tui.sources.reading import FileTexts, pack_exchanges
from prima_tui.upkeep import Upkeep, are_few

if TYPE_CHECKING:
    from prima_tui.index.messages import MessageTable
    from prima_tui.index.word_index import WordIndex
    from prima_tui.kept_words import KeptHistory, KeptLibrary, KeptWords
    from prima_tui.listing import Listing

_SETTLED_SECONDS = 60
"""A file that was written longer ago than this is not likely to be written again soon."""
_READ_AGAIN_BYTES = 1024 * 1024
"""From so much of changed files on that every search would read it is kept anew."""
_READ_AGAIN_FILES = 30
_RECENT_BYTES = 12 * 1024 * 1024
"""Text that the word index beside the sessions may hold: more of it becomes one of the catalog's."""


Meanwhile = Callable[["Library", "MessageTable"], object]


class _Patch(msgspec.Struct, frozen=True):
    """What changed since something was kept, and the sessions as they are now."""

    library: KeptLibrary
    table: MessageTable
    known: dict[str, KnownFile]
    """The files as they are now, where anything changed."""
    left_out: tuple[tuple[int, frozenset[int]], ...]
    beside: tuple[WordIndex, ...] = ()
    """The messages that no word index of the catalog holds: those kept beside the sessions, those of what changed."""
    recent_bytes: int = 0
    changed: tuple[SourceFile, ...] = ()
    gone: int = 0


class ByWord(Upkeep):
    """Keeps the history for searches by word too."""

    _patch_of_kept: _Patch | None = None
    _kept_as_it_is = False
    """Whether the sessions are kept as they are, only their messages not."""

    def refresh_by_word(self, meanwhile: Meanwhile | None = None) -> Snapshot:
        """Look at the files for one search by word: of sessions that were kept none is read before it is found.

        The snapshot tells no sessions then. Without anything kept that holds it is what :meth:`refresh` does.

        ``meanwhile`` is called with what was kept, while the files are still being listed and nobody knows whether it
        holds: to get ready what a search in it will need.
        """
        with self._refreshing:
            if not self._known and not self._snapshot.complete:
                self._forgotten_version = self._forgotten.look()
                if self._take_kept(meanwhile):
                    return self._snapshot
        return self.refresh()

    def _take_kept(self, meanwhile: Meanwhile | None) -> bool:
        """Have the library as it was kept for searching, with what changed since; False when anything is missing."""
        # lists need none of this
        from prima_tui.kept_words import KeptWords

        store = KeptWords(self._last)
        kept = store.load()
        if kept is None:
            return False
        table = kept.table([*self._word_indexes(), *store.recent()])
        if meanwhile is not None and table is not None:
            meanwhile(kept.library, table)
        listing = self._list()
        if kept.holds(listing):
            if table is None:
                self._kept_as_it_is = True
                return False
            with self._loading:
                self._kept, self._table, self.library = kept.files, table, kept.library
            self._patch_of_kept = _Patch(kept.library, table, {}, kept.left_out)
            files = kept.count
        else:
            patch = self._patch_kept(kept, listing, store)
            if patch is None:
                return False
            with self._loading:
                self._known, self._table, self.library = patch.known, patch.table, patch.library
            self._patch_of_kept = patch
            files = len(patch.known)
        self._snapshot = Snapshot((), files, files, False, tuple(self._all_warnings()))
        return True

    def _word_indexes(self) -> list[WordIndex]:
        from prima_tui.index.word_indexes import WordIndexes

        return WordIndexes(self._catalog_path.with_name("words"), self._note).all()

    def _patch_kept(self, kept: KeptHistory, listing: Listing, store: KeptWords) -> _Patch | None:
        """Put what was kept in the state that the files are in; None where that is too much, or can't be told."""
        changed, gone = listing.changes(bytes(kept.listing))
        if not are_few(changed, gone):
            return None
        beside = store.recent()
        table = kept.table([*self._word_indexes(), *beside], {*gone, *(file.path for file in changed)})
        if table is None:
            return None
        read = self._read_change(changed, gone, {one.file.path: one for one in kept.files.every()})
        if read is None:
            return None
        beside.append(_index_of(read.batch))
        table.reserve((file.path, read.known[file.path].transcripts) for file in changed)
        table.look_beside(beside[-1], {file.path: state_of(file) for file in changed})
        made = build_library(self._assembler.assemble(read.readings), table.part)
        replaced = kept.library.rows_from(read.concerned)
        library = kept.library.with_made(replaced, made.entries)
        parts = {number for row in replaced.tolist() for number in kept.library.entries[row].numbers}
        left_out = (*(one for one in kept.left_out if one[0] not in parts), *_left_out_of(made))
        table.leave_out(left_out)
        recent_bytes = store.recent_bytes()
        return _Patch(library, table, read.known, left_out, tuple(beside), recent_bytes, tuple(changed), len(gone))

    def keep_by_word(self) -> None:
        """Keep the history for the next search by word, where that saves reading files again."""
        with self._refreshing:
            patch = self._patch_of_kept
            if patch is None or patch.library is not self.library:
                self._keep_whole()
            elif _is_worth_it(patch):
                self._keep_patch(patch)

    def _keep_whole(self) -> None:
        if not self._snapshot.complete or self._unloaded or self._table is None:
            return
        from prima_tui.index.word_writer import WordIndexWriter
        from prima_tui.kept_words import KeptWords

        store = KeptWords(self._last)
        if (size := self.table.plain_bytes()) < _RECENT_BYTES:
            writer, files = WordIndexWriter(), [self._known[path].file for path in self.table.plain()]
            for place, file in enumerate(files if size else ()):
                messages = self.table.plain_messages(file.path)
                exchanges = self.exchanges((file.path, number) for number in messages)
                for number, some in messages.items():
                    writer.add(place, number, some, pack_exchanges(exchanges.get((file.path, number), ())))
            store.keep_recent(writer, [(file.path, state_of(file)) for file in files])
        if not self._kept_as_it_is:
            store.keep(self._known.values(), self.table.parts(), self.library, _left_out_of(self.library))
        self._unless_forgotten(store)

    def _keep_patch(self, patch: _Patch) -> None:
        """Keep what was kept in its present state; the messages of what changed join those beside it."""
        from prima_tui.index.word_writer import WordIndexWriter
        from prima_tui.kept_words import KeptWords

        writer, files, size = WordIndexWriter(), dict[str, bytes](), 0
        for index in reversed(patch.beside):
            for path, (_place, state) in index.files.items():
                known = patch.known.get(path)
                if known is None or path in files or state_of(known.file) != state:
                    continue
                for number, messages, packed in index.messages(path):
                    size += sum(len(text) for _position, text in messages)
                    writer.add(len(files), number, messages, packed)
                files[path] = state
                if size > _RECENT_BYTES:
                    return  # the catalog takes it, when the next change is too large for here
        store = KeptWords(self._last)
        store.keep_recent(writer, list(files.items()))
        store.keep(patch.known.values(), patch.table.parts(), patch.library, patch.left_out)
        self._unless_forgotten(store)

    def _unless_forgotten(self, store: KeptWords) -> None:
        """Remove what was just kept if another process forgot something meanwhile."""
        if self._forgotten.look() != self._forgotten_version:
            store.remove()


def _is_worth_it(patch: _Patch) -> bool:
    """Tell whether so much changed that every search would take long with it, leaving out what is being written."""
    now = time.time_ns()
    settled = [file for file in patch.changed if now - file.mtime_ns > _SETTLED_SECONDS * 1_000_000_000]
    size = sum(file.size for file in settled)
    # what is beside it is written again each time
    return size > max(_READ_AGAIN_BYTES, patch.recent_bytes // 8) or len(settled) + patch.gone > _READ_AGAIN_FILES


def _index_of(batch: Sequence[FileTexts]) -> WordIndex:
    """Return the word index of files, in memory."""
    from prima_tui.index.word_writer import WordIndexWriter

    writer = WordIndexWriter()
    for place, texts in enumerate(batch):
        for number, (messages, packed) in enumerate(zip(texts.messages, texts.exchanges, strict=True)):
            writer.add(place, number, zip(messages.positions, messages.texts, strict=True), packed)
    return writer.index([(texts.reading.file.path, state_of(texts.reading.file)) for texts in batch])


def _left_out_of(library: Library) -> tuple[tuple[int, frozenset[int]], ...]:
    return tuple(
        (number, part.left_out)
        for entry in library.entries
        for number, part in zip(entry.numbers, entry.parts, strict=True)
        if part.left_out and number >= 0
    )

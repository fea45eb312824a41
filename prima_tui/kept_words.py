"""A history kept for searching by word: one mapped file, of which a search reads only what its answer needs.

A list needs every session, a search shows twenty of thousands. So what a search compares stands in the file as columns,
and each session apart, to be decoded when it is a hit. Where some files changed since, the sessions that this concerns
are replaced (:meth:`KeptLibrary.with_made`); the rest holds on.

Messages that no word index of the catalog holds yet are kept beside it, in a small word index of their own.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.config import private_folder
from prima_tui.errors import StoreUnusable
from prima_tui.index.messages import MessageTable
from prima_tui.index.word_index import WordIndex, path_number, state_number
from prima_tui.index.word_view import views_of
from prima_tui.index.word_writer import WordIndexWriter
from prima_tui.known_files import KeptFiles
from prima_tui.last_list import LastList, replace_private
from prima_tui.listing import Listing, packed_states
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.session import Session
from prima_tui.search.columns import Columns, key_number
from prima_tui.search.library import Entry, Library, newest_first
from prima_tui.search.splice import Splice
from prima_tui.sources.assemble import Part
from prima_tui.sources.base import KnownFile, state_of

Arrays = Mapping[str, NDArray[Any]]
_FORMAT = 3
"""Raised whenever what stands in the file means something else."""


class _KeptEntry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    session: Session
    parts: tuple[Part, ...]
    numbers: tuple[int, ...]
    title: str
    paths: tuple[str, ...]


class _Content(msgspec.Struct, frozen=True, array_like=True):
    """What stands in the file."""

    format: int
    made_by: str
    listing: memoryview
    """The files that the sessions were made of, in the states they were in (:func:`packed_states`)."""
    files: memoryview
    """What is known of them, in the order of their paths."""
    troubled: tuple[KnownFile, ...]
    left_out: list[tuple[int, tuple[int, ...]]]
    arrays: dict[str, tuple[str, memoryview]]
    """Name to type and bytes."""
    entries: memoryview


class KeptLibrary(Library, frozen=True, dict=True):
    """A library whose entries are decoded when they are looked at."""

    arrays: Arrays = MappingProxyType({})
    """Its columns (:meth:`prima_tui.search.columns.Columns.arrays`), and which files its sessions come from: pairs of
    ``file_key`` (of the path) and ``file_row``."""
    packed: Callable[[int], bytes] | None = None
    """Returns an entry as it stands in the file, by its row."""

    @cached_property
    def columns(self) -> Columns:
        """The entries as columns, for searching."""
        return Columns.of_arrays(self.entries, self.arrays)

    @cached_property
    def by_key(self) -> Mapping[tuple[str, str], Entry]:
        """A session's key to its entry."""
        return _EntriesByKey(self)

    def changing(self, part: str) -> list[Entry]:
        """Return the sessions that changed a file whose path, as it is shown, contains ``part`` (folded)."""
        if not part:
            return super().changing(part)
        return [self.entries[row] for row in np.flatnonzero(self.columns.paths_holding(part)).tolist()]

    def rows_from(self, paths: Iterable[str]) -> NDArray[np.int64]:
        """Return the rows of the sessions that come from any of these files, ascending."""
        wanted = np.array([path_number(path) for path in paths], np.uint64)
        rows = self.arrays["file_row"][np.isin(self.arrays["file_key"], wanted)]
        return np.array(sorted(set(rows.tolist())), np.int64)

    def with_made(self, gone: NDArray[np.int64], made: Sequence[Entry]) -> KeptLibrary:
        """Return the library without some rows and with other sessions instead, newest first as ever."""
        stay = np.ones(len(self.entries), np.bool_)
        stay[gone] = False
        kept = np.flatnonzero(stay)
        several = sorted(made, key=lambda one: newest_first(one.session), reverse=True)
        before = len(self.entries)
        # where a key is less than that of the new one, newest first: an equal one stays before it
        places = [
            bisect_left(kept, True, key=lambda row, one=one: self._is_older(int(row), one))  # type: ignore[misc]
            for one in several
        ]
        order = np.insert(kept, np.array(places, np.int64), np.arange(before, before + len(several)))
        file_key, file_row = _file_columns(several)
        new_row = np.full(before + len(several), -1, np.int64)
        new_row[order] = np.arange(len(order))
        rows = new_row[np.concatenate((self.arrays["file_row"], file_row + before))]
        arrays = Splice(self.arrays, Columns(several).arrays(), order).arrays()
        arrays["file_key"] = np.concatenate((self.arrays["file_key"], file_key))[rows >= 0]
        arrays["file_row"] = rows[rows >= 0]

        def entry(row: int) -> Entry:
            old = int(order[row])
            return several[old - before] if old >= before else self.entries[old]

        def packed(row: int) -> bytes:
            old = int(order[row])
            return _packed(several[old - before]) if old >= before or self.packed is None else self.packed(old)

        return KeptLibrary(OnDemand(len(order), entry), arrays, packed)

    def _is_older(self, row: int, one: Entry) -> bool:
        return newest_first(self.entries[row].session) < newest_first(one.session)


class _EntriesByKey(Mapping[tuple[str, str], Entry]):
    def __init__(self, library: KeptLibrary) -> None:
        self._library = library

    def __getitem__(self, key: tuple[str, str]) -> Entry:
        for row in np.flatnonzero(self._library.arrays["key"] == key_number(key)).tolist():
            entry = self._library.entries[row]
            if entry.session.key == key:
                return entry
        raise KeyError(key)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return (entry.session.key for entry in self._library.entries)

    def __len__(self) -> int:
        return len(self._library.entries)


class KeptHistory(msgspec.Struct, frozen=True):
    """What was kept."""

    listing: memoryview
    """The files that the sessions were made of, in the states they were in (:func:`packed_states`)."""
    files: KeptFiles
    """What is known of them, in the order of their paths."""
    library: KeptLibrary
    left_out: tuple[tuple[int, frozenset[int]], ...]
    """The exchanges (positions by number of the transcript) that don't count."""

    @property
    def count(self) -> int:
        """How many files there were."""
        return len(self.library.arrays["first_part"])

    def holds(self, listing: Listing) -> bool:
        """Tell whether these are the files there are, all in the states they are in."""
        return bytes(self.listing) == listing.packed

    def table(self, indexes: Iterable[WordIndex], without: Collection[str] = ()) -> MessageTable | None:
        """Return the messages of the files, less some of these; None when one is in none of the word indexes."""
        firsts = self.library.arrays["first_part"]
        there = firsts >= 0
        if without:
            there &= ~np.isin(self.library.arrays["path_key"], [path_number(path) for path in without])
        views, held = views_of(indexes, self.library.arrays["state_key"][there], firsts[there])
        if not held.all():
            return None
        table = MessageTable(views, lambda: self.parts(without))
        table.leave_out(self.left_out)
        return table

    def parts(self, without: Collection[str] = ()) -> dict[str, tuple[int, int]]:
        """Return for each file the number of its first transcript in the message table, and how many there are."""
        firsts = self.library.arrays["first_part"].tolist()
        return {
            one.file.path: (first, one.transcripts)
            for one, first in zip(self.files.every(), firsts, strict=True)
            if first >= 0 and one.file.path not in without
        }


class KeptWords:
    """One scope's kept history in files of the cache, beside its list. Losing them costs only time."""

    def __init__(self, last: LastList) -> None:
        self._last = last
        self.path = last.path.with_suffix(".columns")
        self.recent_path = last.path.with_suffix(".recent")
        """The word index of messages that are in none of the catalog's."""

    def load(self) -> KeptHistory | None:
        """Return what was kept; None when there is nothing that holds today, whatever its files are by now.

        Nothing of the sessions is read yet. One that turns out to be damaged when it is looked at raises StoreUnusable,
        and the file is removed.
        """
        try:
            with self.path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            content = _CONTENT.decode(mapped)
            if content.format != _FORMAT or content.made_by != self._last.made_by():
                return None
            arrays = {name: np.frombuffer(data, kind) for name, (kind, data) in content.arrays.items()}
            starts, entries = arrays["entry_starts"], content.entries
            if starts[-1] != len(entries):
                return None

            def packed(row: int) -> bytes:
                return bytes(entries[starts[row] : starts[row + 1]])

            def entry(row: int) -> Entry:
                try:
                    one = _ENTRY.decode(packed(row))
                except (ValueError, msgspec.MsgspecError) as error:
                    raise self._damaged() from error
                return Entry(one.session, one.parts, one.numbers, one.title, one.paths, "\n".join(one.paths))

            library = KeptLibrary(OnDemand(len(starts) - 1, entry), arrays, packed)
            library.columns, arrays["path_key"], arrays["state_key"]
        except (OSError, ValueError, KeyError, IndexError, msgspec.MsgspecError):
            return None
        left_out = tuple((part, frozenset(positions)) for part, positions in content.left_out)

        @cache
        def files() -> tuple[KnownFile, ...]:
            try:
                every = _FILES.decode(content.files)
            except (ValueError, msgspec.MsgspecError) as error:
                raise self._damaged() from error
            if len(every) != len(arrays["first_part"]):
                raise self._damaged()
            return every

        return KeptHistory(content.listing, KeptFiles(files, content.troubled), library, left_out)

    def _damaged(self) -> StoreUnusable:
        with contextlib.suppress(OSError):
            self.path.unlink()
        return StoreUnusable("a file that saves time was damaged and is removed; search again")

    def recent(self) -> list[WordIndex]:
        """Return the word index of messages that were in none of the catalog's; none where it can't be used."""
        with contextlib.suppress(StoreUnusable):
            return [WordIndex.open(self.recent_path)]
        return []

    def keep(
        self,
        known: Iterable[KnownFile],
        parts: Mapping[str, tuple[int, int]],
        library: Library,
        left_out: Iterable[tuple[int, frozenset[int]]],
    ) -> None:
        """Keep a history, where the disk allows it: its files, their parts in the message table, its sessions."""
        files = sorted(known, key=lambda one: one.file.path)
        if isinstance(library, KeptLibrary) and library.packed is not None:
            packed = list(map(library.packed, range(len(library.entries))))
            arrays = dict(library.arrays)
        else:
            packed = list(map(_packed, library.entries))
            arrays = dict(library.columns.arrays())
            arrays["file_key"], arrays["file_row"] = _file_columns(library.entries)
        starts = np.zeros(len(packed) + 1, np.int64)
        np.cumsum([len(one) for one in packed], out=starts[1:])
        arrays["entry_starts"] = starts
        paths = [one.file.path for one in files]
        arrays["first_part"] = np.array([parts.get(path, (-1, 0))[0] for path in paths], np.int64)
        arrays["path_key"] = np.array(list(map(path_number, paths)), np.uint64)
        arrays["state_key"] = np.array([state_number(one.file.path, state_of(one.file)) for one in files], np.uint64)
        content = _Content(
            _FORMAT,
            self._last.made_by(),
            memoryview(packed_states(one.file for one in files)),
            memoryview(msgspec.msgpack.encode(files)),
            tuple(one for one in files if one.problems),
            [(number, tuple(positions)) for number, positions in left_out if positions],
            {name: (values.dtype.str, memoryview(values.tobytes())) for name, values in arrays.items()},
            memoryview(b"".join(packed)),
        )
        with contextlib.suppress(OSError):
            replace_private(self.path, msgspec.msgpack.encode(content))

    def keep_recent(self, writer: WordIndexWriter, files: Sequence[tuple[str, bytes]]) -> None:
        """Keep the messages of (path, state) that no other word index holds, where the disk allows it."""
        new = self.path.with_name(f".{self.recent_path.name}.{os.getpid()}")
        try:
            if files:
                private_folder(new.parent)
                writer.write(new, files)
                new.replace(self.recent_path)
            else:
                self.recent_path.unlink(missing_ok=True)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)

    def recent_bytes(self) -> int:
        """Return the size of that word index."""
        try:
            return self.recent_path.stat().st_size
        except OSError:
            return 0

    def remove(self) -> None:
        """Remove what was kept, where the disk allows it."""
        for path in (self.path, self.recent_path):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _file_columns(entries: Sequence[Entry]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the key of each file that a session comes from, and the session's row."""
    pairs = [(path_number(path), row) for row, one in enumerate(entries) for path in one.session.paths]
    keys = np.fromiter((key for key, _row in pairs), np.uint64, len(pairs))
    return keys, np.fromiter((row for _key, row in pairs), np.int64, len(pairs))


def _packed(entry: Entry) -> bytes:
    return msgspec.msgpack.encode(_KeptEntry(entry.session, entry.parts, entry.numbers, entry.title, entry.paths))


_CONTENT = msgspec.msgpack.Decoder(_Content)
_FILES = msgspec.msgpack.Decoder(tuple[KnownFile, ...])
_ENTRY = msgspec.msgpack.Decoder(_KeptEntry)

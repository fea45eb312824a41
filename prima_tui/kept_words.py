"""A history kept for searching by word: one mapped file, of which a search reads only what its answer needs.

A list needs every session, a search shows twenty of thousands. So what a search compares stands in the file as columns,
and each session apart, to be decoded when it is a hit. It holds for as long as every file is in the state it was in.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.errors import StoreUnusable
from prima_tui.last_list import LastList, replace_private
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.session import Session, key64
from prima_tui.search.columns import Columns
from prima_tui.search.library import Entry, Library
from prima_tui.sources.assemble import Part
from prima_tui.sources.base import KnownFile, Problem

Arrays = Mapping[str, NDArray[Any]]


class _KeptEntry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    session: Session
    parts: tuple[Part, ...]
    numbers: tuple[int, ...]
    title: str
    paths: tuple[str, ...]


class _Content(msgspec.Struct, frozen=True, array_like=True):
    """What stands in the file."""

    made_by: str
    files: bytes
    """Digest of the files and their states."""
    parts: dict[str, tuple[int, int]]
    problems: dict[str, tuple[Problem, ...]]
    left_out: list[tuple[int, tuple[int, ...]]]
    arrays: dict[str, tuple[str, memoryview]]
    """Name to type and bytes."""
    entries: memoryview


class KeptLibrary(Library, frozen=True, dict=True):
    """A library whose entries are decoded when they are looked at."""

    arrays: Arrays = MappingProxyType({})
    """Its columns (:meth:`prima_tui.search.columns.Columns.arrays`), and the ``key`` of each entry."""

    @cached_property
    def columns(self) -> Columns:
        """The entries as columns, for searching."""
        return Columns.of_arrays(self.entries, self.arrays)

    @cached_property
    def by_key(self) -> Mapping[tuple[str, str], Entry]:
        """A session's key to its entry."""
        return _EntriesByKey(self)


class _EntriesByKey(Mapping[tuple[str, str], Entry]):
    def __init__(self, library: KeptLibrary) -> None:
        self._library = library

    def __getitem__(self, key: tuple[str, str]) -> Entry:
        for row in np.flatnonzero(self._library.arrays["key"] == _number(key)).tolist():
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

    library: KeptLibrary
    parts: Mapping[str, tuple[int, int]]
    """For each file the number of its first transcript in the message table, and how many there are."""
    problems: Mapping[str, tuple[Problem, ...]]
    """What was passed over in files, by path."""
    left_out: tuple[tuple[int, frozenset[int]], ...]
    """The exchanges (positions by number of the transcript) that don't count."""


class KeptWords:
    """One scope's kept history in a file of the cache, beside its list. Losing it costs only time."""

    def __init__(self, last: LastList) -> None:
        self._last = last
        self.path = last.path.with_suffix(".columns")

    def load(self, states: Mapping[str, bytes]) -> KeptHistory | None:
        """Return what was kept, if it was of these very files (path to state); None when there is nothing that holds.

        Nothing of the sessions is read yet. One that turns out to be damaged when it is looked at raises StoreUnusable,
        and the file is removed.
        """
        try:
            with self.path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            content = _CONTENT.decode(mapped)
            if content.files != _digest(states) or content.made_by != self._last.made_by():
                return None
            arrays = {name: np.frombuffer(data, kind) for name, (kind, data) in content.arrays.items()}
            starts, entries = arrays["entry_starts"], content.entries

            def entry(row: int) -> Entry:
                try:
                    one = _ENTRY.decode(entries[starts[row] : starts[row + 1]])
                except (ValueError, msgspec.MsgspecError) as error:
                    with contextlib.suppress(OSError):
                        self.path.unlink()
                    raise StoreUnusable("a file that saves time was damaged and is removed; search again") from error
                return Entry(one.session, one.parts, one.numbers, one.title, one.paths, "\n".join(one.paths))

            library = KeptLibrary(OnDemand(len(starts) - 1, entry), arrays)
            library.columns  # noqa: B018  (no array is missing)
        except (OSError, ValueError, KeyError, msgspec.MsgspecError):
            return None
        left_out = tuple((part, frozenset(positions)) for part, positions in content.left_out)
        return KeptHistory(library, content.parts, content.problems, left_out)

    def keep(
        self,
        states: Mapping[str, bytes],
        known: Mapping[str, KnownFile],
        parts: Mapping[str, tuple[int, int]],
        library: Library,
    ) -> None:
        """Keep a history whose messages are all in word indexes, where the disk allows it."""
        if isinstance(library, KeptLibrary):
            return
        entries = [
            msgspec.msgpack.encode(_KeptEntry(one.session, one.parts, one.numbers, one.title, one.paths))
            for one in library.entries
        ]
        starts = np.zeros(len(entries) + 1, np.int64)
        np.cumsum([len(one) for one in entries], out=starts[1:])
        keys = np.array([_number(one.session.key) for one in library.entries], np.uint64)
        arrays = {**library.columns.arrays(), "entry_starts": starts, "key": keys}
        content = _Content(
            self._last.made_by(),
            _digest(states),
            dict(parts),
            {path: one.problems for path, one in known.items() if one.problems},
            [
                (number, tuple(part.left_out))
                for one in library.entries
                for number, part in zip(one.numbers, one.parts, strict=True)
                if part.left_out
            ],
            {name: (values.dtype.str, memoryview(values.tobytes())) for name, values in arrays.items()},
            memoryview(b"".join(entries)),
        )
        with contextlib.suppress(OSError):
            replace_private(self.path, msgspec.msgpack.encode(content))


def _number(key: tuple[str, str]) -> np.uint64:
    return np.uint64(int.from_bytes(key64("\0".join(key)), "little"))


def _digest(states: Mapping[str, bytes]) -> bytes:
    """Return what tells these files in these states from all others."""
    lines = sorted(path.encode("utf-8", "surrogateescape") + b"\0" + state for path, state in states.items())
    return hashlib.blake2b(b"\n".join(lines), digest_size=16).digest()


_CONTENT = msgspec.msgpack.Decoder(_Content)
_ENTRY = msgspec.msgpack.Decoder(_KeptEntry)

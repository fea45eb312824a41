"""The history of a scope as it was when last complete, in one file of the cache: all that a list needs at the start.

While every file is still in the state it was then, the sessions made of them are still the same, and nothing has to be
read or put together again. The screen shows them at once, while the files are looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import threading
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

import msgspec

from prima_tui import __version__
from prima_tui.config import private_folder
from prima_tui.forgotten import Forgotten
from prima_tui.listing import list_path
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.query import is_hidden
from prima_tui.model.session import Session
from prima_tui.search.library import Entry, Library
from prima_tui.sources.assemble import Part
from prima_tui.sources.base import READER_VERSION, KnownFile, Scope
from prima_tui.sources.places import resolved
from prima_tui.sources.repository import repository_of

_FORMAT = 3
"""Raised whenever what is kept of a history means something else."""
_MARK = b"prima-tui list"
_LENGTH = 8
"""Bytes that tell how long the head is, the lowest first."""


class LastEntry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A session of the list, prepared for searching, without what only this run of the program knows."""

    session: Session
    parts: tuple[Part, ...]
    title: str
    paths: tuple[str, ...]

    def unloaded(self) -> Entry:
        """Return it as an entry of a library; its messages are not in the table yet."""
        return Entry(self.session, self.parts, (-1,) * len(self.parts), self.title, self.paths, "\n".join(self.paths))


class _Head(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What stands before the files and the entries."""

    made_by: str
    ends: bytes
    """Where the files end, and then each entry, counted from the end of the head: 8 bytes each, the lowest first."""
    hidden: frozenset[int]
    kin: tuple[int, ...]


class LastHistory:
    """The sessions of a scope, and the files that they were made of, each in the state it was in.

    The file is mapped: of the many thousand sessions in it a list shows thirty, and only those are read and unpacked.
    What is damaged raises ValueError when it is looked at.
    """

    def __init__(self, content: bytes | mmap.mmap) -> None:
        """Raises ValueError for what is no such file, or a part of one."""
        self._content = content
        start = len(_MARK) + _LENGTH
        if content[: len(_MARK)] != _MARK:
            raise ValueError("not a list")
        self._body = start + int.from_bytes(content[len(_MARK) : start], "little")
        head = _HEAD.decode(content[start : self._body])
        self.made_by = head.made_by
        """What else the sessions depend on: see :meth:`LastList.made_by`."""
        self.hidden = head.hidden
        """Places of the entries whose sessions no list shows."""
        self.kin = head.kin
        """Places, among the others, of sessions that have to do with copies: the one has some, the other is one."""
        self._ends = array("Q")
        self._ends.frombytes(head.ends)
        if not self._ends or self._body + self._ends[-1] != len(content):
            raise ValueError("a part of a list")

    def __len__(self) -> int:
        """How many sessions it holds, those that no list shows among them."""
        return len(self._ends) - 1

    @property
    def files(self) -> tuple[KnownFile, ...]:
        """The files."""
        return _FILES.decode(self._content[self._body : self._body + self._ends[0]])

    def entry(self, place: int) -> LastEntry:
        """Return a session with what it was prepared for searching, by its place: the newest first."""
        return _ENTRY.decode(self._content[self._body + self._ends[place] : self._body + self._ends[place + 1]])

    def sessions(self) -> Sequence[Session]:
        """Return the sessions that lists show, newest first, each unpacked when it is looked at."""
        shown = [place for place in range(len(self)) if place not in self.hidden]
        return OnDemand(len(shown), lambda place: self.entry(shown[place]).session)

    def library(self) -> Library:
        """Return the sessions as a library; their messages are not in the table yet."""
        return Library(tuple(self.entry(place).unloaded() for place in range(len(self))))


class LastList:
    """One scope's last history in a file of the cache. Losing it costs only time."""

    def __init__(self, cache: Path, scope: Scope, forgotten: Forgotten) -> None:
        self.path = list_path(cache, scope)
        self._scope = scope
        self._forgotten = forgotten
        self._lock = threading.Lock()
        self._loaded: LastHistory | None = None

    def made_by(self) -> str:
        """Return what the sessions of unchanged files depend on beside them.

        That is the program's version, the scope as it lies on the disk now, and what is to be forgotten.
        """
        scope = {name: getattr(self._scope, name) for name in self._scope.__struct_fields__ if name != "env"}
        facts = (
            __version__,
            READER_VERSION,
            _FORMAT,
            scope,
            resolved(str(self._scope.workspace)),
            repository_of(str(self._scope.workspace)) if self._scope.repository else None,
            self._forgotten.fingerprint(),
        )
        return hashlib.blake2b(repr(facts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    def forget(self) -> None:
        """Remove the lists of every scope. Raises OSError."""
        for path in self.path.parent.glob("*"):
            path.unlink(missing_ok=True)

    def load(self) -> LastHistory | None:
        """Return what was kept, the same again until :meth:`release`; None when there is nothing that holds today."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._read()
            last = self._loaded
        return last if last is not None and last.made_by == self.made_by() else None

    def release(self) -> None:
        """Let go of what was loaded."""
        self._loaded = None

    def _read(self) -> LastHistory | None:
        try:
            with self.path.open("rb") as file:
                return LastHistory(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):
            return None

    def keep(self, files: Iterable[KnownFile], library: Library) -> None:
        """Keep a complete history for the next start, where the disk allows it."""
        content = _packed(self.made_by(), tuple(files), library)
        with contextlib.suppress(OSError):
            replace_private(self.path, content)


def replace_private(path: Path, content: bytes) -> None:
    """Write a file of the cache that its owner alone can read, whole or not at all. Raises OSError."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        private_folder(path.parent.parent)
        private_folder(path.parent)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        new.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def _packed(made_by: str, files: tuple[KnownFile, ...], library: Library) -> bytes:
    parts = [_ENCODER.encode(files)]
    parts += (_ENCODER.encode(LastEntry(one.session, one.parts, one.title, one.paths)) for one in library.entries)
    sessions = [entry.session for entry in library.entries]
    shown = [session for session in sessions if not is_hidden(session)]
    kin: set[tuple[str, str]] = set()
    for session in shown:
        for other in (session.continued_by, session.copied_from):
            if other:
                kin |= {session.key, (session.source, other)}
    head = _ENCODER.encode(
        _Head(
            made_by,
            array("Q", accumulate(map(len, parts))).tobytes(),
            frozenset(place for place, session in enumerate(sessions) if is_hidden(session)),
            tuple(place for place, session in enumerate(shown) if session.key in kin),
        )
    )
    return b"".join((_MARK, len(head).to_bytes(_LENGTH, "little"), head, *parts))


_HEAD = msgspec.msgpack.Decoder(_Head)
_FILES = msgspec.msgpack.Decoder(tuple[KnownFile, ...])
_ENTRY = msgspec.msgpack.Decoder(LastEntry)
_ENCODER = msgspec.msgpack.Encoder()

"""The history of a scope as it was when last complete, in one file of the cache: all that a list needs at the start.

While every file is still in the state it was then, the sessions made of them are still the same, and nothing has to be
read or put together again. The screen shows them at once, while the files are looked at.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from prima_tui import __version__
from prima_tui.config import private_folder
from prima_tui.forgotten import Forgotten
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.query import is_hidden
from prima_tui.model.session import Session
from prima_tui.search.library import Entry, Library
from prima_tui.sources.assemble import Part
from prima_tui.sources.base import READER_VERSION, KnownFile, Scope
from prima_tui.sources.places import resolved
from prima_tui.sources.repository import repository_of

_FORMAT = 2
"""Raised whenever what is kept of a history means something else."""


class LastEntry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A session of the list, prepared for searching, without what only this run of the program knows."""

    session: Session
    parts: tuple[Part, ...]
    title: str
    paths: tuple[str, ...]


class LastHistory(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The sessions of a scope, and the files that they were made of, each in the state it was in."""

    made_by: str
    """What else the sessions depend on: see :meth:`LastList.made_by`."""
    files: tuple[KnownFile, ...]
    entries: tuple[msgspec.Raw, ...]
    """A :class:`LastEntry` each, newest first, unpacked when it is looked at: of many thousand a list shows thirty."""
    hidden: frozenset[int] = frozenset()
    """Places of the entries whose sessions no list shows."""
    kin: tuple[int, ...] = ()
    """Places, among the others, of sessions that have to do with copies: the one has some, the other is one."""

    def sessions(self) -> Sequence[Session]:
        """Return the sessions that lists show, newest first. One that is damaged raises ValueError when looked at."""
        shown = [place for place in range(len(self.entries)) if place not in self.hidden]
        return OnDemand(len(shown), lambda place: _ENTRY.decode(self.entries[shown[place]]).session)

    def library(self) -> Library:
        """Return the sessions as a library; their messages are not in the table yet. Raises ValueError if damaged."""
        return Library(
            tuple(
                Entry(one.session, one.parts, (-1,) * len(one.parts), one.title, one.paths, "\n".join(one.paths))
                for one in map(_ENTRY.decode, self.entries)
            )
        )


class LastList:
    """One scope's last history in a file of the cache. Losing it costs only time."""

    def __init__(self, cache: Path, scope: Scope, forgotten: Forgotten) -> None:
        name = f"{scope.reach}:{scope.workspace}".encode("utf-8", "surrogateescape")
        self.path = cache / "lists" / f"{hashlib.blake2b(name, digest_size=12).hexdigest()}.msgpack"
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
        collects = gc.isenabled()
        gc.disable()  # nothing of it can be garbage yet
        try:
            return _DECODER.decode(self.path.read_bytes())
        except (OSError, ValueError):
            return None
        finally:
            if collects:
                gc.enable()

    def keep(self, files: Iterable[KnownFile], library: Library) -> None:
        """Keep a complete history for the next start, where the disk allows it."""
        content = _ENCODER.encode(_history(self.made_by(), tuple(files), library))
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


def _history(made_by: str, files: tuple[KnownFile, ...], library: Library) -> LastHistory:
    packed = (_ENCODER.encode(LastEntry(one.session, one.parts, one.title, one.paths)) for one in library.entries)
    sessions = [entry.session for entry in library.entries]
    shown = [session for session in sessions if not is_hidden(session)]
    kin: set[tuple[str, str]] = set()
    for session in shown:
        for other in (session.continued_by, session.copied_from):
            if other:
                kin |= {session.key, (session.source, other)}
    return LastHistory(
        made_by,
        files,
        tuple(map(msgspec.Raw, packed)),
        frozenset(place for place, session in enumerate(sessions) if is_hidden(session)),
        tuple(place for place, session in enumerate(shown) if session.key in kin),
    )


_DECODER = msgspec.msgpack.Decoder(LastHistory)
_ENTRY = msgspec.msgpack.Decoder(LastEntry)
_ENCODER = msgspec.msgpack.Encoder()

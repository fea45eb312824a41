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
from collections.abc import Iterable
from pathlib import Path

import msgspec

from prima_tui import __version__
from prima_tui.config import private_folder
from prima_tui.forgotten import Forgotten
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
    entries: tuple[LastEntry, ...]

    def sessions(self) -> tuple[Session, ...]:
        """Return the sessions that lists show, newest first."""
        return tuple(entry.session for entry in self.entries if not is_hidden(entry.session))

    def library(self) -> Library:
        """Return the sessions as a library; their messages are not in the table yet."""
        return Library(
            tuple(
                Entry(one.session, one.parts, (-1,) * len(one.parts), one.title, one.paths, "\n".join(one.paths))
                for one in self.entries
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
        entries = tuple(LastEntry(one.session, one.parts, one.title, one.paths) for one in library.entries)
        content = msgspec.msgpack.encode(LastHistory(self.made_by(), tuple(files), entries))
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


_DECODER = msgspec.msgpack.Decoder(LastHistory)

"""The files that the sources have in a scope at one moment, each in the state that it is in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from operator import attrgetter
from pathlib import Path

import msgspec

from prima_tui.forgotten import Forgotten
from prima_tui.forked import Forked
from prima_tui.sources.base import Problem, Scope, Source, SourceFile
from prima_tui.sources.registry import all_sources

_LONG_LIST_BYTES = 1024 * 1024
"""Size of the list of last time: of a shorter one the files are listed sooner than a process is copied."""
Problems = Mapping[str, list[Problem]]


class _Sent(msgspec.Struct, frozen=True, array_like=True):
    """A listing on its way from one process to another."""

    packed: bytes
    problems: dict[str, list[Problem]]


class Listing:
    """The files of one moment. Two listings with equal ``packed`` bytes are the same files in the same states."""

    def __init__(self, problems: Problems, packed: bytes) -> None:
        self.problems = problems
        """What each source could not list, by its id."""
        self._packed = packed

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The files by path."""
        return {file.path: file for file in _FILES.decode(self._packed)}

    @property
    def packed(self) -> bytes:
        """The files and their states as bytes."""
        return self._packed or packed_states(self.files.values())

    def changes(self, before: bytes) -> tuple[list[SourceFile], list[str]]:
        """Return the files that were in another state or not there ``before`` (the bytes of then), and what is gone."""
        now, then = (set(map(bytes, _RECORDS.decode(packed))) for packed in (self.packed, before))
        changed = sorted(map(_FILE.decode, now - then), key=_path)
        paths = {file.path for file in changed}
        return changed, sorted(path for path in map(_path, map(_FILE.decode, then - now)) if path not in paths)

    @classmethod
    def of_files(cls, files: dict[str, SourceFile], problems: Problems) -> Listing:
        """Return the listing of files, by path."""
        listing = cls(problems, b"")
        listing.files = files
        return listing

    def sent(self) -> bytes:
        """Return the listing as bytes, to be :meth:`received` by another process."""
        return _ENCODER.encode(_Sent(self.packed, dict(self.problems)))

    @classmethod
    def received(cls, data: bytes) -> Listing:
        """Return the listing that another process :meth:`sent`."""
        sent = _SENT.decode(data)
        return cls(sent.problems, sent.packed)


def packed_states(files: Iterable[SourceFile]) -> bytes:
    """Return the bytes that stand for files and their states, in whatever order they come."""
    return _ENCODER.encode(sorted(files, key=_path))


class Lister:
    """Lists the files of one scope: each time as the disk has them then."""

    def __init__(self, scope: Scope, cache: Path, forgotten: Forgotten) -> None:
        self.scope = scope
        self.forgotten = forgotten
        self.problems: list[Problem] = []
        """What is wrong with sources of other packages, once :attr:`sources` was asked for."""
        self._list_path = list_path(cache, scope)
        self._ahead: Forked | None = None

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Every source by its id."""
        return {source.id: source for source in all_sources(self.problems)}

    def look_ahead(self) -> None:
        """Begin to list the files in a process that does nothing else, if there may be thousands.

        The next :meth:`list` waits for that; what else it takes to answer can be loaded meanwhile.
        """
        if self._ahead is None and self._is_long():
            self.forgotten.look()
            _loaded = self.sources
            self._ahead = Forked.start(lambda: self._listed().sent())

    def _is_long(self) -> bool:
        try:
            return self._list_path.stat().st_size >= _LONG_LIST_BYTES
        except OSError:
            return False

    def list(self) -> Listing:
        """Ask every source for its files in the scope, less those that hold nothing but what is to be forgotten."""
        ahead, self._ahead = self._ahead, None
        sent = ahead.result() if ahead is not None else None
        return Listing.received(sent) if sent is not None else self._listed()

    def _listed(self) -> Listing:
        files: dict[str, SourceFile] = {}
        listed: dict[str, list[Problem]] = {}
        for source in self.sources.values():
            problems: list[Problem] = []
            try:
                for file in source.files(self.scope, problems):
                    files[file.path] = file
            except Exception as error:  # a fault of one source must not cost the others
                problems.append(Problem(f"can't be listed: {type(error).__name__}: {error}"[:200], source.id))
            listed[source.id] = problems
        if self.forgotten.any_files:
            files = {path: file for path, file in files.items() if not self.forgotten.holds_file(path)}
        return Listing.of_files(files, listed)


def list_path(cache: Path, scope: Scope) -> Path:
    """Return where a scope's list of sessions is kept from one start to the next."""
    name = f"{scope.reach}:{scope.workspace}".encode("utf-8", "surrogateescape")
    return cache / "lists" / f"{hashlib.blake2b(name, digest_size=12).hexdigest()}.msgpack"


_path = attrgetter("path")
_ENCODER = msgspec.msgpack.Encoder()
_FILE = msgspec.msgpack.Decoder(SourceFile)
_RECORDS = msgspec.msgpack.Decoder(list[msgspec.Raw])
_FILES = msgspec.msgpack.Decoder(list[SourceFile])
_SENT = msgspec.msgpack.Decoder(_Sent)

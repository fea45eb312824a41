"""The files that the sources have in a scope at one moment, each in the state that it is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from operator import attrgetter

import msgspec

from prima_tui.sources.base import Problem, Scope, Source, SourceFile

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


def list_files(sources: Mapping[str, Source], scope: Scope, unwanted: Callable[[str], bool] | None) -> Listing:
    """Ask every source for its files in the scope, as the disk has them now, less those whose path is unwanted."""
    files: dict[str, SourceFile] = {}
    listed: dict[str, list[Problem]] = {}
    for source in sources.values():
        problems: list[Problem] = []
        try:
            for file in source.files(scope, problems):
                files[file.path] = file
        except Exception as error:  # a fault of one source must not cost the others
            problems.append(Problem(f"can't be listed: {type(error).__name__}: {error}"[:200], source.id))
        listed[source.id] = problems
    if unwanted is not None:
        files = {path: file for path, file in files.items() if not unwanted(path)}
    return Listing.of_files(files, listed)


_path = attrgetter("path")
_ENCODER = msgspec.msgpack.Encoder()
_FILES = msgspec.msgpack.Decoder(list[SourceFile])
_SENT = msgspec.msgpack.Decoder(_Sent)

"""What every source has in common: the scope it is asked for, the files it finds, what reading one gives.

A source is a small class with an ``id``; adding an agent is one new module, one line in the registry, its samples.
Nothing outside this package asks which agent a session is from, except by what the source itself says.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from prima_tui.model.reach import Reach
from prima_tui.model.session import Exchange, ToolUse, Transcript
from prima_tui.sources.places import inside
from prima_tui.sources.repository import repository_of


class Scope(msgspec.Struct, frozen=True):
    """What is asked for: one workspace, its whole repository, or every workspace on the computer.

    ``home`` and ``env`` are injected, so that a test (or the demo) can point at another home.
    """

    workspace: Path
    """Absolute; as the user named it (symlinks not resolved)."""
    everywhere: bool
    home: Path
    env: Mapping[str, str]
    repository: bool = False
    """Widened to sub-folders and to every worktree of the workspace's git repository (``everywhere`` goes further)."""
    moved_from: tuple[str, ...] = ()
    """Folders, gone by now, that were this workspace before it moved: what was recorded there belongs to it."""

    @property
    def reach(self) -> Reach:
        """How far it reaches, in one word."""
        return "everywhere" if self.everywhere else "repository" if self.repository else "workspace"

    def reaching(self, reach: Reach) -> Scope:
        """Return the same scope, widened or narrowed."""
        return msgspec.structs.replace(self, everywhere=reach == "everywhere", repository=reach == "repository")

    @property
    def own_folders(self) -> tuple[str, ...]:
        """The workspace, and the folders that it was before it moved."""
        return (str(self.workspace), *self.moved_from)

    def takes(self, folder: str | None, repository: str = "") -> bool:
        """Tell whether a session recorded in a folder belongs to the scope; one that records none does.

        That folder is the workspace or lies inside it. Reaching further, it is part of the same repository, by where it
        is or by what the session recorded of its own ``repository`` (a remote's address, or the folder of a worktree).
        """
        if self.everywhere or folder is None or any(inside(folder, own) for own in self.own_folders):
            return True
        if not self.repository:
            return False
        if any(inside(repository, own) for own in self.own_folders if repository):
            return True
        found = repository_of(str(self.workspace))
        return found is not None and found.holds(folder, repository)

    def folder(self, variable: str, *default: str) -> Path:
        """Return the folder that the environment variable names, else ``home / default…`` (empty counts as unset)."""
        value = self.env.get(variable, "").strip()
        return Path(value).expanduser() if value else self.home.joinpath(*default)


READER_VERSION = 3
"""Raised whenever the same bytes give something else than before: readers, folding, how sessions are put together."""


class SourceFile(msgspec.Struct, frozen=True, gc=False):
    """A file that a source wants read, and the state it is in. Two equal values mean: nothing changed."""

    source: str
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    kind: str = ""
    """For the source's own use: which of its kinds of file this is."""


def state_of(file: SourceFile) -> bytes:
    """Return what identifies a file's state, and the readers' version, as bytes."""
    return f"{READER_VERSION}:{file.kind}:{file.size}:{file.mtime_ns}:{file.ctime_ns}".encode()


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something that a source passed over, for the startup log: what, how often, one example."""

    what: str
    """Short and countable: ``malformed lines``, ``unknown record type "x"``, ``can't be read: Permission denied``."""
    path: str
    count: int = 1


class KnownFile(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A file that was read, in the state it was in then, without what it says."""

    file: SourceFile
    transcripts: int = 0
    """How many were read from it."""
    problems: tuple[Problem, ...] = ()
    ties: bytes = b""
    """Keys (:func:`prima_tui.model.session.key64`) that files about the same sessions, or copies of them, have in
    common: ids of sessions and of those that started them, first exchanges."""
    leaves: bytes = b""
    """Keys of the records of other files that its summaries are about."""
    own_leaves: bytes = b""
    """Keys of its own records that its summaries are about."""
    tells: bool = False
    """Whether it tells names or folders of sessions that are in other files."""


class ReadTranscript(msgspec.Struct, frozen=True):
    """A transcript with its exchanges (kept apart, since lists need only the transcript)."""

    transcript: Transcript
    exchanges: tuple[Exchange, ...] = ()
    tools: Sequence[ToolUse] = ()
    """The uses of tools, in the order of the file, when they were asked for (:class:`ReadsTools`)."""


class ReadResult(msgspec.Struct, frozen=True):
    """What reading one file gave: transcripts, facts about other files' sessions, problems. Never an exception."""

    transcripts: tuple[ReadTranscript, ...] = ()
    names: dict[str, str] = {}
    """Session id to title, for sessions of other files (Codex's ``session_index.jsonl``)."""
    folders: dict[str, str] = {}
    """Folder on disk to the workspace it stands for (VS Code's ``workspace.json``)."""
    problems: tuple[Problem, ...] = ()


class Source(Protocol):
    """The protocol of a source. Implementations hold no state and may be used from several processes at once.

    An attribute ``keyed`` may name endings of its files that have to do with other files only by what
    :class:`KnownFile` tells of both. When one of these changes, not all sessions need to be put together anew.
    """

    id: str

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return the folders that this source would read if they exist; none existing means: not installed."""
        ...

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield every file to read for the scope, in any order; unreadable folders are added to ``problems``."""
        ...

    def read(self, file: SourceFile) -> ReadResult:
        """Read one file. Raises nothing: what can't be read is a problem in the result."""
        ...

    def contains(self, transcript: Transcript, scope: Scope) -> bool:
        """Tell whether a transcript that was read belongs to the scope (always true with ``scope.everywhere``)."""
        ...

    def finish(
        self, transcripts: Sequence[Transcript], names: Mapping[str, str], folders: Mapping[str, str]
    ) -> list[Transcript]:
        """Apply what only several files together tell (names, folders), before transcripts are put together."""
        ...


@runtime_checkable
class KnowsFolders(Protocol):
    """What a source offers beside :class:`Source` when it can tell folders of sessions that it doesn't read."""

    def recorded_folders(self, scope: Scope) -> Iterable[str]:
        """Return the folders in which sessions were recorded, of any workspace, as far as that is quickly known."""
        ...


@runtime_checkable
class ReadsTools(Protocol):
    """What a source offers beside :class:`Source` when it can read what tools were given and gave back.

    Such text is most of a file, so :meth:`Source.read` leaves it out and this reads the file once more with it.
    """

    def read_tools(self, file: SourceFile) -> ReadResult:
        """Read one file as :meth:`Source.read` does, with ``tools`` in its transcripts. Raises nothing."""
        ...


@runtime_checkable
class Expires(Protocol):
    """What a source offers beside :class:`Source` when its agent deletes old conversations by itself."""

    def expires_at(self, file: SourceFile) -> datetime | None:
        """Return when the agent will delete a file as it is now (UTC); None: never."""
        ...


_name = attrgetter("name")


def listed(folder: str | Path, problems: list[Problem]) -> list[os.DirEntry[str]]:
    """Return what a folder holds, in order of name; nothing when it is missing, a problem when it can't be read.

    Where there are thousands of folders, a path as text saves the time that making a Path of each takes.
    """
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem(f"folder can't be read: {error.strerror}", str(folder)))
        return []


def walk(
    root: str | Path, source: str, wanted: re.Pattern[str], problems: list[Problem], *, depth: int = 8, kind: str = ""
) -> Iterator[SourceFile]:
    """Yield the files below ``root`` whose name fully matches ``wanted``, at most ``depth`` folders down.

    Links to folders are not followed (no loops); an unreadable folder is one problem and the rest goes on; a missing
    root yields nothing. A file that vanishes meanwhile is left out in silence.
    """
    for entry in listed(root, problems):
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth > 0:
                    yield from walk(entry.path, source, wanted, problems, depth=depth - 1, kind=kind)
            elif wanted.fullmatch(entry.name):
                found = source_file(entry.path, source, kind, problems)
                if found is not None:
                    yield found
        except OSError as error:
            problems.append(Problem(f"can't be looked at: {error.strerror}", entry.path))


def source_file(path: str, source: str, kind: str, problems: list[Problem]) -> SourceFile | None:
    """Return the state of one regular file (links to files are followed), or None if there is none (any more).

    A path that is no text (bytes that no encoding explains) is a problem: nothing could store or show it.
    """
    if not path.isascii() and any("\ud800" <= letter <= "\udfff" for letter in path):
        problems.append(Problem("a file whose name is no text", path.encode("utf-8", "replace").decode()))
        return None
    try:
        state = os.stat(path)  # noqa: PTH116  (for thousands of files a Path of each takes longer than asking the disk)
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append(Problem(f"can't be looked at: {error.strerror}", path))
        return None
    if not stat.S_ISREG(state.st_mode):
        return None
    return SourceFile(source, path, state.st_size, state.st_mtime_ns, state.st_ctime_ns, kind)

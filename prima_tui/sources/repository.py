"""The git repository of a folder: its worktrees, those that were deleted among them, and the addresses of its remotes.

All of it is read from the repository's own files; no git is run. The layout is git's documented one: ``.git`` is the
repository's folder, or in a linked worktree a file that names ``<common>/worktrees/<name>``, whose ``gitdir`` names the
worktree's ``.git`` in turn.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from prima_tui.sources.places import inside

_SECONDS = 5
_LONGEST = 1024 * 1024
"""Bytes of a file of git's that are looked at."""
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*([^#;]*)')
_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*?)\s*")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/]*@)?(.*)", re.IGNORECASE | re.DOTALL)


class Repository(msgspec.Struct, frozen=True):
    """One repository, however many worktrees it has."""

    common: str
    """The folder that all its worktrees share, links resolved."""
    worktrees: tuple[str, ...] = ()
    """Folders of its worktrees that exist."""
    deleted_worktrees: tuple[str, ...] = ()
    """Folders that git still lists as worktrees, though they are gone."""
    remotes: frozenset[str] = frozenset()
    """The addresses of its remotes, as :func:`plain_address` gives them."""

    def holds(self, folder: str, recorded: str = "") -> bool:
        """Tell whether a session's recorded folder is, or once was, part of this repository.

        It is inside a worktree and no other repository begins between; or it is gone, and the session recorded an
        address of this repository's remotes. ``recorded`` can also be the folder whose worktree the agent had made.
        """
        if any(inside(folder, place) for place in self.deleted_worktrees):
            return True
        if Path(recorded).is_absolute() and self._holds_place(recorded):
            return True
        if not Path(folder).is_absolute():
            return False
        if any(inside(folder, place) for place in self.worktrees):
            return common_folder(folder) == self.common
        if Path(folder).is_dir():
            return common_folder(folder) == self.common
        return self.is_remote(recorded)

    def is_remote(self, address: str) -> bool:
        """Tell whether an address, in any of its spellings, is one of its remotes'."""
        return bool(address) and plain_address(address) in self.remotes

    def _holds_place(self, folder: str) -> bool:
        listed = any(inside(folder, place) for place in (*self.worktrees, *self.deleted_worktrees))
        return listed and common_folder(folder) in (None, self.common)


def repository_of(folder: str) -> Repository | None:
    """Return the repository that a folder is part of, None when it is part of none. Asked at most every few seconds."""
    return _repository_of(folder, int(time.monotonic() / _SECONDS))


def common_folder(folder: str) -> str | None:
    """Return what identifies the repository of a folder (or of the deepest part of its path that exists), else None."""
    found = _found(folder, int(time.monotonic() / _SECONDS))
    return None if found is None else found[1]


def plain_address(address: str) -> str:
    """Return a remote's address in one form for all of its spellings: no scheme, user, port or ``.git``.

    ``git@host.org:team/shop.git``, ``ssh://git@host.org:22/team/shop`` and ``https://host.org/team/shop`` are one.
    """
    rest = _ADDRESS.fullmatch(address.strip())
    text = rest[1] if rest else address.strip()
    if "://" in address:
        text = re.sub(r"^([^/:]+):\d+(?=/)", r"\1", text)
    elif not text.startswith("/"):
        text = re.sub(r"^([^/:]+):/*", r"\1/", text)
    host, slash, path = text.partition("/")
    return f"{host.lower()}{slash}{path.rstrip('/').removesuffix('.git')}"


@lru_cache(maxsize=256)
def _repository_of(folder: str, moment: int) -> Repository | None:
    found = _found(folder, moment)
    if found is None:
        return None
    top, common = found
    own = [top]
    if Path(common).name == ".git":
        own.append(str(Path(common).parent))
    existing = dict.fromkeys(own)
    deleted: dict[str, None] = {}
    for place in _linked(Path(common)):
        if not place.exists():
            deleted[str(place)] = None
        elif (git := _git_folder(place)) is not None and _common_of(git) == common:
            existing[str(place)] = None
        # else the place is another's by now, and so is what was said in it
    return Repository(common, tuple(existing), tuple(deleted), frozenset(_remotes(Path(common) / "config")))


@lru_cache(maxsize=4096)
def _found(folder: str, _moment: int) -> tuple[str, str] | None:
    """Return the top folder of the worktree that a folder is in, and the common folder of its repository."""
    if not Path(folder).is_absolute():
        return None
    for place in (Path(folder), *Path(folder).parents):
        git = _git_folder(place)
        if git is not None:
            return str(place), _common_of(git)
    return None


def _git_folder(top: Path) -> Path | None:
    """Return the folder that a worktree's ``.git`` is or names, None where there is no repository."""
    git = top / ".git"
    if not git.is_dir():
        text = _first_line(git)
        if not text.startswith("gitdir:"):
            return None
        git = top / text.removeprefix("gitdir:").strip()
    return git if os.path.lexists(git / "HEAD") else None


def _common_of(git: Path) -> str:
    named = _first_line(git / "commondir")
    return os.path.realpath(git / named if named else git)


def _linked(common: Path) -> Iterator[Path]:
    """Yield the folder of every linked worktree that the repository lists."""
    try:
        entries = sorted((common / "worktrees").iterdir())
    except OSError:
        return
    for entry in entries:
        named = _first_line(entry / "gitdir")
        if named:
            yield Path(os.path.normpath(entry / named)).parent


def _remotes(config: Path) -> Iterator[str]:
    in_remote = False
    for line in _text(config).splitlines():
        rest = line
        if section := _SECTION.fullmatch(line):
            in_remote = section[1].lower() == "remote"
            rest = section[3]
        if in_remote and (entry := _ENTRY.fullmatch(rest)) and entry[1].lower() == "url" and entry[2]:
            yield plain_address(entry[2].strip('"'))


def _first_line(path: Path) -> str:
    return _text(path).partition("\n")[0].strip()


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "surrogateescape")
    except OSError:
        return ""

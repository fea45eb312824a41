"""Whether a session is open in another terminal: found among the processes of this computer, where it shows them.

Only Linux' ``/proc`` is looked into; elsewhere, and for processes of other users, nothing is known, and nothing said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from prima_tui.model.session import Session

PROCESSES = Path("/proc")
_PROGRAM_WORDS = 3
"""The agent's name is among the first words of its command (``node /usr/bin/claude …``)."""


class OpenSession(msgspec.Struct, frozen=True):
    """A process in which a session seems to be open."""

    process: int
    terminal: str
    """Its terminal (``pts/3``); "" when it has none."""


def open_elsewhere(session: Session, processes: Path = PROCESSES) -> OpenSession | None:
    """Return a process of the session's agent that names the session, or has its file open; None when there is none."""
    if session.resume is None:
        return None
    agent = Path(session.resume.argv[0]).name
    files = frozenset(session.paths[:1])
    for folder, words in _commands(processes):
        if agent not in (Path(word).stem for word in words[:_PROGRAM_WORDS]):
            continue
        if session.id in words[1:] or _has_open(folder, files):
            return OpenSession(int(folder.name), _terminal(folder))
    return None


def _commands(processes: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield the folder and the command of every other process that may be looked at."""
    try:
        names = os.listdir(processes)
    except OSError:
        return
    own = str(os.getpid())
    for name in names:
        if name.isdecimal() and name != own:
            folder = processes / name
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            yield folder, os.fsdecode(command).rstrip("\0").split("\0")


def _has_open(folder: Path, files: frozenset[str]) -> bool:
    try:
        return any(str(entry.readlink()) in files for entry in (folder / "fd").iterdir())
    except OSError:
        return False


def _terminal(folder: Path) -> str:
    try:
        place = str((folder / "fd" / "0").readlink())
    except OSError:
        return ""
    return place.removeprefix("/dev/") if place.startswith(("/dev/pts/", "/dev/tty")) else ""

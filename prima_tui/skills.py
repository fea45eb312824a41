"""The command files for agents (``/welcome``, ``/sleep``, ``/reindex``, ``/resume``): written, renewed, taken away.

Each file ends with a marker line with the hash of the text above it. So it can be told, without a list kept elsewhere,
whether a file is ours and still as we wrote it; one that a person changed is never overwritten or removed unasked.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from prima_tui.config import replace_file
from prima_tui.errors import PrimaError, UsageError

Agent = Literal["claude-code", "codex"]
State = Literal["new", "same", "older", "changed", "foreign", "linked"]

_MARKER = re.compile(r"^<!-- written by prima-tui install-skills; sha256 ([0-9a-f]{64}) -->", re.MULTILINE)
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}|")


class CommandFile(msgspec.Struct, frozen=True):
    """One command file as it stands, or will stand, in an agent's folder."""

    path: Path
    state: State
    """``new``: not there yet; ``same``: as it should be; ``older``: ours, of another version; ``changed``: ours, but
    edited since; ``foreign``: never ours; ``linked``: a link to a file elsewhere that isn't as it should be."""
    text: str = ""
    """What will be written, marker included."""


def skill_names() -> tuple[str, ...]:
    """Return the names of the commands that come with the program, in the order of a working day."""
    return ("welcome", "resume", "reindex", "sleep")


def command_folder(agent: Agent, home: Path, env: Mapping[str, str], project: Path | None = None) -> Path:
    """Return the folder in which the agent looks for commands: the user's, or that of a project.

    ``CLAUDE_CONFIG_DIR`` and ``CODEX_HOME`` move it as they do for the agents. Raises UsageError for a project with
    an agent that knows no commands of projects.
    """
    if agent == "codex":
        if project is not None:
            raise UsageError("Codex has no commands of a project; leave --project out")
        return Path(env.get("CODEX_HOME") or home / ".codex") / "prompts"
    if project is not None:
        return project / ".claude" / "commands"
    return Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "commands"


def plan_install(folder: Path, prefix: str = "") -> list[CommandFile]:
    """Return what installing into the folder would write, and what stands there now. Writes nothing.

    ``prefix`` goes in front of each command's name, for when an agent has a command of that name itself.
    Raises UsageError for a prefix that can't be part of a command's name, PrimaError for a file that can't be read.
    """
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(f"the prefix {prefix!r} can't be part of a command's name: letters, digits, - and _ only")
    planned = []
    for name in skill_names():
        text = _marked(_bundled(name))
        path = folder / f"{prefix}{name}.md"
        planned.append(CommandFile(path, _state(path, text), text))
    return planned


def install(planned: Sequence[CommandFile], force: bool = False) -> list[CommandFile]:
    """Write the files that are new or older (with ``force`` all that aren't as they should be); return those written.

    Nothing outside the folder is written: a link is replaced, not what it names. Raises PrimaError when one can't be
    written.
    """
    wanted: tuple[State, ...] = ("new", "older", "changed", "foreign", "linked") if force else ("new", "older")
    written = []
    for file in planned:
        if file.state in wanted:
            try:
                file.path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(file.path, file.text.encode(), follow_link=False)
            except OSError as error:
                raise PrimaError(f"{file.path} can't be written: {error.strerror or error}") from error
            written.append(file)
    return written


def installed(folder: Path) -> list[CommandFile]:
    """Return the files in the folder that this program wrote, whatever they are called: ``same`` or ``changed``."""
    found = []
    try:
        paths = sorted(folder.glob("*.md"))
    except OSError as error:
        raise PrimaError(f"{folder} can't be read: {error.strerror or error}") from error
    for path in paths:
        text = _read(path)
        if text is not None and _MARKER.search(text):
            found.append(CommandFile(path, "same" if _is_untouched(text) else "changed"))
    return found


def uninstall(found: Sequence[CommandFile], force: bool = False) -> list[CommandFile]:
    """Remove the files as we wrote them (with ``force`` edited ones too); return those removed.

    Raises PrimaError when one can't be removed.
    """
    removed = []
    for file in found:
        if file.state == "same" or (force and file.state == "changed"):
            try:
                file.path.unlink(missing_ok=True)
            except OSError as error:
                raise PrimaError(f"{file.path} can't be removed: {error.strerror or error}") from error
            removed.append(file)
    return removed


def _bundled(name: str) -> str:
    return files("prima_tui").joinpath("data", "skills", f"{name}.md").read_text(encoding="utf-8")


def _marked(text: str) -> str:
    text = text.rstrip() + "\n\n"
    return f"{text}<!-- written by prima-tui install-skills; sha256 {_hash(text)} -->\n"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _state(path: Path, wanted: str) -> State:
    text = _read(path)
    if text == wanted:
        return "same"
    if path.is_symlink():
        return "linked"
    if text is None:
        return "foreign" if os.path.lexists(path) else "new"
    if not _MARKER.search(text):
        return "foreign"
    return "older" if _is_untouched(text) else "changed"


def _is_untouched(text: str) -> bool:
    marker = _MARKER.search(text)
    return marker is not None and not text[marker.end() :].strip() and _hash(text[: marker.start()]) == marker[1]


def _read(path: Path) -> str | None:
    """Return the file's text; None when there is none (or a folder, or no text: nothing of ours)."""
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, UnicodeDecodeError):
        return None
    except OSError as error:
        raise PrimaError(f"{path} can't be read: {error.strerror or error}") from error

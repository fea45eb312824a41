"""Where Claude Code keeps its transcripts: configuration folders, project folders and the names of these.

A session lies in ``<root>/projects/<folder>/<session id>.jsonl``. The folder's name is the working folder's path with
every character that is no ASCII letter or digit replaced by ``-``; the mapping is lossy and cannot be turned back.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePath

from prima_tui.sources.base import Problem, Scope, SourceFile, resolved, source_file, walk

SESSION = "session"
AGENT = "agent"
OTHER_ROOT = "+root"
"""Appended to a kind: the file lies in a root that must be named to Claude Code when the session is resumed."""

_LONGEST_NAME = 200
"""Characters; a longer folder name is cut there and gets ``-`` and a hash that differs between Claude's versions."""
_NO_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")
_HASH = re.compile(r"[0-9A-Za-z]{1,64}")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_AGENT_FILE = re.compile(r"agent-(?!acompact-).*\.jsonl", re.DOTALL)
"""Subagents; ``agent-acompact-*`` are the runs that wrote a compaction summary."""


def config_roots(scope: Scope) -> list[tuple[Path, bool]]:
    """Return Claude Code's configuration folders, each with whether it must be named when resuming.

    ``CLAUDE_CONFIG_DIR`` (a folder, or several separated by commas) replaces ``~/.claude`` and ``~/.config/claude``.
    A folder that is reached twice, through a link, is given once.
    """
    home = scope.home / ".claude"
    value = scope.env.get("CLAUDE_CONFIG_DIR", "").strip()
    if value:
        parts = [value] if Path(value).is_dir() else [part.strip() for part in value.split(",") if part.strip()]
        candidates = [_named_root(part, scope) for part in parts]
    else:
        candidates = [home, scope.home / ".config" / "claude"]
    found: dict[str, tuple[Path, bool]] = {}
    for root in candidates:
        found.setdefault(os.path.realpath(root), (root, root != home))
    return list(found.values())


def _named_root(text: str, scope: Scope) -> Path:
    """Return the folder that a part of the variable names: ``~`` is the scope's home, composed Unicode as Claude's."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return scope.home / text[2:]
    plain = Path.cwd() / text
    composed = Path(unicodedata.normalize("NFC", str(plain)))
    return plain if plain.exists() else composed


def folder_names(path: str) -> frozenset[str]:
    """Return every name that the project folder of a working folder can have (long ones whole, see stands_for).

    The plain rule replaces ``/`` and space only. Claude Code's own counts UTF-16 units, so that an emoji gives two
    dashes; its SDK for Python counts characters.
    """
    names: set[str] = set()
    for form in (path, unicodedata.normalize("NFC", path)):
        text = form.rstrip("/\\") or form
        names.add(text.replace("/", "-").replace(" ", "-"))
        names.add(_NO_LETTER_OR_DIGIT.sub("-", text))
        names.add(_NO_LETTER_OR_DIGIT.sub(lambda found: "--" if found[0] > "\uffff" else "-", text))
    names.discard("")
    return frozenset(names)


@lru_cache(maxsize=4096)
def stands_for(folder: str, path: str) -> bool:
    """Tell whether ``folder`` is a name of the project folder of the working folder ``path``, by any of the rules.

    Windows paths are compared without regard to case.
    """
    if _WINDOWS.match(path):
        folder, path = folder.lower(), path.lower()
    for name in folder_names(path):
        if folder == name:
            return True
        if len(name) > _LONGEST_NAME and folder.startswith(name[:_LONGEST_NAME] + "-"):
            return _HASH.fullmatch(folder, _LONGEST_NAME + 1) is not None
    return False


def is_workspace_folder(folder: str, scope: Scope) -> bool:
    """Tell whether a project folder of this name is one of the scope's workspace (as named, or links resolved)."""
    if folder == _free_name(scope) or stands_for(folder, str(scope.workspace)):
        return True
    return stands_for(folder, resolved(str(scope.workspace)))


def _free_name(scope: Scope) -> str:
    return scope.env.get("CLAUDE_CODE_PROJECT_DIR_NAME", "").strip()


def same_folder(recorded: str, workspace: Path) -> bool:
    """Tell whether a recorded path is the workspace: as text, or with links resolved; on Windows in any case."""
    first, second = _comparable(recorded), _comparable(str(workspace))
    return first == second or _comparable(resolved(recorded)) == _comparable(resolved(str(workspace)))


def _comparable(path: str) -> str:
    text = unicodedata.normalize("NFC", os.path.normpath(path))
    return text.replace("\\", "/").rstrip("/").lower() if _WINDOWS.match(text) else text


def transcript_files(scope: Scope, source: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield the session and subagent files of the scope's workspace, or with ``everywhere`` of all workspaces."""
    installed = [(root, other) for root, other in config_roots(scope) if root.is_dir()]
    any_folder = False
    problems_before = len(problems)
    for root, other in installed:
        seen: set[str] = set()
        for folder in _subfolders(root / "projects", problems):
            any_folder = True
            if scope.everywhere or is_workspace_folder(folder.name, scope):
                real = os.path.realpath(folder)
                if real not in seen:
                    seen.add(real)
                    yield from _folder_files(folder, source, OTHER_ROOT if other else "", problems)
    if installed and not any_folder and len(problems) == problems_before:
        problems.append(Problem("no project folders", str(installed[0][0] / "projects")))


def _subfolders(projects: Path, problems: list[Problem]) -> list[Path]:
    try:
        with os.scandir(projects) as entries:
            return sorted((Path(entry.path) for entry in entries if entry.is_dir()), key=lambda path: path.is_symlink())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem(f"folder can't be read: {error.strerror}", str(projects)))
        return []


def _folder_files(folder: Path, source: str, suffix: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield the files of one project folder: sessions and older subagents in it, newer subagents below."""
    try:
        with os.scandir(folder) as scanned:
            entries = list(scanned)
    except OSError as error:
        problems.append(Problem(f"folder can't be read: {error.strerror}", str(folder)))
        return
    for entry in entries:
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue  # gone meanwhile
        if is_folder:
            if entry.name != "memory":
                subagents = Path(entry.path) / "subagents"
                yield from walk(subagents, source, _AGENT_FILE, problems, kind=AGENT + suffix)
        elif entry.name.endswith(".jsonl"):
            kind = AGENT if entry.name.startswith("agent-") else SESSION
            if kind == SESSION or _AGENT_FILE.fullmatch(entry.name):
                found = source_file(entry.path, source, kind + suffix, problems)
                if found is not None:
                    yield found


def is_agent_file(path: PurePath) -> bool:
    """Tell whether a transcript file is a subagent's, by its name."""
    return path.name.startswith("agent-")


def is_compaction_run(path: PurePath) -> bool:
    """Tell whether a subagent's file holds only the writing of a compaction summary."""
    return path.name.startswith("agent-acompact-")


def project_folder(path: PurePath) -> PurePath:
    """Return the project folder that a transcript file belongs to, also for a file deeper down."""
    session = session_folder(path)
    return session.parent if session is not None else path.parent


def session_folder(path: PurePath) -> PurePath | None:
    """Return ``<project folder>/<session id>`` for a subagent's file below it; None for any other file."""
    if is_agent_file(path):
        for parent in path.parents:
            if parent.name == "projects":
                break  # further up the names are the user's own
            if parent.name == "subagents":
                return parent.parent
    return None

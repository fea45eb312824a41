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

import orjson

from prima_tui.sources.base import Problem, Scope, SourceFile, listed, source_file, walk
from prima_tui.sources.places import ignores_case, is_windows_path, resolved, same_place
from prima_tui.sources.repository import repository_of

SOURCE = "claude-code"
LABEL = "[transcript]"
SESSION = "session"
AGENT = "agent"
OTHER_ROOT = "+root"
"""Appended to a kind: the file lies in a root that must be named to Claude Code when the session is resumed."""

_LONGEST_NAME = 200
"""Characters; a longer folder name is cut there and gets ``-`` and a hash that differs between Claude's versions."""
_NO_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")
_HASH = re.compile(r"[0-9A-Za-z]{1,64}")
_RECORDED_PLACE = re.compile(rb'"(cwd|originalCwd)"\s*:\s*("(?:[^"\\]|\\.)*")')
_LOOKED_AT = 64 * 1024
"""Bytes at the start of a session's file in which the folder is looked for; it stands in the first records."""
_FILES_LOOKED_AT = 3
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


def config_root(session_file: str) -> str:
    """Return the configuration folder that a session's file lies in: ``<root>/projects/<folder>/<id>.jsonl``."""
    return os.path.dirname(os.path.dirname(os.path.dirname(session_file)))  # noqa: PTH120 (asked for every session)


def _named_root(text: str, scope: Scope) -> Path:
    """Return the folder that a part of the variable names: ``~`` is the scope's home, composed Unicode as Claude's."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return scope.home / text[2:]
    plain = Path.cwd() / text
    composed = Path(unicodedata.normalize("NFC", str(plain)))
    return plain if plain.exists() else composed


@lru_cache(maxsize=4096)
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
def stands_for(folder: str, path: str, any_case: bool = False) -> bool:
    """Tell whether ``folder`` is a name of the project folder of the working folder ``path``, by any of the rules.

    Windows paths are compared without regard to case, all others only with ``any_case``.
    """
    if any_case or is_windows_path(path):
        folder, path = folder.lower(), path.lower()
    for name in folder_names(path):
        if folder == name:
            return True
        if len(name) > _LONGEST_NAME and folder.startswith(name[:_LONGEST_NAME] + "-"):
            return _HASH.fullmatch(folder, _LONGEST_NAME + 1) is not None
    return False


def is_workspace_folder(folder: str, scope: Scope) -> bool:
    """Tell whether a project folder of this name is one of the scope's workspace (as named, or links resolved)."""
    return folder == _free_name(scope) or any(_fits(folder, own) for own in scope.own_folders)


def _fits(folder: str, path: str) -> bool:
    any_case = ignores_case(path)
    return stands_for(folder, path, any_case) or stands_for(folder, resolved(path), any_case)


def _free_name(scope: Scope) -> str:
    return scope.env.get("CLAUDE_CODE_PROJECT_DIR_NAME", "").strip()


def is_own_place(folder: str, recorded: str, scope: Scope) -> bool:
    """Tell whether a project folder is the workspace's own, named after a link to it.

    ``recorded`` is the folder that a session in it records.
    """
    return stands_for(folder, recorded) and any(same_place(recorded, own) for own in scope.own_folders)


def _is_wanted(folder: Path, scope: Scope) -> bool:
    """Tell whether a project folder can hold sessions of the scope; which of these belong is told by what they record.

    Raises OSError when the folder is gone.
    """
    if scope.everywhere or is_workspace_folder(folder.name, scope):
        return True
    if scope.repository and _is_in_repository(folder.name, scope):
        return True
    places, origins = _recorded_places(str(folder), folder.stat().st_mtime_ns)
    if not scope.repository:
        return any(is_own_place(folder.name, place, scope) for place in places)
    origin = next(iter(origins), "")
    return any(scope.takes(place, origin) for place in places)


def _is_in_repository(folder: str, scope: Scope) -> bool:
    """Tell whether a project folder's name is one of a worktree, or may be one of a folder inside."""
    found = repository_of(str(scope.workspace))
    inner = (*found.worktrees, *found.deleted_worktrees) if found else ()
    for place in dict.fromkeys((*scope.own_folders, *inner)):
        for path in dict.fromkeys((place, resolved(place))):
            if _fits(folder, path) or any(folder.startswith(f"{name}-") for name in folder_names(path)):
                return True
    return False


def recorded_folders(scope: Scope) -> Iterator[str]:
    """Yield the working folders that the project folders of all workspaces stand for, as sessions in them record."""
    for root, _other in config_roots(scope):
        for folder in _subfolders(root / "projects", []):
            try:
                yield from _recorded_places(str(folder), folder.stat().st_mtime_ns)[0]
            except OSError:
                continue  # gone meanwhile


@lru_cache(maxsize=4096)
def _recorded_places(folder: str, _mtime_ns: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the working folders, and the folders whose worktrees these are, that the first records in it name.

    A few of its files are looked at until one names any; the state of the folder stands for that of its files.
    """
    looked_at = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.endswith(".jsonl") or entry.name.startswith("agent-"):
                    continue
                with open(entry.path, "rb") as file:
                    found = _RECORDED_PLACE.findall(file.read(_LOOKED_AT))
                looked_at += 1
                if found or looked_at == _FILES_LOOKED_AT:
                    texts = {name: dict.fromkeys(_texts(found, name)) for name in (b"cwd", b"originalCwd")}
                    return tuple(texts[b"cwd"]), tuple(texts[b"originalCwd"])
    except OSError:
        pass  # what can't be read says nothing; a problem is told where its files are wanted
    return (), ()


def _texts(found: list[tuple[bytes, bytes]], wanted: bytes) -> Iterator[str]:
    for name, literal in found:
        if name == wanted:
            try:
                yield orjson.loads(literal)
            except ValueError:
                continue


def transcript_files(scope: Scope, source: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield the session and subagent files of the project folders that can hold sessions of the scope."""
    installed = [(root, other) for root, other in config_roots(scope) if root.is_dir()]
    any_folder = False
    problems_before = len(problems)
    for root, other in installed:
        seen: set[str] = set()
        for folder in _subfolders(root / "projects", problems):
            any_folder = True
            try:
                wanted = _is_wanted(folder, scope)
            except OSError:
                continue  # gone meanwhile
            if wanted:
                real = os.path.realpath(folder)
                if real not in seen:
                    seen.add(real)
                    yield from _folder_files(folder, source, OTHER_ROOT if other else "", problems)
    if installed and not any_folder and len(problems) == problems_before:
        problems.append(Problem("no project folders", str(installed[0][0] / "projects")))


def _subfolders(projects: Path, problems: list[Problem]) -> list[Path]:
    """Return the folders in a folder, links to some behind the others."""
    folders: list[os.DirEntry[str]] = []
    for entry in listed(projects, problems):
        try:
            if entry.is_dir():
                folders.append(entry)
        except OSError as error:
            problems.append(Problem(f"can't be looked at: {error.strerror}", entry.path))
    return [Path(entry.path) for entry in sorted(folders, key=lambda entry: entry.is_symlink())]


def _folder_files(folder: Path, source: str, suffix: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield the files of one project folder: sessions and older subagents in it, newer subagents below."""
    for entry in listed(folder, problems):
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue  # gone meanwhile
        if is_folder:
            if entry.name != "memory":
                yield from walk(f"{entry.path}{os.sep}subagents", source, _AGENT_FILE, problems, kind=AGENT + suffix)
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


def project_folder_name(path: str) -> str:
    """Return the name of the project folder that a session's file lies in; of a subagent's, that of its session's."""
    folder, name = os.path.split(path)
    return project_folder(PurePath(path)).name if name.startswith("agent-") else os.path.basename(folder)  # noqa: PTH119


def session_folder(path: PurePath) -> PurePath | None:
    """Return ``<project folder>/<session id>`` for a subagent's file below it; None for any other file."""
    if is_agent_file(path):
        for parent in path.parents:
            if parent.name == "projects":
                break  # further up the names are the user's own
            if parent.name == "subagents":
                return parent.parent
    return None

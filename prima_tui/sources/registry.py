"""All sources there are: the built-in ones, and those that other packages register.

A package adds a source with an entry point in the group ``prima_tui.sources`` that names a class (made without
arguments) or an object with the methods of :class:`prima_tui.sources.base.Source`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from prima_tui.sources.base import Problem, Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "prima_tui.sources"
_METHODS = ("roots", "files", "read", "contains", "finish")


@cache
def builtin_sources() -> tuple[Source, ...]:
    """Return the sources of this package, in the order in which they are listed."""
    # inside the function, so that asking for a name or a plug-in loads no reader
    from prima_tui.sources.claude_code import ClaudeCode
    from prima_tui.sources.codex import Codex
    from prima_tui.sources.copilot_cli import CopilotCli
    from prima_tui.sources.shared_log import SharedLog
    from prima_tui.sources.vscode import VSCode

    return (ClaudeCode(), Codex(), VSCode(), CopilotCli(), SharedLog())


def all_sources(problems: list[Problem] | None = None) -> tuple[Source, ...]:
    """Return the built-in sources and those of other packages; one that can't be used is added to ``problems``."""
    sources, found = _loaded()
    if problems is not None:
        problems.extend(found)
    return sources


def source_by_id(identifier: str) -> Source:
    """Return the source with this id. Raises KeyError when there is none."""
    for source in all_sources():
        if source.id == identifier:
            return source
    raise KeyError(identifier)


@cache
def _loaded() -> tuple[tuple[Source, ...], tuple[Problem, ...]]:
    """Load every source once per process."""
    sources = list(builtin_sources())
    problems: list[Problem] = []
    for point in sorted(_registered(), key=lambda each: (each.name, each.value)):
        try:
            source = _source_of(point, {each.id for each in sources})
        # whatever goes wrong in another package must cost its own source only
        except Exception as error:
            problems.append(
                Problem(f"source can't be loaded: {type(error).__name__}: {error}", f"{point.name} = {point.value}")
            )
        else:
            sources.append(source)
    return tuple(sources), tuple(problems)


def _registered() -> Iterable[EntryPoint]:
    """Return the entry points of other packages.

    Python's own way to them takes longer to load than most commands need for the rest, so it is gone only where there
    may be any.
    """
    if not _may_be_registered():
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _may_be_registered() -> bool:
    """Tell whether a package that is installed as usual names the group, or one may be installed in another manner."""
    if any(hasattr(finder, "find_distributions") and finder is not PathFinder for finder in sys.meta_path):
        return True
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except FileNotFoundError:
            continue
        except OSError:
            return True  # an archive, or something else that only Python knows how to look into
        for name in names:
            if name.endswith(".egg"):
                return True
            if name.endswith((".dist-info", ".egg-info")):
                path = f"{folder or '.'}/{name}/entry_points.txt"
                if os.access(path, os.F_OK) and GROUP.encode() in Path(path).read_bytes():
                    return True
    return False


def _source_of(point: EntryPoint, taken: set[str]) -> Source:
    """Return the source that an entry point names. Raises whatever its package raises, TypeError when it is none."""
    loaded = point.load()
    source: Source = loaded() if isinstance(loaded, type) else loaded
    identifier = getattr(source, "id", None)
    if not isinstance(identifier, str) or not identifier:
        raise TypeError("it has no id")
    if identifier in taken:
        raise ValueError(f'there is already a source "{identifier}"')
    missing = [name for name in _METHODS if not callable(getattr(source, name, None))]
    if missing:
        raise TypeError(f"it lacks {', '.join(missing)}")
    return source

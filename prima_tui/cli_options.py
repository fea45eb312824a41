"""What the commands share that ask the history: where to look, how to print, the memory they open."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prima_tui.errors import UsageError
from prima_tui.printing import show_progress

if TYPE_CHECKING:
    from prima_tui.memory import Memory
    from prima_tui.model.hits import IndexProgress, Snapshot
    from prima_tui.model.reach import Reach
    from prima_tui.model.session import Session

Command = TypeVar("Command", bound=Callable[..., Any])


def workspace_option(command: Command) -> Command:
    """Give a command the option ``--workspace``."""
    return click.option(
        "-w",
        "--workspace",
        type=click.Path(path_type=Path),
        default=None,
        help="The workspace (default: the current folder).",
    )(command)


def scope_options(command: Command) -> Command:
    """Give a command the options ``--workspace``, ``--repository`` and ``--all``."""
    for option in (
        click.option("--all", "reach", flag_value="everywhere", default=None, help="Every workspace on this computer."),
        click.option(
            "--repository",
            "reach",
            flag_value="repository",
            help="This workspace, its sub-folders and every worktree of its git repository.",
        ),
        workspace_option,
    ):
        command = option(command)
    return command


def json_option(command: Command) -> Command:
    """Give a command the option ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(command)


def budget_option(command: Command) -> Command:
    """Give a command the option ``--budget``."""
    return click.option(
        "--budget", type=click.FloatRange(0), default=None, help="Seconds for indexing first (default 20)."
    )(command)


def mode_option(command: Command) -> Command:
    """Give a command the option ``--mode``."""
    return click.option(
        "-m",
        "--mode",
        type=click.Choice(["combined", "keyword", "semantic"]),
        default="combined",
        show_default=True,
        help="By word, by meaning, or both.",
    )(command)


def open_memory(
    workspace: Path | None,
    reach: Reach | None,
    home: Path | None = None,
    env: Mapping[str, str] | None = None,
    *,
    look_ahead: bool = False,
) -> Memory:
    """Return the memory of a workspace (the current folder). Raises UsageError when that is no folder.

    ``home`` and ``env`` stand in for the user's own, for a history elsewhere that must leave no trace here. With
    ``look_ahead`` many files are listed while the rest is loaded, for a command that is going to ask what they are.
    """
    from prima_tui.config import load_settings, paths_below
    from prima_tui.forgotten import Forgotten
    from prima_tui.listing import Lister
    from prima_tui.sources.base import Scope

    try:
        folder = (workspace or Path.cwd()).expanduser().absolute()
        found = folder.is_dir()
        str(folder).encode()
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        raise UsageError(f"the workspace can't be used: {error}") from error
    if not found:
        raise UsageError(f"the workspace {folder} is no folder")
    settings = load_settings(folder, paths_below(home) if home else None)
    scope = Scope(folder, False, home or Path.home(), env or dict(os.environ), moved_from=settings.moved_from)
    lister = Lister(scope.reaching(reach or "workspace"), settings.paths.cache, Forgotten(settings.paths.data))
    if look_ahead:
        lister.look_ahead()
    from prima_tui.memory import Memory

    return Memory(lister.scope, settings, lister)


def report_progress(progress: IndexProgress) -> None:
    """Show on the terminal how far the work on the index is."""
    from prima_tui.model.text import count_text

    show_progress(
        f"indexing: {progress.files_done} of {progress.files_total} files,"
        f" {count_text(progress.exchanges_embedded, 'exchange')}, {progress.seconds:.0f} s"
    )


def listed(memory: Memory, text: str) -> tuple[Snapshot, Sequence[Session], list[str]]:
    """Return the history as it is now, its sessions (with a text those that it finds), and what is to be said of it."""
    snapshot = memory.refresh()
    warnings = list(memory.settings.problems)
    if not text:
        return snapshot, snapshot.sessions, warnings
    answer = memory.search(text, "keyword")
    return snapshot, tuple(hit.session for hit in answer.hits), [*warnings, *answer.warnings]


def each_listed(
    memory: Memory, text: str, shape: Callable[[Session], bytes]
) -> tuple[list[bytes], Snapshot, list[str]]:
    """Return what :func:`listed` does, each session in the shape it is printed in; without a text one at a time."""
    if text:
        snapshot, found, warnings = listed(memory, text)
        return list(map(shape, found)), snapshot, warnings
    rows, snapshot = memory.each_listed(shape)
    return rows, snapshot, list(memory.settings.problems)

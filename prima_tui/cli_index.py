"""``prima-tui index`` and ``rebuild``: the index for search by meaning."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prima_tui.cli_options import json_option, open_memory, report_progress, scope_options
from prima_tui.errors import PrimaError
from prima_tui.printing import end_progress, print_result, warn

if TYPE_CHECKING:
    from prima_tui.model.hits import IndexProgress
    from prima_tui.model.reach import Reach


@click.command()
@scope_options
@json_option
def index(workspace: Path | None, reach: Reach | None, as_json: bool) -> None:
    """Index all that is pending for search by meaning; progress on stderr, then what was done."""
    memory = open_memory(workspace, reach)
    snapshot = memory.refresh()
    progress = memory.index_everything(report_progress)
    end_progress()
    if progress.note and not progress.finished:
        raise PrimaError(progress.note)
    warn(list(snapshot.warnings), as_json)
    _print_done(progress, as_json, {"warnings": list(snapshot.warnings)})


def _print_done(progress: IndexProgress, as_json: bool, more: dict[str, Any]) -> None:
    from prima_tui.model.text import count_text

    done = {
        "files": progress.files_done,
        "exchanges_embedded": progress.exchanges_embedded,
        "exchanges_reused": progress.exchanges_reused,
        "seconds": round(progress.seconds, 1),
        **more,
    }
    print_result(
        done if as_json else None,
        lambda: (
            f"{count_text(progress.files_done, 'file')} indexed:"
            f" {count_text(progress.exchanges_embedded, 'exchange')} embedded,"
            f" {progress.exchanges_reused} known already, {progress.seconds:.1f} s"
        ),
    )


@click.command()
@scope_options
@json_option
@click.option("--yes", is_flag=True, help="Don't ask, even when exchanges would be lost.")
def rebuild(workspace: Path | None, reach: Reach | None, as_json: bool, yes: bool) -> None:
    """Make the index anew (the old one answers meanwhile); goes on where an interrupted rebuild stopped."""
    from prima_tui.model.text import count_text

    memory = open_memory(workspace, reach)
    memory.refresh()
    lost = memory.rebuild_loss()
    if lost and not yes:
        question = (
            f"{count_text(lost, 'exchange')} of conversations whose files no longer exist would be lost. Rebuild?"
        )
        if not sys.stdin.isatty():
            raise PrimaError(f"{question} Say so with --yes.")
        click.confirm(question, abort=True, err=True)
    progress = memory.rebuild(report_progress)
    end_progress()
    if not progress.finished:
        raise PrimaError(progress.note)
    _print_done(progress, as_json, {"lost": lost})

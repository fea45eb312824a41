"""``prima-tui stats``: what the sessions in scope come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.cli_options import json_option, listed, open_memory, scope_options
from prima_tui.printing import print_result, warn

if TYPE_CHECKING:
    from prima_tui.model.reach import Reach


@click.command()
@scope_options
@json_option
@click.option("--filter", "text", default="", help="Only sessions that a search finds, e.g. 'agent:codex date:month'.")
def stats(workspace: Path | None, reach: Reach | None, as_json: bool, text: str) -> None:
    """Figures of the sessions: agents, tags, folders, files, hours."""
    from prima_tui import output_statistics
    from prima_tui.model.statistics import statistics

    memory = open_memory(workspace, reach)
    snapshot, sessions, warnings = listed(memory, text)
    found = statistics(sessions)
    warn([*warnings, *snapshot.warnings], as_json)
    print_result(
        output_statistics.statistics_json(found, [*warnings, *snapshot.warnings]) if as_json else None,
        lambda: output_statistics.statistics_text(found),
    )

"""``prima-tui moved-from``: the workspace was another folder before."""

from __future__ import annotations

from pathlib import Path

import click

from prima_tui.cli_options import open_memory, workspace_option


@click.command("moved-from")
@click.argument("folder", type=click.Path(path_type=Path))
@workspace_option
def moved_from(folder: Path, workspace: Path | None) -> None:
    """Say that this workspace was FOLDER before it moved: sessions recorded there belong to it from now on.

    FOLDER must be gone. What is said is kept in the workspace's own configuration.
    """
    from prima_tui.model.text import count_text

    old = str(folder.expanduser().absolute())
    memory = open_memory(workspace, None).take_over(old)
    found = memory.sessions_recorded_in(old)
    click.echo(f"{count_text(len(found), 'session')} of {old} belong to {memory.scope.workspace} now")

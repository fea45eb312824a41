"""``prima-tui forget``: sessions removed from all that is kept of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.cli_options import json_option, open_memory, scope_options
from prima_tui.errors import PrimaError, UsageError
from prima_tui.printing import print_result

if TYPE_CHECKING:
    from prima_tui.model.reach import Reach


@click.command()
@click.argument("session", nargs=-1)
@scope_options
@json_option
@click.option("--workspace-history", is_flag=True, help="Every session of this workspace.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--list", "listed", is_flag=True, help="What was forgotten.")
@click.option("--undo", is_flag=True, help="Take SESSION off the list: it is read again where its file still exists.")
def forget(
    session: tuple[str, ...],
    workspace: Path | None,
    reach: Reach | None,
    as_json: bool,
    workspace_history: bool,
    yes: bool,
    listed: bool,
    undo: bool,
) -> None:
    """Remove sessions from everything that is kept here, and never read them again.

    SESSION is an id, or the start of one. The agent's own file stays as it is; so does what other sessions hold copies
    of. What was forgotten once is forgotten again when it could not be reached then.
    """
    from prima_tui import output_forgotten as output
    from prima_tui.model.text import count_text

    memory = open_memory(workspace, reach)
    if listed or undo:
        if bool(session) is listed or workspace_history:
            raise UsageError("say either --list, or --undo with the sessions")
        rows = memory.recall(session) if undo else list(memory.forgotten.sessions())
        print_result(output.forgotten_json(rows) if as_json else None, lambda: output.forgotten_text(rows, undo))
        return
    if bool(session) is workspace_history:
        raise UsageError("name the sessions to forget, or say --workspace-history")
    memory.refresh()
    again = [name for name in session if memory.forgotten.find(name)]
    wanted = [memory.known_session(name) for name in session if name not in again]
    if workspace_history:
        wanted = memory.workspace_sessions()
    if not wanted and not again:
        raise UsageError("there is no session of this workspace to forget")
    if wanted and not yes:
        click.echo(output.forgetting_text(wanted), err=True)
        question = f"Forget {count_text(len(wanted), 'session')}?"
        if not sys.stdin.isatty():
            raise PrimaError(f"{question} Say so with --yes.")
        click.confirm(question, abort=True, err=True)
    left = memory.forget(wanted)
    print_result(
        {"forgotten": [one.id for one in wanted], "warnings": left} if as_json else None,
        lambda: f"{len(wanted) or len(again)} forgotten",
    )
    if left:
        raise PrimaError("not reached everywhere, say it again later: " + "; ".join(left))

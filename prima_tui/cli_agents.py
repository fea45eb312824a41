"""``prima-tui install-skills``: command files for agents, and the MCP server's entry in their settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.errors import UsageError

if TYPE_CHECKING:
    from prima_tui.registration import Change
    from prima_tui.skills import Agent, CommandFile

_KEPT = {
    "changed": "kept: it was changed since; --force overrules that",
    "foreign": "kept: it is not from prima-tui; --force overrules that",
    "linked": "kept: it is a link; --force puts a file in its place and leaves what it names alone",
    "differs": "kept: prima-tui is registered there otherwise; --force overrules that",
}


@click.command("install-skills")
@click.option(
    "--agent", type=click.Choice(["claude-code", "codex"]), default="claude-code", show_default=True, help="Whose."
)
@click.option("--project", is_flag=True, help="For this workspace (.claude/commands) instead of for you.")
@click.option("-w", "--workspace", type=click.Path(path_type=Path, file_okay=False, exists=True), default=None)
@click.option("--prefix", default="", help="In front of each command's name, e.g. 'prima-' for /prima-resume.")
@click.option("--mcp", "register", is_flag=True, help="Register the MCP server too, in the workspace's .mcp.json.")
@click.option("--user", is_flag=True, help="With --mcp: in your own settings of the agent instead.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--force", is_flag=True, help="Replace files and entries that were changed.")
@click.option("--uninstall", is_flag=True, help="Remove what was installed (with --mcp the entry too).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def install_skills(
    agent: Agent,
    project: bool,
    workspace: Path | None,
    prefix: str,
    register: bool,
    user: bool,
    dry_run: bool,
    force: bool,
    uninstall: bool,
    as_json: bool,
) -> None:
    """Install the commands /welcome, /resume, /reindex and /sleep into an agent.

    A file that was changed since is never replaced or removed without --force.
    """
    from prima_tui import registration, skills

    folder = (workspace or Path.cwd()).absolute()
    home, env = Path.home(), dict(os.environ)
    if user and not register:
        raise UsageError("--user goes with --mcp")
    if register and agent == "codex" and not user:
        raise UsageError("Codex has no servers of a workspace; add --user to register in your own settings")
    commands = skills.command_folder(agent, home, env, folder if project else None)
    # everything is planned, and so refused, before anything is written
    planned = skills.installed(commands) if uninstall else skills.plan_install(commands, prefix)
    change = None
    if register:
        path = registration.user_file(agent, home, env) if user else registration.project_file(folder)
        change = (
            registration.plan_removal(path, force)
            if uninstall
            else registration.plan_entry(path, registration.server_command(), force)
        )
    done = [] if dry_run else skills.uninstall(planned, force) if uninstall else skills.install(planned, force)
    if change and not dry_run:
        registration.carry_out(change)
    rows = [_file_row(file, file in done, uninstall=uninstall, dry_run=dry_run, force=force) for file in planned]
    if change:
        rows.append(_entry_row(change, dry_run=dry_run))
    _show(rows, as_json, dry_run)
    if any(row["result"].startswith("kept") for row in rows):
        sys.exit(1)


def _file_row(file: CommandFile, touched: bool, *, uninstall: bool, dry_run: bool, force: bool) -> dict[str, str]:
    verb = "removed" if uninstall else "written"
    if dry_run:
        touched = file.state == "same" if uninstall else file.state in ("new", "older")
        touched = touched or (force and file.state != "same")
        verb = f"would be {verb}"
    result = verb if touched else _KEPT.get(file.state, "up to date")
    return {"path": str(file.path), "result": result, "text": file.text if touched else ""}


def _entry_row(change: Change, *, dry_run: bool) -> dict[str, str]:
    touched = change.outcome in ("written", "removed")
    names = {"unchanged": "registered already", "absent": "not registered there", "written": "server registered"}
    names["removed"] = "server's entry removed"
    result = _KEPT.get(change.outcome) or names[change.outcome]
    if touched and dry_run:
        result = {"written": "server would be registered", "removed": "server's entry would be removed"}[change.outcome]
    return {"path": str(change.path), "result": result, "text": ""}


def _show(rows: list[dict[str, str]], as_json: bool, dry_run: bool) -> None:
    from prima_tui.model.text import shown

    if as_json:
        import orjson

        document = {"files": rows, "dry_run": dry_run, "warnings": []}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
        return
    if not rows:
        click.echo("Nothing is installed there.")
    for row in rows:
        click.echo(f"{shown(row['path'])}: {row['result']}")
        if dry_run and row["text"]:
            click.echo("".join(f"    {line}\n" for line in row["text"].splitlines()))

"""``prima-tui serve``: the screen in a browser on this computer."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.cli_options import open_memory, scope_options
from prima_tui.errors import PrimaError

if TYPE_CHECKING:
    from prima_tui.model.reach import Reach


@click.command("serve")
@scope_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port (default: a free one).")
@click.option("--demo", is_flag=True, help="A small bundled history, in a temporary home.")
def serve_browser(workspace: Path | None, reach: Reach | None, port: int, demo: bool) -> None:
    """Show the screen in a browser on this computer; prints the address to open. Ctrl+C stops.

    Nobody else can open it: it listens on the loopback address alone, and the address holds a secret token.
    """
    try:
        from prima_tui.web import LocalServer, listener_at
    except ImportError as error:
        raise PrimaError("the browser needs a package that isn't installed: pip install 'prima-tui[web]'") from error
    memory = open_memory(workspace, reach)
    words = [sys.executable, "-m", "prima_tui", "--workspace", str(memory.scope.workspace)]
    if reach is not None:
        words.append("--all" if reach == "everywhere" else "--repository")
    words += ["--demo"] if demo else []
    try:
        server = LocalServer(command_for_shell(words), listener_at(port))
    except OSError as error:
        raise PrimaError(f"port {port} can't be used: {error.strerror or error}") from error
    click.echo(f"prima-tui is at {server.url}")
    click.echo("Ctrl+C stops it.", err=True)
    server.run()


def command_for_shell(words: list[str], platform: str = sys.platform) -> str:
    """Return a command as one line for the system's shell, which Textual's server starts it with."""
    if platform != "win32":
        return f"exec {shlex.join(words)}"
    from subprocess import list2cmdline

    return list2cmdline(words)

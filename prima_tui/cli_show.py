"""``prima-tui show``: one session, printed or written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.cli_options import json_option, open_memory, scope_options
from prima_tui.printing import print_result, warn

if TYPE_CHECKING:
    pass


@click.command()
@click.argument("session")
@scope_options
@json_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
)
@click.option("--tools", "with_tools", is_flag=True, help="With what tools were given and gave back.")
def show(session: str, workspace: Path | None, everywhere: bool, as_json: bool, form: str, with_tools: bool) -> None:
    """One session: header, files, conversation. SESSION is an id or the start of one."""
    from prima_tui import output, output_conversation

    memory = open_memory(workspace, everywhere)
    snapshot = memory.refresh()
    conversation = memory.conversation(memory.session(session))
    as_json = as_json or form == "json"
    tools = memory.tools(conversation.session) if with_tools else None
    text = output_conversation.show_markdown if form == "markdown" else output_conversation.show_text
    warn(list(memory.settings.problems), as_json)
    print_result(
        output.show_json(conversation, snapshot.warnings, tools) if as_json else None,
        lambda: text(conversation, tools),
    )

"""``prima-tui show``: one session, printed or written to a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.cli_options import json_option, open_memory, scope_options
from prima_tui.errors import PrimaError
from prima_tui.printing import print_result, warn

if TYPE_CHECKING:
    from prima_tui.model.reach import Reach


@click.command()
@click.argument("session")
@scope_options
@json_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "html"]),
    default=None,
    help="Default: text, or what the name of the --output file asks for.",
)
@click.option("--tools", "with_tools", is_flag=True, help="With what tools were given and gave back.")
@click.option("--thinking", "with_thinking", is_flag=True, help="With what the model thought.")
@click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), default=None, help="A file, or a folder to put one in."
)
@click.option("--force", is_flag=True, help="Replace the --output file if it exists.")
def show(
    session: str,
    workspace: Path | None,
    reach: Reach | None,
    as_json: bool,
    form: str | None,
    with_tools: bool,
    with_thinking: bool,
    target: Path | None,
    force: bool,
) -> None:
    """One session: header, files, conversation. SESSION is an id or the start of one.

    With --output it is written to a file, as Markdown or as a page of HTML that needs nothing else.
    """
    from prima_tui import export, output, output_conversation
    from prima_tui.model.text import one_line

    if form is None:
        form = export.format_of(target) if target is not None else "text"
    memory = open_memory(workspace, reach)
    snapshot = memory.refresh()
    conversation = memory.conversation(memory.session(session))
    tools: output.Tools | None = None
    if with_tools or with_thinking:
        uses = memory.tools(conversation.session, thinking=with_thinking)
        tools = [[use for use in of_one if with_tools or use.thinking] for of_one in uses]
    warn(list(memory.settings.problems), as_json)
    if form == "json" or (as_json and target is None):
        document = output.show_json(conversation, snapshot.warnings, tools)
        if target is None:
            print_result(document, str)
            return
        import orjson

        text, suffix = orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n", ".json"
    elif form == "text":
        text, suffix = output_conversation.show_text(conversation, tools), ".txt"
    else:
        chosen: export.Format = "html" if form == "html" else "markdown"
        text, suffix = export.exported(conversation, chosen, tools or ()), ""
    if target is None:
        print_result(None, lambda: text.rstrip("\n"))
        return
    if target.is_dir():
        name = export.file_name(conversation.session, "html" if form == "html" else "markdown")
        target = export.free_path(target, str(Path(name).with_suffix(suffix)) if suffix else name)
    _write(target, text if text.endswith("\n") else text + "\n", force)
    print_result({"path": str(target), "warnings": []} if as_json else None, lambda: one_line(str(target)))


def _write(path: Path, text: str, force: bool) -> None:
    from prima_tui.export import FileThere, write_export

    try:
        write_export(path, text, replace=force)
    except FileThere as error:
        if not sys.stdin.isatty():
            raise PrimaError(f"{error}; --force replaces it") from error
        click.confirm(f"{error}. Replace it?", abort=True, err=True)
        write_export(path, text, replace=True)

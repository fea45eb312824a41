"""``prima-tui docs …``: a project's documents, searched and asked from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prima_tui.cli_options import Command, budget_option, json_option, mode_option
from prima_tui.errors import PrimaError
from prima_tui.printing import end_progress, print_result, show_progress, warn, write_out

if TYPE_CHECKING:
    from prima_tui.documents_memory import Documents
    from prima_tui.model.documents import DocumentHit, DocumentsProgress
    from prima_tui.model.hits import Mode


@click.group()
def docs() -> None:
    """The project's own documents: index, search, ask. Markdown and text; more kinds by patterns of your own."""


def _options(command: Command) -> Command:
    return click.option(
        "-w",
        "--workspace",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        default=None,
        help="Where the project is looked for, upwards (default: the current folder).",
    )(json_option(command))


def _collection_option(command: Command) -> Command:
    return click.option("--collection", default="", metavar="NAME", help="Only documents of this collection.")(command)


def _documents(workspace: Path | None) -> Documents:
    from prima_tui.config import load_settings
    from prima_tui.documents_memory import Documents

    folder = (workspace or Path.cwd()).absolute()
    root = Documents.find_root(folder)
    if root is None:
        raise PrimaError(f"{folder} is in no project with a memory; `prima-tui docs init` makes one")
    return Documents(root, load_settings(folder))


@docs.command()
@_options
@click.option("--gitignore/--no-gitignore", default=None, help="Add .memory to .gitignore, or don't; else it is asked.")
def init(workspace: Path | None, as_json: bool, gitignore: bool | None) -> None:
    """Make this folder a project: its .memory folder, where the index will be."""
    from prima_tui.documents import project
    from prima_tui.documents_memory import Documents
    from prima_tui.registration import NAME, server_command

    folder = (workspace or Path.cwd()).absolute()
    there = (folder / project.MEMORY_FOLDER).is_dir()
    root = Documents.init(folder)
    ignored = project.is_ignored(root)
    if not ignored:
        if gitignore is None and sys.stdin.isatty() and not as_json:
            gitignore = click.confirm("Add .memory to .gitignore?", default=True, err=True)
        if gitignore:
            project.add_to_gitignore(root)
            ignored = True
    command, *arguments = server_command()
    block = {"mcpServers": {NAME: {"command": command, "args": arguments}}}
    document = {
        "project": str(root),
        "created": not there,
        "ignored": ignored,
        "mcp": block,
        "warnings": [],
    }

    def text() -> str:
        import json

        from prima_tui.model.text import one_line

        lines = [f"{one_line(str(root / project.MEMORY_FOLDER))} {'was there already' if there else 'made'}."]
        if not ignored:
            lines.append("It isn't in .gitignore (--gitignore adds it); the index in it holds the documents' text.")
        lines += ["`prima-tui docs index` reads the documents. For agents, in .mcp.json:", ""]
        return "\n".join([*lines, json.dumps(block, indent=2)])

    print_result(document if as_json else None, text)


@docs.command()
@_options
@click.option("--budget", type=click.FloatRange(0), default=None, help="Most seconds (default: until done).")
@click.option("--rebuild", is_flag=True, help="Embed everything anew, as another model asks for.")
def index(workspace: Path | None, as_json: bool, budget: float | None, rebuild: bool) -> None:
    """Bring the index up to date; progress on stderr, then what was done."""
    from prima_tui import output_documents as output

    documents = _documents(workspace)
    progress = documents.index(_progress, budget=budget, rebuild=rebuild)
    end_progress()
    if not progress.finished and budget is None:
        raise PrimaError(progress.note)
    notes = [progress.note] if progress.note else []
    if progress.finished:
        notes += _keep_state(documents)
    warn([*progress.warnings, *notes], as_json)
    print_result(output.progress_json(progress) if as_json else None, lambda: output.progress_text(progress))


@docs.command()
@click.argument("query", nargs=-1, required=True)
@_options
@mode_option
@click.option("-n", "--limit", type=click.IntRange(0), default=10, show_default=True, help="Most results.")
@budget_option
@_collection_option
def search(
    query: tuple[str, ...],
    workspace: Path | None,
    as_json: bool,
    mode: Mode,
    limit: int,
    budget: float | None,
    collection: str,
) -> None:
    """Ranked documents, each with its best chunk."""
    from prima_tui import output_documents as output

    documents = _documents(workspace)
    notes = [] if mode == "keyword" else _update(documents, budget)
    answer = documents.find(" ".join(query), mode, limit, collection=collection)
    warn([*answer.warnings, *notes], as_json)
    print_result(
        output.documents_json(answer, notes) if as_json else None,
        lambda: output.documents_text(answer.hits, answer.words),
    )


@docs.command()
@click.argument("question", nargs=-1, required=True)
@_options
@click.option("-n", "--limit", type=click.IntRange(1, 20), default=6, show_default=True, help="Most chunks.")
@budget_option
@_collection_option
def ask(
    question: tuple[str, ...],
    workspace: Path | None,
    as_json: bool,
    limit: int,
    budget: float | None,
    collection: str,
) -> None:
    """The best chunks for a question, and an answer from them where a model is configured ([ask])."""
    from prima_tui import output_documents as output
    from prima_tui.model.text import shown

    documents = _documents(workspace)
    notes = _update(documents, budget)

    def chunks(hits: tuple[DocumentHit, ...]) -> None:
        if not as_json and hits:
            write_out(output.chunks_text(hits).encode("utf-8", "replace") + b"\n")

    said = False

    def piece(text: str) -> None:
        nonlocal said
        if not as_json:
            write_out((("" if said else "\nAnswer:\n") + shown(text)).encode("utf-8", "replace"))
            said = True

    asked = documents.ask(" ".join(question), limit, piece, on_hits=chunks, collection=collection)
    if as_json:
        print_result(output.asked_json(asked, notes), str)
        return
    if said:
        cited = output.citations_text(asked)
        write_out(("\n" + (f"\n{cited}\n" if cited else "")).encode("utf-8", "replace"))
    warn([*asked.warnings, *notes], as_json)
    if asked.note:
        click.echo(
            f"no answer: {shown(asked.note)}" if not said else f"the answer stops here: {shown(asked.note)}", err=True
        )


@docs.command()
@click.argument("question", nargs=-1, required=True)
@_options
@click.option("--from", "before", default="", metavar="STATE", help="Its name or time (default: the last other one).")
@click.option("--to", "after", default="", metavar="STATE", help="Its name or time (default: the index as it is).")
@click.option("-n", "--limit", type=click.IntRange(1, 20), default=6, show_default=True, help="Most chunks.")
@click.option("--answers/--no-answers", default=True, help="Have the model, where one is configured, answer from both.")
@budget_option
def diff(
    question: tuple[str, ...],
    workspace: Path | None,
    as_json: bool,
    before: str,
    after: str,
    limit: int,
    answers: bool,
    budget: float | None,
) -> None:
    """How the answer to a question changed between two states of the index."""
    from prima_tui import output_states as output
    from prima_tui.document_history import DocumentHistory

    documents = _documents(workspace)
    notes = [] if after else _update(documents, budget)
    change = DocumentHistory(documents).compare(" ".join(question), before, after, limit, answers=answers)
    warn([*change.warnings, *notes], as_json)
    print_result(output.change_json(change, notes) if as_json else None, lambda: output.change_text(change))


@docs.command()
@click.argument("name", required=False)
@_options
@click.option("--list", "listed", is_flag=True, help="Show the states that are kept.")
@click.option("--remove", default=None, metavar="STATE", help="Remove a state, by its name or time.")
def snapshot(name: str | None, workspace: Path | None, as_json: bool, listed: bool, remove: str | None) -> None:
    """Keep the index as it is, to compare with later (docs diff)."""
    from prima_tui import output_states as output
    from prima_tui.document_history import NOW, DocumentHistory

    if (name is not None) + listed + (remove is not None) != 1:
        raise click.UsageError("give the name of the state to keep, or --list, or --remove STATE")
    history = DocumentHistory(_documents(workspace))
    if remove is not None:
        history.remove(remove)
    elif name is not None:
        if name == NOW:
            raise click.UsageError(f"{NOW} is the index as it is; take another name")
        if history.keep(name) is None:
            raise PrimaError("there is no index to keep yet; `prima-tui docs index` makes one")
    states = history.states()
    print_result(output.states_json(states) if as_json else None, lambda: output.states_text(states))


@docs.command()
@_options
def status(workspace: Path | None, as_json: bool) -> None:
    """Project, files, chunks, when it was indexed, which files are stale, model."""
    from prima_tui import output_documents as output

    state = _documents(workspace).status()
    print_result(output.documents_status_json(state) if as_json else None, lambda: output.documents_status_text(state))


def _keep_state(documents: Documents) -> list[str]:
    """Keep the index as it is now when it differs from what was kept last; return what stood against it."""
    from prima_tui.document_history import DocumentHistory

    try:
        DocumentHistory(documents).keep()
    except PrimaError as error:
        return [f"this state is not kept for docs diff: {error}"]
    return []


def _update(documents: Documents, budget: float | None) -> list[str]:
    """Bring the index up to date for as long as a search may wait; return what is to be said of it."""
    budget = documents.settings.budget_seconds if budget is None else budget
    progress = documents.index(_progress, budget=budget)
    end_progress()
    return [*progress.warnings, *([progress.note] if progress.note else [])]


def _progress(progress: DocumentsProgress) -> None:
    from prima_tui.model.text import count_text

    show_progress(
        f"documents: {progress.files_done} of {progress.files_total} files,"
        f" {count_text(progress.chunks_embedded, 'chunk')}, {progress.seconds:.0f} s"
    )

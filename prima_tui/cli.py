"""The command line: a thin skin over :class:`prima_tui.memory.Memory`; heavy parts load in the command that needs them.

Exit codes: 0 done (an empty result is done), 1 failed, 2 wrong usage, 130 cancelled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prima_tui import __version__
from prima_tui.cli_agents import install_skills
from prima_tui.cli_docs import docs
from prima_tui.cli_watch import watch
from prima_tui.errors import PrimaError, UsageError
from prima_tui.printing import end_progress, show_progress
from prima_tui.printing import print_result as _print
from prima_tui.printing import warn as _warn

if TYPE_CHECKING:
    from prima_tui.memory import Memory
    from prima_tui.model.hits import IndexProgress, Mode
    from prima_tui.tui.outcome import PickResult

Command = TypeVar("Command", bound=Callable[..., Any])
_VALUE_OPTIONS = ("--workspace", "-w", "--mode", "-m")


class _Program(click.Group):
    """A group whose first word may be a query: without a command's name the screen opens."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        place = 0
        while place < len(args) and args[place].startswith("-") and args[place] != "--":
            if args[place] in ("--help", "--version", "-h"):
                return super().parse_args(ctx, args)
            place += 2 if args[place] in _VALUE_OPTIONS else 1
        if place < len(args) and args[place] in self.commands:
            # options of the program may stand before the command's name too
            args = [args[place], *args[:place], *args[place + 1 :]]
        else:
            args = ["browse", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [name for name in self.commands if not self.commands[name].hidden]


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]}, options_metavar="[OPTIONS]")
@click.version_option(__version__, prog_name="prima-tui")
def program() -> None:
    """Find anything you ever said to, or heard from, a coding agent, and pick that work up again.

    Without a command the screen opens: prima-tui [QUERY] [--workspace DIR] [--all]
    [--mode keyword|semantic|combined] [--pick] [--demo].
    """


def _scope_options(command: Command) -> Command:
    for option in (
        click.option("--all", "everywhere", is_flag=True, help="Every workspace on this computer."),
        click.option(
            "-w",
            "--workspace",
            type=click.Path(path_type=Path),
            default=None,
            help="The workspace (default: the current folder).",
        ),
    ):
        command = option(command)
    return command


def _json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(command)


def _mode_option(command: Command) -> Command:
    return click.option(
        "-m",
        "--mode",
        type=click.Choice(["combined", "keyword", "semantic"]),
        default="combined",
        show_default=True,
        help="By word, by meaning, or both.",
    )(command)


def _memory(
    workspace: Path | None, everywhere: bool, home: Path | None = None, env: Mapping[str, str] | None = None
) -> Memory:
    from prima_tui.config import load_settings, paths_below
    from prima_tui.memory import Memory
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
    return Memory(Scope(folder, everywhere, home or Path.home(), env or dict(os.environ)), settings)


def _progress(progress: IndexProgress) -> None:
    show_progress(
        f"indexing: {progress.files_done} of {progress.files_total} files,"
        f" {progress.exchanges_embedded} exchanges, {progress.seconds:.0f} s"
    )


@program.command(hidden=True)
@click.argument("query", nargs=-1)
@_scope_options
@_mode_option
@click.option("--pick", is_flag=True, help="Print the chosen session on stdout; exit 130 on cancel.")
@click.option("--demo", is_flag=True, help="Open a small bundled history, in a temporary home.")
@_json_option
def browse(
    query: tuple[str, ...],
    workspace: Path | None,
    everywhere: bool,
    mode: Mode,
    pick: bool,
    demo: bool,
    as_json: bool,
) -> None:
    """Open the screen."""
    from prima_tui.demo import demo_history

    text = " ".join(query)
    result = None if demo else _screen(_memory(workspace, everywhere), text, mode, pick)
    if demo or (result is not None and result.demo):
        with demo_history() as (home, folder, env):
            result = _screen(_memory(folder, everywhere, home, env), text, mode, pick, demo=True)
    if not pick:
        return
    if result is None or result.session is None:
        sys.exit(130)
    chosen = result.session
    from prima_tui import output

    _print(output.session_json(chosen) if as_json else None, lambda: output.picked_text(chosen))


def _screen(memory: Memory, query: str, mode: Mode, pick: bool, *, demo: bool = False) -> PickResult | None:
    """Run the full screen; return what it was left with."""
    from prima_tui.tui.app import PrimaApp
    from prima_tui.tui.terminal import screen_on_terminal

    try:
        with screen_on_terminal():
            return PrimaApp(memory, query=query, mode=mode, pick=pick, demo=demo).run()
    finally:
        memory.close()


@program.command()
@_scope_options
@_json_option
@click.option("--filter", "text", default="", help="Filters as in a search, e.g. 'agent:codex date:<7d'.")
def sessions(workspace: Path | None, everywhere: bool, as_json: bool, text: str) -> None:
    """The sessions in scope, newest first."""
    from prima_tui import output

    memory = _memory(workspace, everywhere)
    snapshot = memory.refresh()
    warnings = list(memory.settings.problems)
    found = snapshot.sessions
    if text:
        answer = memory.search(text, "keyword")
        found = tuple(hit.session for hit in answer.hits)
        warnings += answer.warnings
    _warn([*warnings, *snapshot.warnings], as_json)
    _print(
        output.sessions_json(snapshot, found, warnings) if as_json else None,
        lambda: output.sessions_text(found),
    )


@program.command()
@click.argument("query", nargs=-1, required=True)
@_scope_options
@_mode_option
@_json_option
@click.option("-n", "--limit", type=click.IntRange(0), default=20, show_default=True, help="Most results.")
@click.option("--deep", is_flag=True, help="Search extracts and checkpoints too.")
@click.option("--budget", type=click.FloatRange(0), default=None, help="Seconds for indexing first (default 20).")
def search(
    query: tuple[str, ...],
    workspace: Path | None,
    everywhere: bool,
    mode: Mode,
    as_json: bool,
    limit: int,
    deep: bool,
    budget: float | None,
) -> None:
    """Ranked sessions, each with its best exchange."""
    from prima_tui import output

    memory = _memory(workspace, everywhere)
    snapshot = memory.refresh()
    notes = list(memory.settings.problems)
    if mode != "keyword":
        progress = memory.update_index(budget, _progress)
        end_progress()
        if progress.note:
            notes.append(progress.note)
        notes += memory.update_documents(budget, progress.seconds)
    answer = memory.search(" ".join(query), mode, limit=limit, deep=deep)
    _warn([*answer.warnings, *notes, *snapshot.warnings], as_json)
    document = output.search_json(answer, [*notes, *snapshot.warnings]) if as_json else None
    _print(document, lambda: output.search_text(answer))


@program.command()
@click.argument("session")
@_scope_options
@_json_option
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
    from prima_tui import output

    memory = _memory(workspace, everywhere)
    snapshot = memory.refresh()
    conversation = memory.conversation(memory.session(session))
    as_json = as_json or form == "json"
    tools = memory.tools(conversation.session) if with_tools else None
    text = output.show_markdown if form == "markdown" else output.show_text
    _warn(list(memory.settings.problems), as_json)
    _print(
        output.show_json(conversation, snapshot.warnings, tools) if as_json else None,
        lambda: text(conversation, tools),
    )


@program.command()
@click.argument("part")
@_scope_options
@_json_option
@click.option("--text", default=None, help="The newest edit of such a file that wrote this line, with its diff.")
@click.option("--line", "line", type=click.IntRange(1), default=None, help="The same for line N of the file as it is.")
def files(
    part: str, workspace: Path | None, everywhere: bool, as_json: bool, text: str | None, line: int | None
) -> None:
    """File history: each change of a file whose path contains PART, newest first.

    With --text or --line it is the one edit that a line comes from.
    """
    from prima_tui import output, output_edits

    memory = _memory(workspace, everywhere)
    if text is not None and line is not None:
        raise UsageError("--text and --line ask for the same thing: give one of them")
    if line is not None:
        part, text = _line_on_disk(part, line, memory.scope.workspace)
    snapshot = memory.refresh()
    _warn(list(memory.settings.problems), as_json)
    if text is None:
        rows = output.file_history(memory.all_sessions(), part)
        _print(output.files_json(rows, snapshot.warnings) if as_json else None, lambda: output.files_text(rows))
        return
    if not text.strip():
        raise UsageError("that line is empty: there is nothing to look for")
    found = memory.find_edit(part, text)
    exchange = memory.conversation(found.session).exchanges[found.exchange_index] if found else None
    _print(
        output_edits.edit_json(found, exchange, text, snapshot.warnings) if as_json else None,
        lambda: output_edits.edit_text(found, exchange, text),
    )


def _line_on_disk(part: str, number: int, workspace: Path) -> tuple[str, str]:
    """Return the path of a file and its line with this number, from 1. Raises UsageError."""
    path = next((path for path in (Path(part).expanduser(), workspace / part) if path.is_file()), None)
    if path is None:
        raise UsageError(f"there is no file {part}: --line needs one; --text finds a line in a file that is gone")
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            line = next((text for place, text in enumerate(file, 1) if place == number), None)
    except OSError as error:
        raise PrimaError(f"{path} can't be read: {error.strerror or error}") from error
    if line is None:
        raise UsageError(f"{part} has fewer than {number} lines")
    return str(path.absolute()), line


@program.command()
@_scope_options
@_json_option
def extracts(workspace: Path | None, everywhere: bool, as_json: bool) -> None:
    """The extracts of substantial sessions, and checkpoints, newest first."""
    from prima_tui import output

    found = _memory(workspace, everywhere).extracts()
    rows = [output.extract_json(one.path, one.project, one.at, one.description) for one in found]
    _print({"extracts": rows, "warnings": []} if as_json else None, lambda: output.extracts_text(found))


@program.command()
@_scope_options
@_json_option
def index(workspace: Path | None, everywhere: bool, as_json: bool) -> None:
    """Index all that is pending for search by meaning; progress on stderr, then what was done."""
    memory = _memory(workspace, everywhere)
    snapshot = memory.refresh()
    progress = memory.index_everything(_progress)
    end_progress()
    if progress.note and not progress.finished:
        raise PrimaError(progress.note)
    _warn(list(snapshot.warnings), as_json)
    _print_progress(progress, as_json, {"warnings": list(snapshot.warnings)})


def _print_progress(progress: IndexProgress, as_json: bool, more: dict[str, Any]) -> None:
    done = {
        "files": progress.files_done,
        "exchanges_embedded": progress.exchanges_embedded,
        "exchanges_reused": progress.exchanges_reused,
        "seconds": round(progress.seconds, 1),
        **more,
    }
    _print(
        done if as_json else None,
        lambda: (
            f"{progress.files_done} files indexed: {progress.exchanges_embedded} exchanges embedded,"
            f" {progress.exchanges_reused} known already, {progress.seconds:.1f} s"
        ),
    )


@program.command()
@_scope_options
@_json_option
@click.option("--yes", is_flag=True, help="Don't ask, even when exchanges would be lost.")
def rebuild(workspace: Path | None, everywhere: bool, as_json: bool, yes: bool) -> None:
    """Make the index anew (the old one answers meanwhile); goes on where an interrupted rebuild stopped."""
    memory = _memory(workspace, everywhere)
    memory.refresh()
    lost = memory.rebuild_loss()
    if lost and not yes:
        question = f"{lost} exchanges of conversations whose files no longer exist would be lost. Rebuild?"
        if not sys.stdin.isatty():
            raise PrimaError(f"{question} Say so with --yes.")
        click.confirm(question, abort=True, err=True)
    progress = memory.rebuild(_progress)
    end_progress()
    if not progress.finished:
        raise PrimaError(progress.note)
    _print_progress(progress, as_json, {"lost": lost})


@program.command()
@click.argument("session", nargs=-1)
@_scope_options
@_json_option
@click.option("--workspace-history", is_flag=True, help="Every session of this workspace.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--list", "listed", is_flag=True, help="What was forgotten.")
@click.option("--undo", is_flag=True, help="Take SESSION off the list: it is read again where its file still exists.")
def forget(
    session: tuple[str, ...],
    workspace: Path | None,
    everywhere: bool,
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
    from prima_tui import output

    memory = _memory(workspace, everywhere)
    if listed or undo:
        if bool(session) is listed or workspace_history:
            raise UsageError("say either --list, or --undo with the sessions")
        rows = memory.recall(session) if undo else list(memory.forgotten.sessions())
        _print(output.forgotten_json(rows) if as_json else None, lambda: output.forgotten_text(rows, undo))
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
        question = f"Forget {len(wanted)} session{'s' * (len(wanted) != 1)}?"
        if not sys.stdin.isatty():
            raise PrimaError(f"{question} Say so with --yes.")
        click.confirm(question, abort=True, err=True)
    left = memory.forget(wanted)
    _print(
        {"forgotten": [one.id for one in wanted], "warnings": left} if as_json else None,
        lambda: f"{len(wanted) or len(again)} forgotten",
    )
    if left:
        raise PrimaError("not reached everywhere, say it again later: " + "; ".join(left))


@program.command()
@_scope_options
@_json_option
def status(workspace: Path | None, everywhere: bool, as_json: bool) -> None:
    """Sources found, warnings, index coverage, model, paths."""
    from prima_tui import output

    memory = _memory(workspace, everywhere)
    memory.refresh()
    state = memory.status()
    _print(output.status_json(state) if as_json else None, lambda: output.status_text(state))


@program.command("mcp")
@_scope_options
def serve_agents(workspace: Path | None, everywhere: bool) -> None:
    """Serve sessions and documents to agents (MCP over standard input and output)."""
    memory = _memory(workspace, everywhere)
    from prima_tui.mcp_server import serve

    serve(memory)


program.add_command(install_skills)
docs.add_command(watch)
program.add_command(docs)


def main() -> None:
    """Run the program and exit with its code."""
    from prima_tui.config import check_host

    try:
        check_host()
        code = program.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except UsageError as error:
        click.echo(f"prima-tui: {error}", err=True)
        sys.exit(2)
    except PrimaError as error:
        click.echo(f"prima-tui: {error}", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(130)

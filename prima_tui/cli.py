"""The command line: a thin skin over :class:`prima_tui.memory.Memory`; heavy parts load in the command that needs them.

Exit codes: 0 done (an empty result is done), 1 failed, 2 wrong usage, 130 cancelled.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shlex
import signal
import sys
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from prima_tui import __version__, first_frame
from prima_tui.cli_agents import install_skills
from prima_tui.cli_docs import docs
from prima_tui.cli_forget import forget
from prima_tui.cli_index import index, rebuild
from prima_tui.cli_keys import keys
from prima_tui.cli_moved import moved_from
from prima_tui.cli_options import (
    budget_option,
    each_listed,
    json_option,
    mode_option,
    open_memory,
    report_progress,
    scope_options,
)
from prima_tui.cli_serve import serve_browser
from prima_tui.cli_show import show
from prima_tui.cli_statistics import stats
from prima_tui.cli_watch import watch
from prima_tui.errors import PrimaError, UsageError
from prima_tui.printing import end_progress, print_result, warn, write_pieces

if TYPE_CHECKING:
    from prima_tui.memory import Memory
    from prima_tui.model.hits import Mode
    from prima_tui.model.reach import Reach
    from prima_tui.tui.outcome import PickResult, SessionPlace

_MADE_BETWEEN_COLLECTIONS = 500_000
_VALUE_OPTIONS = ("--workspace", "-w", "--mode", "-m", "--open")


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

    Without a command the screen opens: prima-tui [QUERY] [--workspace DIR] [--repository] [--all]
    [--mode keyword|semantic|combined] [--pick] [--demo] [--open ID#N].
    """


@program.command(hidden=True)
@click.argument("query", nargs=-1)
@scope_options
@mode_option
@click.option("--pick", is_flag=True, help="Print the chosen session on stdout; exit 130 on cancel.")
@click.option("--demo", is_flag=True, help="Open a small bundled history, in a temporary home.")
@click.option("--open", "cited", default=None, help="Open a session at an exchange: ID, or ID#N with N as on screen.")
@json_option
def browse(
    query: tuple[str, ...],
    workspace: Path | None,
    reach: Reach | None,
    mode: Mode,
    pick: bool,
    demo: bool,
    cited: str | None,
    as_json: bool,
) -> None:
    """Open the screen."""
    text = " ".join(query)
    if cited is not None:
        if text or pick or demo:
            raise UsageError("--open goes with neither a query nor --pick nor --demo")
        _open_cited(open_memory(workspace, reach), cited, mode)
        return
    result = None if demo else _screen(open_memory(workspace, reach), text, mode, pick)
    if demo or (result is not None and result.demo):
        from prima_tui.demo import demo_history

        with demo_history() as (home, folder, env):
            result = _screen(open_memory(folder, reach, home, env), text, mode, pick, demo=True)
    if not pick:
        return
    if result is None or result.session is None:
        raise click.exceptions.Exit(130)
    chosen = result.session
    from prima_tui import output, output_text

    print_result(output.session_json(chosen) if as_json else None, lambda: output_text.picked_text(chosen))


def _open_cited(memory: Memory, text: str, mode: Mode) -> None:
    """Open the screen at a citation; a session of another workspace is found too. Raises UsageError."""
    from prima_tui.model.citation import cited
    from prima_tui.model.text import count_text
    from prima_tui.tui.outcome import SessionPlace

    found = cited(text)
    if found is None:
        raise UsageError(f"{text!r} is no citation: say --open ID, or ID#N with N from 1")
    identifier, place = found
    memory.refresh()
    try:
        session = memory.session(identifier)
    except UsageError:
        wide = memory.reaching("everywhere")
        wide.refresh()
        try:
            session = wide.session(identifier)
            memory = wide
        except UsageError:
            session = memory.known_session(identifier)
    exchanges = len(memory.conversation(session).exchanges)
    if place is not None and place >= exchanges:
        raise UsageError(f"{session.id} has {count_text(exchanges, 'exchange')}; there is no #{place + 1}")
    _screen(memory, "", mode, False, place=SessionPlace(session, place))


def _screen(
    memory: Memory, query: str, mode: Mode, pick: bool, *, demo: bool = False, place: SessionPlace | None = None
) -> PickResult | None:
    """Run the full screen; return what it was left with."""
    # Loading the screen takes longer than reading the newest sessions: a first start has them in its first picture.
    Thread(target=memory.glance, name="glance", daemon=True).start()
    from prima_tui.tui.app import PrimaApp
    from prima_tui.tui.terminal import screen_on_terminal

    # the screen's loop handles an interrupt by itself, where none but Python's own handler is there
    if isinstance(signal.getsignal(signal.SIGINT), _Interrupt):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app = PrimaApp(memory, query=query, mode=mode, pick=pick, demo=demo, place=place)
    try:
        with screen_on_terminal():
            return app.run()
    finally:
        if not app.threads.at_work:  # what still is ends with the process, and must find the stores as they are
            memory.close()


@program.command()
@scope_options
@json_option
@click.option("--filter", "text", default="", help="Filters as in a search, e.g. 'agent:codex date:<7d'.")
def sessions(workspace: Path | None, reach: Reach | None, as_json: bool, text: str) -> None:
    """The sessions in scope, newest first."""
    memory = open_memory(workspace, reach, look_ahead=True)
    from prima_tui import output, output_text

    shape = output.session_bytes if as_json else output_text.session_bytes
    rows, snapshot, warnings = each_listed(memory, text, shape)
    warnings += [
        f"was this workspace {folder} before? `prima-tui moved-from {shlex.quote(folder)}` takes its sessions in"
        for folder in memory.earlier_folders()
    ]
    warn([*warnings, *snapshot.warnings], as_json)
    write_pieces(output.sessions_bytes(rows, snapshot, warnings) if as_json else output_text.sessions_bytes(rows))


@program.command()
@click.argument("query", nargs=-1, required=True)
@scope_options
@mode_option
@json_option
@click.option("-n", "--limit", type=click.IntRange(0), default=20, show_default=True, help="Most results.")
@click.option("--deep", is_flag=True, help="Search extracts and checkpoints too.")
@budget_option
def search(
    query: tuple[str, ...],
    workspace: Path | None,
    reach: Reach | None,
    mode: Mode,
    as_json: bool,
    limit: int,
    deep: bool,
    budget: float | None,
) -> None:
    """Ranked sessions, each with its best exchange."""
    memory = open_memory(workspace, reach, look_ahead=True)
    from prima_tui import output, output_text

    text = " ".join(query)
    snapshot = memory.refresh_by_word(text) if mode == "keyword" else memory.refresh()
    notes = list(memory.settings.problems)
    if mode != "keyword":
        sessions, documents = memory.update_both(budget, report_progress)
        end_progress()
        notes += [*([sessions.note] if sessions.note else []), *(documents.said if documents else [])]
    answer = memory.search(text, mode, limit=limit, deep=deep)
    warn([*answer.warnings, *notes, *snapshot.warnings], as_json)
    document = output.search_json(answer, [*notes, *snapshot.warnings]) if as_json else None
    print_result(document, lambda: output_text.search_text(answer))
    if mode == "keyword":
        memory.keep_by_word()


@program.command()
@click.argument("part")
@scope_options
@json_option
@click.option("--text", default=None, help="The newest edit of such a file that wrote this line, with its diff.")
@click.option("--line", "line", type=click.IntRange(1), default=None, help="The same for line N of the file as it is.")
def files(
    part: str, workspace: Path | None, reach: Reach | None, as_json: bool, text: str | None, line: int | None
) -> None:
    """File history: each change of a file whose path contains PART, newest first.

    With --text or --line it is the one edit that a line comes from.
    """
    memory = open_memory(workspace, reach, look_ahead=True)
    if text is not None and line is not None:
        raise UsageError("--text and --line ask for the same thing: give one of them")
    path = ""
    if line is not None:
        path, text = _line_on_disk(part, line, memory.scope.workspace)
    from prima_tui import output, output_edits, output_text

    # a line may be in any session's texts, a path stands in what is kept of them for searching
    snapshot = memory.refresh_by_word() if text is None else memory.refresh()
    warn(list(memory.settings.problems), as_json)
    if text is None:
        rows = output.file_history(memory.sessions_changing(part), part)
        print_result(
            output.files_json(rows, snapshot.warnings) if as_json else None, lambda: output_text.files_text(rows)
        )
        return
    if not text.strip():
        raise UsageError("that line is empty: there is nothing to look for")
    found = memory.line_origin(path, line - 1, text) if line is not None else memory.find_edit(part, text)
    exchange = None
    if found is not None:
        exchange = memory.conversation(found.written.session).exchanges[found.written.exchange_index]
    print_result(
        output_edits.edit_json(found, exchange, text, snapshot.warnings) if as_json else None,
        lambda: output_edits.edit_text(found, exchange, text),
    )


def _line_on_disk(part: str, number: int, workspace: Path) -> tuple[str, str]:
    """Return the path of a file and its line with this number, from 1. Raises UsageError."""
    from prima_tui.model.text import count_text

    path = next((path for path in (Path(part).expanduser(), workspace / part) if path.is_file()), None)
    if path is None:
        raise UsageError(f"there is no file {part}: --line needs one; --text finds a line in a file that is gone")
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            line = next((text for place, text in enumerate(file, 1) if place == number), None)
    except OSError as error:
        raise PrimaError(f"{path} can't be read: {error.strerror or error}") from error
    if line is None:
        raise UsageError(f"{part} has fewer than {count_text(number, 'line')}")
    return str(path.absolute()), line


@program.command()
@scope_options
@json_option
def extracts(workspace: Path | None, reach: Reach | None, as_json: bool) -> None:
    """The extracts of substantial sessions, and checkpoints, newest first."""
    from prima_tui import output, output_text

    found = open_memory(workspace, reach).extracts()
    rows = [output.extract_json(one.path, one.project, one.at, one.description) for one in found]
    print_result({"extracts": rows, "warnings": []} if as_json else None, lambda: output_text.extracts_text(found))


@program.command()
@scope_options
@json_option
def status(workspace: Path | None, reach: Reach | None, as_json: bool) -> None:
    """Sources found, warnings, index coverage, model, paths."""
    from prima_tui import output, output_text

    memory = open_memory(workspace, reach)
    memory.refresh()
    state = memory.status()
    print_result(output.status_json(state) if as_json else None, lambda: output_text.status_text(state))


@program.command("mcp")
@scope_options
def serve_agents(workspace: Path | None, reach: Reach | None) -> None:
    """Serve sessions and documents to agents (MCP over standard input and output)."""
    memory = open_memory(workspace, reach)
    from prima_tui.mcp_server import serve

    serve(memory)


docs.add_command(watch)
for command in (show, serve_browser, stats, keys, index, rebuild, forget, moved_from, install_skills, docs):
    program.add_command(command)


class _Interrupt:
    """Ctrl+C, remembered: a library that it interrupts may make an error of its own of it."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt


def main() -> None:
    """Run the program and exit with its code."""
    from prima_tui.config import check_host

    # Modules are loaded and sessions made by the thousand, and all stay: looking for garbage among them would cost a
    # fifth of the time.
    gc.set_threshold(_MADE_BETWEEN_COLLECTIONS, 20, 20)
    interrupt = _Interrupt()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        check_host()
        code = program.main(standalone_mode=False)
        if not interrupt.came:
            _end(code if isinstance(code, int) else 0)
    except Exception as error:
        if not interrupt.came and not isinstance(error, click.Abort):
            _end(_exit_code(error))
    except KeyboardInterrupt:
        pass
    _end(130)


def _end(code: int) -> NoReturn:
    """End the process at once.

    Not by sys.exit, which waits for threads that nobody waits for any more: what is being indexed may be a minute from
    its end. And where a library's own code was interrupted, Python would end as if the signal had killed it.
    """
    first_frame.leave()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _exit_code(error: Exception) -> int:
    """Tell the user what went wrong, and return the exit code; raises what is no error of theirs."""
    first_frame.leave()
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            error.show()
            return error.exit_code
        case PrimaError():
            click.echo(f"prima-tui: {error}", err=True)
            return 2 if isinstance(error, UsageError) else 1
        case _:
            raise error

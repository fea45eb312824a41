"""What resuming a session will run, where, and what stands against it. Nothing is run here."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from prima_tui.model.hits import ResumePlan
from prima_tui.model.session import ResumeCommand, Session
from prima_tui.open_elsewhere import open_elsewhere
from prima_tui.sources.places import moved_place

_LARGE_BYTES = 15_000_000
"""Transcripts past this size are known to bring down the agent itself when it resumes them."""


def plan_resume(
    session: Session,
    env: Mapping[str, str] = os.environ,
    *,
    moved_from: Sequence[str] = (),
    now_in: Path | None = None,
    arguments: Sequence[str] = (),
    fork: bool = False,
) -> ResumePlan:
    """Return the plan for one session: the command, its line for a shell, and a problem or warning if there is one.

    The command's own folder must exist, since agents look a session up by the folder they are started in; the agent
    is looked for on PATH and then as the user's login shell would (tools put there by a version manager). A session
    recorded in one of the folders ``moved_from`` is resumed in ``now_in``, the folder that these became.

    ``arguments`` are the user's own for this agent, put behind its command; with ``fork`` a new session begins with all
    of this one. A session that seems to be open in another terminal gives a warning.
    """
    command = session.resume
    if command is None:
        return ResumePlan(session, None, problem=_no_command(session))
    if fork and not command.fork:
        return ResumePlan(session, None, problem=f"{command.argv[0]} has no command that forks a session")
    command = msgspec.structs.replace(command, argv=(*(command.fork if fork else command.argv), *arguments))
    said: tuple[str, ...] = ()
    if moved := _moved(command, moved_from, now_in):
        said = (f"it was recorded in {command.cwd}, before that folder became {now_in}", command.elsewhere)
        command = moved
    line = shell_line(command)
    if command.cwd and not Path(command.cwd).is_dir():
        gone = f"its folder {command.cwd} is gone: make it again (mkdir -p), or copy the command and run it elsewhere"
        return ResumePlan(session, command, line, problem=gone)
    found = find_program(command.argv[0], env)
    if found is None:
        missing = f"{command.argv[0]} was not found on PATH nor by your shell: install it, or copy the command"
        return ResumePlan(session, command, line, problem=missing)
    runnable = ResumeCommand((found, *command.argv[1:]), command.cwd, command.env)
    # a fork leaves the session alone, so it may be open
    said += (_file_warning(session), "" if fork else _open_warning(session))
    return ResumePlan(session, runnable, line, warning="\n\n".join(filter(None, said)))


def _moved(command: ResumeCommand, moved_from: Sequence[str], now_in: Path | None) -> ResumeCommand | None:
    """Return the command for the folder that its own became; None when its own is there, or became no other."""
    old = command.cwd
    if old is None or now_in is None or Path(old).is_dir():
        return None
    place = next((place for folder in moved_from if (place := moved_place(old, folder, now_in))), None)
    if place is None:
        return None
    argv = tuple(str(place) if part == old else part for part in command.argv)
    return msgspec.structs.replace(command, argv=argv, cwd=str(place))


def _no_command(session: Session) -> str:
    if "deleted" in session.flags:
        return "its file was deleted, so the agent can't resume it; the text is here to read and copy"
    if session.source == "shared-log":
        return "an entry of the shared log is no conversation that could be resumed"
    return "there is no command that resumes this session; its folder isn't known on this computer"


def _open_warning(session: Session) -> str:
    found = open_elsewhere(session)
    if found is None:
        return ""
    where = f" on {found.terminal}" if found.terminal else ""
    return (
        f"it seems to be open already, in process {found.process}{where}: two that write to one session mix up its "
        "file; a fork of it does no harm"
    )


def _file_warning(session: Session) -> str:
    try:
        size = Path(session.paths[0]).stat().st_size if session.paths else 0
    except OSError:
        return (
            f"its file {session.paths[0]} can't be found any more, so the agent may not know the session; what was "
            "said is here to read, to copy and to export"
        )
    if size < _LARGE_BYTES:
        return ""
    return f"its file has {size / 1e6:.0f} MB: the agent may take long, or fail, to load it"


def shell_line(command: ResumeCommand, platform: str = sys.platform) -> str:
    """Return the whole command as one line for the user's shell: ``cd FOLDER && VARIABLE=… COMMAND``, quoted."""
    if platform == "win32":
        parts = [f'cd /d "{command.cwd}"'] if command.cwd else []
        parts += [f'set "{name}={value}"' for name, value in command.env.items()]
        return " && ".join([*parts, subprocess.list2cmdline(command.argv)])
    words = [f"{name}={shlex.quote(value)}" for name, value in command.env.items()]
    words.append(shlex.join(command.argv))
    line = " ".join(words)
    if not command.cwd:
        return line
    folder = shlex.quote(command.cwd)
    return f"cd {'-- ' if command.cwd.startswith('-') else ''}{folder} && {line}"


def find_program(name: str, env: Mapping[str, str] = os.environ) -> str | None:
    """Return the path of a program as the user's shell would find it, None when it finds none."""
    found = shutil.which(name, path=env.get("PATH"))
    shell = env.get("SHELL", "")
    if found or sys.platform == "win32" or not shell or not Path(shell).is_file():
        return found
    try:
        asked = subprocess.run(
            [shell, "-lc", f"command -v {shlex.quote(name)}"],
            capture_output=True,
            text=True,
            timeout=3,
            stdin=subprocess.DEVNULL,
            env=dict(env),
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    path = asked.stdout.strip().split("\n")[-1] if asked.stdout.strip() else ""
    return path if Path(path).is_absolute() and os.access(path, os.X_OK) else None

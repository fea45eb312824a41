"""Resuming: the agent's own command in the session's own folder, and what stands against it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.model.session import ResumeCommand, Session
from prima_tui.resume import find_program, plan_resume, shell_line
from tests.world import World, session_id


def session(**fields: object) -> Session:
    return Session("id", "claude-code", "[transcript]", "T", **fields)  # type: ignore[arg-type]


def program(folder: Path, name: str = "claude") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text('#!/bin/sh\nprintf \'%s|%s|%s\' "$PWD" "$CLAUDE_CONFIG_DIR" "$*"\n')
    path.chmod(0o755)
    return path


def command(cwd: Path, **env: str) -> ResumeCommand:
    return ResumeCommand(("claude", "--resume", "id"), str(cwd), env)


def test_the_plan_runs_the_agent_in_the_sessions_folder(tmp_path: Path) -> None:
    found = program(tmp_path / "bin")
    path = tmp_path / "file.jsonl"
    path.write_text("{}")
    plan = plan_resume(session(resume=command(tmp_path), paths=(str(path),)), {"PATH": str(found.parent)})
    assert plan.command == ResumeCommand((str(found), "--resume", "id"), str(tmp_path))
    assert plan.shell_line == f"cd {tmp_path} && claude --resume id"
    assert plan.problem == plan.warning == ""


def test_a_folder_that_is_gone_is_said_with_what_can_be_done(tmp_path: Path) -> None:
    plan = plan_resume(session(resume=command(tmp_path / "gone")), {"PATH": ""})
    assert str(tmp_path / "gone") in plan.problem
    assert "mkdir -p" in plan.problem
    assert plan.shell_line.startswith("cd ")


def test_a_missing_agent_is_said(tmp_path: Path) -> None:
    plan = plan_resume(session(resume=command(tmp_path)), {"PATH": str(tmp_path)})
    assert plan.problem.startswith("claude was not found")
    assert plan.shell_line


def test_an_agent_that_only_the_login_shell_knows_is_found(tmp_path: Path) -> None:
    found = program(tmp_path / "versions")
    shell = tmp_path / "shell"
    shell.write_text(f'#!/bin/sh\nPATH={found.parent}:/usr/bin:/bin\necho "Welcome!"\nshift\neval "$1"\n')
    shell.chmod(0o755)
    env = {"PATH": "/nowhere", "SHELL": str(shell)}
    assert find_program("claude", env) == str(found)
    assert find_program("no-such-agent", env) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"flags": ("deleted",)}, "was deleted"),
        ({"source": "shared-log"}, "shared log"),
        ({}, "no command"),
    ],
)
def test_what_cannot_be_resumed_says_why(fields: dict[str, object], said: str) -> None:
    one = Session(**{"id": "i", "source": "vscode", "label": "l", "title": "t", **fields})  # type: ignore[arg-type]
    plan = plan_resume(one, {})
    assert plan.command is None
    assert said in plan.problem
    assert plan.shell_line == ""


def test_a_very_large_file_is_warned_of(tmp_path: Path) -> None:
    found = program(tmp_path / "bin")
    path = tmp_path / "file.jsonl"
    with path.open("wb") as file:
        file.truncate(40_000_000)
    plan = plan_resume(session(resume=command(tmp_path), paths=(str(path),)), {"PATH": str(found.parent)})
    assert "40 MB" in plan.warning
    assert plan.problem == ""


@pytest.mark.skipif(sys.platform == "win32", reason="for a POSIX shell")
@settings(max_examples=12, deadline=None)
@given(
    folder=st.text(alphabet="ab -'\"$`\\;&é(*", min_size=1, max_size=12).filter(lambda name: name.strip() == name),
    value=st.text(alphabet="ab '\"$`\\;&é", max_size=8),
)
def test_the_line_means_the_same_to_a_shell_whatever_the_names(
    tmp_path_factory: pytest.TempPathFactory, folder: str, value: str
) -> None:
    root = tmp_path_factory.mktemp("line")
    found = program(root / "bin")
    (root / folder).mkdir(exist_ok=True)
    line = shell_line(command(root / folder, CLAUDE_CONFIG_DIR=value))
    done = subprocess.run(
        ["/bin/sh", "-c", line], env={"PATH": f"{found.parent}:/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert done.stdout == f"{root / folder}|{value}|--resume id", done.stderr


def test_a_folder_that_looks_like_an_option_is_still_a_folder() -> None:
    assert shell_line(ResumeCommand(("claude",), "-x")) == "cd -- -x && claude"


def test_the_line_for_windows_has_its_own_form() -> None:
    line = shell_line(ResumeCommand(("claude", "--resume", "a b"), "C:\\my work", {"X": "1"}), "win32")
    assert line == 'cd /d "C:\\my work" && set "X=1" && claude --resume "a b"'


def test_every_source_says_how_its_sessions_are_resumed(world: World) -> None:
    world.believable()
    memory = world.memory()
    found = {one.id: one.resume for one in memory.refresh().sessions}
    claude = found[session_id("login")]
    assert claude is not None
    assert claude.argv == ("claude", "--resume", session_id("login"))
    assert claude.cwd == str(world.workspace)
    codex = found[session_id("rates")]
    assert codex is not None
    assert shlex.join(codex.argv) == f"codex resume {session_id('rates')}"

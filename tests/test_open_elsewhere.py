"""A session that is open in another terminal, by what the system shows of other processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prima_tui.model.session import ResumeCommand, Session
from prima_tui.open_elsewhere import OpenSession, open_elsewhere
from prima_tui.resume import plan_resume

SESSION = Session(
    "5e55", "claude-code", "t", "T", paths=("/h/5e55.jsonl",), resume=ResumeCommand(("claude", "--resume", "5e55"))
)
links = pytest.mark.skipif(sys.platform == "win32", reason="no links to make there")


def process(folder: Path, number: int, *words: str, **opened: str) -> None:
    place = folder / str(number)
    (place / "fd").mkdir(parents=True)
    (place / "cmdline").write_bytes("\0".join(words).encode() + b"\0")
    for name, path in opened.items():
        (place / "fd" / name.removeprefix("n")).symlink_to(path)


@links
def test_the_agents_process_that_names_the_session_or_holds_its_file_is_found(tmp_path: Path) -> None:
    process(tmp_path, 10, "vim", "5e55")
    process(tmp_path, 11, "claude", "--resume", "other", n0="/dev/pts/1")
    process(tmp_path, os.getpid(), "claude", "--resume", "5e55")
    (tmp_path / "self").mkdir()
    (tmp_path / "12").mkdir()
    assert open_elsewhere(SESSION, tmp_path) is None
    process(tmp_path, 13, "node", "/usr/bin/claude", "--resume", "5e55", n0="/dev/pts/3")
    assert open_elsewhere(SESSION, tmp_path) == OpenSession(13, "pts/3")
    other = tmp_path / "others"
    process(other, 14, "/opt/claude", "--continue", n0="/dev/null", n7="/h/5e55.jsonl")
    assert open_elsewhere(SESSION, other) == OpenSession(14, "")
    assert open_elsewhere(SESSION, tmp_path / "none") is None


def test_one_asks_before_it_is_opened_twice_and_a_fork_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "file.jsonl").write_text("{}")
    fork = ("claude", "--resume", "5e55", "--fork-session")
    session = Session(
        "5e55",
        "claude-code",
        "t",
        "T",
        paths=(str(tmp_path / "file.jsonl"),),
        resume=ResumeCommand(("claude", "--resume", "5e55"), str(tmp_path), {}, fork=fork),
    )
    monkeypatch.setattr("prima_tui.resume.open_elsewhere", lambda _session: OpenSession(13, "pts/3"))
    env = {"PATH": str(program.parent)}
    assert "process 13 on pts/3" in plan_resume(session, env).warning
    forked = plan_resume(session, env, fork=True, arguments=("--verbose", "a b"))
    assert forked.warning == ""
    assert forked.shell_line == f"cd {tmp_path} && claude --resume 5e55 --fork-session --verbose 'a b'"
    assert forked.command is not None
    assert forked.command.argv == (str(program), *fork[1:], "--verbose", "a b")
    cannot = Session("x", "vscode", "t", "T", resume=ResumeCommand(("code", "/w")))
    assert plan_resume(cannot, env, fork=True).problem == "code has no command that forks a session"


def test_further_arguments_are_the_users_own(tmp_path: Path) -> None:
    from prima_tui.config import load_settings, paths_below

    paths = paths_below(tmp_path / "home")
    paths.config.mkdir(parents=True)
    (paths.config / "config.toml").write_text(
        '[resume.claude-code]\narguments = ["--verbose"]\n[resume.codex]\narguments = "x"\n', "utf-8"
    )
    folder = tmp_path / "shop" / ".prima-memory"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[resume.claude-code]\narguments = ["--dangerous"]\n', "utf-8")
    settings = load_settings(tmp_path / "shop", paths)
    assert settings.resume_arguments == {"claude-code": ("--verbose",)}
    assert len(settings.problems) == 2

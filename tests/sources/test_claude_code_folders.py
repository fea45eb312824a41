"""Which files of Claude Code belong to a workspace: roots, names of project folders, collisions, free names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, Scope, listed
from prima_tui.sources.claude_code import ClaudeCode
from prima_tui.sources.claude_code_folders import folder_names, stands_for
from tests.sources.claude_lines import Lines, write


def scope(home: Path, workspace: str | Path, *, everywhere: bool = False, **env: str) -> Scope:
    return Scope(Path(workspace), everywhere, home, env)


def session(root: Path, folder: str, name: str = "s.jsonl", cwd: str = "/ws") -> Path:
    """Write a session of one exchange into a project folder of a root."""
    make = Lines(cwd=cwd)
    return write(root / "projects" / folder, [make.user("x"), make.reply("y")], name)


def found(asked: Scope) -> list[str]:
    """Return the paths of the files found, without problems."""
    problems: list[Problem] = []
    paths = sorted(file.path for file in ClaudeCode().files(asked, problems))
    assert problems == []
    return paths


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/home/u/my.app_v2", "-home-u-my-app-v2"),
        ("/home/u/my.app_v2", "-home-u-my.app_v2"),
        ("/home/u/my app", "-home-u-my-app"),
        ("/home/mara/Projekte/café menu", "-home-mara-Projekte-caf--menu"),
        ("/home/mara/Projekte/cafe\u0301 menu", "-home-mara-Projekte-caf--menu"),
        ("/home/mara/Projekte/café menu", "-home-mara-Projekte-café-menu"),
        ("C:\\git\\cc-plus", "C--git-cc-plus"),
        ("c:\\Git\\cc-plus", "C--git-cc-plus"),
        ("/w/🔴 x", "-w----x"),
        ("/w/🔴 x", "-w---x"),
        ("/ws/", "-ws"),
        ("/", "-"),
        ("/" + "a" * 250, "-" + "a" * 199 + "-1x2y3z"),
    ],
)
def test_a_folder_name_stands_for_its_path(path: str, folder: str) -> None:
    assert stands_for(folder, path)


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/ws", "-ws-other"),
        ("/ws", "-home-ws"),
        ("/ws-other", "-ws"),
        ("/ws", "-WS"),
        ("/ws", ""),
        ("/" + "a" * 250, "-" + "a" * 199),
        ("/" + "a" * 250, "-" + "a" * 198 + "-1x2y3z"),
        ("/" + "a" * 250, "-" + "a" * 199 + "-1x-2y"),
        ("/" + "a" * 150, "-" + "a" * 150 + "-1x2y3z"),
    ],
)
def test_a_name_that_is_only_alike_stands_for_nothing(path: str, folder: str) -> None:
    assert not stands_for(folder, path)


@given(st.text(min_size=1, max_size=300))
def test_every_name_of_a_path_stands_for_it_or_is_too_long(path: str) -> None:
    assert all(stands_for(name, path) for name in folder_names(path))


def test_the_workspaces_folders_by_both_rules_are_read_and_no_others(tmp_path: Path) -> None:
    root = tmp_path / ".claude"
    workspace = "/ws/my.app v2"
    wanted = [session(root, "-ws-my.app-v2"), session(root, "-ws-my-app-v2", "t.jsonl")]
    for other in ("-ws-my-app-v2-x", "x-ws-my-app-v2", "-ws-my-app", "-ws-my-app-v3"):
        session(root, other)
    assert found(scope(tmp_path, workspace)) == sorted(map(str, wanted))
    assert len(found(scope(tmp_path, workspace, everywhere=True))) == 6


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_workspace_reached_through_a_link_finds_the_real_folders_sessions(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in os.path.realpath(tmp_path / "real"))
    path = session(tmp_path / ".claude", name, cwd=os.path.realpath(tmp_path / "real"))
    asked = scope(tmp_path, tmp_path / "link")
    assert found(asked) == [str(path)]
    transcript = Transcript("claude-code", "s", str(path), workspace=os.path.realpath(tmp_path / "real"))
    assert ClaudeCode().contains(transcript, asked)


def test_subagents_beside_and_below_are_found_and_other_files_are_not(tmp_path: Path) -> None:
    root = tmp_path / ".claude"
    wanted = [
        session(root, "-ws"),
        session(root, "-ws", "any name.jsonl"),
        session(root, "-ws", "agent-a1.jsonl"),
        session(root, "-ws", "s/subagents/agent-a2.jsonl"),
        session(root, "-ws", "s/subagents/workflows/w1/agent-a3.jsonl"),
    ]
    for other in (
        "agent-acompact-1.jsonl",
        "s/subagents/agent-acompact-2.jsonl",
        "s/subagents/workflows/w1/journal.jsonl",
        "s/tool-results/x.jsonl",
        "memory/s.jsonl",
        "memory/subagents/agent-m.jsonl",
        "notes.txt",
        "sessions-index.json",
    ):
        session(root, "-ws", other)
    assert found(scope(tmp_path, "/ws")) == sorted(map(str, wanted))
    kinds = {Path(file.path).name: file.kind for file in ClaudeCode().files(scope(tmp_path, "/ws"), [])}
    assert kinds["s.jsonl"] == "session"
    assert kinds["agent-a1.jsonl"] == kinds["agent-a3.jsonl"] == "agent"


def test_the_variable_replaces_the_usual_roots_and_can_name_several(tmp_path: Path) -> None:
    usual = [session(tmp_path / ".claude", "-ws"), session(tmp_path / ".config" / "claude", "-ws")]
    moved = [session(tmp_path / "a", "-ws"), session(tmp_path / "b", "-ws")]
    assert found(scope(tmp_path, "/ws")) == sorted(map(str, usual))
    assert found(scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR="  ")) == sorted(map(str, usual))
    both = scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR=f"{tmp_path / 'a'}, {tmp_path / 'b'},")
    assert found(both) == sorted(map(str, moved))
    assert list(ClaudeCode().roots(both)) == [tmp_path / "a", tmp_path / "b"]
    assert found(scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR="~/a")) == [str(moved[0])]
    comma = session(tmp_path / "c,d", "-ws")
    assert found(scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR=str(tmp_path / "c,d"))) == [str(comma)]


def test_a_root_that_is_not_the_usual_one_marks_its_files(tmp_path: Path) -> None:
    session(tmp_path / "a", "-ws")
    session(tmp_path / ".claude", "-ws")
    (file,) = ClaudeCode().files(scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR=str(tmp_path / "a")), [])
    assert file.kind == "session+root"
    (file,) = ClaudeCode().files(scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR=str(tmp_path / ".claude")), [])
    assert file.kind == "session"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_folder_reached_twice_is_read_once(tmp_path: Path) -> None:
    session(tmp_path / ".claude", "-ws")
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "claude").symlink_to(tmp_path / ".claude")
    (tmp_path / ".claude" / "projects" / "-moved").symlink_to("-ws")
    assert len(found(scope(tmp_path, "/ws", everywhere=True))) == 1
    assert len(found(scope(tmp_path, "/moved"))) == 1


def test_a_freely_named_folder_is_the_workspaces_whatever_its_sessions_folders(tmp_path: Path) -> None:
    path = session(tmp_path / "a", "work")
    asked = scope(tmp_path, "/ws", CLAUDE_CONFIG_DIR=str(tmp_path / "a"), CLAUDE_CODE_PROJECT_DIR_NAME="work")
    assert found(asked) == [str(path)]
    assert ClaudeCode().contains(Transcript("claude-code", "s", str(path), workspace="/else"), asked)


def test_two_projects_that_share_a_folder_are_kept_apart() -> None:
    asked = scope(Path("/home/u"), "/ws/a.b")
    path = "/home/u/.claude/projects/-ws-a-b/s.jsonl"

    def contains(workspace: str | None, where: str = path, within: Scope = asked) -> bool:
        return ClaudeCode().contains(Transcript("claude-code", "s", where, workspace=workspace), within)

    assert contains("/ws/a.b")
    assert not contains("/ws/a-b")
    assert not contains("/ws/a/b")
    assert contains("/moved/from/elsewhere")
    assert contains(None)
    assert not contains("/ws/a.b", where="/home/u/.claude/projects/-ws-a-b-c/s.jsonl")
    below = "/home/u/.claude/projects/-ws-a-b/s/subagents/workflows/w/agent-a.jsonl"
    assert contains("/ws/a.b", where=below)
    assert contains("/any", where="/x/projects/-y/s.jsonl", within=scope(Path("/h"), "/ws", everywhere=True))


def test_an_agent_that_is_not_installed_is_silent_and_an_empty_one_is_not(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert list(ClaudeCode().files(scope(tmp_path, "/ws", everywhere=True), problems)) == []
    assert problems == []
    (tmp_path / ".claude").mkdir()
    assert list(ClaudeCode().files(scope(tmp_path, "/ws"), problems)) == []
    assert [problem.what for problem in problems] == ["no project folders"]
    session(tmp_path / ".config" / "claude", "-ws")
    assert len(found(scope(tmp_path, "/ws"))) == 1


def test_a_folder_named_subagents_far_up_is_no_session(tmp_path: Path) -> None:
    path = session(tmp_path / "subagents" / ".claude", "-ws", "agent-a.jsonl")
    transcript = Transcript("claude-code", "agent-a", str(path), workspace="/ws")
    assert ClaudeCode().contains(transcript, scope(tmp_path / "subagents", "/ws"))


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything is readable here")
def test_an_unreadable_folder_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    session(tmp_path / ".claude", "-ws")
    closed = session(tmp_path / ".claude", "-closed").parent
    closed.chmod(0)
    problems: list[Problem] = []
    try:
        files = list(ClaudeCode().files(scope(tmp_path, "/ws", everywhere=True), problems))
    finally:
        closed.chmod(0o700)
    assert len(files) == 1
    assert [problem.what for problem in problems] == ["folder can't be read: Permission denied"]


@pytest.mark.skipif(os.name != "posix", reason="links that lead to themselves")
def test_a_link_that_leads_nowhere_costs_no_other_folder(tmp_path: Path) -> None:
    path = session(tmp_path / ".claude", "-ws")
    (tmp_path / ".claude" / "projects" / "-a").symlink_to("-a")
    problems: list[Problem] = []
    files = ClaudeCode().files(scope(tmp_path, "/ws", everywhere=True), problems)
    assert [file.path for file in files] == [str(path)]
    assert [problem.path for problem in problems] == [str(tmp_path / ".claude" / "projects" / "-a")]


def test_what_a_folder_holds_is_listed_by_name_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    for name in ("b", "a", "C"):
        (tmp_path / name).write_text("")
    problems: list[Problem] = []
    assert [entry.name for entry in listed(tmp_path, problems)] == ["C", "a", "b"]
    assert listed(tmp_path / "none", problems) == listed(tmp_path / "a", problems) == []
    assert problems == []
    listed(tmp_path / ("x" * 300), problems)
    assert [(problem.what, problem.count) for problem in problems] == [("folder can't be read: File name too long", 1)]

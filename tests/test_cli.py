"""The command line: what each command prints and where, exit codes, scopes, and what opens the screen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prima_tui import cli
from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from tests.world import World, session_id

ROOT = Path(__file__).resolve().parents[1]


class Program:
    """Runs commands in one world, with the model that is loaded already."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, *args: str, stdin: str | None = None) -> Result:
        """Run as the program does; its errors stay in the result."""
        return CliRunner().invoke(cli.program, args, input=stdin, standalone_mode=False)

    def json(self, *args: str) -> Any:
        """Run a command with --json: nothing else stands on stdout."""
        result = self(*args, "--json")
        assert result.exception is None, result.exception
        return json.loads(result.stdout)


@pytest.fixture
def prima(world: World, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Program:
    world.believable()
    monkeypatch.chdir(world.workspace)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setattr(Memory, "_model", lambda _self: embedder)
    return Program(world)


def run(world: World, *args: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the real program in a process of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PRIMA_"))}
    return subprocess.run(
        [sys.executable, "-m", "prima_tui", *args],
        cwd=cwd or world.workspace,
        env=inherited | {"HOME": str(world.home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"} | env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


# -- every command --------------------------------------------------------------------------------------------------


def test_keys_lists_every_action_with_the_id_to_set_its_keys_by(prima: Program) -> None:
    from prima_tui.tui.keymap import own_bindings

    folder = prima.world.workspace / ".prima-memory"
    folder.mkdir()
    (folder / "config.toml").write_text('[keys]\n"browse.next_mode" = "f12"\n"browse.nothing" = "f11"\n')
    found = prima.json("keys")
    rows = {one["id"]: one for one in found["keys"]}
    assert set(rows) == {binding.id for binding in own_bindings() if not binding.system}
    assert rows["browse.next_mode"]["keys"] == ["f12"]
    assert rows["browse.next_mode"]["description"].startswith("Search by words")
    assert len(found["warnings"]) == 1 and "browse.nothing is no action" in found["warnings"][0]
    assert any(line.split()[:2] == ["browse.next_mode", "f12"] for line in prima("keys").stdout.splitlines())


def test_sessions(prima: Program) -> None:
    found = prima.json("sessions")["sessions"]
    assert [one["id"] for one in found][:2] == [session_id("login"), session_id("money")]
    assert len(found) == 5
    text = prima("sessions").stdout
    assert "Login test on CI" in text
    assert [one["source"] for one in prima.json("sessions", "--filter", "agent:codex")["sessions"]] == ["codex"]


@pytest.mark.parametrize("mode", ["keyword", "semantic", "combined"])
def test_search(prima: Program, mode: str) -> None:
    found = prima.json("search", "cookie", "missing", "--mode", mode)
    assert (found["query"], found["mode"]) == ("cookie missing", mode)
    assert found["results"][0]["session"]["id"] == session_id("login")
    assert found["indexed"]["exchanges"] == (0 if mode == "keyword" else 7)
    assert "Login test on CI" in prima("search", "cookie", "-m", mode).stdout


def test_a_search_takes_its_limit_and_its_budget(prima: Program) -> None:
    assert len(prima.json("search", "the", "--mode", "keyword", "--limit", "1")["results"]) == 1
    assert prima.json("search", "the", "--mode", "keyword", "-n", "0")["results"] == []
    found = prima.json("search", "cookie", "--budget", "0")
    assert found["indexed"] == {"exchanges": 0, "pending_files": 6}
    assert found["results"]


def test_an_empty_result_is_done(prima: Program) -> None:
    result = prima("search", "nothing-like-this", "--mode", "keyword")
    assert result.exit_code == 0
    assert "Nothing was found" in result.stdout
    assert prima.json("search", "nothing-like-this")["results"] == []
    assert prima.json("files", "nothing-like-this")["files"] == []


def test_show(prima: Program) -> None:
    shown = prima.json("show", session_id("login"))
    assert shown["session"]["title"] == "Login test on CI"
    assert len(shown["exchanges"]) == 3
    assert json.loads(prima("show", session_id("login"), "--format", "json").stdout) == shown
    assert "And why only on CI?" in prima("show", session_id("login")[:8]).stdout
    assert prima("show", session_id("login"), "--format", "markdown").stdout.startswith("# Login test on CI")


def test_files(prima: Program) -> None:
    assert [one["path"] for one in prima.json("files", "LOGIN")["files"]] == ["tests/login.py"]
    assert "tests/login.py" in prima("files", "login").stdout


def test_index_status_rebuild_and_extracts(prima: Program) -> None:
    assert prima.json("status")["index"]["pending_files"] == 6
    done = prima.json("index")
    assert (done["files"], done["exchanges_embedded"]) == (6, 7)
    assert prima.json("index")["exchanges_embedded"] == 0
    status = prima.json("status")
    assert (status["index"]["exchanges"], status["index"]["pending_files"]) == (7, 0)
    assert "7 exchanges" in prima("status").stdout
    assert prima.json("rebuild", "--yes")["exchanges_embedded"] == 7
    assert prima.json("extracts") == {"extracts": [], "warnings": []}
    assert "No extracts yet" in prima("extracts").stdout


def test_a_rebuild_that_loses_something_asks_first(prima: Program) -> None:
    prima("index")
    (prima.world.project() / f"{session_id('money')}.jsonl").unlink()
    refused = prima("rebuild")
    assert refused.exception is not None
    assert "1 exchange " in str(refused.exception)
    assert "--yes" in str(refused.exception)
    assert prima.json("status")["index"]["exchanges"] == 7
    assert prima.json("rebuild", "--yes")["lost"] == 1
    assert prima.json("status")["index"]["exchanges"] == 6


# -- scopes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["sessions", "--workspace", "OTHER"],
        ["--workspace", "OTHER", "sessions"],
        ["-w", "OTHER", "sessions"],
        ["--workspace=OTHER", "sessions"],
        ["sessions", "-w", "OTHER"],
    ],
)
def test_the_workspace_may_stand_before_and_after_the_command(prima: Program, args: list[str]) -> None:
    other = prima.world.home / "other"
    other.mkdir()
    found = prima.json(*(arg.replace("OTHER", str(other)) for arg in args))
    assert session_id("elsewhere") in {one["id"] for one in found["sessions"]}
    assert session_id("login") not in {one["id"] for one in found["sessions"]}


@pytest.mark.parametrize("args", [["sessions", "--all"], ["--all", "sessions"]])
def test_all_is_every_workspace(prima: Program, args: list[str]) -> None:
    found = {one["id"] for one in prima.json(*args)["sessions"]}
    assert {session_id("elsewhere"), session_id("login")} <= found


# -- the screen -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "query", "mode", "pick"),
    [
        ([], "", "combined", False),
        (["login", "test"], "login test", "combined", False),
        (["--mode", "keyword", "login"], "login", "keyword", False),
        (["--pick", "sessions of today"], "sessions of today", "combined", True),
        (["--", "sessions"], "sessions", "combined", False),
        (["--", "--flag"], "--flag", "combined", False),
    ],
)
def test_what_is_no_command_is_a_query_for_the_screen(
    prima: Program, monkeypatch: pytest.MonkeyPatch, args: list[str], query: str, mode: str, pick: bool
) -> None:
    opened: list[tuple[str, str, bool]] = []

    def screen(_memory: Memory, text: str, chosen: str, picking: bool, *, demo: bool = False) -> None:
        opened.append((text, chosen, picking))

    monkeypatch.setattr(cli, "_screen", screen)
    prima(*args)
    assert opened == [(query, mode, pick)]


# -- errors ---------------------------------------------------------------------------------------------------------


def test_usage_errors_exit_with_2_and_failures_with_1_and_one_line(world: World) -> None:
    world.believable()
    world.claude("login again", [("a", "b")])
    for args, code, said in (
        (["show", "no-such-session"], 2, "there is no session"),
        (["search"], 2, "Missing argument"),
        (["search", "x", "--mode", "odd"], 2, "odd"),
        (["sessions", "--no-such-option"], 2, "no-such-option"),
        (["sessions", "--workspace", str(world.home / "gone")], 2, "is no folder"),
    ):
        done = run(world, *args)
        assert done.returncode == code, (args, done.stderr)
        assert said in done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
    (world.workspace / ".prima-memory").write_text("a file")
    done = run(world, "index")
    assert done.returncode == 1
    assert done.stderr.startswith("prima-tui: ")
    assert len(done.stderr.splitlines()) == 1


def test_the_start_of_several_ids_is_ambiguous(prima: Program) -> None:
    ids = [one["id"] for one in prima.json("sessions")["sessions"]]
    prima.world.claude("twin", [("a", "b")]).rename(
        prima.world.project() / f"{ids[0][:-1]}{'0' if ids[0][-1] != '0' else '1'}.jsonl"
    )
    result = prima("show", ids[0][:-1])
    assert "is the start of 2 session ids" in str(result.exception)
    assert prima("show", ids[0]).exit_code == 0
    assert "there is no session" in str(prima("show", "").exception)


def test_another_host_is_refused_before_anything_is_written(world: World) -> None:
    done = run(world, "sessions", PRIMA_EXPECTED_HOST="some-other")
    assert done.returncode == 1
    assert "'some-other'" in done.stderr
    assert "'claude-code'" in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in world.home.iterdir()) == ["shop"]
    assert run(world, "sessions", PRIMA_EXPECTED_HOST="claude-code").returncode == 0
    assert run(world, "--version", PRIMA_EXPECTED_HOST="").returncode == 0


def test_a_reader_that_goes_away_is_no_error(world: World) -> None:
    for number in range(400):
        world.claude(f"s{number}", [("many words " * 30, "answers")])
    command = f"{sys.executable} -m prima_tui sessions | head -1; echo ${{PIPESTATUS[0]}}"
    env = os.environ | {"HOME": str(world.home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], cwd=world.workspace, env=env, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"
    assert len(done.stdout.splitlines()) == 2


def test_an_interrupt_ends_with_130(world: World) -> None:
    world.claude("a", [(f"question {n} " * 40, f"answer {n} " * 100) for n in range(3000)])
    env = os.environ | {"HOME": str(world.home), "PYTHONPATH": str(ROOT)}
    # where the tests run in the background, Ctrl+C may be ignored, and a child inherits that
    with_interrupts = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from prima_tui.cli import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", with_interrupts, "index"],
        cwd=world.workspace,
        env=env,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        index = world.workspace / ".prima-memory" / "index.duckdb"
        deadline = time.monotonic() + 120
        while not index.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        try:
            _out, error = running.communicate(timeout=30)
        finally:
            running.kill()
    assert running.returncode == 130, error
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["index", "docs index"])
def test_an_interrupt_waits_for_nothing_that_is_being_embedded(world: World, tmp_path: Path, command: str) -> None:
    world.believable()
    (world.workspace / ".memory").mkdir()
    (world.workspace / "notes.md").write_text("# Notes\n\nOf what is to be done.\n")
    began = tmp_path / "began"
    code = (
        "import signal, threading; from concurrent.futures import ThreadPoolExecutor; from pathlib import Path\n"
        "from prima_tui.cli import main; from prima_tui.index.embedder import Embedder\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"def endless():\n    Path({str(began)!r}).touch()\n    threading.Event().wait()\n"
        "Embedder.embed = lambda self, texts: ThreadPoolExecutor().submit(endless).result()\n"
        "main()"
    )
    env = os.environ | {"HOME": str(world.home), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", code, *command.split()]
    with subprocess.Popen(argv, cwd=world.workspace, env=env, stderr=subprocess.PIPE, text=True) as running:
        try:
            deadline = time.monotonic() + 120
            while not began.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            _out, error = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 130
    assert "Traceback" not in error


def test_an_interrupt_that_a_library_makes_another_error_of_ends_with_130_too(world: World) -> None:
    code = (
        "import signal; from prima_tui.cli import main; from prima_tui.memory import Memory\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def each_listed(memory, shape):\n"
        "    try:\n        signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n        raise RuntimeError('Query interrupted')\n"
        "Memory.each_listed = each_listed; main()"
    )
    env = os.environ | {"HOME": str(world.home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, "sessions"]
    done = subprocess.run(command, cwd=world.workspace, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_warnings_stand_on_stderr_and_in_the_document(world: World) -> None:
    world.believable()
    (world.project() / f"{session_id('bad')}.jsonl").write_bytes(b"no json\n" * 3)
    done = run(world, "sessions", "--json")
    assert done.stderr == ""
    assert any("malformed lines (3" in line for line in json.loads(done.stdout)["warnings"])
    done = run(world, "sessions")
    assert "warning: claude-code: malformed lines" in done.stderr
    assert "warning" not in done.stdout
    (log,) = world.home.glob("**/startup.log")
    assert "malformed lines" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("odd", [b"\xff\xfe", b"'; DROP TABLE x; --", b"[red]", "👩".encode(), b"\x1b[2J"])
def test_any_bytes_may_be_a_query(world: World, odd: bytes) -> None:
    world.believable()
    done = run(world, "search", "--mode", "keyword", "--json", "--", os.fsdecode(odd))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"] == []


def test_a_folder_that_was_removed_under_our_feet_is_said(world: World, tmp_path: Path) -> None:
    command = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m prima_tui sessions"
    env = os.environ | {"HOME": str(world.home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_lists_the_commands(prima: Program) -> None:
    text = prima("--help").stdout
    for name in ("sessions", "search", "show", "files", "index", "rebuild", "status", "extracts"):
        assert name in text
    assert "\n  browse" not in text.split("Commands:")[1]


def test_stats_counts_the_sessions_in_scope(prima: Program) -> None:
    printed = prima.json("stats")
    assert printed["sessions"] == 5 and printed["agents"][0] == {"name": "claude-code", "count": 2}
    ran = prima("stats", "--filter", "agent:codex")
    assert ran.exit_code == 0 and "1 session " in ran.stdout and "api/limits.py" in ran.stdout


# -- citations ------------------------------------------------------------------------------------------------------


def test_a_citation_opens_its_exchange_also_of_another_workspace(
    prima: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prima_tui.errors import UsageError

    other = prima.world.home / "elsewhere"
    other.mkdir()
    prima.world.claude("far away", [("one", "two"), ("three", "four")], cwd=other)
    opened: list[tuple[str, int | None, bool]] = []

    def screen(memory: Memory, _text: str, _mode: str, _pick: bool, *, place: Any) -> None:
        opened.append((place.session.id, place.exchange, memory.scope.everywhere))

    monkeypatch.setattr(cli, "_screen", screen)
    near, far = session_id("login"), session_id("far away")
    for cited in (near, f"{near}#1", f"{far[:18]}#2"):
        assert prima("--open", cited).exception is None
    assert opened == [(near, None, False), (near, 0, False), (far, 1, True)]
    for wrong, said in (
        (f"{far}#3", "has 2 exchanges; there is no #3"),
        ("no-such-id#1", "no session"),
        ("#1", "is no citation"),
    ):
        error = prima("--open", wrong).exception
        assert isinstance(error, UsageError)
        assert said in str(error)
        assert "\n" not in str(error)
    assert isinstance(prima("--open", near, "words").exception, UsageError)

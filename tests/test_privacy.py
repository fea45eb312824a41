"""What is kept is its owner's alone, and nothing ever goes to the network unless an endpoint is configured."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from prima_tui.config import load_settings, memory_folder, paths_below
from prima_tui.index.embedder import Embedder
from prima_tui.model.hits import Cancel
from tests.world import NOW, World, session_id

ROOT = Path(__file__).resolve().parents[1]


def open_to_others(root: Path) -> list[str]:
    """What below a folder, itself among it, others than the owner could read, write or enter."""
    places = [root, *(Path(folder, name) for folder, folders, files in os.walk(root) for name in (*folders, *files))]
    return [str(place) for place in places if not place.is_symlink() and stat.S_IMODE(place.stat().st_mode) & 0o077]


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX systems")
@pytest.mark.parametrize("before", ["fresh", "loose"])
def test_everything_kept_is_readable_by_its_owner_only(world: World, embedder: Embedder, before: str) -> None:
    old = os.umask(0)
    try:
        folders = [world.workspace / ".prima-memory", *(world.home / ".prima-tui" / name for name in ("cache", "data"))]
        if before == "loose":
            for folder in folders:
                folder.mkdir(parents=True)
                name = "catalog.duckdb" if folder.name == "cache" else "index.duckdb"
                (folder / name).write_bytes(b"of another program" * 100)
        world.claude(
            "long", [(f"question {n}", f"answer {n}. " * 30) for n in range(60)], start=NOW - timedelta(days=1)
        )
        world.believable()
        memory = world.memory(embedder)
        memory.refresh()
        memory.log.note(["a problem"])
        assert memory.index_everything().finished
        memory.search("question", deep=True, limit=3)
        memory.search("in:tools cookie", limit=3)
        cancel = Cancel()
        memory.rebuild(lambda progress: cancel.cancel() if progress.exchanges_embedded >= 8 else None, cancel)
        everywhere = world.memory(embedder, everywhere=True)
        everywhere.refresh()
        everywhere.index_everything()
        asides = [path for folder in folders for path in folder.glob("*.aside-*")]
        assert bool(asides) == (before == "loose")
        assert [path for path in asides if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
        memory.forget([memory.session(session_id("money"))])
        Embedder(world.home / ".prima-tui" / "cache").query("makes the model's folder")
    finally:
        os.umask(old)
    kept = [world.workspace / ".prima-memory", *(world.home / ".prima-tui" / name for name in ("cache", "data", "log"))]
    names = {path.name for root in kept for path in root.rglob("*")}
    assert {"index.duckdb", "catalog.duckdb", "startup.log", "update.lock", "forgotten.json", ".gitignore"} <= names
    assert any(name.endswith("-session-extract.md") for name in names)
    assert [place for root in kept for place in open_to_others(root)] == []


def test_the_write_ahead_log_is_private_from_its_first_byte(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib\n"
        "os.umask(0)\n"
        "from prima_tui.index.database import DatabaseFile\n"
        "file = DatabaseFile(pathlib.Path(sys.argv[1]), 'x', [['CREATE TABLE store.t (a VARCHAR)']])\n"
        "with file._attached(None, 1, write=True) as store:\n"
        "    store.execute('BEGIN')\n"
        "    store.execute(\"INSERT INTO store.t SELECT 'said' || i FROM range(9) r(i)\")\n"
        "    file._private_log()\n"
        "    store.execute('COMMIT')\n"
        "    os._exit(9)\n"
    )
    path = tmp_path / "sub" / "index.duckdb"
    subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, timeout=60)
    log = path.with_name("index.duckdb.wal")
    assert log.stat().st_size > 0, "the process was to die with its log in place"
    assert open_to_others(path.parent) == []


def test_the_history_is_not_committed_by_accident(world: World) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git here")
    subprocess.run(["git", "init", "-q", str(world.workspace)], check=True)
    folder = memory_folder(world.workspace)
    (folder / "index.duckdb").write_bytes(b"x")
    (folder / "extracts").mkdir()
    (folder / "extracts" / "a.md").write_text("x", "utf-8")
    shown = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=world.workspace, capture_output=True, text=True, check=True
    )
    assert shown.stdout == ""


GUARD = """
import os, socket, sys, threading
record = os.environ["CONNECT_RECORD"]
def refuse(name):
    def refused(*args, **kwargs):
        subject = args[0] if args and isinstance(args[0], socket.socket) else None
        if subject is not None and subject.family == getattr(socket, "AF_UNIX", None):
            return original[name](*args, **kwargs)
        with open(record, "a") as file:
            file.write(f"{name} {args[1:]} in {sys.argv}\\n")
        raise OSError(f"{name} is refused here")
    return refused
original = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex", "sendto")}
for name in original:
    setattr(socket.socket, name, refuse(name))
for name in ("getaddrinfo", "create_connection", "gethostbyname"):
    setattr(socket, name, refuse(name))
"""


def test_no_command_ever_connects_with_default_settings(world: World, tmp_path: Path) -> None:
    world.believable()
    world.claude("big", [("x " * 2000, "y " * 2000)] * 10, start=NOW - timedelta(days=1))
    guard = tmp_path / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD, "utf-8")
    record = tmp_path / "connected"
    record.write_text("", "utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HF_"))}
    env |= {
        "HOME": str(world.home),
        "USERPROFILE": str(world.home),
        "PYTHONPATH": os.pathsep.join((str(guard), str(ROOT))),
        "CONNECT_RECORD": str(record),
    }

    def run(*words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "prima_tui", *words]
        done = subprocess.run(command, cwd=world.workspace, env=env, capture_output=True, text=True, timeout=180)
        assert done.returncode == code, done.stderr
        return done.stdout

    check = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 1)"],
        env=env,
        capture_output=True,
    )
    assert check.returncode != 0
    assert record.read_text("utf-8") != "", "the guard must be in place"
    record.write_text("", "utf-8")

    run("--version")
    identifier = json.loads(run("sessions", "--json"))["sessions"][0]["id"]
    found = json.loads(run("search", "cookie", "--deep", "--json"))
    assert found["results"]
    assert not [line for line in found["warnings"] if "meaning is off" in line]
    run("search", "cookie", "--mode", "semantic", "--all")
    run("index", "--json")
    run("show", identifier)
    run("files", "login")
    run("extracts")
    run("rebuild", "--yes")
    run("status", "--json")
    run("forget", identifier, "--yes")
    run("forget", "--list")
    assert record.read_text("utf-8") == ""


def test_nothing_is_fetched_or_spilled_by_the_database() -> None:
    from prima_tui.index.connections import in_memory

    rows = in_memory().execute(
        "SELECT current_setting('autoinstall_known_extensions'), current_setting('autoload_known_extensions'),"
        " current_setting('temp_directory')"
    )
    assert rows.fetchone() == (False, False, "")


def test_a_workspaces_configuration_makes_nothing_connect(world: World) -> None:
    folder = memory_folder(world.workspace)
    (folder / "config.toml").write_text(
        '[model]\nkind = "openai"\nname = "m"\nurl = "https://models.example"\n', "utf-8"
    )
    settings = load_settings(world.workspace, paths_below(world.home))
    assert settings.model.kind == "built-in"

"""Several processes at once: nothing is lost or doubled, none crashes, none waits for long, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from prima_tui.index.embedder import Embedder
from tests.index.stress import ROOT, contents, stress
from tests.world import Turn, World

OPERATIONS = int(os.environ.get("PRIMA_STRESS_OPERATIONS", "20"))
"""The full run has 200."""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX systems")
def test_killed_at_random_the_index_is_as_one_made_from_scratch(
    world: World, embedder: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = int(os.environ.get("PRIMA_STRESS_SEED", "1"))
    measured = stress(world, OPERATIONS, seed)
    folder = world.workspace / ".prima-memory"
    memory = world.memory(embedder)
    memory.refresh()
    progress = memory.index_everything()
    assert progress.finished, progress.note
    kept = contents(folder / "index.duckdb")
    memory.close()
    with capsys.disabled():
        print(
            f"\n{sum(measured.begun.values())} operations {dict(measured.begun)}, {measured.kills} kills in"
            f" {dict(measured.kills_in)}, {len(kept['exchanges'])} exchanges,"
            f" {progress.exchanges_embedded} left to embed; longest {measured.longest}; notes {dict(measured.notes)}"
        )
    assert measured.faults == []
    assert measured.kills >= 4

    folder.rename(folder.with_name("the-one-that-lived"))
    scratch = world.memory(embedder)
    scratch.refresh()
    assert scratch.index_everything().finished
    fresh = contents(folder / "index.duckdb")
    np.testing.assert_allclose(kept.pop("vectors"), fresh.pop("vectors"), rtol=0, atol=1e-6)
    assert kept == fresh
    asides = [path.name for path in folder.with_name("the-one-that-lived").glob("*.aside-*")]
    assert asides == [], "a kill damages nothing"


def test_a_kill_loses_at_most_the_batch_in_hand(world: World, embedder: Embedder) -> None:
    world.claude("long", [Turn(f"question {n} of many", f"answer {n} to it") for n in range(400)])
    code = (
        "import sys; from pathlib import Path; from tests.world import make_memory\n"
        "memory = make_memory(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "memory.refresh()\n"
        "memory.index_everything(lambda progress: print(progress.exchanges_embedded, flush=True))\n"
    )
    stored_before = 0
    for stop_after in (40, 104, 128):
        running = subprocess.Popen(
            [sys.executable, "-c", code, str(world.home), str(world.workspace)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert running.stdout is not None
        embedded = 0
        for line in running.stdout:
            embedded = int(line)
            if embedded >= stop_after:
                break
        running.send_signal(signal.SIGKILL)
        embedded = max([embedded, *(int(line) for line in running.stdout if line.strip().isdigit())])
        running.wait()
        running.stdout.close()
        stored = len(contents_or_none(world))
        assert stored - stored_before >= embedded - 96
        stored_before = stored
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().exchanges_embedded == 400 - stored_before


def contents_or_none(world: World) -> list[tuple[object, ...]]:
    """The exchanges stored; the write-ahead log of a killed process is taken over first, as any process would."""
    memory = world.memory()
    memory._semantic().load()
    memory.close()
    return contents(world.workspace / ".prima-memory" / "index.duckdb")["exchanges"]


def test_while_another_process_rebuilds_everything_is_found_and_nothing_waits(world: World, embedder: Embedder) -> None:
    world.believable()
    world.claude("long", [Turn(f"question {n} of many", f"answer {n} to it " * 10) for n in range(300)])
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    memory.close()

    def search_in_another_window() -> None:
        opened = world.memory(embedder)
        opened.refresh()
        answer = opened.search("cookie", "combined", limit=5)
        assert answer.hits and answer.warnings == ()
        assert opened.update_index().note in (
            "",
            "another prima-tui is updating or rebuilding the index",
            "another prima-tui is updating the index",
        )
        opened.close()

    code = (
        "import sys; from pathlib import Path; from tests.world import make_memory\n"
        "memory = make_memory(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "memory.refresh()\n"
        "print(memory.rebuild(lambda progress: print(progress.exchanges_embedded, flush=True)).finished, flush=True)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(world.home), str(world.workspace)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    try:
        running.stdout.readline()
        for _ in range(4):
            search_in_another_window()
        assert world.memory(embedder).rebuild_state() == "running"
        *_rest, last = running.stdout
        assert last == "True\n"
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
    assert world.memory(embedder).rebuild_state() is None


def test_a_clock_that_jumps_back_changes_nothing(
    world: World, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.claude("one", [Turn("A question on cookies", "An answer on cookies.")])
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().exchanges_embedded == 1
    past = 946_684_800
    path = world.claude("one", [Turn("A question on cookies", "An answer on cookies."), Turn("And tea?", "Green tea.")])
    os.utime(path, (past, past))
    monkeypatch.setattr(time, "time", lambda: past)
    memory.refresh()
    assert memory.index_everything().exchanges_embedded == 1
    assert memory.search("green tea", "semantic", limit=3).hits[0].exchange is not None
    other = world.memory(embedder)
    other.refresh()
    assert other.index_everything().exchanges_embedded == 0
    assert len(contents(world.workspace / ".prima-memory" / "index.duckdb")["exchanges"]) == 2


FULL = """
import resource, sys
from pathlib import Path
from tests.world import make_memory
memory = make_memory(Path(sys.argv[1]), Path(sys.argv[2]))
memory.refresh()
memory.search("warm", "keyword")
memory._model().query("warm")
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
progress = memory.index_everything()
print("NOTE", progress.finished, progress.note)
for mode in ("keyword", "semantic", "combined"):
    answer = memory.search("question 77 of many", mode, limit=3)
    print("FOUND", mode, len(answer.hits), answer.warnings)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits are of POSIX systems")
@pytest.mark.parametrize("limit", [20_000, 300_000, 500_000])
def test_a_full_disk_is_one_line_and_the_search_goes_on(world: World, embedder: Embedder, limit: int) -> None:
    world.claude("long", [Turn(f"question {n} of many", f"answer {n} to it") for n in range(300)])
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(world.home), str(world.workspace), str(limit)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    note, *found = done.stdout.splitlines()
    assert note.startswith("NOTE False the index was not updated: "), note
    assert len(found) == 3
    assert all(line.split()[2] == "1" for line in found if "semantic" not in line), found
    # with room again it goes on, and what was stored before is whole
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    assert len(contents(world.workspace / ".prima-memory" / "index.duckdb")["exchanges"]) == 300
    assert list((world.workspace / ".prima-memory").glob("*.aside-*")) == []


def test_a_read_only_workspace_and_index_are_searched_all_the_same(world: World, embedder: Embedder) -> None:
    if os.geteuid() == 0:
        pytest.skip("to root nothing is read-only")
    world.believable()
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    folder = world.workspace / ".prima-memory"
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(0o400)
    folder.chmod(0o500)
    try:
        world.claude("new", [Turn("A rhinoceros", "Yes.")])
        again = world.memory(embedder)
        again.refresh()
        assert "not updated" in again.update_index().note
        assert again.search("rhinoceros").hits
        assert again.search("cookie", "semantic").warnings == ()
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
def test_on_a_small_disk_the_batch_in_hand_is_lost_at_most(world: World, embedder: Embedder) -> None:
    folder = world.workspace / ".prima-memory"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no mounts here")
    try:
        world.claude("long", [Turn(f"question {n} of many", f"answer {n} to it") for n in range(700)])
        memory = world.memory(embedder)
        memory.refresh()
        progress = memory.index_everything()
        assert not progress.finished
        assert progress.note.startswith("the index was not updated: ")
        assert "\n" not in progress.note
        assert memory.search("question 77 of many", "combined", limit=3).hits
        assert memory.search("question 77 of many", "semantic", limit=3).warnings == ()
        stored = memory.status().exchanges
        assert stored > 0
        subprocess.run(["mount", "-o", "remount,size=60m", str(folder)], check=True)
        again = world.memory(embedder)
        again.refresh()
        progress = again.index_everything()
        assert progress.finished
        assert progress.exchanges_embedded == 700 - stored
        memory.close()
        again.close()
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
    assert Path(folder).is_dir()

"""The update of the semantic index: only what is new is embedded, nothing is lost by a kill, others go on searching."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import duckdb
import filelock
import numpy as np
import pytest

from prima_tui.errors import ModelUnavailable
from prima_tui.index import update as update_module
from prima_tui.index.embedder import Embedder, embedded_text
from prima_tui.memory import Memory
from prima_tui.model.hits import Cancel, IndexProgress
from prima_tui.model.session import Exchange
from tests.world import NOW, START, CountingEmbedder, Turn, World, session_id

ROOT = Path(__file__).resolve().parents[2]
Rows = dict[tuple[str, int, int], tuple[str, str, list[float]]]


def turns(count: int, about: str = "the booking form") -> list[Turn]:
    return [Turn(f"Question {n} about {about}", f"Answer {n}: change step {n} of {about}.") for n in range(count)]


@pytest.fixture
def counting(embedder: Embedder) -> CountingEmbedder:
    return CountingEmbedder(embedder)


def opened(world: World, counting: CountingEmbedder) -> Memory:
    memory = world.memory(cast(Embedder, counting))
    memory.refresh()
    return memory


def index_path(world: World) -> Path:
    return world.workspace / ".prima-memory" / "index.duckdb"


def rows(path: Path) -> Rows:
    """All that an index file stores: (file, transcript, position) to texts and vector."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute(
            "SELECT path, number, position, user_text, assistant_text, vector FROM exchanges"
        ).fetchall()
    assert len({row[:3] for row in found}) == len(found), "an exchange is stored twice"
    return {(row[0], row[1], row[2]): (row[3], row[4], row[5]) for row in found}


def texts(path: Path) -> set[tuple[str, str]]:
    return {(user, assistant) for user, assistant, _vector in rows(path).values()}


def assert_vectors_are_fresh_ones(path: Path, embedder: Embedder) -> None:
    for user, assistant, vector in rows(path).values():
        (fresh,) = embedder.embed([embedded_text(Exchange(user, assistant))])
        assert np.allclose(vector, fresh, atol=1e-6)
        assert abs(float(np.linalg.norm(np.array(vector))) - 1) < 1e-3


def test_every_exchange_is_stored_with_the_vector_of_its_text(world: World, counting: CountingEmbedder) -> None:
    world.believable()
    memory = opened(world, counting)
    progress = memory.update_index()
    assert progress.finished
    assert progress.note == ""
    assert progress.files_done == progress.files_total == 6
    assert progress.exchanges_embedded == len(counting.texts) == 7
    assert len(rows(index_path(world))) == 7
    assert_vectors_are_fresh_ones(index_path(world), counting.real)
    with duckdb.connect(str(index_path(world)), read_only=True) as connection:
        found = connection.execute(
            "SELECT label, author, project_folder, branch, occurred_at IS NOT NULL, session_id FROM exchanges"
            " WHERE source = 'shared-log'"
        ).fetchall()
    assert found[0][:2] == ("[shared log · bruno]", "bruno")
    assert found[0][4]
    assert world.memory(counting.real).status().exchanges == 7


def test_the_index_is_for_its_owner_only_and_out_of_gits_way(world: World, counting: CountingEmbedder) -> None:
    world.believable()
    opened(world, counting).update_index()
    folder = index_path(world).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir() if path.name != ".gitignore"} == {
        "index.duckdb": 0,
        "update.lock": 0,
    }
    assert "*" in (folder / ".gitignore").read_text().split()


def test_nothing_ever_connects_to_anything(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_args: Any, **_more: Any) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    world.claude("a", turns(2))
    memory = world.memory()  # with a model of its own, loaded now
    memory.refresh()
    assert memory.update_index().finished
    answer = memory.search("forms for bookings", "combined")
    assert answer.warnings == ()
    assert answer.hits


def test_a_second_update_does_nothing(world: World, counting: CountingEmbedder) -> None:
    world.believable()
    memory = opened(world, counting)
    memory.update_index()
    before, embedded = rows(index_path(world)), len(counting.texts)
    again = opened(world, counting).update_index()
    assert again == IndexProgress(seconds=again.seconds, finished=True)
    assert len(counting.texts) == embedded
    assert rows(index_path(world)) == before


def test_of_a_grown_file_only_the_new_exchanges_are_embedded(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(30))
    memory = opened(world, counting)
    memory.update_index()
    counting.texts.clear()
    world.claude("a", turns(33))
    memory.refresh()
    progress = memory.update_index()
    assert sorted(counting.texts) == sorted(embedded_text(Exchange(one.user, one.assistant)) for one in turns(33)[30:])
    assert (progress.exchanges_embedded, progress.exchanges_reused) == (3, 30)
    assert len(rows(index_path(world))) == 33
    (hit,) = memory.search("step 32", "semantic", limit=1).hits
    assert hit.exchange is not None
    assert_vectors_are_fresh_ones(index_path(world), counting.real)


def test_equal_texts_are_embedded_once_wherever_they_stand(world: World, counting: CountingEmbedder) -> None:
    for name in ("a", "b", "c"):
        world.claude(name, [*turns(3), *turns(3)])
    progress = opened(world, counting).update_index()
    assert progress.finished
    assert len(counting.texts) == 3
    assert len(rows(index_path(world))) == 18
    assert_vectors_are_fresh_ones(index_path(world), counting.real)


def test_a_resumed_copy_costs_no_embedding(world: World, counting: CountingEmbedder) -> None:
    world.claude("old", turns(5))
    memory = opened(world, counting)
    memory.update_index()
    counting.texts.clear()
    world.claude("new", turns(1, "prices"), copied=world.claude_records("old", turns(5)), start=NOW)
    memory.refresh()
    memory.update_index()
    assert len(counting.texts) == 1


def test_newest_files_come_first_and_the_budget_is_kept(world: World, counting: CountingEmbedder) -> None:
    for number in range(6):
        path = world.claude(f"s{number}", turns(24, f"topic {number}"))
        when = (START + timedelta(days=number)).timestamp()
        os.utime(path, (when, when))
    memory = opened(world, counting)
    progress = memory.update_index(0.25)
    assert not progress.finished
    assert progress.note == ""
    done = {Path(path).stem for path, _number, _position in rows(index_path(world))}
    newest = [session_id(f"s{number}") for number in reversed(range(6))]
    assert done == set(newest[: len(done)])
    assert memory.search("topic", "semantic").pending_files == 6 - progress.files_done
    while not memory.update_index(5.0).finished:
        pass
    assert len(counting.texts) == 144
    assert len(rows(index_path(world))) == 144


def test_no_budget_at_all_embeds_nothing_and_searches_what_there_is(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(2))
    memory = opened(world, counting)
    memory.update_index()
    world.claude("b", turns(2, "prices"))
    memory.refresh()
    counting.texts.clear()
    progress = memory.update_index(0.0)
    assert counting.texts == []
    assert not progress.finished
    assert len(memory.search("booking", "semantic").hits) == 1


def test_cancelling_keeps_the_vectors_that_are_finished(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(60))
    memory = opened(world, counting)
    cancel = Cancel()
    seen: list[IndexProgress] = []

    def stop(progress: IndexProgress) -> None:
        seen.append(progress)
        if progress.exchanges_embedded >= 2 * update_module.STEP:
            cancel.cancel()

    progress = memory.update_index(None, stop, cancel)
    assert progress.note == "cancelled"
    assert not progress.finished
    assert progress.exchanges_embedded == 2 * update_module.STEP < 60
    assert len(rows(index_path(world))) == 2 * update_module.STEP
    assert [one.exchanges_embedded for one in seen] == [update_module.STEP, 2 * update_module.STEP]
    assert memory.update_index().finished
    assert len(counting.texts) == 60
    assert len(rows(index_path(world))) == 60


@pytest.mark.parametrize("change", ["replaced", "shrunk", "emptied"])
def test_a_file_that_says_something_else_now_leaves_no_stale_rows(
    world: World, counting: CountingEmbedder, change: str
) -> None:
    path = world.claude("a", turns(6))
    memory = opened(world, counting)
    memory.update_index()
    other = opened(world, counting)
    other.search("booking form", "semantic")
    if change == "replaced":
        world.claude("a", turns(4, "train tickets"))
    elif change == "shrunk":
        world.claude("a", turns(2))
    else:
        path.write_bytes(b"")
    now = {"replaced": turns(4, "train tickets"), "shrunk": turns(2), "emptied": []}[change]
    memory.refresh()
    assert memory.update_index().finished
    assert texts(index_path(world)) == {(one.user, one.assistant) for one in now}
    for one in (memory, other):
        one.refresh()
        answer = one.search("question about the booking form", "semantic", limit=5)
        assert answer.indexed_exchanges == len(now)
        assert all(
            hit.exchange is not None
            and (hit.exchange.user, hit.exchange.assistant) in {(turn.user, turn.assistant) for turn in now}
            for hit in answer.hits
        )


def test_a_text_that_comes_back_is_there_once(world: World, counting: CountingEmbedder) -> None:
    memory = opened(world, counting)
    for count in (4, 2, 4, 1, 4):
        world.claude("a", turns(count))
        memory.refresh()
        assert memory.update_index().finished
        assert memory.search("booking", "semantic").indexed_exchanges == count
    assert len(rows(index_path(world))) == 4


def test_the_session_of_a_deleted_file_stays_searchable_by_meaning_and_is_marked(
    world: World, counting: CountingEmbedder
) -> None:
    path = world.claude("a", turns(3, "washing machines"), title="Laundry")
    world.claude("b", turns(2, "train tickets"))
    opened(world, counting).update_index()
    path.unlink()
    memory = opened(world, counting)
    memory.update_index()
    assert [one.id for one in memory.snapshot().sessions] == [session_id("b")]
    hit = memory.search("doing the laundry in a washing machine", "semantic", limit=3).hits[0]
    assert hit.session.id == session_id("a")
    assert hit.session.title == "Laundry"
    assert "deleted" in hit.session.flags
    assert hit.session.resume is None
    assert hit.exchange is not None
    assert "washing machines" in hit.exchange.assistant
    conversation = memory.conversation(hit.session)
    assert [one.user for one in conversation.exchanges] == [turn.user for turn in turns(3, "washing machines")]
    assert memory.search("washing", "keyword").hits == ()
    assert memory.resume_plan(hit.session).problem
    assert memory.rebuild_loss() == 3


def test_a_renamed_file_shows_its_exchange_and_is_not_deleted(world: World, counting: CountingEmbedder) -> None:
    path = world.claude("a", turns(3))
    memory = opened(world, counting)
    memory.update_index()
    world.claude("b", turns(1, "train tickets"))
    elsewhere = world.home / ".config" / "claude" / "projects" / path.parent.name
    elsewhere.mkdir(parents=True)
    path.rename(elsewhere / path.name)
    memory.refresh()
    counting.texts.clear()
    assert memory.update_index().finished
    assert len(counting.texts) == 1
    hit = memory.search("question about the booking form", "semantic", limit=1).hits[0]
    assert hit.session.id == session_id("a")
    assert "deleted" not in hit.session.flags
    assert hit.exchange is not None
    assert hit.exchange_index is not None


# -- several processes ----------------------------------------------------------------------------------------------

PROCESS = """
import sys
from pathlib import Path
from tests.world import make_memory
from prima_tui.index.embedder import Embedder
home = Path(sys.argv[1])
memory = make_memory(home, home / "shop", Embedder(home / "model"))
memory.refresh()
memory.search("x", "semantic")
print("ready", flush=True)
progress = memory.{call}(report=lambda p: print(p.exchanges_embedded, flush=True))
print("done", progress, flush=True)
"""


@contextmanager
def process(world: World, call: str) -> Iterator[subprocess.Popen[str]]:
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    running = subprocess.Popen(
        [sys.executable, "-c", PROCESS.format(call=call), str(world.home)], stdout=subprocess.PIPE, text=True, env=env
    )
    assert running.stdout is not None
    try:
        assert running.stdout.readline() == "ready\n"
        yield running
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


def kill_after(running: subprocess.Popen[str], exchanges: int) -> int:
    """Kill the process once it has embedded so many; return how many it reported in all."""
    assert running.stdout is not None
    last = 0
    for line in running.stdout:
        last = int(line)
        if last >= exchanges:
            break
    os.kill(running.pid, signal.SIGKILL)
    rest = running.stdout.read().split()
    return int(rest[-1]) if rest and rest[-1].isdigit() else last


def test_a_kill_loses_at_most_the_unit_in_hand(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(140))
    with process(world, "index_everything") as running:
        reported = kill_after(running, 104)
    kept = len(rows(index_path(world)))
    unit = update_module._UNIT
    assert kept % unit == 0
    assert reported - unit <= kept
    assert kept > 0
    memory = opened(world, counting)
    assert memory.search("booking", "semantic").indexed_exchanges == kept
    assert memory.index_everything().finished
    assert len(counting.texts) == 140 - kept
    assert len(rows(index_path(world))) == 140
    assert not list(index_path(world).parent.glob("*aside*"))


def test_while_another_process_updates_one_is_told_and_searches_on(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(300))
    with process(world, "index_everything") as running:
        assert running.stdout is not None
        assert running.stdout.readline()
        memory = opened(world, counting)
        progress = memory.update_index()
        assert not progress.finished
        assert "another prima-tui" in progress.note
        assert counting.texts == []
        for _ in range(5):
            answer = memory.search("question", "combined")
            assert len(answer.hits) == 1
            assert answer.warnings == ()
        assert running.poll() is None  # nothing waited for the other to end


def test_an_index_that_another_process_keeps_open_is_searched_as_it_was(
    world: World, counting: CountingEmbedder
) -> None:
    world.claude("a", turns(3))
    memory = opened(world, counting)
    memory.update_index()
    memory.search("booking", "semantic")
    code = (
        "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); c.execute('CREATE TABLE IF NOT EXISTS x (a INT)')"
    )
    code += "; print('ready', flush=True); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", code, str(index_path(world))], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    try:
        other.stdout.readline()
        os.utime(index_path(world))
        answer = memory.search("booking", "semantic")
        assert answer.hits
        assert answer.warnings == ()
        late = opened(world, counting)
        answer = late.search("question", "combined")
        assert answer.hits
        assert "in use by another process" in answer.warnings[0]
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    assert opened(world, counting).search("question", "combined").warnings == ()


def test_the_lock_of_a_dead_process_holds_nobody_up(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(2))
    memory = opened(world, counting)
    (world.workspace / ".prima-memory").mkdir()
    (world.workspace / ".prima-memory" / "update.lock").write_text("left behind")
    assert memory.update_index().finished
    with filelock.FileLock(world.workspace / ".prima-memory" / "update.lock"):
        assert "another" in opened(world, counting).update_index().note


# -- what can go wrong ----------------------------------------------------------------------------------------------


def _file(path: Path) -> None:
    path.write_text("a file")


def _folder_for_index(path: Path) -> None:
    (path / "index.duckdb").mkdir(parents=True)


@pytest.mark.parametrize("fault", [_file, _folder_for_index])
def test_a_place_that_takes_no_index_is_told_and_costs_nothing(
    world: World, counting: CountingEmbedder, fault: Callable[[Path], None]
) -> None:
    world.claude("a", turns(2))
    fault(world.workspace / ".prima-memory")
    memory = opened(world, counting)
    progress = memory.update_index()
    assert not progress.finished
    assert "the index was not updated" in progress.note
    assert counting.texts == []
    assert len(memory.search("booking", "combined").hits) == 1
    memory.status()


def test_a_damaged_index_is_kept_aside_and_made_again(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(3))
    opened(world, counting).update_index()
    damaged = os.urandom(30_000)
    index_path(world).write_bytes(damaged)
    memory = opened(world, counting)
    assert memory.search("booking", "combined").hits
    assert memory.update_index().finished
    (aside,) = index_path(world).parent.glob("index.aside-*.duckdb")
    assert aside.read_bytes() == damaged
    assert aside.name in memory.log_path.read_text()
    assert len(rows(index_path(world))) == 3


def test_an_index_that_another_one_replaces_is_never_mixed_with_it(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(2))
    memory = opened(world, counting)
    memory.update_index()
    assert memory.search("booking", "semantic").indexed_exchanges == 2
    inode = index_path(world).stat().st_ino
    index_path(world).unlink()
    (world.project() / f"{session_id('a')}.jsonl").unlink()
    for count in (1, 2, 3):
        world.claude("b", turns(count, "train tickets"))
        opened(world, counting).update_index()
    memory.refresh()
    assert memory.search("booking", "semantic").indexed_exchanges == 3, index_path(world).stat().st_ino == inode


def test_a_model_that_fails_keeps_what_was_embedded_before(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(update_module._UNIT + 2 * update_module.STEP))
    memory = opened(world, counting)
    real = counting.embed

    def failing(batch: list[str]) -> Any:
        if len(counting.texts) >= update_module._UNIT + update_module.STEP:
            raise ModelUnavailable("the embedding model failed: out of memory")
        return real(batch)

    counting.embed = failing  # type: ignore[method-assign, assignment]
    progress = memory.update_index()
    assert "out of memory" in progress.note
    assert len(rows(index_path(world))) == update_module._UNIT


def test_a_file_that_vanishes_meanwhile_is_passed_over(world: World, counting: CountingEmbedder) -> None:
    path = world.claude("a", turns(2))
    world.claude("b", turns(2, "prices"))
    memory = opened(world, counting)
    memory.settings.paths.catalog.unlink()
    path.unlink()
    progress = memory.update_index()
    assert len(rows(index_path(world))) == 2
    memory.refresh()
    assert memory.update_index().finished
    assert progress.note == ""

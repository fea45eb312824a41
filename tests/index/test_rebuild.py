"""The rebuild: the old index answers until the new one is whole, a kill loses little, what would be lost is counted."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import filelock
import pytest

from prima_tui.errors import ModelUnavailable
from prima_tui.index.embedder import Embedder
from prima_tui.model.hits import Cancel, IndexProgress
from tests.index.test_update import index_path, kill_after, opened, process, rows, turns
from tests.world import CountingEmbedder, World, session_id


@pytest.fixture
def counting(embedder: Embedder) -> CountingEmbedder:
    return CountingEmbedder(embedder)


def unfinished(world: World) -> Path:
    return index_path(world).with_name("index.rebuild.duckdb")


def state_file_count(world: World) -> set[str]:
    return {path.name for path in index_path(world).parent.iterdir()}


def test_a_rebuild_embeds_everything_anew_and_changes_no_answer(world: World, counting: CountingEmbedder) -> None:
    world.believable()
    memory = opened(world, counting)
    memory.update_index()
    before, answer = rows(index_path(world)), memory.search("cookies", "semantic")
    counting.texts.clear()
    progress = memory.rebuild()
    assert progress.finished
    assert progress.exchanges_embedded == len(counting.texts) == 7
    after = rows(index_path(world))
    assert after.keys() == before.keys()
    assert memory.search("cookies", "semantic").hits == answer.hits
    assert memory.rebuild_state() is None
    assert state_file_count(world) == {".gitignore", "index.duckdb", "update.lock"}
    assert index_path(world).stat().st_mode & 0o777 == 0o600


def test_a_rebuild_without_an_index_makes_one(world: World, counting: CountingEmbedder) -> None:
    world.believable()
    memory = opened(world, counting)
    assert memory.rebuild_loss() == 0
    assert memory.rebuild().finished
    assert memory.search("cookies", "semantic").hits


def test_the_old_index_answers_until_the_new_one_is_whole(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(48))
    memory = opened(world, counting)
    memory.update_index()
    other = opened(world, counting)
    seen: list[int] = []

    def look(progress: IndexProgress) -> None:
        if progress.exchanges_embedded % 16 == 0:
            for one in (memory, other):
                answer = one.search("booking", "semantic")
                assert answer.warnings == ()
                seen.append(answer.indexed_exchanges)
            assert one.rebuild_state() == "running"

    assert memory.rebuild(look).finished
    assert seen
    assert set(seen) == {48}
    assert other.search("booking", "semantic").indexed_exchanges == 48


def test_a_cancelled_rebuild_is_interrupted_and_goes_on_where_it_stopped(
    world: World, counting: CountingEmbedder
) -> None:
    world.claude("a", turns(50))
    memory = opened(world, counting)
    memory.update_index()
    counting.texts.clear()
    cancel = Cancel()
    progress = memory.rebuild(lambda one: cancel.cancel() if one.exchanges_embedded >= 24 else None, cancel)
    assert not progress.finished
    assert progress.note == "cancelled"
    assert memory.rebuild_state() == "interrupted"
    assert memory.status().rebuild == "interrupted"
    assert memory.search("booking", "semantic").indexed_exchanges == 50
    assert memory.rebuild().finished
    assert len(counting.texts) == 50
    assert memory.rebuild_state() is None
    assert len(rows(index_path(world))) == 50


def test_a_killed_rebuild_is_offered_again_and_embeds_nothing_twice(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(124))
    memory = opened(world, counting)
    memory.update_index()
    counting.texts.clear()
    with process(world, "rebuild") as running:
        assert running.stdout is not None
        running.stdout.readline()
        assert memory.rebuild_state() == "running"
        assert "another prima-tui" in memory.rebuild().note
        assert "another prima-tui" in memory.update_index().note
        kill_after(running, 104)
    assert memory.rebuild_state() == "interrupted"
    assert memory.search("booking", "semantic").indexed_exchanges == 124
    kept = len(rows(unfinished(world)))
    assert kept >= 96
    assert memory.rebuild().finished
    assert len(counting.texts) == 124 - kept
    assert memory.rebuild_state() is None
    assert len(rows(index_path(world))) == 124


def test_a_rebuild_that_was_killed_when_it_was_whole_is_only_put_in_place(
    world: World, counting: CountingEmbedder
) -> None:
    world.claude("a", turns(3))
    memory = opened(world, counting)
    memory.update_index()
    index_path(world).rename(unfinished(world))
    counting.texts.clear()
    later = opened(world, counting)
    assert later.rebuild_state() == "interrupted"
    assert later.rebuild().finished
    assert counting.texts == []
    assert later.search("booking", "semantic").indexed_exchanges == 3


def test_what_a_rebuild_would_lose_is_counted_and_lost(world: World, counting: CountingEmbedder) -> None:
    gone = world.claude("gone", turns(4, "washing machines"))
    world.claude("kept", turns(2))
    memory = opened(world, counting)
    memory.update_index()
    assert memory.rebuild_loss() == 0
    gone.unlink()
    memory.refresh()
    assert memory.rebuild_loss() == 4
    assert memory.rebuild().finished
    assert memory.rebuild_loss() == 0
    assert session_id("gone") not in {hit.session.id for hit in memory.search("washing", "semantic").hits}


def test_extracts_stay(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(30))
    memory = opened(world, counting)
    memory.update_index()
    (extract,) = memory.extracts()
    Path(extract.path).write_text("# changed by hand\n")
    assert memory.rebuild().finished
    assert [one.text for one in memory.extracts()] == ["# changed by hand\n"]


def test_a_damaged_unfinished_file_is_kept_aside_and_begun_anew(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(3))
    memory = opened(world, counting)
    memory.update_index()
    unfinished(world).write_bytes(os.urandom(20_000))
    assert memory.rebuild_state() == "interrupted"
    assert memory.rebuild().finished
    assert list(index_path(world).parent.glob("index.rebuild.aside-*.duckdb"))
    assert len(rows(index_path(world))) == 3


def test_a_damaged_index_is_kept_aside_by_a_rebuild(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(3))
    opened(world, counting).update_index()
    index_path(world).write_bytes(os.urandom(20_000))
    memory = opened(world, counting)
    assert memory.rebuild().finished
    assert len(list(index_path(world).parent.glob("index.aside-*.duckdb"))) == 1
    assert memory.search("booking", "semantic").indexed_exchanges == 3


def test_a_model_that_fails_leaves_the_old_index(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(3))
    memory = opened(world, counting)
    memory.update_index()
    before = rows(index_path(world))

    def failing(_texts: list[str]) -> list[object]:
        raise ModelUnavailable("the embedding model failed: no memory")

    counting.embed = failing  # type: ignore[method-assign, assignment]
    progress = memory.rebuild()
    assert not progress.finished
    assert "no memory" in progress.note
    assert rows(index_path(world)) == before
    assert memory.rebuild_state() == "interrupted"


def test_an_interrupted_rebuild_can_be_given_up(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(3))
    memory = opened(world, counting)
    memory.update_index()
    unfinished(world).write_bytes(index_path(world).read_bytes())
    with filelock.FileLock(index_path(world).with_name("update.lock")):
        assert memory._rebuild().discard() is False
    assert memory._rebuild().discard() is True
    assert memory.rebuild_state() is None
    assert len(rows(index_path(world))) == 3


def test_no_index_can_be_put_where_there_is_no_place(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", turns(3))
    (world.workspace / ".prima-memory").write_text("a file")
    progress = opened(world, counting).rebuild()
    assert not progress.finished
    assert "not rebuilt" in progress.note


def test_a_stopped_process_does_not_stop_searching(world: World, counting: CountingEmbedder) -> None:
    """A rebuild that hangs (a suspended laptop, a stopped job) holds the lock, never the readers."""
    world.claude("a", turns(60))
    memory = opened(world, counting)
    memory.update_index()
    with process(world, "rebuild") as running:
        assert running.stdout is not None
        running.stdout.readline()
        os.kill(running.pid, signal.SIGSTOP)
        assert memory.search("booking", "combined").warnings == ()
        assert "another prima-tui" in memory.update_index().note
        os.kill(running.pid, signal.SIGCONT)

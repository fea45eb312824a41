"""Nothing is embedded twice: what another index of the same model holds already is taken from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import cast

import duckdb
import filelock
import numpy as np
import pytest

from prima_tui.index.elsewhere import OtherIndexes
from prima_tui.index.embedder import Embedder, embedded_text, text_hash
from prima_tui.memory import Memory
from prima_tui.model.session import Exchange
from tests.world import CountingEmbedder, Turn, World, make_memory, session_id

TURNS = [Turn(f"Question {n} about the booking form", f"Answer {n}: change step {n}.") for n in range(5)]


@pytest.fixture
def counting(embedder: Embedder) -> CountingEmbedder:
    return CountingEmbedder(embedder)


def other_workspace(world: World, counting: CountingEmbedder, turns: list[Turn]) -> Memory:
    """The memory of another folder with a conversation of its own."""
    folder = world.home / "other"
    folder.mkdir(exist_ok=True)
    world.claude("copy", turns, cwd=folder)
    memory = make_memory(world.home, folder, cast(Embedder, counting))
    memory.refresh()
    return memory


def indexed(world: World, counting: CountingEmbedder) -> Path:
    """Index one conversation in the workspace; return the index's file."""
    world.claude("a", TURNS)
    memory = world.memory(cast(Embedder, counting))
    memory.refresh()
    assert memory.index_everything().exchanges_embedded == 5
    counting.texts.clear()
    return Path(memory.status().index_path)


def vectors(path: Path) -> dict[str, list[float]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            row[0]: list(row[1]) for row in connection.execute("SELECT user_text, vector FROM exchanges").fetchall()
        }


def test_a_text_that_another_workspace_has_indexed_is_not_embedded_again(
    world: World, counting: CountingEmbedder
) -> None:
    path = indexed(world, counting)
    other = other_workspace(world, counting, [*TURNS[1:], Turn("New", "Only here.")])
    progress = other.index_everything()
    assert progress.finished
    assert (progress.exchanges_embedded, progress.exchanges_reused) == (1, 4)
    assert counting.texts == ["User: New\nAssistant: Only here."]
    here, there = vectors(path), vectors(Path(other.status().index_path))
    assert all(there[turn.user] == here[turn.user] for turn in TURNS[1:])
    assert other.search("booking form", "semantic").hits[0].session.id == session_id("copy")


def test_the_index_of_everything_gives_and_takes(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", TURNS)
    everywhere = world.memory(cast(Embedder, counting), everywhere=True)
    everywhere.refresh()
    assert everywhere.index_everything().exchanges_embedded == 5
    memory = world.memory(cast(Embedder, counting))
    memory.refresh()
    assert memory.index_everything().exchanges_embedded == 0
    assert memory.search("booking form", "semantic").hits


def test_a_rebuild_embeds_anew_since_it_is_asked_for_when_vectors_are_in_doubt(
    world: World, counting: CountingEmbedder
) -> None:
    world.claude("a", TURNS)
    everywhere = world.memory(cast(Embedder, counting), everywhere=True)
    everywhere.refresh()
    everywhere.index_everything()
    memory = world.memory(cast(Embedder, counting))
    memory.refresh()
    memory.index_everything()
    counting.texts.clear()
    assert memory.rebuild().finished
    assert len(counting.texts) == 5


@pytest.mark.parametrize("harm", ["damaged", "of another model", "gone", "of another program"])
def test_an_index_that_can_not_serve_costs_only_time_and_is_left_as_it_is(
    world: World, counting: CountingEmbedder, harm: str
) -> None:
    path = indexed(world, counting)
    if harm == "damaged":
        path.write_bytes(b"DUCK" * 5000)
    elif harm == "gone":
        path.unlink()
    else:
        name, value = ("model", "another") if harm == "of another model" else ("kind", "a diary")
        with duckdb.connect(str(path)) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE name = ?", [value, name])
    before = path.read_bytes() if path.exists() else None
    progress = other_workspace(world, counting, TURNS).index_everything()
    assert progress.finished
    assert progress.exchanges_embedded == 5
    assert (path.read_bytes() if path.exists() else None) == before
    assert not list(path.parent.glob("*aside*"))


def test_an_index_that_another_process_writes_is_not_waited_for(world: World, counting: CountingEmbedder) -> None:
    path = indexed(world, counting)
    code = (
        "import sys, duckdb; connection = duckdb.connect(sys.argv[1]); print('holds it', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holds it\n"
        progress = other_workspace(world, counting, TURNS).index_everything()
        assert progress.finished
        assert progress.exchanges_embedded == 5
        holder.communicate("")


def test_what_was_forgotten_is_found_in_no_other_index(world: World, counting: CountingEmbedder) -> None:
    world.claude("a", TURNS)
    memory = world.memory(cast(Embedder, counting))
    memory.refresh()
    memory.index_everything()
    memory.forget([memory.session(session_id("a"))])
    others = OtherIndexes(counting.name, Path("none"), lambda: [Path(memory.status().index_path)])
    assert others.vectors([text_hash(embedded_text(Exchange(turn.user, turn.assistant))) for turn in TURNS]) == {}


def test_hashes_that_begin_alike_are_told_apart(world: World, counting: CountingEmbedder) -> None:
    path = indexed(world, counting)
    with duckdb.connect(str(path), read_only=True) as connection:
        [(key, vector)] = connection.execute("SELECT hash, vector FROM exchanges LIMIT 1").fetchall()
    others = OtherIndexes(counting.name, Path("none"), lambda: [path])
    twin = key[:16] + "0" * 16
    found = others.vectors([key, twin, "f" * 32])
    assert list(found) == [key]
    assert np.allclose(found[key], vector)
    with filelock.FileLock(path.with_name("update.lock"), timeout=0):
        assert list(others.vectors([key])) == [key]

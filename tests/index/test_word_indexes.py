"""The word indexes beside a catalog: when they are made, what they hold, when they go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from prima_tui.index import catalog as catalog_module
from prima_tui.index import word_indexes, word_writer
from prima_tui.index.catalog import Catalog, build_words
from prima_tui.memory import Memory
from tests.world import Turn, World, session_id

FIRST, SECOND = session_id("a"), session_id("b")
BEDROOM = sorted([FIRST, SECOND])


@pytest.fixture
def memory(world: World) -> Iterator[Memory]:
    world.claude("a", [Turn("Paint the bedroom", "Blue, I think.")])
    world.claude("b", [Turn("Where is the door?", "Left of the bedroom.")])
    made = world.memory()
    made.refresh()
    yield made
    made.close()


def built(memory: Memory) -> list[Path]:
    """Make what is to be made, and return the files that are there."""
    build_words(str(memory.settings.paths.catalog))
    return index_files(memory)


def index_files(memory: Memory) -> list[Path]:
    return sorted(memory.settings.paths.catalog.with_name("words").glob("*.words"))


def found(memory: Memory, query: str) -> list[str]:
    memory.refresh()
    return sorted(hit.session.id for hit in memory.search(query, "keyword").hits)


def text_in_memory(memory: Memory) -> int:
    return memory._open().table.plain_bytes()


def test_what_is_in_an_index_is_found_without_its_text_in_memory(memory: Memory, world: World) -> None:
    assert found(memory, "bedroom") == BEDROOM
    assert text_in_memory(memory) > 0
    assert len(built(memory)) == 1
    other = world.memory()
    for one in (memory, other):
        assert found(one, "bedroom") == BEDROOM
        assert found(one, '"the door"') == [SECOND]
        assert text_in_memory(one) == 0
    other.close()


def test_words_can_be_loaded_before_the_first_letter(memory: Memory) -> None:
    assert text_in_memory(memory) == 0
    memory.warm_words()
    assert text_in_memory(memory) > 0
    assert "names" in vars(memory._open().library.columns)


def test_a_file_that_changed_is_found_as_it_is_now(memory: Memory, world: World) -> None:
    built(memory)
    assert found(memory, "blue") == [FIRST]
    world.claude("a", [Turn("Paint the bedroom", "Green, I think.")])
    assert found(memory, "blue") == []
    assert found(memory, "green") == [FIRST]
    assert found(memory, "bedroom") == BEDROOM


def test_a_second_index_holds_only_what_is_in_none_and_several_become_one(
    memory: Memory, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_indexes, "_MOST", 2)
    first = built(memory)
    assert built(memory) == first, "there was nothing new"
    for number, name in enumerate("cd"):
        world.claude(name, [Turn("The cellar", f"It is below the bedroom {number}.")])
        memory.refresh()
        memory.refresh()  # the catalog takes what was read at the next look
        files = built(memory)
        assert len(files) == (2 if name == "c" else 1)
    assert found(memory, "bedroom") == sorted([*BEDROOM, session_id("c"), session_id("d")])
    assert text_in_memory(memory) == 0


def test_an_index_of_what_left_the_catalog_meanwhile_is_not_put_in_place(
    memory: Memory, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = word_writer.WordIndexWriter.write

    def slow(self: word_writer.WordIndexWriter, *given: object) -> None:
        write(self, *given)  # type: ignore[arg-type]
        memory.forget([memory.session(FIRST)])

    monkeypatch.setattr(word_writer.WordIndexWriter, "write", slow)
    assert built(memory) == []
    assert list(memory.settings.paths.catalog.with_name("words").iterdir()) in ([], [_lock(memory)])


def _lock(memory: Memory) -> Path:
    return memory.settings.paths.catalog.with_name("words") / "lock"


def test_what_is_forgotten_goes_from_the_indexes_and_the_rest_is_found(memory: Memory) -> None:
    built(memory)
    assert found(memory, "bedroom") == BEDROOM
    memory.forget([memory.session(FIRST)])
    assert index_files(memory) == []
    assert found(memory, "bedroom") == [SECOND]
    (path,) = built(memory)
    assert b"blue" not in path.read_bytes()
    assert b"left" in path.read_bytes()
    assert found(memory, "bedroom") == [SECOND]


def test_a_damaged_index_is_passed_over(memory: Memory, world: World) -> None:
    (path,) = built(memory)
    path.write_bytes(path.read_bytes()[:-100])
    other = world.memory()
    assert found(other, "bedroom") == BEDROOM
    assert text_in_memory(other) > 0
    assert len(built(other)) == 1
    assert not path.exists()
    assert found(other, "bedroom") == BEDROOM
    assert text_in_memory(other) == 0
    other.close()


def test_much_text_gets_its_index_in_a_process_of_its_own(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(memory, "bedroom") == BEDROOM
    assert index_files(memory) == []
    monkeypatch.setattr(catalog_module, "WORTH_IT_BYTES", 1)
    assert found(memory, "bedroom") == BEDROOM
    deadline = time.monotonic() + 60
    while not index_files(memory) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found(memory, "bedroom") == BEDROOM
    assert text_in_memory(memory) == 0


def test_no_two_processes_make_one(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog(memory.settings.paths.catalog, print)
    answers = []
    write = word_writer.WordIndexWriter.write

    def at_the_same_time(self: word_writer.WordIndexWriter, *given: object) -> None:
        answers.append(Catalog(memory.settings.paths.catalog, print).build_words())
        write(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(word_writer.WordIndexWriter, "write", at_the_same_time)
    assert catalog.build_words()
    assert answers == [False]
    assert len(index_files(memory)) == 1

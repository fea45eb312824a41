"""A history kept for searching by word: always the hits of a whole search, and of sessions no more than these read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui import history
from prima_tui.errors import StoreUnusable
from prima_tui.index.catalog import build_words
from prima_tui.kept_words import KeptLibrary, KeptWords
from prima_tui.memory import Memory
from prima_tui.model.hits import Answer
from tests.world import NOW, Turn, World, session_id

QUERIES = (
    *("cookie", "the", "o", "login cookie", '"the door"', "bedroom", "no such thing", "paint", "zzzz"),
    *("web/app.py", "app.py", "file:app.py", "file:app.py the", "agent:codex", "-agent:codex the", "tag:python"),
    *("date:<30d the", "date:2026-11-20 door", "is:resumable door", "is:fork", "painl the bedrom", "branch:main door"),
    "in:tools door",
)


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files that were written just now kept all the same."""
    monkeypatch.setattr(history, "_SETTLED_SECONDS", 0)


@pytest.fixture
def kept(world: World) -> World:
    """Return a world whose history was kept."""
    world.believable()
    world.claude("a", [Turn("Paint the bedroom", "Blue, I think.", ("web/app.py",))])
    world.claude("b", [Turn("Where is the door?", "Left of the bedroom."), Turn("And the room?", "Behind the door.")])
    world.codex("c", [Turn("The login cookie", "Behind the door.")])
    keep(world)
    return world


def keep(world: World) -> None:
    """Have everything indexed and kept."""
    memory = world.memory()
    index_and_keep(memory)
    assert path_of(memory).exists()
    memory.close()


def index_and_keep(memory: Memory) -> None:
    """Have every message in a word index, and what the next search by word takes kept, where it is."""
    memory.refresh()
    build_words(str(memory.settings.paths.catalog))
    memory.search("the", "keyword")
    memory.keep_by_word()


def path_of(memory: Memory) -> Path:
    return KeptWords(memory._last).path


def by_word(world: World, query: str, *, kept: bool = True) -> Answer:
    """Search by word in a memory of its own, from what was kept or not."""
    memory = world.memory()
    memory.refresh_by_word()
    assert isinstance(memory._open().library, KeptLibrary) == kept
    try:
        return comparable(memory.search(query, "keyword", limit=20, now=NOW))
    finally:
        memory.close()


def whole(world: World, query: str) -> Answer:
    """Search by word as a memory does that has every session."""
    memory = world.memory()
    memory.refresh()
    try:
        return comparable(memory.search(query, "keyword", limit=20, now=NOW))
    finally:
        memory.close()


def comparable(answer: Answer) -> Answer:
    return msgspec.structs.replace(answer, took_ms=0.0)


@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_that_of_a_whole_search(kept: World, query: str) -> None:
    assert by_word(kept, query) == whole(kept, query)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text(alphabet="theborm. ", min_size=1, max_size=3), min_size=1, max_size=3).map(" ".join))
def test_whatever_is_typed_the_answer_is_that_of_a_whole_search(kept: World, words: str) -> None:
    assert by_word(kept, words) == whole(kept, words)


def test_only_what_is_found_is_read(kept: World) -> None:
    memory = kept.memory()
    memory.refresh_by_word()
    library = memory._open().library
    assert len(memory.search("bedroom", "keyword", limit=1).hits) == 1
    assert len(library.entries) > 2
    assert len(library.entries._made) == 1  # type: ignore[attr-defined]
    memory.close()


def test_a_file_that_changed_came_or_went_is_searched_as_it_is(kept: World) -> None:
    path = kept.claude("b", [Turn("Where is the window?", "There is none.")])
    assert {hit.session.id for hit in by_word(kept, "window", kept=False).hits} == {session_id("b")}
    keep(kept)
    kept.codex("d", [Turn("A second window", "Yes.")])
    assert {hit.session.id for hit in by_word(kept, "window", kept=False).hits} == {session_id("b"), session_id("d")}
    keep(kept)
    path.unlink()
    assert {hit.session.id for hit in by_word(kept, "window", kept=False).hits} == {session_id("d")}


def test_a_file_that_is_rewritten_with_its_old_size_and_time_is_searched_as_it_is(kept: World) -> None:
    path = kept.claude("b", [Turn("Where is the door?", "On the left.")])
    keep(kept)
    before = path.stat()
    path.write_text(path.read_text().replace("On the left", "On the roof"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert {hit.session.id for hit in by_word(kept, "roof", kept=False).hits} == {session_id("b")}


def test_what_was_forgotten_is_not_found(kept: World) -> None:
    memory = kept.memory()
    memory.refresh_by_word()
    memory.forget([memory.session(session_id("a"))])
    assert not path_of(memory).exists()
    assert b"Paint" not in b"".join(path.read_bytes() for path in path_of(memory).parent.glob("*"))
    memory.close()
    assert session_id("a") not in {hit.session.id for hit in by_word(kept, "bedroom", kept=False).hits}


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_what_is_not_whole_is_not_used(kept: World, damage: bytes | None) -> None:
    path = path_of(kept.memory())
    path.write_bytes(path.read_bytes()[:-200] if damage is None else damage)
    assert by_word(kept, "bedroom", kept=False) == whole(kept, "bedroom")


def test_a_session_that_is_damaged_in_it_costs_one_search(kept: World) -> None:
    path = path_of(kept.memory())
    content = path.read_bytes()
    place = content.rindex(b"Paint")
    path.write_bytes(content[: place - 1] + b"\xff" * 6 + content[place + 5 :])
    with pytest.raises(StoreUnusable, match="search again"):
        by_word(kept, "bedroom")
    assert not path.exists()
    assert by_word(kept, "bedroom", kept=False) == whole(kept, "bedroom")


def test_without_its_word_index_it_is_not_used(kept: World) -> None:
    for path in kept.memory().settings.paths.catalog.with_name("words").glob("*.words"):
        path.unlink()
    assert by_word(kept, "bedroom", kept=False) == whole(kept, "bedroom")


def test_a_history_that_is_looked_through_as_text_is_not_kept(world: World) -> None:
    world.believable()
    memory = world.memory()
    memory.refresh()
    memory.search("the", "keyword")
    memory.keep_by_word()
    assert not path_of(memory).exists()
    memory.close()


def test_while_files_are_written_nothing_is_kept(kept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_SETTLED_SECONDS", 60)
    path = kept.claude("b", [Turn("Where is the window?", "There is none.")])
    memory = kept.memory()
    path_of(memory).unlink()
    index_and_keep(memory)
    assert not path_of(memory).exists()
    for one in kept.home.rglob("*"):
        if one.is_file():
            os.utime(one, (1_700_000_000, 1_700_000_000))
    assert path.exists()
    index_and_keep(memory)
    assert path_of(memory).exists()
    memory.close()


def test_all_sessions_are_there_when_they_are_asked_for_after_it(kept: World) -> None:
    memory, other = kept.memory(), kept.memory()
    memory.refresh_by_word()
    memory.search("bedroom", "keyword", limit=5)
    assert memory.refresh().sessions == other.refresh().sessions
    found = [hit.session.id for hit in memory.search("bedroom", "keyword").hits]
    assert found == [hit.session.id for hit in other.search("bedroom", "keyword").hits]
    memory.close()
    other.close()


def test_its_owner_alone_can_read_it(kept: World) -> None:
    assert path_of(kept.memory()).stat().st_mode & 0o077 == 0


@pytest.fixture
def command(kept: World) -> Iterator[list[str]]:
    """A search on the command line, whose process tells which heavy modules it loaded."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from prima_tui.config import load_settings, paths_below\n"
        "from prima_tui.memory import Memory\n"
        "from prima_tui.sources.base import Scope\n"
        f"home, workspace = Path({str(kept.home)!r}), Path({str(kept.workspace)!r})\n"
        "memory = Memory(Scope(workspace, False, home, {}), load_settings(workspace, paths_below(home)))\n"
        "memory.refresh_by_word()\n"
        "assert memory.search('bedroom', 'keyword', limit=20).hits[0].exchange\n"
        "print(*({'duckdb', 'rapidfuzz', 'fastembed'} & set(sys.modules)))"
    )
    yield [sys.executable, "-c", code]


def test_a_search_by_word_needs_no_database(command: list[str]) -> None:
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []

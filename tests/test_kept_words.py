"""A history kept for searching by word: always the hits of a whole search, and of sessions no more than these read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui import backlog, output
from prima_tui import by_word as rules
from prima_tui.errors import StoreUnusable
from prima_tui.index.catalog import build_words
from prima_tui.kept_words import KeptLibrary, KeptWords
from prima_tui.memory import Memory
from prima_tui.model.hits import Answer
from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading import FileTexts, read_files
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
    monkeypatch.setattr(rules, "_SETTLED_SECONDS", 0)


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


def by_word(world: World, query: str, *, kept: bool | None = True) -> Answer:
    """Search by word in a memory of its own, from what was kept or not (None: either)."""
    memory = world.memory()
    memory.refresh_by_word(query)
    assert kept is None or isinstance(memory._open().library, KeptLibrary) == kept
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


@pytest.mark.parametrize("part", ["app.py", "WEB/", "", "no such file", "\\\\", "o"])
@pytest.mark.parametrize("changed", [False, True])
def test_the_changes_of_a_file_are_those_that_all_sessions_tell(kept: World, part: str, changed: bool) -> None:
    if changed:
        kept.claude("d", [Turn("Another window", "In the roof.", ("web/App.py", "roof.py"))])
    memory, other = kept.memory(), kept.memory()
    memory.refresh_by_word()
    other.refresh()
    assert isinstance(memory._open().library, KeptLibrary)
    rows = output.file_history(other.all_sessions(), part)
    assert output.file_history(memory.sessions_changing(part), part) == rows
    assert output.file_history(other.sessions_changing(part), part) == rows
    assert bool(rows) == (part in ("app.py", "WEB/", "", "o"))
    memory.close()
    other.close()


def test_only_what_is_found_is_read(kept: World) -> None:
    memory = kept.memory()
    memory.refresh_by_word("bedroom")
    library = memory._open().library
    assert len(memory.search("bedroom", "keyword", limit=1).hits) == 1
    assert len(library.entries) > 2
    assert len(library.entries._made) == 1  # type: ignore[attr-defined]
    memory.close()


def test_while_no_file_changed_none_is_asked_for(kept: World) -> None:
    memory = kept.memory()
    memory.refresh_by_word("bedroom")
    hits = memory.search("bedroom", "keyword", limit=20).hits
    assert all(hit.exchange for hit in hits)
    assert memory._open()._kept is not None
    assert "_files" not in vars(memory._open().table)
    assert all("files" not in vars(view.index) for view in memory._open().table._views)
    memory.close()


def test_a_file_that_changed_came_or_went_is_searched_as_it_is(kept: World) -> None:
    path = kept.claude("b", [Turn("Where is the window?", "There is none.")])
    assert {hit.session.id for hit in by_word(kept, "window").hits} == {session_id("b")}
    kept.codex("d", [Turn("A second window", "Yes.")])
    assert {hit.session.id for hit in by_word(kept, "window").hits} == {session_id("b"), session_id("d")}
    path.unlink()
    assert {hit.session.id for hit in by_word(kept, "window").hits} == {session_id("d")}


def test_a_file_that_is_rewritten_with_its_old_size_and_time_is_searched_as_it_is(kept: World) -> None:
    path = kept.claude("b", [Turn("Where is the door?", "On the left.")])
    keep(kept)
    before = path.stat()
    path.write_text(path.read_text().replace("On the left", "On the roof"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert {hit.session.id for hit in by_word(kept, "roof").hits} == {session_id("b")}


def test_what_was_looked_for_in_vain_meanwhile_does_not_count(kept: World) -> None:
    """What was kept is searched while the files are listed; the answer is that of the files as they are."""
    path = kept.claude("b", [Turn("Where is the door?", "On the roof.")])
    keep(kept)
    assert session_id("b") in {hit.session.id for hit in by_word(kept, "roof").hits}
    path.write_text(path.read_text().replace("On the roof", "On the left"))
    assert session_id("b") not in {hit.session.id for hit in by_word(kept, "roof").hits}
    assert by_word(kept, "left") == whole(kept, "left")


def test_a_query_that_finds_nothing_it_can_use_costs_nothing(kept: World) -> None:
    for query in ("", "file:app.py", "date:nonsense the", "\udcff"):
        assert by_word(kept, query) == whole(kept, query), query


def test_of_all_files_only_those_that_changed_are_read(kept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.claude("b", [Turn("Where is the window?", "There is none.")])
    read: list[str] = []

    def reading(files: Sequence[SourceFile]) -> list[FileTexts]:
        read.extend(Path(file.path).stem for file in files)
        return read_files(files)

    monkeypatch.setattr(backlog, "read_files", reading)
    assert by_word(kept, "window").hits[0].exchange
    assert read == [session_id("b")]


def test_after_many_changes_everything_is_read(kept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.upkeep.FEW_FILES", 2)
    for name in "bcd":
        kept.claude(name, [Turn("Where is the window?", "There is none.")])
    assert by_word(kept, "window", kept=False) == whole(kept, "window")


def test_what_every_search_would_read_again_is_kept_with_the_rest(kept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.claude("b", [Turn("Where is the window?", "There is none.")])
    memory = kept.memory()
    before = path_of(memory).read_bytes()
    search_and_keep(kept)
    assert path_of(memory).read_bytes() == before, "a small file is read again"
    monkeypatch.setattr(rules, "_READ_AGAIN_BYTES", 10)
    search_and_keep(kept)
    assert path_of(memory).read_bytes() != before
    kept.claude("e", [Turn("Another window", "In the roof.")])
    search_and_keep(kept)
    monkeypatch.setattr("prima_tui.upkeep.FEW_FILES", 0)
    for query in (*QUERIES, "window", "roof"):
        assert by_word(kept, query) == whole(kept, query), query
    memory.close()


def search_and_keep(world: World) -> None:
    """Do what one command line does."""
    memory = world.memory()
    memory.refresh_by_word("bedroom")
    memory.search("window", "keyword", limit=20)
    memory.keep_by_word()
    memory.close()


def test_the_first_search_keeps_what_it_read(world: World) -> None:
    world.believable()
    world.claude("a", [Turn("Paint the bedroom", "Blue, I think.", ("web/app.py",))])
    search_and_keep(world)
    for query in QUERIES:
        assert by_word(world, query) == whole(world, query), query


CHANGES = ("new", "longer", "shorter", "other", "gone", "copy", "goes on", "subagent", "codex", "entry", "kept")


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 30)), max_size=5))
def test_whatever_changed_the_answers_are_those_of_a_whole_search(
    changes: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "_READ_AGAIN_BYTES", 0)
        world = World(tmp_path_factory.mktemp("world"))
        world.believable()
        world.claude("a", [Turn("Paint the bedroom", "Blue, I think.", ("web/app.py",)), Turn("The door?", "Oak.")])
        world.claude("b", [Turn("Where is the door?", "Left of the bedroom."), Turn("And the room?", "Behind it.")])
        search_and_keep(world)
        for what, number in changes:
            change(world, what, number)
        for query in ("the", "door", "bedroom", "app.py", "is:fork", "window", "blue oak"):
            assert by_word(world, query, kept=None) == whole(world, query), query


def change(world: World, what: str, number: int) -> None:
    """Change the history as agents do."""
    files = sorted(path for path in world.home.rglob("*.jsonl") if path.is_file())
    path = files[number % len(files)]
    lines = path.read_bytes().splitlines(keepends=True)
    match what:
        case "new":
            world.claude(f"new {number}", [Turn(f"A window {number}", "In the roof.", ("web/roof.py",))])
        case "longer":
            path.write_bytes(b"".join([*lines, *lines[-2:]]).replace(b"Oak", b"Oak and a window"))
        case "shorter":
            path.write_bytes(b"".join(lines[: len(lines) // 2]))
        case "other":
            path.write_bytes(b"".join(lines).replace(b"the", b"a window"))
        case "gone":
            path.unlink()
        case "copy" | "goes on":
            # Claude Code copies what a session said before into the file of the one that goes on from it
            new = session_id(f"copy {number}")
            data = b"".join(lines)
            if what == "copy":
                data = data.replace(path.stem.encode(), new.encode())
            path.with_name(f"{new}.jsonl").write_bytes(data + lines[-1].replace(b"e", b"window", 1) * (number % 2))
        case "subagent":
            world.subagent("a", f"sub{number}", [Turn("Look for a window", "None in the bedroom.")])
        case "codex":
            world.codex(f"codex {number}", [Turn("The cookie", "Behind the window.")])
        case "entry":
            world.log_entry(f"entry{number}", "# A window\n\nThe door of the bedroom.")
        case _:
            search_and_keep(world)


def test_what_was_forgotten_is_not_found(kept: World) -> None:
    memory = kept.memory()
    memory.refresh_by_word("bedroom")
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


def test_files_that_are_damaged_in_it_cost_one_search(kept: World) -> None:
    path = path_of(kept.memory())
    content = path.read_bytes()
    place = content.index(b"\xabtranscripts")
    path.write_bytes(content[:place] + b"\xff" * 12 + content[place + 12 :])
    kept.claude("b", [Turn("Where is the window?", "There is none.")])
    with pytest.raises(StoreUnusable, match="search again"):
        by_word(kept, "bedroom")
    assert not path.exists()
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


@pytest.mark.parametrize("damage", [b"", b"prima-tui words 1", None])
def test_without_the_words_beside_it_it_is_not_used_and_they_are_made_again(world: World, damage: bytes | None) -> None:
    world.believable()
    search_and_keep(world)
    path = KeptWords(world.memory()._last).recent_path
    path.write_bytes(path.read_bytes()[:-9] if damage is None else damage)
    assert by_word(world, "bedroom", kept=False) == whole(world, "bedroom")
    search_and_keep(world)
    assert by_word(world, "bedroom") == whole(world, "bedroom")


def test_much_text_in_no_word_index_is_left_to_the_catalog(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_RECENT_BYTES", 10)
    world.believable()
    search_and_keep(world)
    memory = world.memory()
    assert not KeptWords(memory._last).recent_path.exists()
    build_words(str(memory.settings.paths.catalog))
    assert by_word(world, "bedroom") == whole(world, "bedroom")
    memory.close()


def test_what_another_process_forgot_meanwhile_is_not_kept(kept: World) -> None:
    path = path_of(kept.memory())
    path.unlink()
    memory, other = kept.memory(), kept.memory()
    memory.refresh_by_word("bedroom")
    memory.search("bedroom", "keyword")
    other.refresh()
    other.forget([other.session(session_id("a"))])
    memory.keep_by_word()
    assert not path.exists()
    memory.close()
    other.close()


def test_all_sessions_are_there_when_they_are_asked_for_after_it(kept: World) -> None:
    memory, other = kept.memory(), kept.memory()
    memory.refresh_by_word("bedroom")
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
        "memory.refresh_by_word('bedroom')\n"
        "assert memory.search('bedroom', 'keyword', limit=20).hits[0].exchange\n"
        "print(*({'duckdb', 'rapidfuzz', 'fastembed'} & set(sys.modules)))"
    )
    yield [sys.executable, "-c", code]


def test_a_search_by_word_needs_no_database(command: list[str]) -> None:
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []

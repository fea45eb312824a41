"""The history follows the files: whatever happens to them, its answers are those of a fresh reading."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui import backlog as backlog_module
from prima_tui import last_list, output, output_conversation
from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from prima_tui.model.hits import MODES, Cancel, Snapshot
from prima_tui.model.session import Session
from prima_tui.sources import places
from prima_tui.sources.base import SourceFile
from prima_tui.sources.reading import read_files
from prima_tui.tui.session_arrangement import View, arrange
from prima_tui.upkeep import FEW_FILES
from tests.world import NOW, START, Turn, World, fingerprint, session_id

ROOT = Path(__file__).resolve().parents[1]
WORDS = ["price", "Table", "größe", "cache", "x_1"]
QUERIES = ["price", "table cache", '"table x_1"', "GRÖSSE", "app.py dir:shop", "question"]
Names = tuple[tuple[str, str], ...]


def answers(memory: Memory) -> tuple[tuple[Session, ...], list[list[Any]]]:
    """All that a keyword search tells, for comparing."""
    found = []
    for query in QUERIES:
        answer = memory.search(query, "keyword", now=NOW, limit=50)
        found.append([(hit.session, hit.score, hit.reasons, hit.exchange_index, hit.exchange) for hit in answer.hits])
    return memory.snapshot().sessions, found


def fresh_answers(world: World) -> tuple[tuple[Session, ...], list[list[Any]]]:
    """The same from the files alone: an empty catalog in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        memory = world.memory()
        paths = type(memory.settings.paths)(*(Path(folder) / name for name in ("cache", "data", "config", "log")))
        memory = Memory(memory.scope, type(memory.settings)(paths=paths))
        memory.refresh()
        found = answers(memory)
        memory.close()
        return found


def turns(count: int, variant: int) -> list[Turn]:
    """Some turns; one with more of them begins with the same ones."""
    return [
        Turn(
            f"Question {n} about {WORDS[(n + variant) % 5]}",
            f"Answer {variant} {WORDS[(n * 2 + variant) % 5]} {WORDS[n % 5]}",
            ("app.py",) if n % 3 == 1 else (),
        )
        for n in range(count)
    ]


# -- any sequence of changes ----------------------------------------------------------------------------------------

SLOTS = ["claude one", "claude two", "resumed", "subagent", "codex", "vscode", "log"]


def write(world: World, slot: str, count: int, variant: int) -> Path:
    made = turns(count, variant)
    match slot:
        case "resumed":
            return world.claude(
                "resumed", turns(1, variant + 1), copied=world.claude_records("claude one", made), start=NOW
            )
        case "subagent":
            return world.subagent("claude one", "helper", made)
        case "codex":
            return world.codex("codex", made)
        case "vscode":
            return world.vscode("vscode", made)
        case "log":
            return world.log_entry("entry", "\n\n".join(f"{one.user}\n{one.assistant}" for one in made) or "empty")
        case _:
            return world.claude(slot, made, start=START + timedelta(days=variant))


change = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(SLOTS), st.integers(0, 4), st.integers(0, 2)),
    st.tuples(
        st.sampled_from(["cut", "append", "swap", "delete", "rename", "touch"]),
        st.sampled_from(SLOTS),
        st.integers(0, 400),
        st.just(0),
    ),
    st.tuples(st.sampled_from(["refresh", "search", "restart"]), st.just(""), st.just(0), st.just(0)),
)


def apply(world: World, paths: dict[str, Path], what: str, slot: str, number: int, variant: int) -> None:
    """Do one thing to a file; what can't be done isn't."""
    path = paths.get(slot)
    if what == "write":
        paths[slot] = write(world, slot, number, variant)
        return
    if path is None or not path.is_file():
        return
    content = path.read_bytes()
    state = path.stat()
    if what == "cut":
        path.write_bytes(content[: max(0, len(content) - number)])
    elif what == "append":
        path.write_bytes(content + b'{"type":"user","message":{"content":"half a li' + b"\n" * (number % 2))
    elif what == "swap":
        # as many bytes, the old time: only the system's own mark tells it
        path.write_bytes(content.replace(b"price", b"cache", 1))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    elif what == "delete":
        path.unlink()
    elif what == "rename":
        paths[slot] = path.rename(path.with_name(path.name.replace("a", "b").replace("1", "2")))
    elif what == "touch":
        os.utime(path, (number, number))


@settings(max_examples=9, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(change, min_size=1, max_size=10))
def test_any_sequence_of_changes_gives_the_answers_of_a_fresh_reading(
    changes: list[tuple[str, str, int, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        memory = world.memory()
        paths: dict[str, Path] = {}
        for slot in ("claude one", "codex", "log"):
            paths[slot] = write(world, slot, 3, 0)
        memory.refresh()
        for what, slot, number, variant in changes:
            if what == "refresh":
                memory.refresh()
            elif what == "search":
                memory.search("price table", "keyword", now=NOW)
            elif what == "restart":
                memory.close()
                memory = world.memory()
            else:
                apply(world, paths, what, slot, number, variant)
        memory.refresh()
        expected = fresh_answers(world)
        assert answers(memory) == expected
        memory.close()
        later = world.memory()
        later.refresh()
        assert answers(later) == expected
        later.close()


def test_reading_is_saved_for_files_that_did_not_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.believable()
    world.memory().refresh()
    read: list[str] = []
    real = read_files

    def watched(files: Any) -> Any:
        read.extend(file.path for file in files)
        return real(files)

    monkeypatch.setattr(backlog_module, "read_files", watched)
    memory = world.memory()
    memory.refresh()
    memory.search("cookie", "keyword")
    assert read == []
    changed = world.claude("new", turns(2, 0))
    memory.refresh()
    assert read == [str(changed)]


def test_a_refresh_without_changes_gives_the_very_same_snapshot(world: World) -> None:
    world.believable()
    memory = world.memory()
    assert memory.refresh() is memory.refresh()


def test_reports_grow_and_end_complete(world: World) -> None:
    world.believable()
    reports: list[Snapshot] = []
    last = world.memory().refresh(reports.append)
    assert reports[-1] == last
    assert last.complete
    assert last.files_done == last.files_total > 0


def test_a_cancelled_refresh_leaves_the_rest_for_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.believable()
    monkeypatch.setattr(backlog_module, "FIRST_BYTES", 1)
    monkeypatch.setattr(backlog_module, "BATCH_BYTES", 1)
    memory = world.memory()
    cancel = Cancel()
    snapshot = memory.refresh(lambda _snapshot: cancel.cancel(), cancel)
    assert not snapshot.complete
    assert 0 < len(snapshot.sessions) < 5
    assert memory.refresh().complete
    assert answers(memory) == fresh_answers(world)


def test_a_large_backlog_is_read_in_other_processes_with_the_same_answers(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.believable()
    for number in range(8):
        world.claude(f"more {number}", turns(4, number), start=START + timedelta(hours=number))
    expected = fresh_answers(world)
    monkeypatch.setattr(backlog_module, "FIRST_BYTES", 2000)
    monkeypatch.setattr(backlog_module, "BATCH_BYTES", 2000)
    monkeypatch.setattr(backlog_module, "POOL_BYTES", 0)
    memory = world.memory()
    memory.refresh()
    assert answers(memory) == expected
    later = world.memory()
    later.refresh()
    assert answers(later) == expected


# -- a catalog that can't be had ------------------------------------------------------------------------------------


def _corrupt(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def _gone(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _file_for_folder(path: Path) -> None:
    path.unlink()
    path.parent.rename(path.parent.with_name("was the cache"))
    path.parent.write_text("a file")


@pytest.mark.parametrize("fault", [_corrupt, _cut, _gone, _folder, _file_for_folder])
def test_the_answers_need_no_catalog(world: World, fault: Callable[[Path], None]) -> None:
    world.believable()
    first = world.memory()
    first.refresh()
    expected = answers(first)
    fault(first.settings.paths.catalog)
    memory = world.memory()
    memory.refresh()
    assert answers(memory) == expected


def test_a_catalog_that_goes_while_the_program_runs_costs_no_answer(world: World) -> None:
    world.believable()
    first = world.memory()
    first.refresh()
    expected = answers(first)
    memory = world.memory()
    memory.refresh()
    _corrupt(memory.settings.paths.catalog)
    assert answers(memory) == expected


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that keeps a database open for writing."""
    code = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('ready', flush=True); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "ready\n"
        yield other
    finally:
        other.kill()
        other.wait()
        other.stdout.close()


def test_a_catalog_that_another_process_keeps_costs_time_only(world: World) -> None:
    world.believable()
    first = world.memory()
    first.refresh()
    expected = answers(first)
    with held(first.settings.paths.catalog) as other:
        memory = world.memory()
        memory.refresh()
        assert other.poll() is None  # it was not waited for
        assert [one.title for one in memory.snapshot().sessions] == [one.title for one in expected[0]]
        assert [hit.session.title for hit in memory.search("cookie", "keyword", now=NOW).hits]


# -- files that can't be had ----------------------------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_and_a_folder_without_permission_are_told_and_the_rest_is_read(world: World) -> None:
    world.believable()
    world.claude("secret", turns(1, 0)).chmod(0)
    snapshot = world.memory().refresh()
    assert len(snapshot.sessions) == 5
    assert any("Permission denied" in line for line in snapshot.warnings)


def test_a_file_that_cannot_be_read_is_told_and_the_rest_is_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.believable()
    path = world.claude("secret", turns(1, 0))
    real = open

    def refusing(file: Any, *args: Any, **more: Any) -> Any:
        if str(file) == str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(file, *args, **more)

    with monkeypatch.context() as patched:
        patched.setattr("builtins.open", refusing)
        memory = world.memory()
        snapshot = memory.refresh()
        assert len(snapshot.sessions) == 5
        assert any("Permission denied" in line and str(path) in line for line in snapshot.warnings)
    os.utime(path)
    assert len(memory.refresh().sessions) == 6


def test_a_folder_named_like_a_transcript_is_none(world: World) -> None:
    world.believable()
    (world.project() / f"{session_id('folder')}.jsonl").mkdir()
    assert len(world.memory().refresh().sessions) == 5


def test_a_loop_of_links_ends(world: World) -> None:
    world.believable()
    (world.project() / "loop").symlink_to(world.project())
    (world.home / ".codex" / "sessions" / "loop").symlink_to(world.home / ".codex")
    (world.project() / f"{session_id('itself')}.jsonl").symlink_to(f"{session_id('itself')}.jsonl")
    assert len(world.memory().refresh().sessions) == 5


def test_a_file_that_vanishes_or_shrinks_between_listing_and_reading_costs_only_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.believable()
    vanishing, shrinking = world.claude("vanishing", turns(2, 0)), world.claude("shrinking", turns(3, 0))
    real = read_files

    def late(files: list[SourceFile]) -> Any:
        vanishing.unlink(missing_ok=True)
        shrinking.write_bytes(shrinking.read_bytes()[:1500])
        return real(files)

    memory = world.memory()
    with monkeypatch.context() as patched:
        patched.setattr(backlog_module, "read_files", late)
        assert len(memory.refresh().sessions) >= 5
    memory.refresh()
    assert answers(memory) == fresh_answers(world)


def test_names_that_are_no_text_cost_nothing(world: World) -> None:
    world.believable()
    good = world.claude("good", turns(2, 0))
    odd = os.fsencode(good.parent) + b"/\xff\xfe" + os.fsencode(good.name)
    with open(odd, "wb") as file:
        file.write(good.read_bytes().replace(session_id("good").encode(), session_id("odd").encode()))
    memory = world.memory()
    snapshot = memory.refresh()
    assert session_id("good") in {one.id for one in snapshot.sessions}
    later = world.memory()
    assert later.refresh().sessions == snapshot.sessions
    assert answers(later) == answers(memory)
    for one in snapshot.sessions:
        memory.conversation(one)


# -- nothing is touched ---------------------------------------------------------------------------------------------


def test_nothing_of_the_home_is_changed_by_anything_the_program_does(world: World, embedder: Embedder) -> None:
    world.believable()
    user = world.home / ".config" / "Code" / "User" / "workspaceStorage" / "3f1c9a5d"
    with sqlite3.connect(user / "state.vscdb") as database:
        database.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
    (world.home / ".codex" / "session_index.jsonl").write_text("{}\n")
    state = world.workspace / ".claude" / "state"
    (state / "history").mkdir()
    (state / "state.json").write_text('{"sessionHistory": [{"date": "2026-11-02", "summary": "zebra stripes"}]}')
    (state / "history" / "2026-10.json").write_text('[{"date": "2026-10-02", "summary": "a narwhal"}]')
    own = (".prima-tui", ".prima-memory")
    (world.home / own[0]).mkdir()
    (world.workspace / own[1]).mkdir()
    before = fingerprint(world.home, without=own)
    for everywhere in (False, True):
        memory = world.memory(embedder, everywhere=everywhere)
        snapshot = memory.refresh()
        output.sessions_json(snapshot, snapshot.sessions, [])
        assert memory.update_index(0.0).finished is False
        assert memory.index_everything().finished
        for mode in MODES:
            for query in ("cookie", "", "zebra", "narwhal", "nothing at all", "agent:codex"):
                memory.search(query, mode, limit=5, deep=True)
        for session in snapshot.sessions:
            conversation = memory.conversation(session)
            memory.extract(session, conversation)
            memory.resume_plan(session)
            output_conversation.show_text(conversation)
        output.file_history(snapshot.sessions, "py")
        memory.status()
        memory.extracts()
        assert memory.rebuild_loss() == 0
        assert memory.rebuild().finished
        memory.close()
    assert fingerprint(world.home, without=own) == before


# -- the list of the last time ----------------------------------------------------------------------------------------


def heavy_modules(world: World, what: str) -> set[str]:
    """Return which heavy modules a process loads that does ``what`` with the memory."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from prima_tui.config import load_settings, paths_below\n"
        "from prima_tui.memory import Memory\n"
        "from prima_tui.sources.base import Scope\n"
        f"home, workspace = Path({str(world.home)!r}), Path({str(world.workspace)!r})\n"
        "memory = Memory(Scope(workspace, False, home, {}), load_settings(workspace, paths_below(home)))\n"
        f"{what}\n"
        "print(*({'duckdb', 'numpy', 'rapidfuzz', 'fastembed'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_list_of_files_that_did_not_change_needs_no_database(world: World) -> None:
    world.believable()
    assert "duckdb" in heavy_modules(world, "memory.refresh()")
    assert heavy_modules(world, "assert memory.refresh().complete") == set()
    assert heavy_modules(world, "memory.refresh(); assert memory.search('').hits") == set()


def test_the_newest_sessions_are_told_before_the_database_is_loaded(world: World) -> None:
    world.believable()
    told = "memory.refresh(lambda snapshot: told.append((len(snapshot.sessions), 'duckdb' in sys.modules)))"
    assert heavy_modules(world, f"told = []; {told}; assert told[0][0] and not told[0][1], told") == {"duckdb"}


def test_a_glance_has_the_newest_sessions_and_the_refresh_goes_on_from_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backlog_module, "FIRST_BYTES", 1)
    for number in range(4):
        world.claude(f"session {number}", turns(3, number), start=START + timedelta(hours=number))
    memory = world.memory()
    memory.glance()
    seen = memory.snapshot()
    assert [one.id for one in seen.sessions] == [session_id("session 3")] and not seen.complete
    reports: list[Snapshot] = []
    assert memory.refresh(reports.append).complete
    assert reports[0].sessions == seen.sessions
    assert answers(memory) == fresh_answers(world)
    memory.close()
    read: list[str] = []
    monkeypatch.setattr(backlog_module, "read_files", lambda files: read.extend(f.path for f in files) or [])
    memory = world.memory()
    memory.glance()  # there is an earlier time's list: nothing is read for a glance
    assert memory.snapshot() == Snapshot()
    assert len(memory.refresh().sessions) == 4 and not read
    memory.close()


def test_of_the_list_of_last_time_only_what_is_looked_at_is_unpacked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        world.claude(f"session {number}", turns(2, number), start=START + timedelta(hours=number))
    world.claude("resumed", turns(1, 1), copied=world.claude_records("session 3", turns(2, 3)), start=NOW)
    before = world.memory()
    before.refresh()
    unpacked: list[bytes] = []

    class Counting:
        def decode(self, packed: bytes, decoder: Any = last_list._ENTRY) -> Any:
            unpacked.append(bytes(packed))
            return decoder.decode(packed)

    monkeypatch.setattr(last_list, "_ENTRY", Counting())
    answer = world.memory().search("")
    rows = arrange(answer, View(), NOW)
    assert 0 < len(unpacked) < 15
    assert rows == arrange(before.search(""), View(), NOW)._replace(answer=answer)
    assert [hit.session for hit in answer.hits] == list(before.snapshot().sessions)


@pytest.mark.parametrize("place", [0, 2])
def test_what_is_damaged_in_the_list_of_last_time_costs_no_answer(world: World, place: int) -> None:
    world.believable()
    world.memory().refresh()
    last = world.memory()._last.load()
    (kept,) = (world.memory().settings.paths.cache / "lists").glob("*.msgpack")
    assert last is not None
    # the files come first, then the sessions
    part = msgspec.msgpack.encode(last.files if place == 0 else last.entry(place - 1))
    content = kept.read_bytes()
    assert content.count(part) == 1
    kept.write_bytes(content.replace(part, b"\xc1" * len(part)))
    memory = world.memory()
    memory.refresh()
    assert answers(memory) == fresh_answers(world)


def test_of_a_list_that_is_cut_short_or_of_another_kind_nothing_is_taken(world: World) -> None:
    world.believable()
    world.memory().refresh()
    (kept,) = (world.memory().settings.paths.cache / "lists").glob("*.msgpack")
    content = kept.read_bytes()
    assert world.memory()._last.load() is not None
    for other in (b"", content[:10], content[:40], content[:-1], content + b"x", b"\x80" * 100, b"x" + content):
        kept.write_bytes(other)
        assert world.memory()._last.load() is None


def test_what_was_taken_over_answers_everything(world: World, embedder: Embedder) -> None:
    world.believable()
    first = world.memory(embedder)
    first.refresh()
    later = world.memory(embedder)
    later.refresh()
    assert later._open()._readings == {}
    assert answers(later) == answers(first)
    session = later.snapshot().sessions[0]
    assert later.conversation(session) == first.conversation(session)
    assert later.tools(session) == first.tools(session)
    assert later.status().sources == first.status().sources
    assert later.update_index().exchanges_embedded > 0
    assert sorted(one.file.path for one in later._open().readings()) == sorted(
        one.file.path for one in first._open().readings()
    )


def test_the_list_of_another_version_or_scope_or_place_is_not_taken_over(world: World, tmp_path: Path) -> None:
    world.believable()
    world.memory().refresh()
    (kept,) = (world.memory().settings.paths.cache / "lists").iterdir()
    last = world.memory()._last
    assert last.load() is not None
    elsewhere = tmp_path / "elsewhere"
    world.workspace.rename(elsewhere)
    world.workspace.symlink_to(elsewhere)
    places._resolved.cache_clear()
    assert last.load() is None
    assert kept.exists()


def test_while_files_change_again_and_again_the_list_is_written_now_and_then(world: World) -> None:
    world.believable()
    memory = world.memory()
    memory.refresh()
    (kept,) = (memory.settings.paths.cache / "lists").iterdir()
    written = kept.stat().st_ino
    world.claude("new", turns(2, 0))
    memory.refresh()
    assert kept.stat().st_ino == written
    memory.close()
    assert kept.stat().st_ino != written
    later = world.memory()
    assert later.refresh() == memory.snapshot()
    assert later._open()._readings == {}


def test_without_the_catalog_nothing_is_taken_over(world: World) -> None:
    world.believable()
    world.memory().refresh()
    memory = world.memory()
    memory.settings.paths.catalog.unlink()
    memory.refresh()
    assert memory._open()._readings
    assert answers(memory) == fresh_answers(world)


def test_a_catalog_that_may_not_be_looked_at_costs_no_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.believable()
    expected = fresh_answers(world)
    memory = world.memory()
    real = Path.exists

    def exists(path: Path) -> bool:
        if path == memory.settings.paths.catalog:
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "exists", exists)
    memory.refresh()
    assert answers(memory) == expected


def test_what_searches_compare_is_there_before_a_key_needs_it(world: World) -> None:
    world.claude("a", [Turn("Paint the bedroom", "Blue.", ("web/app.py",))])
    memory = world.memory()
    memory.refresh()
    memory.warm_words()
    world.claude("b", [Turn("Where is the door?", "On the left.", ("web/door.py",))])
    memory.refresh()
    columns = memory._open().library.columns
    assert {"letters", "parts"} <= vars(vars(columns)["names"]).keys()
    assert columns.paths_holding("web/").tolist() == [1, 1]
    assert memory.search("wherre is the dor", "keyword").similar
    for number in range(FEW_FILES + 1):
        world.claude(f"many {number}", [Turn(f"Number {number}", "Yes.")])
    memory.refresh()
    assert {"letters", "parts"} <= vars(vars(memory._open().library.columns)["names"]).keys()
    assert len(memory.search("number", "keyword").hits) == FEW_FILES + 1
    memory.close()


def test_a_search_may_load_what_is_being_read(world: World) -> None:
    for number in range(1, 8):
        world.claude(str(number), [Turn("a login question", "an answer")])
    memory = world.memory()
    memory.search("login", "keyword")  # now there is a table of messages
    world.claude("late", [Turn("a login question", "another answer")])
    snapshot = memory.refresh(lambda _snapshot: memory.search("login", "keyword"))  # type: ignore[func-returns-value]
    assert snapshot.complete
    assert len(memory.search("login", "keyword").hits) == 8

"""Forgetting: afterwards the words are in no byte of anything that is kept, and they don't come back."""

from __future__ import annotations

import json
import os
import stat
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
import zstandard
from click.testing import CliRunner, Result

from prima_tui import cli, cli_forget
from prima_tui.errors import UsageError
from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from prima_tui.model.hits import Cancel
from tests.world import NOW, Turn, World, session_id

WORDS = ("Quokkasaurus", "zyzzyvamarmalade", "blörkfenster", "tool7thylacine")
KEPT_WORD = "pangolin"


def plant(world: World) -> None:
    """A substantial session full of unusual words, in title, texts, file names and explanations, and another one."""
    secret = [
        Turn(
            f"{WORDS[0]} question {number} about {WORDS[1]}",
            f"The {WORDS[2]} says {WORDS[0].upper()} {number}. " + "It goes on at length. " * 20,
            (f"src/{WORDS[3]}{number}.py",),
        )
        for number in range(30)
    ]
    world.claude("secret", secret, start=NOW - timedelta(days=1), ai_title=f"{WORDS[0]} and {WORDS[1]}")
    world.subagent("secret", "c0ffee00", [Turn(f"look for {WORDS[2]}", f"found {WORDS[1]}")])
    other = [Turn(f"{KEPT_WORD} question {number}", f"{KEPT_WORD} answer {number}. " * 12) for number in range(30)]
    world.claude("other", other, start=NOW - timedelta(days=3))
    world.codex("rates", [Turn(f"Add rate limits for the {KEPT_WORD}", "A token bucket.", ("api/limits.py",))])


def kept_files(world: World) -> list[Path]:
    """Every file that the program keeps, wherever."""
    roots = [world.home / ".prima-tui", *world.home.rglob(".prima-memory")]
    return [Path(folder, name) for root in roots for folder, _folders, names in os.walk(root) for name in names]


def places_of(world: World, words: tuple[str, ...] = WORDS) -> list[str]:
    """Where one of the words still is: in the bytes of a file, or in a value of a database, unpacked too."""
    signs = [form.encode() for word in words for form in {word, word.lower(), word.upper(), word.casefold()}]
    signs += [word.encode("utf-16-le") for word in words]
    found = []
    for path in kept_files(world):
        if "model" in path.parts or path.is_symlink():
            continue
        data = path.read_bytes()
        if any(sign in data for sign in signs):
            found.append(str(path))
        if path.suffix == ".duckdb":
            found += [f"{path}: {table}" for table, value in values(path) if any(sign in value for sign in signs)]
    return found


def values(path: Path) -> list[tuple[str, bytes]]:
    connection = duckdb.connect(str(path), read_only=True)
    try:
        cells = []
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"').fetchall():
                cells += [(table, _bytes(cell)) for cell in row]
        return cells
    finally:
        connection.close()


def _bytes(cell: object) -> bytes:
    if isinstance(cell, bytes):
        try:
            return cell + zstandard.ZstdDecompressor().decompress(cell)
        except zstandard.ZstdError:
            return cell
    return str(cell).encode()


def run_everything(world: World, embedder: Embedder) -> Memory:
    memory = world.memory(embedder)
    memory.refresh()
    memory.log.note([f"a problem with {world.project() / session_id('secret')}.jsonl about {WORDS[0]}"])
    memory.log.note([f"{WORDS[0]} and {WORDS[1]} could not be read in full"])
    assert memory.index_everything().finished
    for query in (WORDS[0], "pangolin question", f"file:{WORDS[3]}1"):
        memory.search(query, "combined", limit=5, deep=True)
    memory.status()
    assert len(memory.extracts()) == 2
    cancel = Cancel()
    memory.rebuild(lambda progress: cancel.cancel() if progress.exchanges_embedded >= 16 else None, cancel)
    assert memory.rebuild_state() == "interrupted"
    everywhere = world.memory(embedder, everywhere=True)
    everywhere.refresh()
    assert everywhere.index_everything().finished
    return memory


def found(memory: Memory) -> list[str]:
    """Which of the planted words any kind of search still finds."""
    return [
        f"{mode} {query}"
        for query in (*WORDS, session_id("secret"), "Quokkasaurus question about zyzzyvamarmalade")
        for mode in ("keyword", "semantic", "combined")
        for hit in memory.search(query, mode, limit=50, deep=True).hits  # type: ignore[arg-type]
        if hit.session.id == session_id("secret")
    ]


def test_a_forgotten_session_is_in_no_byte_and_does_not_come_back(world: World, embedder: Embedder) -> None:
    plant(world)
    memory = run_everything(world, embedder)
    assert len(places_of(world)) > 6, "the words must have been everywhere"
    source = (world.project() / f"{session_id('secret')}.jsonl").read_bytes()

    assert memory.forget([memory.session(session_id("secret"))]) == []
    assert places_of(world) == []
    assert found(memory) == []
    assert (world.project() / f"{session_id('secret')}.jsonl").read_bytes() == source

    # everything again, in this process and in a new one: it stays away
    for again in (memory, world.memory(embedder), world.memory(embedder, everywhere=True)):
        again.refresh()
        assert again.index_everything().finished
        assert found(again) == []
        assert again.rebuild().finished
        again.search(KEPT_WORD, "combined", limit=5, deep=True)
        with pytest.raises(UsageError):
            again.known_session(session_id("secret"))
    # the file grows, too
    world.claude("secret", [(f"more {WORDS[0]}", f"and {WORDS[1]}")] * 40)
    grown = world.memory(embedder)
    grown.refresh()
    assert grown.index_everything().finished
    assert found(grown) == []
    assert places_of(world) == []

    # what was not forgotten is all there
    assert {hit.session.id for hit in grown.search(KEPT_WORD).hits} == {session_id("other"), session_id("rates")}
    assert len(grown.extracts()) == 1


def test_other_memories_that_are_open_forget_at_their_next_look(world: World, embedder: Embedder) -> None:
    plant(world)
    open_one = world.memory(embedder)
    open_one.refresh()
    assert open_one.index_everything().finished
    session = open_one.session(session_id("secret"))
    first = world.memory(embedder)
    first.refresh()
    assert first.forget([session]) == []
    # even before its next look it writes nothing of it
    assert open_one.update_index().note == ""
    assert places_of(world) == []
    open_one.refresh()
    assert found(open_one) == []
    assert places_of(world) == []


def test_what_a_summary_or_a_name_in_another_file_says_of_it_goes_too(world: World, embedder: Embedder) -> None:
    world.claude("secret", [Turn("Start", "Yes.")])
    leaf = world.claude_records("secret", [Turn("Start", "Yes.")])[-1]["uuid"]
    world.claude("other", [Turn("Something else", "No.")], summaries=[(leaf, f"All about {WORDS[0]}")])
    rollout = world.codex("rates", [Turn("Begin", "Begun.")])
    names = world.home / ".codex" / "session_index.jsonl"
    names.write_text(json.dumps({"id": session_id("rates"), "thread_name": f"The {WORDS[1]}"}) + "\n", "utf-8")
    assert rollout.exists()
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    assert memory.session(session_id("secret")).title == f"All about {WORDS[0]}"
    assert memory.session(session_id("rates")).title == f"The {WORDS[1]}"
    assert memory.forget([memory.session(session_id("secret")), memory.session(session_id("rates"))]) == []
    again = world.memory(embedder)
    again.refresh()
    again.index_everything()
    assert [session.id for session in again.snapshot().sessions] == [session_id("other")]
    assert places_of(world) == []


def test_a_session_whose_file_is_gone_can_be_forgotten(world: World, embedder: Embedder) -> None:
    plant(world)
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    for path in memory.session(session_id("secret")).paths:
        Path(path).unlink()
    again = world.memory(embedder)
    again.refresh()
    assert found(again) != []
    assert again.forget([again.known_session(session_id("secret")[:13])]) == []
    assert found(again) == []
    assert places_of(world) == []


def test_other_workspaces_indexes_are_reached(world: World, embedder: Embedder) -> None:
    from tests.world import make_memory

    world.vscode("chat", [(f"Where is {WORDS[0]}?", f"In {WORDS[1]}.")])
    elsewhere = world.home / "other"
    elsewhere.mkdir()
    for folder in (world.workspace, elsewhere):
        memory = make_memory(world.home, folder, embedder)
        memory.refresh()
        assert memory.index_everything().finished
    assert any("other" in place for place in places_of(world))
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.forget([memory.session(session_id("chat"))]) == []
    assert places_of(world) == []


def test_an_index_that_was_out_of_reach_is_cleaned_at_its_next_update(world: World, embedder: Embedder) -> None:
    plant(world)
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    session = memory.session(session_id("secret"))
    memory.forgotten.add([session], [])  # the list alone, as if another home's index could not be reached
    again = world.memory(embedder)
    again.refresh()
    assert found(again) == []
    again.update_index()
    assert [place for place in places_of(world) if ".prima-memory" in place] == []


def test_a_busy_index_is_said_and_can_be_forgotten_in_again(
    world: World, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import filelock

    from prima_tui import forgetting

    monkeypatch.setattr(forgetting, "_WAIT_SECONDS", 0.1)
    plant(world)
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    with filelock.FileLock(world.workspace / ".prima-memory" / "update.lock"):
        left = memory.forget([memory.session(session_id("secret"))])
    assert len(left) == 1 and "another prima-tui" in left[0]
    assert found(memory) == []
    assert memory.forget([]) == []
    assert places_of(world) == []


def test_undone_it_is_read_again(world: World, embedder: Embedder) -> None:
    plant(world)
    memory = world.memory(embedder)
    memory.refresh()
    memory.forget([memory.session(session_id("secret"))])
    (entry,) = memory.forgotten.sessions()
    assert entry.id == session_id("secret")
    with pytest.raises(UsageError):
        memory.recall(["no such"])
    memory.recall([session_id("secret")[:8]])
    memory.refresh()
    assert found(memory) != []
    again = world.memory(embedder)
    again.refresh()
    assert len(again.search(WORDS[0], "keyword").hits) == 1


def test_the_list_is_private_and_holds_no_words(world: World, embedder: Embedder) -> None:
    world.log_entry(f"about-{WORDS[1]}", f"# {WORDS[0]}\n\nAll of it.")
    memory = world.memory(embedder)
    memory.refresh()
    (session,) = memory.snapshot().sessions
    assert memory.forget([session]) == []
    path = world.home / ".prima-tui" / "data" / "forgotten.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert places_of(world) == []
    again = world.memory(embedder)
    assert again.refresh().sessions == ()


def test_a_list_that_can_not_be_read_is_never_taken_for_an_empty_one(world: World, embedder: Embedder) -> None:
    from prima_tui.errors import PrimaError

    plant(world)
    memory = world.memory(embedder)
    memory.refresh()
    session = memory.session(session_id("secret"))
    memory.forget([session])
    path = world.home / ".prima-tui" / "data" / "forgotten.json"
    path.write_text("{", "utf-8")
    memory.refresh()
    assert found(memory) == []
    with pytest.raises(PrimaError):
        memory.forget([session])


def run(world: World, monkeypatch: pytest.MonkeyPatch, *words: str, answer: str | None = None) -> Result:
    monkeypatch.setenv("HOME", str(world.home))
    for module in (cli, cli_forget):
        monkeypatch.setattr(module, "open_memory", lambda *_a, **_k: world.memory())
    return CliRunner().invoke(cli.program, list(words), input=answer, catch_exceptions=True)


def test_the_command_line_asks_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(world)
    identifier = session_id("secret")
    refused = run(world, monkeypatch, "forget", identifier)
    assert "--yes" in str(refused.exception)
    assert WORDS[0] in refused.output
    listed = run(world, monkeypatch, "sessions", "--json")
    assert identifier in listed.output
    assert isinstance(run(world, monkeypatch, "forget").exception, UsageError)
    assert isinstance(run(world, monkeypatch, "forget", "nothing-like-it", "--yes").exception, UsageError)

    done = run(world, monkeypatch, "forget", identifier, "--yes", "--json")
    assert json.loads(done.stdout)["forgotten"] == [identifier]
    assert identifier not in run(world, monkeypatch, "sessions", "--json").output
    assert identifier in run(world, monkeypatch, "forget", "--list").output
    assert run(world, monkeypatch, "forget", identifier, "--yes").exit_code == 0
    assert identifier in run(world, monkeypatch, "forget", "--undo", identifier).output
    assert identifier in run(world, monkeypatch, "sessions", "--json").output


def test_a_workspaces_history_is_forgotten_as_a_whole_and_only_that(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(world)
    world.vscode("chat", [("Why twice?", "Two versions.")])
    world.codex("nowhere", [("Without a folder", "Yes.")], cwd=None)
    done = run(world, monkeypatch, "forget", "--workspace-history", "--yes")
    assert done.exit_code == 0, done.output
    assert places_of(world, (*WORDS, KEPT_WORD)) == []
    left = json.loads(run(world, monkeypatch, "sessions", "--json").stdout)["sessions"]
    assert session_id("nowhere") in {one["id"] for one in left}
    assert not {session_id("secret"), session_id("other"), session_id("rates")} & {one["id"] for one in left}

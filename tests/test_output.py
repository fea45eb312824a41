"""Results as JSON, in exactly the promised shapes, and as text that is safe for a terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest

from prima_tui import export, output, output_conversation, output_text
from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, FileChange, Session
from tests.world import NOW, START, World, session_id

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SESSION: dict[str, Any] = {
    "id": str,
    "source": str,
    "label": str,
    "title": str,
    "tags": list,
    "started_at": str,
    "ended_at": str,
    "workspace": (str, type(None)),
    "branch": (str, type(None)),
    "message_count": int,
    "exchange_count": int,
    "author": (str, type(None)),
    "files_changed": list,
    "paths": list,
    "resume_command": (list, type(None)),
}
CHANGE = {"path": str, "action": str, "at": str, "explanation": str}
EXCHANGE = {"index": int, "at": str, "user": str, "assistant": str}


def assert_shape(document: Any, shape: dict[str, Any]) -> None:
    """All promised fields are there, and of their kind (others may be there too)."""
    for name, kind in shape.items():
        assert name in document, name
        assert isinstance(document[name], kind), (name, document[name])
        if name.endswith("_at") or name == "at":
            assert STAMP.fullmatch(document[name]), document[name]


def assert_session(document: Any) -> None:
    assert_shape(document, SESSION)
    for change in document["files_changed"]:
        assert_shape(change, CHANGE)


def as_read(document: Any) -> Any:
    """The document as a reader of the printed JSON has it."""
    return orjson.loads(orjson.dumps(document))


@pytest.fixture
def memory(world: World, embedder: Embedder) -> Memory:
    world.believable()
    made = world.memory(embedder)
    made.refresh()
    return made


def test_sessions(memory: Memory) -> None:
    snapshot = memory.snapshot()
    document = as_read(output.sessions_json(snapshot, snapshot.sessions, ["of the settings"]))
    assert {"sessions", "warnings"} <= document.keys()
    assert document["warnings"] == ["of the settings"]
    for one in document["sessions"]:
        assert_session(one)
    assert {one["source"] for one in document["sessions"]} == {"claude-code", "codex", "vscode", "shared-log"}
    first = document["sessions"][0]
    assert first["files_changed"][0]["path"] == "tests/login.py"
    assert first["files_changed"][0]["explanation"] == "The cookie is missing there."
    assert first["resume_command"] == ["claude", "--resume", session_id("login")]
    log = next(one for one in document["sessions"] if one["source"] == "shared-log")
    assert (log["author"], log["label"], log["resume_command"]) == ("bruno", "[shared log · bruno]", None)


def test_search(memory: Memory) -> None:
    memory.update_index()
    answer = memory.search("cookie", "combined", limit=5, deep=True, now=NOW)
    document = as_read(output.search_json(answer, ["a note"]))
    assert_shape(
        document,
        {
            "query": str,
            "mode": str,
            "took_ms": (int, float),
            "warnings": list,
            "indexed": dict,
            "results": list,
            "documents": list,
            "extracts": list,
            "session_history": list,
        },
    )
    assert document["indexed"] == {"exchanges": 7, "pending_files": 0}
    assert document["warnings"] == ["a note"]
    first = document["results"][0]
    assert {"session", "score", "keyword_score", "similarity", "exchange"} <= first.keys()
    assert_session(first["session"])
    assert_shape(first["exchange"], EXCHANGE)
    hit = answer.hits[0]
    assert (first["score"], first["keyword_score"], first["similarity"]) == (
        hit.score,
        hit.keyword_score,
        hit.similarity,
    )
    for row in document["results"]:
        assert (row["keyword_score"] is None) or (row["similarity"] is None) or row["score"] > 0


def test_a_half_that_did_not_find_the_session_is_null(memory: Memory) -> None:
    answer = memory.search("cookie", "keyword", limit=1, now=NOW)
    (row,) = output.search_json(answer, [])["results"]
    assert row["similarity"] is None
    memory.update_index()
    answer = memory.search("throttling requests", "semantic", limit=1, now=NOW)
    (row,) = output.search_json(answer, [])["results"]
    assert row["keyword_score"] is None


def test_session_history(memory: Memory, world: World) -> None:
    state = world.workspace / ".claude" / "state" / "state.json"
    state.write_text(
        '{"sessionHistory": [{"date": "2026-11-02", "time": "10:15", "summary": "zebras", "projectsWorked": ["ZOO"]}]}'
    )
    document = as_read(output.search_json(memory.search("zebras", "keyword", now=NOW), []))
    (entry,) = document["session_history"]
    assert entry.items() >= {"month": "2026-11", "date": "2026-11-02", "text": "zebras", "projects": ["ZOO"]}.items()
    assert "Session History Summaries" in output_text.search_text(memory.search("zebras", "keyword", now=NOW))


def test_show(memory: Memory) -> None:
    conversation = memory.conversation(memory.session(session_id("login")))
    document = as_read(output.show_json(conversation, []))
    assert_session(document["session"])
    assert [one["index"] for one in document["exchanges"]] == [0, 1, 2]
    for one in document["exchanges"]:
        assert_shape(one, EXCHANGE)
    assert document["exchanges"][1]["user"] == "And why only on CI?"
    assert document["exchanges"][2]["agent"] == "a1b2c3d4"


def test_status(memory: Memory, world: World) -> None:
    memory.update_index()
    document = as_read(output.status_json(memory.status()))
    assert_shape(document, {"workspace": str, "sources": list, "index": dict, "log": str})
    for one in document["sources"]:
        assert_shape(one, {"source": str, "installed": bool, "files": int, "sessions": int, "warnings": list})
    counts = {one["source"]: one["sessions"] for one in document["sources"] if one["installed"]}
    assert counts["claude-code"] == 2
    assert_shape(document["index"], {"path": str, "exchanges": int, "pending_files": int, "model": str})
    assert document["index"]["rebuild"] is None
    assert document["index"]["path"] == str(world.workspace / ".prima-memory" / "index.duckdb")
    assert "Index" in output_text.status_text(memory.status())


def test_file_history_is_newest_first_and_ignores_capitals(memory: Memory) -> None:
    rows = output.file_history(memory.snapshot().sessions, ".PY")
    document = as_read(output.files_json(rows, []))
    assert [one["path"] for one in document["files"]] == ["tests/login.py", "money.py", "api/limits.py"]
    for one in document["files"]:
        assert_shape(one, CHANGE)
        assert_shape(one["session"], {"id": str, "source": str, "label": str, "title": str})
    assert output.file_history(memory.snapshot().sessions, "nothing") == []
    assert "No session here" in output_text.files_text([])


def test_times_are_utc_with_z_whatever_they_were() -> None:
    when = datetime(2026, 11, 3, 12, 0, 0, 123456, timezone(timedelta(hours=5, minutes=30)))
    assert output.instant(when) == "2026-11-03T06:30:00.123Z"
    assert output.instant(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000Z"
    assert output.instant(None) is None


def test_no_control_character_of_a_conversation_reaches_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\rback\x08\u202egnp.exe [bold]x[/bold]"
    session = Session(
        f"id{evil}", "codex", "[Codex]", evil, started_at=START, ended_at=START, workspace=f"/w/{evil}", branch=evil,
        tags=(evil,), files_changed=(FileChange(f"/w/{evil}", "edit", START, evil),),
    )  # fmt: skip
    conversation = Conversation(session, (Exchange(evil, evil, START, agent=evil),))
    rows = output.file_history([session], "w")
    texts = [
        output_text.session_text(session),
        output_text.session_bytes(session).decode(),
        output_text.picked_text(session),
        output_conversation.show_text(conversation),
        export.conversation_markdown(conversation),
        output_text.files_text(rows),
    ]
    for text in texts:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text.replace("\t", " ")), text
        assert "[bold]x[/bold]" in text


def test_a_picked_session_is_one_line_of_four_fields(memory: Memory) -> None:
    line = output_text.picked_text(memory.session(session_id("login")))
    assert line.split("\t")[:2] == [session_id("login"), "claude-code"]
    assert len(line.split("\t")) == 4
    assert "\n" not in line


def test_empty_answers_say_what_to_do() -> None:
    assert b"prima-tui status" in b"".join(output_text.sessions_bytes([]))
    assert "prima-tui index" in output_text.extracts_text([])

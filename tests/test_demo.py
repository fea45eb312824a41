"""The demo: believable files in every agent's own format, in a home that is gone afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from prima_tui.demo import DemoHistory, assets_folder, demo_history, scripts
from prima_tui.demo.script import Reply, ToolUse, Typed, length_of_time, read_script
from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, Scope, Source

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoHistory]:
    with demo_history(NOW) as made:
        yield made


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main_files(demo: DemoHistory) -> list[Path]:
    return sorted((demo.home / ".claude" / "projects").glob("*-tidewater/*.jsonl"))


def time_of(record: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(record["timestamp"])


def test_there_are_some_forty_sessions_from_all_sources() -> None:
    counts = Counter(script.source for script in scripts(assets_folder()) if "workspace" not in script.header)
    assert counts == {"claude-code": 24, "codex": 8, "vscode": 4, "shared-log": 5}


def test_every_line_of_every_record_file_is_valid_json(demo: DemoHistory) -> None:
    files = [*demo.home.rglob("*.jsonl"), *demo.home.rglob("*.json")]
    assert len(files) > 35
    for path in demo.home.rglob("*.jsonl"):
        assert all(isinstance(record, dict) for record in records(path))
    for path in demo.home.rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))


def test_a_claude_code_chain_of_records_has_no_gap(demo: DemoHistory) -> None:
    for path in main_files(demo):
        known: set[str | None] = {None}
        for record in records(path):
            if "uuid" in record:
                assert record["parentUuid"] in known, path
                known.add(record["uuid"])


def test_one_reply_is_spread_over_several_records_with_one_message_id(demo: DemoHistory) -> None:
    spread = 0
    for path in main_files(demo):
        messages = Counter(record["message"]["id"] for record in records(path) if record["type"] == "assistant")
        spread += sum(count > 1 for count in messages.values())
        kinds = Counter(
            (record["message"]["id"], record["message"]["content"][0]["type"])
            for record in records(path)
            if record["type"] == "assistant"
        )
        assert all(count == 1 for (_, kind), count in kinds.items() if kind == "text"), path
    assert spread > 40


def test_one_session_begins_with_a_copy_of_another(demo: DemoHistory) -> None:
    ids = {path: {record["uuid"] for record in records(path) if "uuid" in record} for path in main_files(demo)}
    copies = [(a, b) for a in ids for b in ids if a != b and ids[a] < ids[b]]
    assert len(copies) == 1
    first, later = copies[0]
    assert {record["sessionId"] for record in records(later)} == {later.stem}
    assert first.stem != later.stem


def test_the_special_records_are_there(demo: DemoHistory) -> None:
    everything = [record for path in main_files(demo) for record in records(path)]
    kinds = Counter(record["type"] for record in everything)
    assert kinds["custom-title"] == 2
    assert kinds["summary"] == 1
    assert kinds["queue-operation"] == 2
    assert sum(record.get("subtype") == "compact_boundary" for record in everything) == 1
    assert sum(bool(record.get("isCompactSummary")) for record in everything) == 1
    children = Counter(record["parentUuid"] for record in everything if record["type"] in ("user", "attachment"))
    assert max(children.values()) > 1 or children[None] > len(main_files(demo))


def test_a_subagent_has_a_file_of_its_own_that_names_its_session(demo: DemoHistory) -> None:
    (path,) = (demo.home / ".claude").rglob("agent-*.jsonl")
    session = path.parent.parent.name
    assert (path.parent.parent.parent / f"{session}.jsonl").is_file()
    assert all(record["isSidechain"] and record["sessionId"] == session for record in records(path))
    assert json.loads(path.with_suffix(".meta.json").read_text())["agentType"] == "Explore"


def test_times_are_counted_back_from_now_and_never_lie_ahead(demo: DemoHistory) -> None:
    ends = []
    for path in demo.home.rglob("*.jsonl"):
        times = [time_of(record) for record in records(path) if "timestamp" in record]
        if times:
            assert NOW - timedelta(days=60) < min(times) <= max(times) <= NOW
            ends.append(max(times))
    assert sum(end > NOW - timedelta(days=7) for end in ends) >= 7
    assert max(ends) > NOW - timedelta(hours=5)


def test_an_expansion_is_the_same_every_time_but_for_its_place() -> None:
    def contents(demo: DemoHistory) -> dict[str, str]:
        # in a project's folder name each odd character of the home's stands as a hyphen
        names = (demo.home.name, demo.home.name.replace("_", "-"))
        found = {}
        for path in demo.home.rglob("*.jsonl"):
            name, text = str(path.relative_to(demo.home)), path.read_text(encoding="utf-8")
            for one in names:
                name, text = name.replace(one, "HOME"), text.replace(one, "HOME")
            found[name] = text
        return found

    with demo_history(NOW) as first, demo_history(NOW) as second:
        assert contents(first) == contents(second)


def test_the_home_is_gone_afterwards_whatever_was_put_there() -> None:
    with demo_history() as demo:
        (demo.workspace / ".prima-memory").mkdir()
        home = demo.home
    assert not home.exists()


def test_the_environment_leads_nowhere_but_into_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/somewhere/else")
    monkeypatch.setenv("CODEX_HOME", "/somewhere/else")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere/else")
    with demo_history() as demo:
        assert "/somewhere/else" not in demo.env.values()
        assert demo.env["HOME"] == str(demo.home)
        assert demo.workspace.parent == demo.home


def test_the_readers_find_every_session_and_no_problem(demo: DemoHistory) -> None:
    registry = pytest.importorskip("prima_tui.sources.registry")
    scope = Scope(demo.workspace, False, demo.home, demo.env)
    found: Counter[str] = Counter()
    for source in registry.all_sources():
        transcripts, problems = _read_all(source, scope)
        assert problems == []
        found[source.id] = len({t.session_id for t in transcripts if not t.parent_id and source.contains(t, scope)})
    assert {name: found[name] for name in ("claude-code", "codex", "vscode", "shared-log")} == {
        "claude-code": 24,
        "codex": 8,
        "vscode": 4,
        "shared-log": 5,
    }


def _read_all(source: Source, scope: Scope) -> tuple[list[Transcript], list[Problem]]:
    problems: list[Problem] = []
    transcripts: list[Transcript] = []
    names: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file in source.files(scope, problems):
        result = source.read(file)
        transcripts += [one.transcript for one in result.transcripts]
        problems += result.problems
        names |= result.names
        folders |= result.folders
    return source.finish(transcripts, names, folders), problems


def test_the_demo_imports_neither_the_screen_nor_the_database() -> None:
    code = "import sys, prima_tui.demo; print([m for m in ('textual', 'duckdb', 'fastembed') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_script_keeps_markdown_apart_from_what_happened() -> None:
    script = read_script(
        "x",
        "source: claude-code\nage: 2h\n\n>> first\n>> second\n\nA table:\n\n| a | b |\n"
        "\n::edit! a.py\n-| old\n+| new\n",
    )
    typed, reply, use = script.steps
    assert typed == Typed("first\nsecond")
    assert reply == Reply("A table:\n\n| a | b |")
    assert use == ToolUse("edit", "a.py", "old", "new", "", True)


def test_a_line_that_means_nothing_is_refused_with_the_scripts_name() -> None:
    with pytest.raises(ValueError, match=r"tour: what is '::dance'"):
        read_script("tour", "source: codex\nage: 1h\n\n::dance")


@pytest.mark.parametrize(("text", "hours"), [("3h", 3), ("2d 1h", 49), ("90m", 1.5)])
def test_lengths_of_time_are_read(text: str, hours: float) -> None:
    assert length_of_time(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "soon", "3", "3h soon"])
def test_other_lengths_of_time_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a length of time"):
        length_of_time(text)

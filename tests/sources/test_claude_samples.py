"""Every Claude Code row of the samples' index: id, title, prompts, replies, folder and times agree with it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from prima_tui.model.session import key64
from prima_tui.model.titles import title_from_prompt
from prima_tui.sources.base import ReadResult, ReadTranscript, source_file
from prima_tui.sources.claude_code import ClaudeCode
from prima_tui.sources.jsonl import instant
from tests.samples import SAMPLES

IS_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

HIDDEN = "claude/neilberkman__ccrider/agent-session.jsonl"
"""A subagent that was only a warm-up: counted in the index, but never shown."""
TYPED = {"claude/jazzyalex__agent-sessions/stage0/schema_drift.jsonl": 1}
"""Two by text alone; the record of the second names a task notification as its origin, as the index's note says."""
FOLDER = {"claude/jazzyalex__agent-sessions/stage0/small.jsonl": "/tmp/repo/worktrees/example"}
"""No folder in it fits the one the sample lies in; a record says where it was moved to, the index counts cwd fields."""
REDACTED_PARENT = "claude/jazzyalex__agent-sessions/stage0_subagent/"
"""The subagent's records hold its own id where real ones name the session that started it; the folder tells that."""

INVENTED = {
    "claude/jazzyalex__agent-sessions/stage0/schema_drift.jsonl": {
        'unknown record type "tool_use"': 1,
        'unknown record type "tool_result"': 1,
    },
    "claude/pchalasani__claude-code-tools/claude_session.jsonl": {'unknown record type "session_start"': 1},
}
"""Problems that samples with invented records must give; every other sample has none."""


def rows() -> list[list[str]]:
    """Return the cells of each row of the index's Claude Code table."""
    if SAMPLES is None:
        return []
    section = (SAMPLES / "INDEX.md").read_text("utf-8").split("\n## claude\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in section.splitlines()
        if re.match(r"\| \d+ \|", line)
    ]


pytestmark = pytest.mark.skipif(SAMPLES is None, reason="the folder with the samples is not beside the checkout")


def read(name: str) -> ReadResult:
    """Read a sample by its name in the index."""
    assert SAMPLES is not None
    file = source_file(str(SAMPLES / name), "claude-code", "session", [])
    assert file is not None
    return ClaudeCode().read(file)


def sample(part: str) -> ReadTranscript:
    """Read the one sample whose name holds ``part``; return its main transcript."""
    (name,) = [row[1].strip("`") for row in rows() if part in row[1]]
    return read(name).transcripts[0]


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_index_has_claude_rows() -> None:
    assert len(rows()) == 43


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row[0]))
def test_a_sample_reads_as_the_index_says(row: list[str]) -> None:
    _number, name, size, session_id, title, typed, _commands, steering, replies, bad, folder, times, *_notes = row
    assert SAMPLES is not None
    name = name.strip("`")
    path = SAMPLES / name
    assert path.stat().st_size == int(size)
    result = read(name)
    problems = {problem.what: problem.count for problem in result.problems}
    assert problems.pop("malformed lines", 0) == int(bad)
    assert problems == INVENTED.get(name, {})

    if name == HIDDEN or times == "- → -":
        assert not [each for each in result.transcripts if "carrier" not in each.transcript.flags]
        assert not [each for each in result.transcripts if each.exchanges]
        return
    transcript, exchanges = result.transcripts[0].transcript, result.transcripts[0].exchanges

    # The id is the file's name: copied records carry other ids.
    assert transcript.session_id == path.stem
    named, _, agent = session_id.partition("/ agent ")
    if agent:
        assert transcript.agent == recorded_agent(path) or agent
        folder_name = path.parent.parent.name
        assert transcript.parent_id == folder_name
        if named.strip() and not name.startswith(REDACTED_PARENT):
            assert transcript.parent_id == named.strip()
        assert {exchange.agent for exchange in exchanges} == {transcript.agent}
        assert transcript.resume is None
    else:
        assert transcript.parent_id == ""
        if IS_UUID.fullmatch(named) and IS_UUID.fullmatch(path.stem):
            assert transcript.session_id == named
        assert transcript.resume is not None
        assert transcript.resume.argv == ("claude", "--resume", path.stem)

    if typed != "–":
        assert sum(1 for each in exchanges if each.user) == TYPED.get(name, int(typed)) + int(steering)
    count = replies.split(" ")[0]
    if count != "–":
        assert sum(1 for each in exchanges if each.assistant) == int(count)
    assert transcript.reply_count == sum(1 for each in exchanges if each.assistant)
    assert transcript.exchange_keys == b"".join(key64(each.key) for each in exchanges)
    assert len({each.key for each in exchanges}) == len(exchanges)
    check_title(title, result.transcripts[0])

    assert (transcript.workspace or "-") == FOLDER.get(name, re.sub(r" \+\d+$", "", folder).strip("`"))
    first, _, last = times.partition(" → ")
    assert transcript.started_at == instant(first)
    assert transcript.ended_at == instant(last)


def recorded_agent(path: Path) -> str:
    """Return the type of the subagent that stands in the file beside its transcript; "" where there is none."""
    described = path.with_suffix(".meta.json")
    return json.loads(described.read_text())["agentType"] if described.is_file() else ""


def check_title(expected: str, found: ReadTranscript) -> None:
    """Check that the title comes from where the index says, and nothing better is there."""
    transcript = found.transcript
    where, _, text = expected.partition(": ")
    records = {transcript.record_keys[place : place + 8] for place in range(0, len(transcript.record_keys), 8)}
    own = [summary for leaf, summary in transcript.summaries if key64(leaf) in records]
    assert transcript.given_title == (text if where == "custom-title" else "")
    if where == "custom-title":
        return
    assert bool(own) == (where == "summary")
    if where == "summary":
        assert own[-1].startswith(text)
        return
    assert transcript.generated_title == ""
    if where == "first prompt":
        first = next(each.user for each in found.exchanges if each.user)
        assert squeezed(first).startswith(squeezed(text))
        assert transcript.prompt_title == title_from_prompt(first) != ""
    else:
        assert where == "command"
        assert transcript.prompt_title == text


def test_no_sample_shows_what_the_program_wrote() -> None:
    for row in rows():
        for found in read(row[1].strip("`")).transcripts:
            for exchange in found.exchanges:
                assert not re.match(r"<[a-z_-]+>|Caveat:|\[Request|This session is being continued", exchange.user)
                assert "No response requested" not in exchange.assistant
                assert "(no content)" not in exchange.assistant


def test_only_the_branch_that_was_left_is_rewound_and_kept_messages_are_not() -> None:
    exchanges = sample("dag_compact_after_rewind").exchanges
    assert [each.user for each in exchanges if each.rewound] == ["First attempt"]
    assert [each.user for each in exchanges if each.compacted] == ["After compaction"]
    assert [(each.user, each.assistant) for each in exchanges] == [
        ("Start", "Ready"),
        ("First attempt", "First answer"),
        ("Second attempt", "Second answer"),
        ("Keep going", "Kept going"),
        ("After compaction", "Final answer"),
    ]


def test_a_resume_copy_has_the_keys_of_its_original() -> None:
    original, copy = sample("c8bcb3a7"), sample("node_fixtures/b02ed4d8")
    assert copy.transcript.exchange_keys.startswith(original.transcript.exchange_keys)
    assert [each.user for each in copy.exchanges] == [
        "hello session 1",
        "hello session 1 continued",
        "hello session 1 resumed",
    ]
    assert copy.transcript.message_count == 6


def test_steering_in_two_records_is_one_message_at_its_place() -> None:
    found = sample("000000000001")
    assert [(each.user, each.assistant) for each in found.exchanges] == [
        ("What is in this picture? 👩‍👩‍👧 العربية", "A single red pixel."),
        ("also check the size", "It is 1×1, 70 bytes."),
    ]
    assert found.transcript.generated_title == "Picture question (later)"
    assert found.transcript.own_tags == ()
    assert found.transcript.branch == "main"
    assert found.transcript.model == "claude-opus-4-6"


def test_a_failed_tool_use_is_no_change() -> None:
    assert sample("1af7fc5e").transcript.files_changed == ()


def test_a_change_has_its_path_time_and_the_words_before_it() -> None:
    (change,) = sample("4c289ca8").transcript.files_changed
    assert change.path.endswith("claudeCodeAgent.ts")
    assert change.action == "edit"
    assert change.at is not None
    assert change.explanation


def test_wrappers_in_the_middle_of_words_leave_both_sides() -> None:
    users = [each.user for each in sample("fixture-system-tags").exchanges]
    assert users == [
        "Before reminder\nAfter reminder",
        "Check this\nPlease review",
        "/review src/main.ts\nExtra context",
        "Run this",
        "Actual user message",
    ]
    assert sample("system_reminder").exchanges[0].user == (
        "Please review the change.\n# Project notes\nThe tail content still renders as user text."
    )


def test_a_file_of_summaries_of_others_carries_them_and_is_no_session() -> None:
    (found,) = read("claude/obra__episodic-memory/medium-conversation.jsonl").transcripts
    assert found.exchanges == ()
    assert found.transcript.flags == ("carrier",)
    assert found.transcript.message_count == 0
    assert len(found.transcript.summaries) == 1


def test_a_login_error_is_no_summary() -> None:
    assert SAMPLES is not None
    for path in (SAMPLES / "claude").rglob("*.jsonl"):
        for found in read(str(path.relative_to(SAMPLES))).transcripts:
            assert not [text for _leaf, text in found.transcript.summaries if "login" in text]

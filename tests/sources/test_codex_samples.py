"""Every Codex row of the samples' index: id, title, prompts, replies, folder, times and damaged lines agree with it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, ReadResult, Scope, SourceFile, source_file
from prima_tui.sources.codex import Codex
from prima_tui.sources.jsonl import instant
from tests.samples import SAMPLES

REPLIES_BY_EVENT_ONLY = "codex/Latand__live-log-viewer-next/codex-payload-audit.jsonl"
"""Its first turn has a reply that only an event tells; the index counts messages of the model alone."""

INVENTED = {
    "codex/Latand__live-log-viewer-next/codex-payload-audit.jsonl": {"record without a known type": 2},
    "codex/jazzyalex__agent-sessions/codex_052_raw.jsonl": {
        'unknown event type "codex/event/raw_item"': 3,
        'unknown event type "turn.completed"': 2,
    },
    "codex/jazzyalex__agent-sessions/codex_053_rate_limit.jsonl": {
        'unknown event type "account/rateLimits/updated"': 1
    },
    "codex/jazzyalex__agent-sessions/session_branch.jsonl": {
        'unknown record type "tool_call"': 1,
        'unknown record type "tool_result"': 1,
        'unknown record type "error"': 1,
    },
    "codex/jazzyalex__agent-sessions/stage0/schema_drift.jsonl": {'unknown record type "function_result"': 1},
    "codex/pchalasani__claude-code-tools/codex_session.jsonl": {'unknown record type "request_item"': 2},
}
"""Problems that samples with invented records must give; every other sample has none."""


def rows() -> list[list[str]]:
    """Return the cells of each row of the index's Codex table."""
    if SAMPLES is None:
        return []
    section = (SAMPLES / "INDEX.md").read_text("utf-8").split("\n## codex\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in section.splitlines()
        if re.match(r"\| \d+ \|", line)
    ]


@cache
def names(root: Path) -> dict[str, str]:
    """Return the names in the index file of a sample's root; {} when it has none."""
    file = source_file(str(root / "session_index.jsonl"), "codex", "names", [])
    return {} if file is None else Codex().read(file).names


def sample(path: Path) -> SourceFile:
    """Return a sample as the file that the source would find."""
    kind = "archived" if path.parent.name == "archived_sessions" else "rollout"
    file = source_file(str(path), "codex", kind, [])
    assert file is not None
    return file


def read(path: Path) -> tuple[ReadResult, Transcript]:
    """Read a sample as its source would, the names of its root given."""
    result = Codex().read(sample(path))
    found = next((names(parent) for parent in path.parents if names(parent)), {})
    (finished,) = Codex().finish([each.transcript for each in result.transcripts], found, {})
    return result, finished


pytestmark = pytest.mark.skipif(SAMPLES is None, reason="the folder with the samples is not beside the checkout")


def test_the_index_has_codex_rows() -> None:
    assert len(rows()) >= 37


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row[0]))
def test_a_sample_reads_as_the_index_says(row: list[str]) -> None:
    _number, name, _size, session_id, title, typed, _commands, _steering, replies, bad, folder, times, *_notes = row
    assert SAMPLES is not None
    name = name.strip("`")
    path = SAMPLES / name
    result, transcript = read(path)
    exchanges = result.transcripts[0].exchanges
    problems = {problem.what: problem.count for problem in result.problems}

    assert problems.pop("malformed lines", 0) == int(bad)
    assert problems == INVENTED.get(name, {})
    expected_id = session_id.removesuffix("-").strip() or path.name.removesuffix(".jsonl")
    assert transcript.session_id == expected_id

    if typed != "–":
        assert sum(1 for each in exchanges if each.user) == int(typed.split(" ")[0])
    if replies.split(" ")[0] != "–":
        extra = 1 if name == REPLIES_BY_EVENT_ONLY else 0
        assert sum(1 for each in exchanges if each.assistant) == int(replies.split(" ")[0]) + extra
    assert transcript.reply_count == sum(1 for each in exchanges if each.assistant)

    where, _, text = title.partition(": ")
    if where == "session_index":
        assert transcript.given_title == text
    elif where == "first prompt" and typed != "–":
        assert transcript.given_title == ""
        assert " ".join(next(each.user for each in exchanges if each.user).split()).startswith(text)
        assert transcript.prompt_title
    elif where == "-":
        assert transcript.given_title == transcript.prompt_title == ""

    expected_folder = re.sub(r" \+\d+$", "", folder).strip("`")
    assert (transcript.workspace or "-") == expected_folder
    first, _, last = times.partition(" → ")
    assert transcript.started_at == instant(first)
    assert transcript.ended_at == instant(last)


def test_no_sample_shows_what_the_program_wrote() -> None:
    assert SAMPLES is not None
    for row in rows():
        for read_transcript in Codex().read(sample(SAMPLES / row[1].strip("`"))).transcripts:
            for exchange in read_transcript.exchanges:
                assert not exchange.user.startswith(("<", "# AGENTS.md")), row[1]
                assert "## My request for Codex" not in exchange.user


def transcript_of(part: str) -> tuple[ReadResult, Transcript]:
    """Read the one sample whose name holds ``part``."""
    assert SAMPLES is not None
    (path,) = [SAMPLES / row[1].strip("`") for row in rows() if part in row[1]]
    return read(path)


def test_a_fork_begins_with_exchanges_of_the_keys_that_its_parent_has() -> None:
    parent = transcript_of("01a22acf-38cd")[0].transcripts[0]
    fork = transcript_of("01a22acf-3ab9")[0].transcripts[0]
    assert [each.key for each in fork.exchanges[:3]] == [each.key for each in parent.exchanges[:3]]
    assert not {each.key for each in fork.exchanges[3:]} & {each.key for each in parent.exchanges}
    assert fork.transcript.exchange_keys[:24] == parent.transcript.exchange_keys[:24]


def test_a_subagent_is_under_the_session_that_started_it() -> None:
    _, parent = transcript_of("01a22ace-3d87")
    result, child = transcript_of("01a22ace-3edf")
    assert child.parent_id == parent.session_id
    assert child.agent and child.resume is None
    assert {each.agent for each in result.transcripts[0].exchanges} == {child.agent}
    assert parent.parent_id == ""


def test_a_compressed_file_reads_as_the_plain_one() -> None:
    assert SAMPLES is not None
    pair = [SAMPLES / row[1].strip("`") for row in rows() if "01a22ac8-af47" in row[1]]
    assert len(pair) == 2
    first, second = (Codex().read(sample(path)).transcripts[0] for path in pair)
    assert first.exchanges == second.exchanges
    assert first.transcript.exchange_keys == second.transcript.exchange_keys
    assert first.transcript.flags == second.transcript.flags == ("archived",)


def test_a_patch_in_a_script_gives_its_files() -> None:
    _, transcript = transcript_of("codex-orchestration")
    assert len(transcript.files_changed) == 7
    assert {change.action for change in transcript.files_changed} == {"update"}
    assert transcript.files_changed[0].path.endswith("/live-log-viewer-orchestration/SKILL.md")


def test_patches_of_the_custom_tool_are_joined_to_the_folder() -> None:
    _, transcript = transcript_of("01a22acc-8efa")
    assert [(change.path, change.action) for change in transcript.files_changed] == [
        ("/home/mara/w2/notes.md", "add"),
        ("/home/mara/w2/a.txt", "update"),
    ]
    assert "exec" in transcript.flags
    assert transcript.branch == "trunk"
    assert transcript.model == "gpt-5.1-codex"


def test_the_first_exchange_after_a_compaction_tells_it() -> None:
    for part in ("01a22acf-38cd", "01a22ac8-ac1b"):
        exchanges = transcript_of(part)[0].transcripts[0].exchanges
        assert [each.user for each in exchanges if each.compacted] == ["After compaction question"]


def test_a_save_of_april_2025_is_read() -> None:
    assert SAMPLES is not None
    (path,) = (SAMPLES / "codex" / "_synthetic_from_source").rglob("rollout-*.json")
    result, transcript = read(path)
    (exchange,) = result.transcripts[0].exchanges
    assert (exchange.user, exchange.assistant) == ("Explain this repo to me", "It is a small TypeScript library.")
    assert transcript.started_at == instant("2025-04-18T09:12:44.120Z")
    assert transcript.resume is None


def test_the_whole_folder_of_a_version_is_found() -> None:
    assert SAMPLES is not None
    root = SAMPLES / "codex" / "_generated__codex-cli-0.118.0"
    problems: list[Problem] = []
    scope = Scope(workspace=Path("/home/mara/work"), everywhere=False, home=root, env={"CODEX_HOME": str(root)})
    found = list(Codex().files(scope, problems))
    assert sorted(file.kind for file in found) == ["archived+", "names", *["rollout+"] * 5]
    assert problems == []

"""Nothing in a Claude Code file makes reading fail, and damage costs only what is damaged."""

from __future__ import annotations

import json
import re
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.sources import jsonl
from tests.sources.claude_lines import FOLDER, Line, Lines, main_of, pairs, queue, read, tool, write
from tests.sources.damage import hurt_line

WAYS = ["value", "value", "value", "remove", "cut", "bytes", "deep", "drop", "array"]


def conversation() -> list[Line]:
    """Return one record of each shape, every typed or replied text a word of its own."""
    make, side = Lines(), Lines(isSidechain=True)
    side.number = 500
    lines = [
        make.user("word0"),
        make.reply("word1", tool("Write", "t1", file_path="/p/a.py", content="c"), of="m1"),
        make.result("t1"),
        make.user([{"type": "text", "text": "word2"}, {"type": "image", "source": {}}]),
        make.reply({"type": "thinking", "thinking": "t"}, "word3"),
        queue("enqueue", "word4"),
        make.queued("word4"),
        make.record("system", subtype="compact_boundary", compactMetadata={"preservedSegment": {"headUuid": "uuid-1"}}),
        make.user("word5"),
        make.reply("word6"),
        side.user("word7"),
        side.reply("word8"),
        make.user("word9", origin={"kind": "human"}, promptSource="typed"),
        make.reply("word10"),
        {"type": "summary", "summary": "s", "leafUuid": "uuid-1"},
        {"type": "custom-title", "customTitle": "title"},
        {"type": "tag", "tag": "t"},
        {"type": "worktree-state", "worktreeSession": {"originalCwd": "/o"}},
        {"type": "relocated", "relocatedCwd": "/r"},
    ]
    return [*lines, make.record("progress", data={})]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[list[bytes], set[int]]:
    """Return the lines of a conversation, some damaged in one of many ways, and the numbers of those records."""
    lines = conversation()
    hurt = draw(st.sets(st.integers(0, len(lines) - 1), max_size=6))
    raw = [json.dumps(line).encode() for line in lines]
    for number in hurt:
        raw[number] = hurt_line(draw, lines[number], WAYS)
    for number in draw(st.lists(st.integers(0, len(raw) - 1), max_size=3)):
        raw.append(raw[number])  # a copy
    return raw, hurt


def shown(path: Path) -> str:
    """Return all text that reading a file gives."""
    result = read(path)
    return " ".join(f"{each.user} {each.assistant}" for found in result.transcripts for each in found.exchanges) + " "


WORDS = {0: "word0", 1: "word1", 3: "word2", 4: "word3", 6: "word4", 8: "word5", 9: "word6", 12: "word9", 13: "word10"}
"""Record number to the word it holds; those of the sidechain hang on each other and are left out."""


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(damaged(), st.sampled_from([b"\n", b"\r\n"]))
def test_damage_raises_nothing_and_what_is_whole_is_found(made: tuple[list[bytes], set[int]], end: bytes) -> None:
    raw, hurt = made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(b"".join(line + end for line in raw))
        text = shown(path)
    # a damaged record can take the id of a whole one, and is then the copy that is kept
    identities = [identity for line in set(raw) for identity in re.findall(rb'"uuid": *"[^"]*"', line)]
    stolen = len(identities) != len(set(identities))
    for number, word in WORDS.items():
        if number not in hurt and not stolen:
            assert f"{word} " in text.replace("\n", " "), (number, word)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.permutations(range(20)))
def test_records_in_any_order_lose_no_word(order: list[int]) -> None:
    lines = conversation()
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), [lines[number] for number in order])
        text = shown(path)
    for word in [f"word{number}" for number in range(11)]:
        assert text.replace("\n", " ").count(f"{word} ") == 1, word


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent-x.jsonl"
        path.write_bytes(data)
        read(path)


WORD = {"type": "text", "text": "word"}


@pytest.mark.parametrize("content", [7, True, None, WORD, ["word", 3, None], [["word"]], ""])
def test_a_content_of_any_type_is_read_as_far_as_it_is_text(tmp_path: Path, content: Any) -> None:
    make = Lines()
    found = main_of(tmp_path, [make.user("ask"), make.user(content), make.reply("answer")])
    assert found.transcript.message_count == 3
    users = [user for user, _ in pairs(found)]
    assert users == (["ask", "word"] if content in (WORD, ["word", 3, None]) else ["ask"])


def test_line_ends_nuls_a_mark_and_separators_within_strings_cost_nothing(tmp_path: Path) -> None:
    make = Lines()
    first = b"\xef\xbb\xbf" + json.dumps(make.user("one")).encode()
    second = json.dumps(make.reply("two\u2028three"), ensure_ascii=False).encode() + b"\r"
    third = json.dumps(make.user("four")).encode() + json.dumps(make.reply("five")).encode()
    fourth = b"\0\0\0" + json.dumps(make.user("six \ud83d")).encode()
    found = main_of(tmp_path, [first, second, b"", third, fourth, b'{"type":"user","mess'])
    assert pairs(found) == [("one", "two\u2028three"), ("four", "five"), ("six ?", "")]


def test_a_file_too_large_to_be_held_whole_reads_alike_and_only_too_long_lines_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Lines()
    lines: list[Line | bytes] = [make.user("one"), make.reply("two"), b""]
    lines += [make.user("three"), make.reply("x" * 3000), make.reply("four")]
    path = write(tmp_path, lines)
    whole = read(path)
    monkeypatch.setattr(jsonl, "_WHOLE_FILE", 100)
    assert read(path) == whole
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 2000)
    found = read(path)
    assert pairs(found.transcripts[0]) == [("one", "two"), ("three", "four")]
    assert [problem.count for problem in found.problems] == [1]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("a", parentUuid="uuid-4"), make.reply("b"), make.user("c"), make.reply("d")]
    lines += [make.user("e", parentUuid="uuid-2"), make.reply("f", parentUuid="uuid-6")]
    assert [user for user, _ in pairs(main_of(tmp_path, lines))] == ["a", "c", "e"]


def test_reading_holds_less_than_twice_the_file(tmp_path: Path) -> None:
    make = Lines()
    lines = []
    for number in range(300):
        lines += [make.user("ask"), make.reply("text " * 100, tool("Bash", f"t{number}", command="c" * 500))]
        lines.append(make.result(f"t{number}", toolUseResult={"stdout": "o" * 8000}))
    path = write(tmp_path / FOLDER, lines)
    read(path)
    tracemalloc.start()
    try:
        read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * path.stat().st_size

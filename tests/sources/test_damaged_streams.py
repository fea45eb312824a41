"""Whole streams of records of each agent, damaged: nothing raises, and a word in a record that is whole is found."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.sources.base import ReadResult, source_file
from prima_tui.sources.registry import source_by_id
from tests.sources.damage import hurt_line
from tests.world import Line, World

TURNS = [(f"asked{place}x", f"told{place}x") for place in range(5)]
WORDS = [word for turn in TURNS for word in turn]

Write = Callable[[World], Path]


def claude(world: World) -> Path:
    return world.claude("stream", TURNS)


def subagent(world: World) -> Path:
    return world.subagent("stream", "a1", TURNS)


def codex(world: World) -> Path:
    return world.codex("stream", TURNS)


def vscode(world: World) -> Path:
    return world.vscode("stream", TURNS)


def copilot_cli(world: World) -> Path:
    """Write the same events as VS Code's, where Copilot CLI keeps its own."""
    path = world.home / ".copilot" / "session-state" / "stream" / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(world.vscode("stream", TURNS).read_bytes())
    return path


STREAMS: list[tuple[str, Write]] = [
    ("claude-code", claude),
    ("claude-code", subagent),
    ("codex", codex),
    ("vscode", vscode),
    ("copilot-cli", copilot_cli),
]
SHARES = st.floats(0, 1)
WAYS = ["value", "remove", "cut", "bytes", "deep", "huge", "surrogate", "nul", "long", "array", "drop"]


@st.composite
def damage(draw: st.DrawFn, lines: list[Line], words: list[str]) -> tuple[bytes, list[str]]:
    """Return the bytes of a damaged stream, and the words that stand in its whole records.

    The first line says whose session it is, and stays.
    """
    hurt = draw(st.sets(st.integers(1, len(lines) - 1), max_size=6))
    raw = [json.dumps(line).encode() for line in lines]
    for number in hurt:
        raw[number] = hurt_line(draw, lines[number], WAYS).replace(b"\n", b"")
    for number in draw(st.lists(st.integers(1, len(raw) - 1), max_size=3)):
        raw.append(raw[number])
    joined = draw(st.sets(st.integers(1, len(raw) - 1), max_size=2))
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    data = b"".join(line + (b"" if number in joined and number not in hurt else end) for number, line in enumerate(raw))
    texts = [json.dumps(line) for line in lines]
    whole = [word for word in words if not any(word in texts[number] for number in hurt)]
    # a damaged line that lacks its end swallows what was joined to it
    if any(number - 1 in joined for number in hurt):
        return data, []
    return data, whole


def texts_of(result: ReadResult) -> str:
    return "\n".join(f"{one.user}\n{one.assistant}" for read in result.transcripts for one in read.exchanges)


def read(source: str, path: Path) -> ReadResult:
    file = source_file(str(path), source, "", [])
    assert file is not None
    return source_by_id(source).read(file)


@pytest.mark.parametrize(("source", "write"), STREAMS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_costs_only_what_is_damaged(source: str, write: Write, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(World(Path(folder)))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        content, whole = data.draw(damage(lines, WORDS))
        path.write_bytes(content)
        result = read(source, path)
        source_by_id(source).finish([one.transcript for one in result.transcripts], result.names, result.folders)
    found = texts_of(result)
    assert [word for word in whole if word not in found] == []
    keys = [one.key for each in result.transcripts for one in each.exchanges]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(("source", "write"), STREAMS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_records_in_another_order_lose_no_word(source: str, write: Write, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(World(Path(folder)))
        first, *rest = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(first + b"".join(data.draw(st.permutations(rest))))
        found = texts_of(read(source, path))
    assert [word for word in WORDS if word not in found] == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_compressed_rollout_raises_nothing(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = codex(World(Path(folder)))
        packed = bytearray(zstandard.ZstdCompressor().compress(path.read_bytes()))
        # in shares, since the compressed size depends on the name of the folder
        for _ in range(data.draw(st.integers(1, 4))):
            packed[int(data.draw(SHARES) * (len(packed) - 1))] = data.draw(st.integers(0, 255))
        compressed = path.with_name(f"{path.name}.zst")
        compressed.write_bytes(packed[: int(data.draw(SHARES) * len(packed))])
        read("codex", compressed)

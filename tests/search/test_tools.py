"""``in:tools`` against a plain implementation, and the tools of a conversation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.memory import Memory
from prima_tui.model.hits import Cancel, Cancelled
from prima_tui.model.session import Exchange, Transcript
from prima_tui.model.text import fold
from prima_tui.search.tools import ToolMatch, find_in_tools
from prima_tui.sources import reading_tools
from prima_tui.sources.base import ReadTranscript, SourceFile
from prima_tui.sources.reading_tools import read_tools, unpack_uses
from prima_tui.sources.tool_text import ToolLog
from tests.world import NOW, World, session_id, write_lines

TEXTS = st.text(st.sampled_from("abABß \nİé"), max_size=12)
USES = st.lists(st.tuples(st.integers(0, 4), TEXTS, TEXTS), max_size=12)
WORD = st.text(st.sampled_from("abßsé"), min_size=1, max_size=3).map(fold)
WORDS = st.lists(WORD, min_size=1, max_size=3, unique=True)


def plainly(
    uses: list[tuple[int, str, str]], words: list[str], skipped: frozenset[int]
) -> tuple[list[int], int, set[int]] | None:
    """Return the same as :func:`find_in_tools` by looking at one text after the other."""
    texts = [(place, fold(text)) for place, *both in uses for text in both if place not in skipped]
    counts = [sum(word in text for _place, text in texts) for word in words]
    if not any(counts):
        return None
    held = [(sum(word in text for word in words), place) for place, text in texts]
    best = max(held, key=lambda one: (one[0], -one[1]))
    return counts, best[1], {place for number, place in held if number}


@given(USES, WORDS, st.frozensets(st.integers(0, 4), max_size=2), st.sampled_from([1, 40, 1_000_000]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_packed_texts_give_what_looking_at_each_text_gives(
    uses: list[tuple[int, str, str]], words: list[str], skipped: frozenset[int], block: int
) -> None:
    log: ToolLog[int] = ToolLog()
    for number, (place, given_, gave) in enumerate(uses):
        log.use(str(number), place, None, "tool", given_, "")
        log.result(str(number), place, None, gave)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_tools, "_BLOCK_BYTES", block)
        patch.setattr(reading_tools, "_CHUNK_CHARACTERS", block)
        transcript = Transcript("test", "s", "p")
        packed = reading_tools._of_transcript(ReadTranscript(transcript, (Exchange(),), log.tools(lambda place: place)))
    slices = [[("p", 0, one) for one in packed.blocks]]
    found = find_in_tools(slices, words, {("p", 0): skipped}, Cancel()).get(("p", 0))
    assert (found and (found.counts, found.best, found.positions)) == plainly(uses, words, skipped)
    assert [(use.position, use.given, use.gave) for use in unpack_uses(packed.uses)] == uses


def test_long_texts_are_looked_through_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.search.tools._WINDOW", 10)
    log: ToolLog[int] = ToolLog()
    for number in range(40):
        log.use(str(number), number, None, "tool", "x" * number + "needle" + "y" * (40 - number), "")
    packed = reading_tools._of_transcript(
        ReadTranscript(Transcript("test", "s", "p"), (), log.tools(lambda place: place))
    )
    found = find_in_tools([[("p", 0, one) for one in packed.blocks]], ["needle", "xneedley"], {}, Cancel())
    assert found == {("p", 0): ToolMatch([40, 39], 1, 2, set(range(40)))}


def worked(world: World, name: str, *uses: tuple[str, str, str], **more: Any) -> Path:
    """Write a session in which the assistant says something before each (command, output) it runs."""
    lines = world.claude_records(name, [(f"prompt {number}", said) for number, (said, _, _) in enumerate(uses)], **more)
    placed: list[dict[str, Any]] = []
    for line in lines:
        placed.append(line)
        if line["type"] == "assistant":
            number = len([one for one in placed if one["type"] == "assistant" and "text" in str(one)]) - 1
            _said, command, gave = uses[number]
            use = {"type": "tool_use", "id": f"{name}-{number}", "name": "Bash", "input": {"command": command}}
            result = {"type": "tool_result", "tool_use_id": f"{name}-{number}", "content": gave}
            common = {key: line[key] for key in ("cwd", "sessionId", "timestamp")}
            placed.append(common | {"type": "assistant", "message": {"role": "assistant", "content": [use]}})
            placed.append(common | {"type": "user", "message": {"role": "user", "content": [result]}})
    return write_lines(world.project() / f"{session_id(name)}.jsonl", placed)


def ids(memory: Memory, query: str) -> list[str]:
    """Return the ids of the sessions that a query finds by word."""
    return [hit.session.id for hit in memory.search(query, "keyword", now=NOW).hits]


@pytest.fixture
def memory(world: World) -> Memory:
    """Return the memory of three sessions that ran commands."""
    worked(world, "disk", ("Looking.", "df -h", "no space left"), ("Cleaning.", "rm -r cache", "freed Gigabytes"))
    worked(world, "net", ("Looking at space.", "ss -ltn", "port 8080"))
    world.claude("talk", [("What is a gigabyte?", "A unit.")])
    memory = world.memory()
    memory.refresh()
    return memory


def test_a_plain_query_does_not_search_tools(memory: Memory) -> None:
    assert ids(memory, "8080") == []
    assert ids(memory, "gigabyte") == [session_id("talk")]


def test_in_tools_widens_the_search_and_scores_as_messages_do(memory: Memory) -> None:
    hits = memory.search("gigabyte in:tools", "keyword", limit=9, now=NOW).hits
    found = {hit.session.id: hit for hit in hits}
    assert set(found) == {session_id("talk"), session_id("disk")}
    hit = found[session_id("disk")]
    assert [(one.kind, one.points) for one in hit.reasons if one.kind in ("tool", "words")] == [("tool", 2.0)]
    assert hit.exchange_index == 1
    assert hit.exchange is not None and hit.exchange.assistant == "Cleaning."


def test_a_word_may_be_in_a_message_and_another_in_a_tool(memory: Memory) -> None:
    assert ids(memory, "space 8080 in:tools") == [session_id("net")]
    assert ids(memory, "space cache in:tools") == [session_id("disk")]
    assert ids(memory, "gigabyte 8080 in:tools") == []
    assert ids(memory, '"no space" in:tools') == [session_id("disk")]


def test_tools_are_found_the_same_from_the_catalog_after_a_change_and_without_it(memory: Memory, world: World) -> None:
    assert ids(memory, "8080 in:tools") == [session_id("net")]
    again = world.memory()
    again.refresh()
    assert ids(again, "8080 in:tools") == [session_id("net")]
    path = worked(world, "net", ("Looking at space.", "ss -ltn", "port 9090"))
    os.utime(path, ns=(1, 1))
    again.refresh()
    assert (ids(again, "8080 in:tools"), ids(again, "9090 in:tools")) == ([], [session_id("net")])
    catalog = again.settings.paths.catalog
    catalog.unlink()
    catalog.mkdir()
    assert ids(again, "9090 in:tools") == [session_id("net")]
    assert again.tools(again.session(session_id("net")))[0][0].gave == "port 9090"


def test_tools_cost_nothing_until_they_are_asked_for(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("tools were read")

    monkeypatch.setattr("prima_tui.tool_history.read_tools", fail)
    monkeypatch.setattr("prima_tui.index.tool_store.ToolStore._rows", fail)
    memory.refresh()
    memory.search("space", "keyword", limit=5, now=NOW)
    assert len(memory.conversation(memory.session(session_id("disk"))).exchanges) == 2


def test_a_cancelled_search_keeps_what_it_has_read(memory: Memory) -> None:
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        memory.search("8080 in:tools", "keyword", cancel=cancel, now=NOW)
    assert ids(memory, "8080 in:tools") == [session_id("net")]


def test_tools_of_a_conversation_stand_with_its_exchanges(memory: Memory, world: World) -> None:
    world.subagent("disk", "a1", [("list", "Listed.")])
    memory.refresh()
    session = memory.session(session_id("disk"))
    tools = memory.tools(session)
    exchanges = memory.conversation(session).exchanges
    assert len(tools) == len(exchanges) == 3
    assert [[use.summary for use in uses] for uses in tools] == [["df -h"], ["rm -r cache"], []]


def test_what_cannot_be_read_has_no_tools() -> None:
    file = SourceFile("nowhere", "/gone", 1, 1, 1)
    assert read_tools([file])[0].transcripts == ()

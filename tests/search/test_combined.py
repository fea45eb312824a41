"""Combined search: both halves on one scale, and the keyword half alone when the other one fails."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest

from prima_tui.errors import ModelUnavailable
from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from prima_tui.model.hits import MODES
from tests.world import NOW, START, Turn, World, session_id


@pytest.fixture
def memory(world: World, embedder: Embedder) -> Memory:
    world.claude("both", [Turn("Which trains go to Lisbon?", "The night train from Madrid.", ("trains.py",))])
    world.claude("words", [("The wedding dress has a long train", "Made of silk.")], start=START + timedelta(days=9))
    world.claude("meaning", [("Railway to Portugal?", "By way of Spain.")], start=START + timedelta(days=2))
    world.claude("neither", [("Bake bread", "At 230 degrees.")])
    made = world.memory(embedder)
    made.refresh()
    made.update_index()
    return made


def test_scores_are_those_of_the_rule(memory: Memory) -> None:
    keyword = {hit.session.id: hit.score for hit in memory.search("train", "keyword", now=NOW).hits}
    semantic = {hit.session.id: hit.similarity or 0.0 for hit in memory.search("train", "semantic", now=NOW).hits}
    assert set(keyword) == {session_id("both"), session_id("words")}
    assert session_id("both") in semantic
    best = max(keyword.values())
    expected = {}
    for key in keyword.keys() | semantic.keys():
        halves = [keyword[key] / best * 100] if key in keyword else []
        halves += [semantic[key] * 100] if key in semantic else []
        expected[key] = max(halves) * (1.2 if len(halves) == 2 else 1)
    hits = memory.search("train", "combined", now=NOW).hits
    assert {hit.session.id: hit.score for hit in hits} == pytest.approx(expected)
    assert [hit.score for hit in hits] == sorted(expected.values(), reverse=True)
    for hit in hits:
        assert hit.keyword_score == keyword.get(hit.session.id)
        assert hit.similarity == (pytest.approx(semantic[hit.session.id]) if hit.session.id in semantic else None)


def test_a_hit_of_words_opens_at_the_words_and_one_of_meaning_at_the_meaning(memory: Memory) -> None:
    hits = {hit.session.id: hit for hit in memory.search("railway", "combined", limit=9, now=NOW).hits}
    found = hits[session_id("both")]
    assert found.keyword_score is None
    assert found.exchange_index == 0
    assert found.exchange is not None
    assert "words" in {reason.kind for reason in hits[session_id("meaning")].reasons}


def _damaged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.workspace / ".prima-memory").mkdir()
    (world.workspace / ".prima-memory" / "index.duckdb").mkdir()


def _broken_model(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_folder: Any) -> Any:
        raise RuntimeError("libonnxruntime.so: cannot open shared object file\nand a long trace")

    monkeypatch.setattr("prima_tui.index.embedder._load", failing)


def _failing_model(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_self: Embedder, _query: str) -> Any:
        raise ModelUnavailable("the embedding model failed: out of memory")

    monkeypatch.setattr(Embedder, "query", failing)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (_damaged, "index.duckdb can't be opened"),
        (_broken_model, "libonnxruntime.so: cannot open shared object file"),
        (_failing_model, "out of memory"),
    ],
)
@pytest.mark.parametrize("mode", ["combined", "semantic"])
def test_when_the_semantic_half_fails_keyword_hits_come_with_a_warning_that_says_why(
    world: World, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, fault: Any, why: str, mode: Any
) -> None:
    world.believable()
    fault(world, monkeypatch)
    memory = world.memory(None if fault is _broken_model else embedder)
    memory.refresh()
    memory.update_index()
    answer = memory.search("cookie", mode, now=NOW)
    expected = memory.search("cookie", "keyword", now=NOW)
    assert expected.warnings == ()
    assert [(hit.session.id, hit.score) for hit in answer.hits] == [
        (hit.session.id, hit.score) for hit in expected.hits
    ]
    assert answer.hits
    warning = answer.warnings[0]
    assert "keyword results" in warning
    assert why in warning
    assert "\n" not in warning


def test_a_damaged_index_costs_no_hit(memory: Memory, world: World, embedder: Embedder) -> None:
    path = world.workspace / ".prima-memory" / "index.duckdb"
    path.write_bytes(os.urandom(10_000))
    later = world.memory(embedder)
    later.refresh()
    assert {hit.session.id for hit in later.search("train", "combined").hits} == {
        session_id("both"),
        session_id("words"),
    }


def test_without_an_index_words_are_found_without_a_warning(world: World, embedder: Embedder) -> None:
    world.believable()
    memory = world.memory(embedder)
    memory.refresh()
    answer = memory.search("cookie", "combined")
    assert len(answer.hits) == 1
    assert answer.warnings == ()
    assert (answer.indexed_exchanges, answer.pending_files) == (0, 6)


def test_the_session_history_is_the_last_step_in_every_mode(world: World, embedder: Embedder) -> None:
    world.believable()
    state = world.workspace / ".claude" / "state"
    (state / "history").mkdir()
    (state / "state.json").write_text('{"sessionHistory": [{"date": "2026-11-02", "summary": "zebra stripes"}]}')
    (state / "history" / "2026-10.json").write_text('[{"date": "2026-10-02", "summary": "zebra and narwhal"}]')
    memory = world.memory(embedder)
    memory.refresh()
    memory.update_index()
    for mode in MODES:
        found = memory.search("zebra stripes", mode, now=NOW)
        assert [one.text for one in found.session_history] == ([] if found.hits else ["zebra stripes"])
    assert memory.search("cookie", "keyword", now=NOW).session_history == ()
    assert [one.month for one in memory.search("zebra", "keyword", now=NOW).session_history] == ["2026-11"]
    assert [one.month for one in memory.search("narwhal", "keyword", now=NOW).session_history] == ["2026-10"]

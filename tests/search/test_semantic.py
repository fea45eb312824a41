"""Search by meaning: true cosine, the floor, the best exchange of each session, and a set of paraphrased questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from prima_tui.index import update
from prima_tui.index.embedder import Embedder, embedded_text, query_text
from prima_tui.index.exchange_store import FileState, Row
from prima_tui.index.vector_file import FLOOR
from prima_tui.index.vectors import SemanticIndex
from prima_tui.model.session import Exchange, Session
from tests.world import START, Turn, World, session_id


def _evaluation() -> Path | None:
    for parent in Path(__file__).resolve().parents:
        found = parent / "shared" / "evaluation" / "meaning.json"
        if found.is_file():
            return found
    return None


EVALUATION = _evaluation()


@pytest.mark.skipif(EVALUATION is None, reason="the evaluation set is not beside this checkout")
def test_of_24_questions_in_other_words_at_least_20_find_their_session_first(world: World, embedder: Embedder) -> None:
    assert EVALUATION is not None
    rows = json.loads(EVALUATION.read_text("utf-8"))["rows"]
    assert len(rows) == 24
    for number, row in enumerate(rows):
        world.claude(f"row {number}", [(row["ask"], row["reply"])], start=START + timedelta(minutes=number))
    memory = world.memory(embedder)
    memory.refresh()
    assert memory.index_everything().finished
    first = 0
    for number, row in enumerate(rows):
        hits = memory.search(row["query"], "semantic", limit=1).hits
        first += bool(hits) and hits[0].session.id == session_id(f"row {number}")
    assert first >= 20


def test_similarities_are_true_cosines_of_the_best_exchange_and_none_is_below_the_floor(
    world: World, embedder: Embedder
) -> None:
    topics = ["washing machines", "train tickets", "password reset", "French bread", "database backup", "unit tests"]
    expected = {}
    query = embedder.query("how do I reset my password")
    for place, topic in enumerate(topics):
        turns = [Turn(f"Tell me of {topic}", f"There is much to say of {topic}."), Turn("Thanks", "Welcome.")]
        world.claude(topic, turns, start=START + timedelta(hours=place))
        vectors = embedder.embed([embedded_text(Exchange(one.user, one.assistant)) for one in turns])
        best = max(float(query @ one / np.linalg.norm(query) / np.linalg.norm(one)) for one in vectors)
        if best >= FLOOR:
            expected[session_id(topic)] = best
    memory = world.memory(embedder)
    memory.refresh()
    memory.update_index()
    hits = memory.search("how do I reset my password", "semantic", limit=10).hits
    assert {hit.session.id: hit.similarity for hit in hits} == pytest.approx(expected, abs=1e-5)
    similarities = [hit.similarity or 0.0 for hit in hits]
    assert similarities == sorted(similarities, reverse=True)
    assert hits[0].session.id == session_id("password reset")
    assert hits[0].exchange_index == 0
    assert hits[0].score == pytest.approx((hits[0].similarity or 0) * 100)
    assert hits[0].keyword_score is None
    assert hits[0].reasons[-1].kind == "meaning"


def _stored(tmp_path: Path, cosines: list[float]) -> SemanticIndex:
    """An index whose exchanges have these cosines to the first axis, in one session each."""
    index = SemanticIndex(tmp_path / "index.duckdb", "a model", lambda: tmp_path, print)
    rows, vectors = [], {}
    for place, cosine in enumerate(cosines):
        vector = np.zeros(384, np.float32)
        vector[0], vector[1] = cosine, np.sqrt(1 - np.float32(cosine) ** 2)
        key = f"hash {place}"
        vectors[key] = vector
        session = Session(f"s{place}", "codex", "[Codex]", "T")
        rows.append(Row(f"file {place}", 0, 0, session, "", Exchange("u", "a"), key))
    index.write(rows, vectors, [FileState(row.path, "codex", "state", frozenset({(0, 0, row.hash)})) for row in rows])
    index.load()
    return index


def test_a_similarity_of_exactly_the_floor_stays_and_anything_below_goes(tmp_path: Path) -> None:
    index = _stored(tmp_path, [0.3, float(np.nextafter(np.float32(0.3), np.float32(0))), 0.299, 0.301, 1.0, -1.0, 0.0])
    query = np.zeros(384, np.float32)
    query[0] = 1
    assert sorted(one.session_id for one in index.similar(query)) == ["s0", "s3", "s4"]


def test_cosines_do_not_depend_on_the_length_of_the_query(tmp_path: Path) -> None:
    index = _stored(tmp_path, [0.5, 0.9])
    query = np.zeros(384, np.float32)
    query[0] = 1
    short = {one.session_id: one.similarity for one in index.similar(query * np.float32(0.01))}
    assert short == pytest.approx({one.session_id: one.similarity for one in index.similar(query)})
    assert short == pytest.approx({"s0": 0.5, "s1": 0.9}, abs=1e-6)


def test_the_best_of_a_session_counts_whichever_file_it_is_in(world: World, embedder: Embedder) -> None:
    world.claude("a", [("Hello", "Good morning.")], title="Main")
    world.subagent("a", "helper", [("Which trains go to Lisbon?", "The night train from Madrid.")])
    memory = world.memory(embedder)
    memory.refresh()
    memory.update_index()
    (hit,) = memory.search("railway connection to Portugal", "semantic", limit=5).hits
    assert hit.session.title == "Main"
    assert hit.exchange is not None
    assert hit.exchange.user == "Which trains go to Lisbon?"
    assert memory.conversation(hit.session).exchanges[hit.exchange_index or 0].user == "Which trains go to Lisbon?"


def test_filters_and_phrases_narrow_by_meaning_too(world: World, embedder: Embedder) -> None:
    turns = [("Which trains go to Lisbon?", "The night train from Madrid.")]
    world.claude("a", turns)
    world.codex("b", turns)
    memory = world.memory(embedder)
    memory.refresh()
    memory.update_index()
    assert len(memory.search("railway to Portugal", "semantic").hits) == 2
    assert [hit.session.source for hit in memory.search("railway to Portugal agent:codex", "semantic").hits] == [
        "codex"
    ]
    assert memory.search('railway to Portugal "day train"', "semantic").hits == ()
    assert len(memory.search('railway to Portugal "night train"', "semantic").hits) == 2


def test_the_copy_of_a_resumed_conversation_is_no_second_hit(world: World, embedder: Embedder) -> None:
    turns = [Turn("Which trains go to Lisbon?", "The night train from Madrid.")]
    world.claude("old", turns)
    world.claude("new", [("Thanks", "Welcome.")], copied=world.claude_records("old", turns), start=START + timedelta(1))
    memory = world.memory(embedder)
    memory.refresh()
    memory.update_index()
    assert [hit.session.id for hit in memory.search("railway to Portugal", "semantic").hits] == [session_id("new")]


def test_what_is_read_is_both_sides_and_at_most_two_thousand_characters(embedder: Embedder) -> None:
    assert embedded_text(Exchange("ask", "reply")) == "User: ask\nAssistant: reply"
    assert embedded_text(Exchange("", "reply")) == "Assistant: reply"
    assert len(embedded_text(Exchange("u" * 1500, "a" * 1500))) == 2000
    assert query_text("q" * 5000)[:8] == "User: qq"
    vector = embedder.query("x" * 10_000)
    assert vector.shape == (384,)
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-4)


def test_vectors_do_not_depend_on_the_company_they_are_embedded_in(embedder: Embedder) -> None:
    texts = ["one", "two words", "a much longer text about trains " * 20, "", "東京"]
    together = embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.allclose(embedder.embed([text])[0], vector, atol=1e-6)


def test_what_is_not_indexed_is_counted_once_for_each_state_of_files_and_index(
    world: World, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.claude("a", [("Which trains go to Lisbon?", "The night train from Madrid.")])
    memory = world.memory(embedder)
    memory.refresh()
    memory.update_index()
    counted: list[int] = []
    real = update.pending

    def counting(index: SemanticIndex, shares: Sequence[update.FileShare]) -> list[update.FileShare]:
        counted.append(len(shares))
        return real(index, shares)

    monkeypatch.setattr(update, "pending", counting)
    for query in ("railway", "railway to", "railway to Portugal"):
        assert memory.search(query, "semantic").pending_files == 0
    assert len(counted) == 1
    world.claude("b", [("And trains to Porto?", "The same one.")])
    memory.refresh()
    assert memory.search("railway", "semantic").pending_files == 1
    memory.update_index()
    assert memory.search("railway", "semantic").pending_files == 0

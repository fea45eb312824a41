"""The copy of an index's vectors in memory: the same answers as SQL over the file, whatever was written and removed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.errors import ModelUnavailable
from prima_tui.index import matrix as matrix_module
from prima_tui.index.exchange_store import FileState, Row
from prima_tui.index.matrix import VectorMatrix
from prima_tui.index.vector_file import FLOOR
from prima_tui.index.vectors import SemanticIndex
from prima_tui.model.hits import Cancel, Cancelled
from prima_tui.model.session import Exchange, Session

SIZE = 8


def index_at(folder: Path, number: int = 0) -> SemanticIndex:
    return SemanticIndex(folder / f"index-{number}.duckdb", "a model", lambda: folder, print)


def write_file(index: SemanticIndex, name: str, vectors: list[np.ndarray], state: str, *, sessions: int = 1) -> None:
    """Store a file whose exchanges have these vectors, spread over some transcripts; what it held before goes."""
    rows, known = [], {}
    for place, vector in enumerate(vectors):
        key = f"{vector.tobytes().hex()[:30]}"
        known[key] = vector
        session = Session(f"{name} {place % sessions}", "codex", "[Codex]", "T")
        rows.append(Row(name, place % sessions, place // sessions, session, "", Exchange("u", "a"), key))
    stored = frozenset((row.number, row.position, row.hash) for row in rows)
    index.write(rows, known, [FileState(name, "codex", state, stored)])


def by_sql(path: Path, query: np.ndarray) -> dict[tuple[str, int], float]:
    """The best cosine of each transcript with one at or above the floor, as the database works it out."""
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute(
            f"SELECT path, number, max(array_cosine_similarity(vector, $q::FLOAT[{SIZE}])) AS likeness FROM exchanges"
            " GROUP BY path, number HAVING likeness >= 0.3::FLOAT",
            {"q": query.tolist()},
        ).fetchall()
    return {(path, number): likeness for path, number, likeness in rows}


vector = st.lists(st.integers(-9, 9), min_size=SIZE, max_size=SIZE).filter(any).map(lambda row: np.array(row, "f4"))
step = st.tuples(st.sampled_from("abc"), st.lists(vector, max_size=6), st.integers(1, 2), st.booleans())


@pytest.mark.parametrize("block", [3, 16_384])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, min_size=1, max_size=5), query=vector, unit=st.booleans())
def test_similar_gives_what_sql_gives_after_any_writes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    block: int,
    steps: list[tuple[str, list[np.ndarray], int, bool]],
    query: np.ndarray,
    unit: bool,
) -> None:
    monkeypatch.setattr(matrix_module, "_BLOCK", block)
    index = index_at(tmp_path)
    index.path.unlink(missing_ok=True)
    # vectors as a model gives them, and of any length
    scale = (lambda one: one / np.linalg.norm(one)) if unit else (lambda one: one)
    write_file(index, "first", [scale(np.ones(SIZE, "f4"))], "0")
    for number, (name, vectors, sessions, load) in enumerate(steps):
        write_file(index, name, [scale(one) for one in vectors], str(number), sessions=sessions)
        if load:
            index.load()
    index.load()
    expected = by_sql(index.path, query)
    found = {(one.path, one.number): one.similarity for one in index.similar(query)}
    # the database adds up in an order of its own, so on the very floor the last bit may decide otherwise
    certain = {place: likeness for place, likeness in (found | expected).items() if abs(likeness - FLOOR) > 1e-6}
    assert {place: found.get(place) for place in certain} == pytest.approx(
        {place: expected.get(place) for place in certain}, abs=2e-6
    )
    assert [expected[place] for place in sorted(certain, key=lambda one: -found[one])] == pytest.approx(
        sorted((expected[place] for place in certain), reverse=True), abs=2e-6
    )
    with duckdb.connect(str(index.path), read_only=True) as connection:
        assert index.count() == connection.execute("SELECT count(*) FROM exchanges").fetchall()[0][0]
        places = set(connection.execute("SELECT path, number, position, hash FROM exchanges").fetchall())
    assert {(one.path, one.number, one.position, one.hash) for one in index.similar(query)} <= places
    index.close()


def test_each_transcript_has_its_best_exchange_however_its_rows_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_module, "_BLOCK", 4)
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(50, SIZE)).astype("f4")
    owners = chance.integers(0, 7, 50)
    matrix = VectorMatrix(SIZE)
    for first in (0, 3, 10, 41):
        last = {0: 3, 3: 10, 10: 41, 41: 50}[first]
        assert matrix.add(vectors[first:last], owners[first:last].tolist()) == range(first, last)
    removed = [5, 17, 18, 49]
    matrix.remove(removed)
    matrix.remove([5])
    assert len(matrix) == 46
    assert matrix.wasted == 4
    query = chance.normal(size=SIZE).astype("f4")
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    cosines[removed] = -2
    for floor in (-1.0, 0.0, 0.3):
        found = matrix.nearest(query, floor)
        best = {owner: int(np.argmax(np.where(owners == owner, cosines, -3))) for owner in range(7)}
        expected = {owner: row for owner, row in best.items() if cosines[row] >= floor}
        assert dict(zip(found.owners.tolist(), found.rows.tolist(), strict=True)) == expected
        assert found.cosines.tolist() == pytest.approx([cosines[row] for row in found.rows], abs=1e-6)
    assert matrix.rows_of(int(owners[0])) == [
        row for row in range(50) if owners[row] == owners[0] and row not in removed
    ]


def test_of_full_blocks_the_hits_are_those_of_sql_too() -> None:
    """Cosines close to one another and around the floor, in owners of some rows, three blocks and a part of one."""
    chance = np.random.default_rng(7)
    size, count = 32, 3 * 16_384 + 5_000
    query = chance.normal(size=size).astype("f4")
    query /= np.linalg.norm(query)
    aside = chance.normal(size=(count, size))
    aside -= np.outer(aside @ query, query)
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    cosines = chance.normal(0.3, 0.01, count)
    vectors = (cosines[:, None] * query + np.sqrt(1 - cosines[:, None] ** 2) * aside).astype("f4")
    vectors[1::500] = vectors[::500]
    owners = np.arange(count) // 7
    matrix = VectorMatrix(size)
    matrix.add(vectors, owners.tolist())
    found = matrix.nearest(query, FLOOR)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE stored (owner INTEGER, number INTEGER, vector FLOAT[{size}])")
        columns = {"o": owners.tolist(), "n": list(range(count)), "v": vectors.tolist()}
        connection.execute("INSERT INTO stored SELECT unnest($o), unnest($n), unnest($v)", columns)
        rows = connection.execute(
            "SELECT owner, number, likeness FROM (SELECT owner, number,"
            f" array_cosine_similarity(vector, $q::FLOAT[{size}]) AS likeness FROM stored)",
            {"q": query.tolist()},
        ).fetchall()
    likeness = np.array([row[2] for row in sorted(rows, key=lambda row: row[1])])
    best = np.maximum.reduceat(likeness, np.arange(0, count, 7))
    # what differs in the last bit only may be decided either way
    assert set(np.flatnonzero(best > FLOOR + 1e-6)) <= set(found.owners) <= set(np.flatnonzero(best > FLOOR - 1e-6))
    assert found.cosines == pytest.approx(best[found.owners], abs=1e-6)
    assert likeness[found.rows] == pytest.approx(best[found.owners], abs=1e-6)
    of_the_same = found.rows[owners[found.rows] == owners[found.rows - 1]]
    assert (of_the_same % 500 != 1).all(), "of an owner's equal vectors the first"


def test_an_empty_index_and_one_of_another_size_are_told_apart(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    assert index.similar(np.ones(SIZE, "f4")) == []
    write_file(index, "a", [np.ones(SIZE, "f4")], "1")
    index.load()
    with pytest.raises(ModelUnavailable, match="384 numbers, the index holds some of 8"):
        index.similar(np.ones(384, "f4"))
    assert index.similar(np.zeros(SIZE, "f4")) == []


def test_a_search_that_was_cancelled_stops_between_two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_at(tmp_path)
    write_file(index, "a", [np.ones(SIZE, "f4")], "1")
    index.load()
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        index.similar(np.ones(SIZE, "f4"), cancel)


def test_memory_of_removed_rows_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.index.vector_file._WASTE", 3)
    index = index_at(tmp_path)
    chance = np.random.default_rng(5)
    write_file(index, "kept", [np.ones(SIZE, "f4")], "1")
    index.load()
    for number in range(4):
        write_file(index, "a", list(chance.normal(size=(3, SIZE)).astype("f4")), str(number))
        index.load()
        assert index._matrix.wasted <= index.count() + 3
    assert index.count() == 4
    assert {one.path for one in index.similar(np.ones(SIZE, "f4"))} >= {"kept"}


def test_another_process_sees_only_what_was_written_since_it_last_looked(tmp_path: Path) -> None:
    writer, reader = index_at(tmp_path), index_at(tmp_path)
    write_file(writer, "a", [np.eye(SIZE, dtype="f4")[0]], "1")
    reader.load()
    generation = reader.generation
    reader.load()
    assert reader.generation == generation, "nothing was written, so nothing is made anew"
    write_file(writer, "b", [np.eye(SIZE, dtype="f4")[0]], "1")
    reader.load()
    assert reader.generation > generation
    assert {one.path for one in reader.similar(np.eye(SIZE, dtype="f4")[0])} == {"a", "b"}

"""Sessions found by meaning, worked out as columns: the same as the rule gives, taken one by one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.index.similar import Similar, SimilarExchanges
from prima_tui.model.query import Query, matches, parse
from prima_tui.model.session import Session
from prima_tui.search.library import Library, build_library, newest_first
from prima_tui.search.semantic import as_deleted, search_semantic
from prima_tui.sources.assemble import Assembled, Part
from tests.world import NOW, START

SESSIONS = 6
Found = list[tuple[int, int, int]]


def session_of(number: int, source: str, continued: int, copied: int, flags: tuple[str, ...]) -> Session:
    at = START + timedelta(hours=number)
    return Session(
        id=f"s{number}",
        source=source,
        label="[x]",
        title=f"Title {number}",
        started_at=at,
        ended_at=at,
        continued_by=f"s{continued}" if continued >= 0 else "",
        copied_from=f"s{copied}" if copied >= 0 else "",
        flags=flags,
    )


def expected(
    library: Library, stored: dict[tuple[str, str], Session], found: Iterable[Similar], query: Query
) -> list[tuple[str, float, Similar]]:
    best: dict[tuple[str, str], tuple[float, bool, Similar]] = {}
    sessions = {entry.session.key: entry.session for entry in library.entries}
    for one in found:
        entry = library.by_place.get((one.path, one.number))
        key = entry.session.key if entry else (one.source, one.session_id)
        if key not in best or (one.similarity, entry is not None) > best[key][:2]:
            best[key] = (one.similarity, entry is not None, one)
        if key not in sessions and key in stored:
            sessions[key] = as_deleted(stored[key])
    hits = {key: one for key, one in best.items() if key in sessions and matches(query, sessions[key])}
    kept = []
    for key, (similarity, _stands, one) in hits.items():
        session = sessions[key]
        origin = hits.get((session.source, session.copied_from))
        if (session.source, session.continued_by) in hits or (origin is not None and origin[2].hash == one.hash):
            continue
        kept.append((session, similarity, one))
    kept.sort(key=lambda hit: newest_first(hit[0]), reverse=True)
    kept.sort(key=lambda hit: -hit[1])
    return [(session.id, similarity, one) for session, similarity, one in kept]


other = st.sampled_from([-1, -1, -1, *range(SESSIONS)])
session = st.tuples(
    st.booleans(), st.sampled_from(["claude-code", "codex"]), other, other, st.sampled_from(["", "sdk"])
)


@settings(max_examples=150, deadline=None)
@given(
    made=st.lists(session, min_size=SESSIONS, max_size=SESSIONS),
    near=st.lists(
        st.tuples(st.integers(0, SESSIONS - 1), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)),
        unique_by=lambda one: one[:2],
    ),
    asked=st.sampled_from(["words", "words agent:codex", "words -agent:codex", "words is:sdk"]),
)
def test_hits_are_those_of_the_rule_in_the_order_of_the_rule(
    made: list[tuple[bool, str, int, int, str]], near: list[tuple[int, int, int, int]], asked: str
) -> None:
    """``near``: session, which of its files (the last is one that was renamed), likeness, which text."""
    sessions = [
        session_of(number, source, continued, copied, (flag,) if flag else ())
        for number, (_there, source, continued, copied, flag) in enumerate(made)
    ]
    there = [one for one, (is_there, *_rest) in zip(sessions, made, strict=True) if is_there]
    library = build_library(
        (Assembled(one, (Part(f"{one.id}/0", 0, 1), Part(f"{one.id}/1", 0, 1))) for one in there), lambda *_: None
    )
    stored = {one.key: one for one in sessions if one.id != "s0"}
    transcripts = [(f"s{number}/{file}", 0, sessions[number].source, f"s{number}") for number, file, *_rest in near]
    found = SimilarExchanges(
        transcripts,
        np.arange(len(near), dtype=np.int32),
        np.zeros(len(near), np.int32),
        np.array([f"text {text}".encode() for *_rest, text in near], "S32"),
        np.array([0.3 + likeness / 10 for _number, _file, likeness, _text in near], np.float32),
    )
    index: Any = SimpleNamespace(
        similar=lambda _vector, _cancel: found,
        sessions=lambda keys: [stored[key] for key in keys if key in stored],
    )
    query = parse(asked, NOW, frozenset({"claude-code", "codex"}))
    hits = search_semantic(library, index, query, lambda _text: np.ones(3, np.float32))
    wanted = expected(library, stored, found, query)
    assert [(hit.session.id, hit.similarity) for hit in hits] == [one[:2] for one in wanted]
    # of exchanges that are equally alike and stand, any is the best
    assert [msgspec.structs.replace(hit.place, path="", hash="") for hit in hits] == [
        msgspec.structs.replace(one[2], path="", hash="") for one in wanted
    ]
    assert [library.entries[row].session.id if row >= 0 else "gone" for row in hits.rows] == [
        "gone" if "deleted" in hit.session.flags else hit.session.id for hit in hits
    ]
    assert list(hits.ages) == sorted(hits.ages) or len(set(hits.similarities)) > 1
    some = hits.only(np.arange(len(hits)) % 2 == 0)
    assert list(some) == list(hits)[::2]


def test_the_rows_of_a_growing_list_of_transcripts_are_kept() -> None:
    sessions = [session_of(number, "codex", -1, -1, ()) for number in range(2)]
    columns = build_library((Assembled(one, (Part(one.id, 0, 1),)) for one in sessions), lambda *_: None).columns
    transcripts = [("s0", 0, "codex", "s0"), ("gone", 0, "codex", "s0"), ("s1", 1, "codex", "s1")]
    before = columns.rows_of_transcripts(transcripts)
    assert before.tolist() == [1, -1, -1], "rows stand newest first"
    assert columns.rows_of_transcripts(transcripts) is before
    transcripts.append(("s1", 0, "codex", "s1"))
    assert columns.rows_of_transcripts(transcripts).tolist() == [1, -1, -1, 0]
    assert columns.rows_of_transcripts(transcripts[3:]).tolist() == [0]

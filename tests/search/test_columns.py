"""The columns of a library, against what is said of one session at a time."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.model.likeness import letters_of
from prima_tui.model.many_texts import ManyTexts
from prima_tui.model.query import matches, parse
from prima_tui.model.scoring import recency
from prima_tui.model.session import FileChange, ResumeCommand, Session
from prima_tui.search.columns import Columns
from prima_tui.search.entry import Entry
from prima_tui.search.library import folded_paths
from tests.world import NOW

times = st.none() | st.integers(-20, 20).map(lambda days: NOW - timedelta(days=days, microseconds=7 * days))
some = st.sampled_from
session = st.builds(
    Session,
    id=st.uuids().map(str),
    source=some(["claude-code", "codex", "shared-log"]),
    label=st.just(""),
    title=some(["Room", "bedroom", "東京"]),
    tags=some([(), ("python",), ("Python", "bugfix")]),
    started_at=times,
    ended_at=times,
    workspace=some([None, "/home/ana/app", "C:\\work\\App"]),
    branch=some([None, "main", "Fix/straße"]),
    author=some([None, "Ana"]),
    files_changed=st.lists(
        some(["/home/ana/app/web/Room.tsx", "C:\\work\\App\\web\\room.py", "api.py"]).map(FileChange), max_size=3
    ).map(tuple),
    resume=st.none() | st.just(ResumeCommand(("claude",))),
    flags=st.sets(some(["sdk", "warmup", "background", "archived", "subagent", "exec"]), max_size=2).map(tuple),
    continued_by=some(["", "other"]),
    copied_from=some(["", "other"]),
)
FILTERS = [
    *("agent:codex", "dir:app/", "dir:work", "branch:main", "branch:STRASSE", "tag:python", "author:an"),
    *("file:web/", "file:room", "file:api.py", "date:<7d", "date:>1w", "date:today", "date:2026-11"),
    *("date:2026-11-20..", "is:resumable", "is:sdk", "is:warmup", "is:background", "is:fork", "is:continued"),
    *("is:subagent", "is:archived", "in:tools"),
]
filters = st.tuples(some(["", "-"]), some(FILTERS)).map("".join)


def entries_of(sessions: list[Session]) -> list[Entry]:
    return [
        Entry(one, (), (), one.title.casefold(), paths, "\n".join(paths))
        for one in sessions
        for paths in [folded_paths(one)]
    ]


@settings(deadline=None)
@given(st.lists(session, max_size=6), st.lists(filters, max_size=4).map(" ".join))
def test_the_sessions_selected_are_those_that_match_one_by_one(sessions: list[Session], typed: str) -> None:
    query = parse(typed, NOW)
    expected = [matches(query, one) for one in sessions]
    columns = Columns(entries_of(sessions))
    assert columns.selected(query).tolist() == expected
    assert columns.selected(query).tolist() == expected, "asked again"


@given(st.lists(session, max_size=6), some(["room", "o", "web/", "東", "/"]))
def test_titles_and_paths_are_counted_as_one_by_one(sessions: list[Session], whole: str) -> None:
    entries = entries_of(sessions)
    columns = Columns(entries)
    assert columns.title_holds(whole).tolist() == [whole in entry.title for entry in entries]
    assert columns.paths_holding(whole).tolist() == [sum(whole in path for path in entry.paths) for entry in entries]


@given(st.lists(session, max_size=6), st.timedeltas(timedelta(days=-30), timedelta(days=30)))
def test_points_are_the_very_numbers_that_one_session_gets(sessions: list[Session], later: timedelta) -> None:
    columns = Columns(entries_of(sessions))
    assert columns.recency(NOW + later).tolist() == [recency(one.started_at, NOW + later) for one in sessions]
    assert columns.changes.tolist() == [min(5, len(folded_paths(one))) for one in sessions]


@given(st.lists(session, max_size=6))
def test_columns_made_of_their_arrays_say_the_same(sessions: list[Session]) -> None:
    entries = entries_of(sessions)
    columns = Columns(entries)
    kept = Columns.of_arrays(entries, columns.arrays())
    for typed in ("date:<7d", "is:fork", "file:web/", "tag:python -is:sdk", ""):
        assert kept.selected(parse(typed, NOW)).tolist() == columns.selected(parse(typed, NOW)).tolist()
    assert kept.title_holds("o").tolist() == columns.title_holds("o").tolist()
    assert kept.paths_holding("o").tolist() == columns.paths_holding("o").tolist()
    assert kept.recency(NOW).tolist() == columns.recency(NOW).tolist()
    assert list(kept.names.texts) == list(columns.names.texts)


@given(st.lists(session, max_size=6), st.lists(session, max_size=4), st.data())
def test_columns_of_replaced_sessions_say_what_new_ones_say(
    before: list[Session], made: list[Session], data: st.DataObject
) -> None:
    entries, more = entries_of(before), entries_of(made)
    both = [*entries, *more]
    order = [row for row in data.draw(st.permutations(range(len(both)))) if data.draw(st.booleans())]
    columns = Columns(entries)
    columns.make_ready()
    entries = [both[row] for row in order]
    found, expected = columns.replaced(Columns(more), entries, order), Columns(entries)
    kept, plain = found.arrays(), expected.arrays()
    assert {name: values.tolist() for name, values in kept.items() if not name.startswith("part")} == {
        name: values.tolist() for name, values in plain.items() if not name.startswith("part")
    }
    assert sorted(zip(kept["part"], kept["part_entry"], kept["part_place"], strict=True)) == sorted(
        zip(plain["part"], plain["part_entry"], plain["part_place"], strict=True)
    )
    assert found.continued_by.tolist() == expected.continued_by.tolist()
    assert found.copied_from.tolist() == expected.copied_from.tolist()
    assert {"letters", "parts"} <= vars(found.names).keys()
    named = sorted(zip(found.names.rows.tolist(), (found.names.texts[one] for one in found.names.numbers), strict=True))
    assert named == sorted(
        zip(expected.names.rows.tolist(), (expected.names.texts[one] for one in expected.names.numbers), strict=True)
    )
    letters, parts = letters_of(found.names.texts), ManyTexts.of(found.names.texts)
    for name in ("counts", "lengths", "different", "pairs", "starts"):
        assert getattr(found.names.letters, name).tolist() == getattr(letters, name).tolist()
    assert [values.tolist() for values in found.names.parts.block] == [values.tolist() for values in parts.block]


def test_columns_are_ready_before_they_are_asked_for() -> None:
    columns = Columns(entries_of([]))
    columns.make_ready()
    made = set(vars(columns))
    columns.title_holds("a")
    columns.paths_holding("a")
    columns.recency(NOW)
    columns.selected(parse("date:<7d", NOW))
    assert set(vars(columns)) - made == {"_seconds"}

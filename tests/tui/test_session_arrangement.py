"""The rows of the list: order, groups, copies folded into one row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from rich.cells import cell_len

from prima_tui.model.hits import Answer, Hit
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.session import ResumeCommand, Session
from prima_tui.tui.session_arrangement import (
    View,
    arrange,
    copies_text,
    families,
    folder_text,
    next_group,
    place_of,
    shown_group,
)
from prima_tui.tui.session_rows import session_row

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)


def make(identifier: str, hours: float, **fields: object) -> Session:
    session = Session(
        identifier, "claude-code", "[transcript]", f"Title {identifier}", ended_at=NOW - timedelta(hours=hours),
        workspace="/home/ana/shop", resume=ResumeCommand(("claude",)),
    )  # fmt: skip
    return msgspec.structs.replace(session, **fields)


def answer(*sessions: Session, query: str = "") -> Answer:
    return Answer(query, "combined", tuple(Hit(session, 1.0) for session in sessions))


def ids(hits: object) -> list[str]:
    return [hit.session.id for hit in hits]  # type: ignore[attr-defined]


def test_a_resumed_session_is_one_row_that_stands_for_its_older_copies() -> None:
    rows, copies = families(
        answer(make("c", 1), make("x", 2), make("b", 3, continued_by="c"), make("a", 4, continued_by="c")).hits
    )
    assert ids(rows) == ["c", "x"]
    assert ids(copies["claude-code", "c"]) == ["b", "a"]
    assert copies_text(copies["claude-code", "c"]) == "+2 continued"


def test_a_fork_is_folded_into_the_newest_of_its_family() -> None:
    rows, copies = families(
        answer(make("fork", 1, copied_from="origin"), make("origin", 2), make("old", 3, continued_by="origin")).hits
    )
    assert ids(rows) == ["fork"]
    assert copies_text(copies["claude-code", "fork"]) == "+2 copies"


def test_a_copy_whose_continuation_is_not_there_has_its_own_row() -> None:
    rows, copies = families(answer(make("a", 4, continued_by="elsewhere")).hits)
    assert ids(rows) == ["a"]
    assert not copies


def test_where_it_is_known_which_have_copies_the_others_are_not_looked_at() -> None:
    sessions = [
        make("x", 1),
        make("c", 2),
        make("b", 3, continued_by="c"),
        make("y", 4),
        make("fork", 5, copied_from="origin"),
        make("origin", 6),
        make("lost", 7, continued_by="gone"),
        make("z", 8),
    ]
    hits = answer(*sessions).hits
    looked: list[int] = []

    def hit(place: int) -> Hit:
        looked.append(place)
        return hits[place]

    rows, copies = families(OnDemand(len(hits), hit), kin=(1, 2, 4, 5, 6))
    assert sorted(looked) == [1, 2, 4, 5, 6]
    expected, expected_copies = families(hits)
    assert list(rows) == expected and copies == expected_copies
    assert ids(rows) == ["x", "c", "y", "fork", "lost", "z"]


def test_sessions_of_two_agents_with_one_id_are_no_copies() -> None:
    rows, _ = families(answer(make("a", 1, source="codex"), make("b", 2, continued_by="a")).hits)
    assert ids(rows) == ["a", "b"]


def test_opened_copies_stand_below_their_session_and_headings_move_down() -> None:
    listed = answer(make("c", 1), make("b", 30, continued_by="c"), make("x", 40))
    view = View(opened=frozenset({("claude-code", "c")}))
    rows = arrange(listed, view, NOW)
    assert ids(rows.hits) == ["c", "b", "x"]
    assert rows.nested == {("claude-code", "b")}
    assert [heading.place for heading in rows.headings] == [0, 2]
    assert ids(arrange(listed, View(), NOW).hits) == ["c", "x"]


def test_groups_by_folder_come_in_the_order_of_their_first_session() -> None:
    listed = answer(
        make("a", 1), make("b", 2, workspace="/srv/api"), make("c", 3), make("d", 4, workspace=None), query="x"
    )
    rows = arrange(listed, View(group="workspace", home="/home/ana"), NOW)
    assert ids(rows.hits) == ["a", "c", "b", "d"]
    assert [tuple(heading) for heading in rows.headings] == [
        (0, "~/shop · 2 sessions"),
        (2, "/srv/api · 1 session"),
        (3, "No folder recorded · 1 session"),
    ]


def test_groups_by_day_keep_the_order_within_a_day() -> None:
    listed = answer(make("old", 50), make("late", 1), make("early", 3), make("older", 51), query="x")
    rows = arrange(listed, View(group="day"), NOW)
    assert ids(rows.hits) == ["late", "early", "old", "older"]
    assert [heading.place for heading in rows.headings] == [0, 2]


def test_sessions_without_a_time_come_last_by_day() -> None:
    rows = arrange(answer(make("none", 0, ended_at=None), make("a", 1), query="x"), View(group="day"), NOW)
    assert ids(rows.hits) == ["a", "none"]


def test_the_list_is_grouped_by_day_only_while_nothing_is_searched() -> None:
    assert shown_group(View(), answer()) == "day"
    assert shown_group(View(), answer(query="x")) == "none"
    assert shown_group(View(sort="longest"), answer()) == "none"


@pytest.mark.parametrize(
    ("query", "expected"), [("", ["workspace", "none", "auto"]), ("x", ["day", "workspace", "none"])]
)
def test_the_next_way_to_group_looks_different(query: str, expected: list[str]) -> None:
    view, seen = View(), []
    for _ in range(3):
        view = view._replace(group=next_group(view, answer(query=query)))
        seen.append(view.group)
    assert seen == expected


@pytest.mark.parametrize(
    ("folder", "text"),
    [("/home/ana", "~"), ("/home/ana/x", "~/x"), ("/home/anabel/x", "/home/anabel/x"), ("", "No folder recorded")],
)
def test_the_home_folder_is_short(folder: str, text: str) -> None:
    assert folder_text(folder, "/home/ana") == text


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (timedelta(days=20), ""),
        (timedelta(days=3, hours=2), "deleted in 3 days"),
        (timedelta(days=1), "deleted in 1 day"),
        (timedelta(hours=3), "deleted soon"),
        (timedelta(days=-2), "deleted soon"),
    ],
)
def test_a_row_warns_before_its_agent_deletes_the_conversation(left: timedelta, text: str) -> None:
    hit = Hit(make("a", 1, expires_at=NOW + left), 1.0)
    for density, line in ((1, 0), (2, 1), (3, 1)):
        shown = session_row(hit, (), 100, density, NOW, False)[line].text
        assert (text in shown) if text else ("deleted" not in shown)


@pytest.mark.parametrize("density", [1, 2, 3])
def test_a_row_with_marks_and_one_below_another_have_the_widths_of_others(density: int) -> None:
    hit = Hit(make("a", 1, title="字" * 200, expires_at=NOW), 1.0)
    for width in (20, 40, 61, 100):
        lines = session_row(hit, (), width, density, NOW, True, copies="+1 continued", nested=True)
        assert all(cell_len(line.text) <= width for line in lines)
        assert lines[0].text.startswith("▌ └ ") or lines[0].text.startswith("└ ")


def test_a_sessions_place_is_looked_for_from_where_it_was() -> None:
    looked: list[int] = []

    def at(place: int) -> Hit:
        looked.append(place)
        return Hit(make(str(place), 1), 0.0)

    hits = OnDemand(1_000, at)
    key = make("700", 1).key
    assert place_of(hits, key, near=698) == 700
    assert len(looked) <= 5
    assert place_of(hits, key) == 700
    assert place_of(hits, make("no", 1).key, near=5_000) == -1
    assert place_of((), key, near=-1) == -1

"""Session history: shapes that are known, months in their order, everything else a problem."""

from __future__ import annotations

import json
import os
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.sources.base import Problem
from prima_tui.sources.session_history import HistoryEntry, archive, current_month, entries

TODAY = date(2026, 11, 30)


def write(workspace: Path, name: str, content: Any) -> Path:
    path = workspace / ".claude" / "state" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def current(workspace: Path) -> tuple[list[HistoryEntry], list[Problem]]:
    problems: list[Problem] = []
    return current_month(workspace, TODAY, problems), problems


def test_nothing_there_is_no_problem(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert list(entries(tmp_path, TODAY, problems)) == []
    assert problems == []


def test_this_months_entries_of_the_state_come_newest_first(tmp_path: Path) -> None:
    history = [
        {"date": "2026-11-02", "summary": "Older", "projectsWorked": ["shop", "site"]},
        {"date": "2026-10-31", "summary": "Last month"},
        {"date": "2026-11-03", "time": "09:00", "summary": "Morning"},
        {"date": "2026-11-03T17:45:00Z", "summary": "Evening"},
        {"date": "2025-11-03", "summary": "Last year"},
    ]
    write(tmp_path, "state.json", {"other": 1, "sessionHistory": history})
    assert current(tmp_path) == (
        [
            HistoryEntry("2026-11", "2026-11-03", "17:45", "Evening"),
            HistoryEntry("2026-11", "2026-11-03", "09:00", "Morning"),
            HistoryEntry("2026-11", "2026-11-02", "", "Older", ("shop", "site")),
        ],
        [],
    )


def test_a_project_file_gives_its_history_and_where_work_stopped(tmp_path: Path) -> None:
    write(
        tmp_path,
        "projects/shop.json",
        {
            "stoppedAt": "2026-11-05T18:00:00Z",
            "lastAction": "Wrote the price test",
            "sessionHistory": [{"date": "2026-11-04", "summary": "Prices"}],
        },
    )
    assert current(tmp_path) == (
        [
            HistoryEntry("2026-11", "2026-11-05", "18:00", "Wrote the price test", ("shop",)),
            HistoryEntry("2026-11", "2026-11-04", "", "Prices", ("shop",)),
        ],
        [],
    )


def test_where_work_stopped_may_be_words_dated_elsewhere(tmp_path: Path) -> None:
    write(
        tmp_path,
        "projects/a.json",
        {"stoppedAt": "Half of the parser", "lastAction": "Ran tests", "lastUpdated": "2026-11-06", "name": "Alpha"},
    )
    path = write(tmp_path, "projects/b.json", {"stoppedAt": "In the middle"})
    moment = datetime(2026, 11, 7, 12).timestamp()
    os.utime(path, (moment, moment))
    write(tmp_path, "projects/c.json", {"lastAction": {"date": "2026-11-01", "description": "Deployed"}})
    assert current(tmp_path)[0] == [
        HistoryEntry("2026-11", "2026-11-07", "", "In the middle", ("b",)),
        HistoryEntry("2026-11", "2026-11-06", "", "Half of the parser\nRan tests", ("Alpha",)),
        HistoryEntry("2026-11", "2026-11-01", "", "Deployed", ("c",)),
    ]


def test_an_entry_in_two_files_is_one_with_the_projects_of_both(tmp_path: Path) -> None:
    entry = {"date": "2026-11-02", "summary": "Same"}
    write(tmp_path, "state.json", {"sessionHistory": [{**entry, "projectsWorked": ["x"]}]})
    write(tmp_path, "projects/shop.json", {"sessionHistory": [entry]})
    assert current(tmp_path)[0] == [HistoryEntry("2026-11", "2026-11-02", "", "Same", ("x", "shop"))]


def test_the_archive_is_read_month_by_month_newest_first_in_every_shape(tmp_path: Path) -> None:
    write(
        tmp_path,
        "history/2026-09.json",
        [{"date": "2026-09-01", "summary": "A"}, {"date": "2026-09-20", "summary": "B"}],
    )
    write(tmp_path, "history/2026-10.json", {"sessionHistory": [{"date": "2026-10-01", "summary": "C"}]})
    write(tmp_path, "history/2025-12.json", {"sessions": [{"summary": "D"}]})
    write(
        tmp_path, "history/2026-01.json", {"entries": [{"date": "2026-01-05", "summary": "E", "projectsWorked": "p"}]}
    )
    write(tmp_path, "history/index.json", {"anything": True})
    problems: list[Problem] = []
    months = list(archive(tmp_path, problems))
    assert [[(each.month, each.text) for each in month] for month in months] == [
        [("2026-10", "C")],
        [("2026-09", "B"), ("2026-09", "A")],
        [("2026-01", "E")],
        [("2025-12", "D")],
    ]
    assert months[2][0].projects == ("p",)
    assert months[3][0].date == ""
    assert problems == []


def test_an_archived_month_is_read_only_when_it_is_reached(tmp_path: Path) -> None:
    write(tmp_path, "history/2026-10.json", [{"date": "2026-10-01", "summary": "C"}])
    write(tmp_path, "history/2026-09.json", "not json")
    problems: list[Problem] = []
    next(archive(tmp_path, problems))
    assert problems == []


def test_all_entries_come_current_month_first(tmp_path: Path) -> None:
    write(tmp_path, "state.json", {"sessionHistory": [{"date": "2026-11-02", "summary": "now"}]})
    write(tmp_path, "history/2026-10.json", [{"date": "2026-10-01", "summary": "then"}])
    assert [each.text for each in entries(tmp_path, TODAY, [])] == ["now", "then"]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("state.json", [], "session history of an unknown shape"),
        ("state.json", {"sessionHistory": {"a": 1}}, "session history of an unknown shape"),
        ("state.json", {"sessionHistory": ["text"]}, "session history entries of an unknown shape"),
        ("state.json", {"sessionHistory": [{"summary": "x"}]}, "session history entries without a date"),
        (
            "state.json",
            {"sessionHistory": [{"date": "2026-02-31", "summary": "x"}]},
            "session history entries without a date",
        ),
        ("state.json", "{cut", "malformed session history"),
        ("projects/a.json", "text", "malformed session history"),
        ("projects/a.json", '"text"', "session history of an unknown shape"),
        ("projects/a.json", {"stoppedAt": 4}, "session history of an unknown shape"),
    ],
)
def test_any_other_shape_is_one_problem(tmp_path: Path, name: str, content: Any, what: str) -> None:
    path = write(tmp_path, name, content)
    assert current(tmp_path) == ([], [Problem(what, str(path))])


@pytest.mark.parametrize("content", ['"text"', "3", '{"other": []}', '{"sessions": 4}'])
def test_an_archive_of_another_shape_is_one_problem(tmp_path: Path, content: str) -> None:
    path = write(tmp_path, "history/2026-10.json", content)
    problems: list[Problem] = []
    assert list(archive(tmp_path, problems)) == []
    assert problems == [Problem("session history of an unknown shape", str(path))]


def test_an_empty_file_is_nothing(tmp_path: Path) -> None:
    write(tmp_path, "state.json", "")
    assert current(tmp_path) == ([], [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["sessionHistory", "date", "time", "summary", "projectsWorked", "stoppedAt", "lastAction", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wrong=st.lists(JSON, max_size=4), project=JSON)
def test_wrong_types_beside_an_entry_do_not_cost_it(tmp_path: Path, wrong: list[Any], project: Any) -> None:
    planted = {"date": "2026-11-02", "summary": "plantedword"}
    write(tmp_path, "state.json", {"sessionHistory": [*wrong, planted]})
    write(tmp_path, "projects/a.json", project)
    write(tmp_path, "history/2026-10.json", [*wrong, planted])
    problems: list[Problem] = []
    found = list(entries(tmp_path, TODAY, problems))
    assert [each.month for each in found if each.text == "plantedword"] == ["2026-11", "2026-10"]

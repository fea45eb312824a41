"""Figures of sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prima_tui.model.session import FileChange, Session
from prima_tui.model.statistics import statistics
from prima_tui.output_statistics import statistics_json, statistics_text

START = datetime(2026, 11, 23, 9, 30).astimezone()  # a Monday, local time


def session(number: int, hours: float = 0.0, *paths: str, **more: object) -> Session:
    facts = {"started_at": START, "ended_at": START + timedelta(hours=hours), "message_count": number} | more
    changes = tuple(FileChange(f"/w/{path}") for path in paths)
    return Session(f"s{number}", "codex", "Codex", f"Title {number}", workspace="/w", files_changed=changes, **facts)  # type: ignore[arg-type]


def test_everything_is_counted_once() -> None:
    found = statistics([
        session(3, 1, "app/a.py", "app/a.py", "b.py", tags=("python",), branch="main", exchange_count=2),
        session(5, 0, "app/a.py"),
        session(9, continued_by="s5"),
    ])  # fmt: skip
    assert (found.sessions, found.messages, found.exchanges, found.changes, found.days) == (2, 8, 2, 4, 1)
    assert [(one.path, one.changes, one.sessions) for one in found.files] == [("app/a.py", 3, 2), ("b.py", 1, 1)]
    assert found.folders == (("app", 3), (".", 1))
    assert found.tags == (("python", 1),) and found.branches == (("main", 1),) and found.workspaces == (("/w", 2),)
    assert [one.id for one in found.longest] == ["s5", "s3"]


def test_a_session_counts_in_each_hour_of_a_sitting_but_not_in_days_of_pause() -> None:
    monday = statistics([session(1, 2.2)]).hours[0]
    assert [hour for hour, count in enumerate(monday) if count] == [9, 10, 11]
    pause = statistics([session(1, 48)]).hours
    assert [(day, hour) for day, hours in enumerate(pause) for hour, count in enumerate(hours) if count] == [
        (0, 9),
        (2, 9),
    ]


def test_times_may_be_missing_or_turned_round() -> None:
    found = statistics([
        session(1, started_at=None, ended_at=None),
        session(2, started_at=None),
        session(3, -1.0),
    ])  # fmt: skip
    assert found.sessions == 3 and found.days == 1


def test_nothing_at_all() -> None:
    found = statistics([])
    assert found.sessions == 0 and found.first is None
    assert statistics_text(found) == "No sessions."
    assert statistics_json(found, ["w"])["first_day"] is None


def test_text_and_json_say_the_same() -> None:
    found = statistics([session(12, 1, "app/a.py", started_at=START.astimezone(UTC))])
    text, printed = statistics_text(found), statistics_json(found, [])
    assert "1 session · 12 messages" in text and "app/a.py" in text and "Mon" in text
    assert printed["files"] == [{"path": "app/a.py", "changes": 1, "sessions": 1}]
    assert printed["hours"]["Mon"][9] == 1
    assert printed["longest"][0]["title"] == "Title 12"

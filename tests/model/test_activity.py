"""Counting what was done in a period."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prima_tui.model.activity import BusyFile, activity
from prima_tui.model.dates import Period
from prima_tui.model.session import FileChange, Session

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def session(name: str, start: datetime | None, hours: float = 1, **fields: object) -> Session:
    end = None if start is None else start + timedelta(hours=hours)
    return Session(id=name, source="claude-code", label="", title=name, started_at=start, ended_at=end, **fields)  # type: ignore[arg-type]


def test_only_sessions_that_touch_the_period_count_latest_first() -> None:
    period = Period(DAY.timestamp(), (DAY + timedelta(days=1)).timestamp())
    sessions = [
        session("before", DAY - timedelta(hours=2)),
        session("across", DAY - timedelta(hours=2), 3),
        session("in", DAY + timedelta(hours=5)),
        session("after", DAY + timedelta(days=1)),
        session("undated", None),
    ]
    done = activity(sessions, period)
    assert [one.id for one in done.sessions] == ["in", "across"]


def test_a_conversation_that_another_goes_on_from_is_counted_once() -> None:
    copied = session("old", DAY, continued_by="new", message_count=5)
    done = activity([copied, session("new", DAY, message_count=9)], Period())
    assert ([one.id for one in done.sessions], done.messages) == (["new"], 9)


def test_files_are_ranked_by_changes_within_the_period() -> None:
    inside, outside = DAY + timedelta(hours=1), DAY - timedelta(days=3)
    changes = (
        FileChange("/w/a.py", at=inside),
        FileChange("/w/a.py", at=inside),
        FileChange("/w/b.py", at=outside),
        FileChange("/w/c.py"),
    )
    long = session("long", outside, 100, workspace="/w", files_changed=changes)
    other = session("other", DAY, workspace="/w", files_changed=(FileChange("/w/a.py", at=inside),))
    done = activity([long, other], Period(since=DAY.timestamp()))
    assert done.files == (BusyFile("a.py", 3, 2), BusyFile("c.py", 1, 1))
    assert done.changes == 4


def test_agents_branches_and_tags_are_counted_most_first() -> None:
    sessions = [
        session("1", DAY, branch="main", tags=("python",)),
        session("2", DAY, branch="fix", tags=("python", "bugfix")),
        session("3", DAY, branch="fix"),
    ]
    done = activity(sessions, Period())
    assert done.agents == (("claude-code", 3),)
    assert done.branches == (("fix", 2), ("main", 1))
    assert done.tags == (("python", 2), ("bugfix", 1))

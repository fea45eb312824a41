"""What a number of sessions come to: how many of everything, when, with which agents, in which files. Pure counting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from heapq import nlargest

import msgspec

from prima_tui.model.activity import BusyFile, Ranked, busiest, ranked
from prima_tui.model.session import Session, shown_path

_LONGEST_SHOWN = 20
_LONGEST_SITTING = timedelta(hours=12)
"""A session that was left and taken up again days later did not run all the time between."""
_SEPARATOR = re.compile(r"[/\\]")


class Statistics(msgspec.Struct, frozen=True):
    """Figures of some sessions; those that another one holds a copy of and goes on from are left out."""

    sessions: int = 0
    messages: int = 0
    exchanges: int = 0
    changes: int = 0
    """Changes of files."""
    first: date | None = None
    """Local day of the earliest session; ``last`` of the latest."""
    last: date | None = None
    days: int = 0
    """Local days on which a session ended."""
    agents: Ranked = ()
    """Source ids with their number of sessions."""
    tags: Ranked = ()
    workspaces: Ranked = ()
    branches: Ranked = ()
    folders: Ranked = ()
    """Folders of changed files (relative to the session's own) with the number of changes; "." for that itself."""
    files: tuple[BusyFile, ...] = ()
    hours: tuple[tuple[int, ...], ...] = ()
    """For each day of the week from Monday the sessions that ran in each of its 24 local hours."""
    longest: tuple[Session, ...] = ()
    """Sessions with the most messages."""


def statistics(sessions: Iterable[Session]) -> Statistics:
    """Count sessions."""
    found = [session for session in sessions if not session.continued_by]
    files = busiest(
        [shown_path(change.path, session.workspace) for change in session.files_changed] for session in found
    )
    folders: Counter[str] = Counter()
    for file in files:
        folders["/".join(_SEPARATOR.split(file.path)[:-1]) or ("." if not file.path.startswith("/") else "/")] += (
            file.changes
        )
    ends = [at.astimezone().date() for session in found if (at := session.ended_at or session.started_at)]
    longest = nlargest(_LONGEST_SHOWN, found, key=lambda session: session.message_count)
    return Statistics(
        sessions=len(found),
        messages=sum(session.message_count for session in found),
        exchanges=sum(session.exchange_count for session in found),
        changes=sum(file.changes for file in files),
        first=min(ends, default=None),
        last=max(ends, default=None),
        days=len(set(ends)),
        agents=ranked(Counter(session.source for session in found)),
        tags=ranked(Counter(tag for session in found for tag in session.tags)),
        workspaces=ranked(Counter(session.workspace for session in found if session.workspace)),
        branches=ranked(Counter(session.branch for session in found if session.branch)),
        folders=ranked(folders),
        files=files,
        hours=_hours(found),
        longest=tuple(session for session in longest if session.message_count),
    )


def _hours(sessions: Iterable[Session]) -> tuple[tuple[int, ...], ...]:
    counts = [[0] * 24 for _day in range(7)]
    for session in sessions:
        start, end = session.started_at or session.ended_at, session.ended_at or session.started_at
        if start is not None and end is not None:
            for weekday, hour in _hours_between(start, end):
                counts[weekday][hour] += 1
    return tuple(map(tuple, counts))


def _hours_between(start: datetime, end: datetime) -> set[tuple[int, int]]:
    """The (weekday, hour) that a session ran in: all from start to end of one sitting, else those two."""
    first, last = sorted((start, end))
    times = [first, last]
    if last - first <= _LONGEST_SITTING:
        times += [first + timedelta(hours=hour) for hour in range(1, int((last - first).total_seconds() // 3600) + 1)]
    return {(local.weekday(), local.hour) for time in times if (local := time.astimezone())}

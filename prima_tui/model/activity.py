"""What was done in a stretch of time, counted from the sessions; no model takes part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from prima_tui.model.dates import Period
from prima_tui.model.session import Session, shown_path


class BusyFile(msgspec.Struct, frozen=True):
    """A file with the number of times it was changed, and of sessions that changed it."""

    path: str
    changes: int
    sessions: int


Ranked = tuple[tuple[str, int], ...]
"""Names with how often each occurs, most first."""


class Activity(msgspec.Struct, frozen=True):
    """The sessions of a period, latest first, and what they come to."""

    sessions: tuple[Session, ...] = ()
    messages: int = 0
    """Of those sessions as a whole, also where they reach beyond the period; so are exchanges."""
    exchanges: int = 0
    changes: int = 0
    """Changes of files within the period (one without a time counts with its session)."""
    files: tuple[BusyFile, ...] = ()
    """Every file changed, the busiest first."""
    agents: Ranked = ()
    """Source ids with their number of sessions, most first; likewise the following."""
    branches: Ranked = ()
    tags: Ranked = ()
    days: Ranked = ()
    """Local days (``YYYY-MM-DD``), in order, with the number of sessions that ended on each."""


def activity(sessions: Iterable[Session], period: Period) -> Activity:
    """Count what touches the period. A session that another one holds a copy of and goes on from is left out."""
    found = [
        session
        for session in sessions
        if not session.continued_by and period.holds(session.started_at, session.ended_at)
    ]
    found.sort(key=_end, reverse=True)
    files = busiest(
        [
            shown_path(change.path, session.workspace)
            for change in session.files_changed
            if change.at is None or period.holds(change.at, change.at)
        ]
        for session in found
    )
    days = Counter(session.ended_at.astimezone().strftime("%Y-%m-%d") for session in found if session.ended_at)
    return Activity(
        sessions=tuple(found),
        messages=sum(session.message_count for session in found),
        exchanges=sum(session.exchange_count for session in found),
        changes=sum(file.changes for file in files),
        files=files,
        agents=ranked(Counter(session.source for session in found)),
        branches=ranked(Counter(session.branch for session in found if session.branch)),
        tags=ranked(Counter(tag for session in found for tag in session.tags)),
        days=tuple(sorted(days.items())),
    )


def busiest(changed: Iterable[Sequence[str]]) -> tuple[BusyFile, ...]:
    """Return every file, the busiest first, of the paths that each session changed (one for each change)."""
    changes: Counter[str] = Counter()
    changed_by: Counter[str] = Counter()
    for paths in changed:
        changes.update(paths)
        changed_by.update(set(paths))
    order = sorted(changes.items(), key=lambda item: (-item[1], -changed_by[item[0]], item[0]))
    return tuple(BusyFile(path, count, changed_by[path]) for path, count in order)


def ranked(counts: Counter[str]) -> Ranked:
    """Return the names with their counts, most first, equal ones by name."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _end(session: Session) -> datetime:
    end = session.ended_at or session.started_at
    assert end is not None  # a session without any time touches no period
    return end

"""Sessions over time: how many ended in each day, week or month, by source. Pure counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Literal

import msgspec

from prima_tui.model.activity import ranked
from prima_tui.model.dates import Period
from prima_tui.model.session import Session

Scale = Literal["days", "weeks", "months"]
SCALES: tuple[Scale, ...] = ("days", "weeks", "months")
_MOST_DAYS, _MOST_WEEKS = 62, 62 * 7
_LONGEST = 20_000
"""Most buckets: a session with a date of the last century must not make millions of days."""


class Bucket(msgspec.Struct, frozen=True):
    """A day, a week from Monday, or a month."""

    first: date
    last: date
    """Its last day."""
    counts: tuple[int, ...]
    """Sessions of each of the timeline's sources."""

    @property
    def total(self) -> int:
        """Sessions of all sources."""
        return sum(self.counts)


class Timeline(msgspec.Struct, frozen=True):
    """Buckets without a gap, from the first session to the last (or today)."""

    scale: Scale
    sources: tuple[tuple[str, int], ...] = ()
    """Source ids with their sessions, most first."""
    tags: tuple[tuple[str, int], ...] = ()
    """Tags with their sessions, most first; of all sessions, whichever tag is counted."""
    buckets: tuple[Bucket, ...] = ()
    undated: int = 0
    """Sessions without any time; they stand in no bucket."""

    def touching(self, first: date, last: date) -> tuple[int, int] | None:
        """Return the first and the last bucket with a day from ``first`` to ``last``; None for none."""
        places = [place for place, bucket in enumerate(self.buckets) if bucket.first <= last and bucket.last >= first]
        return (places[0], places[-1]) if places else None


def timeline(sessions: Iterable[Session], scale: Scale | None, today: date, tag: str = "") -> Timeline:
    """Return the timeline of sessions, counted on the local day they ended; only those with ``tag`` if it is given.

    Without a scale the finest that still shows the whole at a glance is taken. A session that another one holds a copy
    of and goes on from is left out.
    """
    dated: list[tuple[date, str]] = []
    sources: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    undated = 0
    for session in sessions:
        if session.continued_by:
            continue
        tags.update(session.tags)
        if tag and tag not in session.tags:
            continue
        at = session.ended_at or session.started_at
        if at is None:
            undated += 1
            continue
        sources[session.source] += 1
        dated.append((at.astimezone().date(), session.source))
    first = min((day for day, _source in dated), default=today)
    last = max(today, max((day for day, _source in dated), default=today))
    scale = scale or fitting_scale(first, last)
    agents = ranked(sources)
    order = {source: place for place, (source, _count) in enumerate(agents)}
    counts: dict[date, list[int]] = {}
    for day, source in dated:
        counts.setdefault(bucket_start(day, scale), [0] * len(order))[order[source]] += 1
    starts: list[date] = []
    start = bucket_start(last, scale)
    while start >= bucket_start(first, scale) and len(starts) < _LONGEST:
        starts.append(start)
        start = bucket_start(start - timedelta(days=1), scale)
    empty = [0] * len(order)
    return Timeline(
        scale,
        agents,
        ranked(tags),
        tuple(Bucket(start, bucket_end(start, scale), tuple(counts.get(start, empty))) for start in reversed(starts)),
        undated,
    )


def fitting_scale(first: date, last: date) -> Scale:
    """Return the finest scale at which the days from first to last can be seen at a glance."""
    days = (last - first).days
    return "days" if days <= _MOST_DAYS else "weeks" if days <= _MOST_WEEKS else "months"


def bucket_start(day: date, scale: Scale) -> date:
    """Return the first day of the bucket that a day falls in."""
    if scale == "months":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if scale == "weeks" else day


def bucket_end(start: date, scale: Scale) -> date:
    """Return the last day of the bucket that begins on a day."""
    if scale == "days":
        return start
    if scale == "weeks":
        return start + timedelta(days=6)
    return (start.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def date_value(first: Bucket, last: Bucket, scale: Scale) -> str:
    """Return the value of a date filter that asks for the time from one bucket to another."""
    form = "%Y-%m" if scale == "months" else "%Y-%m-%d"
    since, until = first.first.strftime(form), last.last.strftime(form)
    return since if since == until else f"{since}..{until}"


def days_of(period: Period) -> tuple[date, date]:
    """Return the first and the last local day of a period; the first and the last of all where it is open."""
    first = date.min if period.since is None else datetime.fromtimestamp(period.since).date()
    last = date.max if period.until is None else datetime.fromtimestamp(period.until - 1).date()
    return first, last

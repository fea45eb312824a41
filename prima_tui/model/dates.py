"""The dates of the filter language: ``<7d``, ``today``, ``2026-11-03``, ``2026-10..2026-11`` as stretches of time."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import msgspec

_RELATIVE = re.compile(r"([<>])\s*([0-9]{1,6})(h|d|w|m|mo|y)")
_CALENDAR = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}
_MONTHS = {"m": 1, "mo": 1, "y": 12}


class Period(msgspec.Struct, frozen=True):
    """A stretch of time in seconds since 1970 UTC, ``since`` included, ``until`` not; None where it is open."""

    since: float | None = None
    until: float | None = None
    over: bool = False
    """Asks for what had come to its end before ``until``, not only begun."""

    def holds(self, started_at: datetime | None, ended_at: datetime | None) -> bool:
        """Tell whether something that went on between the two times touches the period.

        One time stands for both where the other is unknown; with none known the answer is no.
        """
        start, end = started_at or ended_at, ended_at or started_at
        if start is None or end is None:
            return False
        first, last = sorted((_seconds(start), _seconds(end)))
        begun = self.until is None or (last if self.over else first) < self.until
        return begun and (self.since is None or last >= self.since)


def period(value: str, now: datetime) -> Period | None:
    """Return the period that the value of a date filter names, or None when it names none.

    ``<7d`` is active within the last seven days, ``>2w`` not active for two weeks (units h, d, w, m for months, y);
    ``today`` and ``yesterday`` are days, ``week`` and ``month`` the last seven days and the last month up to now;
    ``2026-11-03``, ``2026-11`` and ``2026`` are a day, a month, a year, and ``a..b`` reaches from the first of one to
    the last of the other, either of which may be missing. Days are those of the time zone of ``now``.
    """
    value = value.strip().lower()
    relative = _RELATIVE.fullmatch(value)
    if relative:
        cut = _seconds(_before(now, int(relative[2]), relative[3]))
        return Period(since=cut) if relative[1] == "<" else Period(until=cut, over=True)
    if value in ("week", "month"):
        return Period(since=_seconds(_before(now, 1, value[0])))
    if ".." in value:
        first, _, last = value.partition("..")
        return _between(first.strip(), last.strip(), now)
    days = _days(value, now)
    return None if days is None else Period(_midnight(days[0], now), _midnight(days[1], now))


def local_now() -> datetime:
    """Return the present time in the time zone of the computer."""
    return datetime.now(UTC).astimezone()


def _between(first: str, last: str, now: datetime) -> Period | None:
    since = until = None
    if first:
        days = _days(first, now)
        if days is None:
            return None
        since = _midnight(days[0], now)
    if last:
        days = _days(last, now)
        if days is None:
            return None
        until = _midnight(days[1], now)
    if (since is None and until is None) or (since is not None and until is not None and since >= until):
        return None
    return Period(since, until)


def _days(value: str, now: datetime) -> tuple[date, date] | None:
    """Return the first day that the value names, and the first after it."""
    today = now.date()
    if value == "today":
        return today, _plus_day(today)
    if value == "yesterday":
        return (today - timedelta(days=1), today) if today > date.min else None
    calendar = _CALENDAR.fullmatch(value)
    if not calendar:
        return None
    year, month, day = (int(part) if part else 0 for part in calendar.groups())
    try:
        if day:
            return date(year, month, day), _plus_day(date(year, month, day))
        if calendar[3]:
            return None
        if calendar[2]:
            first = date(year, month, 1)
            return first, date(year + month // 12, month % 12 + 1, 1) if (year, month) < (9999, 12) else date.max
        return date(year, 1, 1), date(year + 1, 1, 1) if year < 9999 else date.max
    except ValueError:
        return None


def _plus_day(day: date) -> date:
    return day + timedelta(days=1) if day < date.max else day


def _midnight(day: date, now: datetime) -> float:
    """Return the instant at which a day begins in the time zone of ``now``."""
    start = datetime(day.year, day.month, day.day)
    if isinstance(now.tzinfo, timezone):
        # A bare offset is what the computer's own zone looks like; it then also knows of other offsets in summer.
        try:
            if now.astimezone().utcoffset() == now.utcoffset():
                return start.timestamp()
        except (OverflowError, OSError, ValueError):
            pass
    return _seconds(start.replace(tzinfo=now.tzinfo))


def _before(now: datetime, number: int, unit: str) -> datetime:
    try:
        if unit in _HOURS:
            return now - timedelta(hours=number * _HOURS[unit])
        months = now.year * 12 + now.month - 1 - number * _MONTHS[unit]
        year, month = divmod(months, 12)
        following = date(year + month // 11, (month + 1) % 12 + 1, 1)
        last_day = (following - timedelta(days=1)).day
        return now.replace(year=year, month=month + 1, day=min(now.day, last_day))
    except (OverflowError, ValueError):
        return datetime.min.replace(tzinfo=UTC)


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()

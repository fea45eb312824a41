"""Statistics as JSON and as text. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Iterable

from prima_tui.model.activity import Ranked
from prima_tui.model.statistics import Statistics
from prima_tui.model.text import count_text, one_line
from prima_tui.output import Json

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SHOWN = 10


def statistics_json(found: Statistics, warnings: Iterable[str]) -> Json:
    """Return what ``stats`` prints."""

    def ranked(names: Ranked) -> list[Json]:
        return [{"name": name, "count": count} for name, count in names]

    return {
        "sessions": found.sessions,
        "messages": found.messages,
        "exchanges": found.exchanges,
        "changes": found.changes,
        "files_changed": len(found.files),
        "first_day": found.first.isoformat() if found.first else None,
        "last_day": found.last.isoformat() if found.last else None,
        "active_days": found.days,
        "agents": ranked(found.agents),
        "tags": ranked(found.tags),
        "workspaces": ranked(found.workspaces),
        "branches": ranked(found.branches),
        "folders": ranked(found.folders),
        "files": [{"path": one.path, "changes": one.changes, "sessions": one.sessions} for one in found.files],
        "hours": {day: list(hours) for day, hours in zip(DAYS, found.hours, strict=True)},
        "longest": [
            {"id": one.id, "source": one.source, "title": one.title, "message_count": one.message_count}
            for one in found.longest
        ],
        "warnings": list(warnings),
    }


def statistics_text(found: Statistics) -> str:
    """Return what ``stats`` prints for people."""
    if not found.sessions:
        return "No sessions."
    figures = [
        count_text(found.sessions, "session"),
        count_text(found.messages, "message"),
        count_text(found.exchanges, "exchange"),
        f"{count_text(found.changes, 'change')} in {count_text(len(found.files), 'file')}",
    ]
    span = f"{found.first} to {found.last}, active on {count_text(found.days, 'day')}" if found.first else "no dates"
    parts = [" · ".join(figures) + "\n" + span]
    for heading, names in (
        ("Agents", found.agents),
        ("Tags", found.tags),
        ("Workspaces", found.workspaces if len(found.workspaces) > 1 else ()),
        ("Branches", found.branches),
        ("Busiest folders", found.folders),
        ("Most changed files", tuple((one.path, one.changes) for one in found.files)),
        ("Longest sessions (messages)", tuple((one.title, one.message_count) for one in found.longest)),
    ):
        if names:
            lines = [f"{count:>8,}  {one_line(name)}" for name, count in names[:_SHOWN]]
            parts.append("\n".join([heading, *lines]))
    head = "      " + "".join(f"{hour:>4}" for hour in range(0, 24, 2))
    rows = [
        f"{day:>6}" + "".join(f"{hours[hour] + hours[hour + 1]:>4}" for hour in range(0, 24, 2))
        for day, hours in zip(DAYS, found.hours, strict=True)
    ]
    parts.append("\n".join(["Sessions by day and hour", head, *rows]))
    return "\n\n".join(parts)

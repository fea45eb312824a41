"""The extract of a session as markdown: what it was, what it changed and why, how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from prima_tui.model.session import Exchange, FileChange, Session, shown_path

_REPLY_CHARACTERS = 200
"""A reply is substantial past this length."""
_LAST_REPLIES = 5
_LAST_EXCHANGES = 10


def extract_markdown(session: Session, exchanges: Sequence[Exchange]) -> str:
    """Return the extract: header, title, table of the files changed with the explanation of each, the last five
    substantial replies (most recent first), the last ten exchanges in full. Times are local.
    """
    main = [exchange for exchange in exchanges if not exchange.agent]
    blocks = [
        f"# {_one_line(session.title)}",
        _header(session),
        _files(session),
        _replies(main),
        _exchanges(main),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _header(session: Session) -> str:
    files = list(dict.fromkeys(change.path for change in session.files_changed))
    rows = [
        ("Session", session.id),
        ("Date", local_time(session.started_at)),
        ("Duration", duration(session)),
        ("Project folder", session.workspace or ""),
        ("Branch", session.branch or ""),
        ("Author", session.author or ""),
        ("Model", session.model or ""),
        ("Messages", str(session.message_count)),
        ("Files changed", str(len(files))),
        ("Tags", ", ".join(session.tags)),
    ]
    return "\n".join(f"- **{name}:** {_one_line(value)}" for name, value in rows if value)


def _files(session: Session) -> str:
    if not session.files_changed:
        return ""
    latest: dict[str, list[FileChange]] = {}
    for change in session.files_changed:
        latest.setdefault(change.path, []).append(change)
    rows = ["## Files changed", "", "| File | Action | Explanation |", "|---|---|---|"]
    for path, changes in latest.items():
        explained = next((change.explanation for change in reversed(changes) if change.explanation.strip()), "")
        times = f" ×{len(changes)}" if len(changes) > 1 else ""
        name = cell(shown_path(path, session.workspace))
        rows.append(f"| {name} | {changes[-1].action}{times} | {cell(explained)} |")
    return "\n".join(rows)


def _replies(exchanges: Sequence[Exchange]) -> str:
    replies = [one for one in exchanges if len(one.assistant) > _REPLY_CHARACTERS][-_LAST_REPLIES:]
    if not replies:
        return ""
    parts = [f"### {local_time(one.at)}\n\n{one.assistant.strip()}" for one in reversed(replies)]
    return "## Last replies\n\n" + "\n\n".join(parts)


def _exchanges(exchanges: Sequence[Exchange]) -> str:
    if not exchanges:
        return ""
    parts = []
    for one in exchanges[-_LAST_EXCHANGES:]:
        sides = [f"**User:** {one.user.strip()}"] if one.user else []
        if one.assistant:
            sides.append(f"**Assistant:** {one.assistant.strip()}")
        parts.append(f"### {local_time(one.at)}\n\n" + "\n\n".join(sides))
    return "## Last exchanges\n\n" + "\n\n".join(parts)


def cell(text: str) -> str:
    """Return text as one cell of a markdown table: pipes escaped, line ends turned into ``<br>``."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return "<br>".join(lines).replace("|", "\\|")


def duration(session: Session) -> str:
    """Return how long a session took, in words as short as ``2 h 5 min``; "" when it isn't known."""
    if session.started_at is None or session.ended_at is None:
        return ""
    minutes = int((session.ended_at - session.started_at).total_seconds() // 60)
    if minutes < 1:
        return "under a minute"
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    amounts = ((days, "d"), (hours, "h"), (minutes, "min"))
    return " ".join(f"{amount} {unit}" for amount, unit in amounts if amount)


def local_time(when: datetime | None) -> str:
    """Return a time in the user's own zone, to the minute; "" when there is none."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M") if when else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())

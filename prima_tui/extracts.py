"""The extract of a session as markdown: what it was, what it changed and why, how it ended."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PureWindowsPath

import msgspec

from prima_tui.config import private_folder
from prima_tui.model.session import Exchange, FileChange, Session, shown_path

FILES_HEADING = "## Files changed"
"""The line above the table of files."""
_REPLY_CHARACTERS = 200
"""A reply is substantial past this length."""
_LAST_REPLIES = 5
_LAST_EXCHANGES = 10
_MANY_MESSAGES = 50
_MANY_FILES = 10
_LONG = timedelta(minutes=30)
_SESSION_LINE = re.compile(r"^- \*\*Session:\*\* (.+)$", re.MULTILINE)
_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-(\d{2})(\d{2}))?.*(?:extract|checkpoint).*\.md", re.IGNORECASE)


class StoredExtract(msgspec.Struct, frozen=True):
    """An extract or checkpoint file: where it is, when its session was, what its first lines call it, its text."""

    path: str
    project: str
    """The name of its folder."""
    at: datetime
    """The local time in its name (midnight when it holds none), in UTC."""
    description: str
    text: str


def is_substantial(session: Session) -> bool:
    """Tell whether a session earns an extract: 50 messages, 10 files changed, or 30 minutes, or more of one of them."""
    files = {change.path for change in session.files_changed}
    long = bool(session.started_at and session.ended_at and session.ended_at - session.started_at >= _LONG)
    return session.message_count >= _MANY_MESSAGES or len(files) >= _MANY_FILES or long


def project_id(folder: str) -> str:
    """Return the project id of a working folder: its last name in lower case, spaces to hyphens, punctuation removed.

    ``Example Consulting`` gives ``example-consulting``; a folder with no letter or digit in its name gives ``project``.
    """
    name = PureWindowsPath(folder).name if "\\" in folder or folder[1:2] == ":" else Path(folder).name
    hyphened = re.sub(r"\s+", "-", name.lower().strip())
    return re.sub(r"[^\w-]", "", hyphened).strip("-") or "project"


def write_extract(root: Path, session: Session, exchanges: Sequence[Exchange]) -> Path | None:
    """Write the session's extract below ``root`` (one folder for each project); return its path, None if there is none.

    At most one is written for each project folder and local day: none if the folder holds an extract or a checkpoint of
    that day, or a file named after the session. Never updates one. Raises OSError when it can't be written.
    """
    if session.started_at is None or not session.workspace:
        return None
    start = session.started_at.astimezone()
    folder = root / project_id(session.workspace)
    day = start.strftime("%Y-%m-%d")
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        names = []
    for name in names:
        match = _NAME.fullmatch(name)
        if session.id in name or (match is not None and match.group(1) == day):
            return None
    private_folder(root)
    path = private_folder(folder) / f"{start:%Y-%m-%d-%H%M}-session-extract.md"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return None
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(extract_markdown(session, exchanges))
    return path


def forget_extracts(root: Path, unwanted: Callable[[str], bool]) -> None:
    """Remove the extracts that were written here of sessions whose id is unwanted. Raises OSError."""
    for path in root.glob("*/*-session-extract.md"):
        named = _SESSION_LINE.search(path.read_text(encoding="utf-8", errors="replace"))
        if named is not None and unwanted(named[1]):
            path.unlink(missing_ok=True)


def stored_extracts(root: Path) -> list[StoredExtract]:
    """Return every extract and checkpoint below ``root``, newest first; one that can't be read is left out."""
    found = []
    for path in root.glob("*/*.md"):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            at = datetime.strptime(
                f"{match.group(1)} {match.group(2) or '00'}{match.group(3) or '00'}", "%Y-%m-%d %H%M"
            )
        except (OSError, ValueError):
            continue
        described = re.search(r"^(?:description:\s*|#+\s+)(.+)$", text, re.MULTILINE)
        description = described.group(1).strip() if described else ""
        found.append(StoredExtract(str(path), path.parent.name, at.astimezone(UTC), description, text))
    return sorted(found, key=lambda one: (one.at, one.path), reverse=True)


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
    rows = [FILES_HEADING, "", "| File | Action | Explanation |", "|---|---|---|"]
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

"""Session history: the short summaries of past sessions that a project keeps in ``.claude/state``, searched last.

``state.json`` and ``projects/*.json`` hold those of the current month, ``history/YYYY-MM.json`` those of the months
before. They are read when asked for, and nothing of them is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec

from prima_tui.sources.base import Problem, listed
from prima_tui.sources.jsonl import whole_value

_PLACE = (".claude", "state")
_TEXT_NAMES = ("summary", "text", "description", "lastAction", "title", "notes")
_LIST_NAMES = ("sessionHistory", "sessions", "entries")
_DAY = re.compile(r"\s*(\d{4})-(\d{2})-(\d{2})(?:[T ]+(\d{2}:\d{2}))?")
_WRONG_SHAPE = "session history of an unknown shape"


class HistoryEntry(msgspec.Struct, frozen=True):
    """One summary of a past session."""

    month: str
    """``YYYY-MM``: of its day, in the archive that of its file."""
    date: str
    """``YYYY-MM-DD``, "" where none is recorded (in the archive only)."""
    time: str
    """As recorded, mostly ``HH:MM``; "" where none is."""
    text: str
    projects: tuple[str, ...] = ()


def current_month(workspace: Path, today: date, problems: list[Problem]) -> list[HistoryEntry]:
    """Return this month's entries of ``state.json`` and ``projects/*.json``, newest first.

    An entry belongs to the month of its date. What a project file says of where work stopped is an entry too. A shape
    that is not known, or an entry without a date, is added to ``problems``.
    """
    root = workspace.joinpath(*_PLACE)
    month = f"{today:%Y-%m}"
    found: list[HistoryEntry] = []
    state = _decoded(root / "state.json", problems)
    if isinstance(state, dict):
        if state.get("sessionHistory") is not None:
            found += _entries(state["sessionHistory"], "", (), root / "state.json", problems)
    elif state is not None:
        problems.append(Problem(_WRONG_SHAPE, str(root / "state.json")))
    for path in _json_files(root / "projects", problems):
        project = _decoded(path, problems)
        if isinstance(project, dict):
            found += _project_entries(project, path, problems)
        elif project is not None:
            problems.append(Problem(_WRONG_SHAPE, str(path)))
    return _newest_first([entry for entry in found if entry.month == month])


def archive(workspace: Path, problems: list[Problem]) -> Iterator[list[HistoryEntry]]:
    """Yield the entries of each archived month, newest month first, newest entry first; a file is read when reached."""
    folder = workspace.joinpath(*_PLACE, "history")
    files = [path for path in _json_files(folder, problems) if re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", path.stem)]
    for path in sorted(files, reverse=True):
        content = _decoded(path, problems)
        lists = [content] if isinstance(content, list) else []
        if isinstance(content, dict):
            lists = [content[name] for name in _LIST_NAMES if content.get(name) is not None]
        if not lists and content is not None and content != {}:
            problems.append(Problem(_WRONG_SHAPE, str(path)))
        found = [entry for each in lists for entry in _entries(each, path.stem, (), path, problems)]
        if found:
            yield _newest_first(found)


def entries(workspace: Path, today: date, problems: list[Problem]) -> Iterator[HistoryEntry]:
    """Yield every entry, the current month's first, then the archive's month by month, newest first."""
    yield from current_month(workspace, today, problems)
    for month in archive(workspace, problems):
        yield from month


def _json_files(folder: Path, problems: list[Problem]) -> list[Path]:
    """Return the JSON files of a folder in order of name; none when it is missing."""
    return [path for entry in listed(folder, problems) if (path := Path(entry.path)).suffix == ".json"]


def _decoded(path: Path, problems: list[Problem]) -> Any:
    """Return what a JSON file holds; None when it is missing or empty, or, with a problem, when it can't be used."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problems.append(Problem(f"can't be read: {error.strerror}", str(path)))
        return None
    if not content.strip(b"\xef\xbb\xbf \t\r\n\0"):
        return None
    try:
        return whole_value(content)
    except ValueError:
        problems.append(Problem("malformed session history", str(path)))
        return None


def _entries(
    given: Any, month: str, projects: tuple[str, ...], path: Path, problems: list[Problem]
) -> list[HistoryEntry]:
    """Return the entries of a list; those of an unknown shape, or without any month, are counted as problems."""
    if not isinstance(given, list):
        problems.append(Problem(_WRONG_SHAPE, str(path)))
        return []
    found: list[HistoryEntry] = []
    wrong = undated = 0
    for each in given:
        text = _text_of(each)
        if not text:
            wrong += 1
            continue
        day, clock = _day_and_clock(each.get("date"), each.get("time"))
        if not day and not month:
            undated += 1
            continue
        found.append(HistoryEntry(month or day[:7], day, clock, text, _projects(each) or projects))
    if wrong:
        problems.append(Problem("session history entries of an unknown shape", str(path), wrong))
    if undated:
        problems.append(Problem("session history entries without a date", str(path), undated))
    return found


def _project_entries(project: dict[str, Any], path: Path, problems: list[Problem]) -> list[HistoryEntry]:
    """Return a project file's entries: its history, and where work on it stopped."""
    name = next(
        (value for key in ("name", "project", "id") if isinstance(value := project.get(key), str) and value), ""
    )
    projects = (name or path.stem,)
    history = project.get("sessionHistory")
    found = [] if history is None else _entries(history, "", projects, path, problems)
    stopped, action = project.get("stoppedAt"), project.get("lastAction")
    wrong = sum(value is not None and not isinstance(value, str | dict) for value in (stopped, action))
    if wrong:
        problems.append(Problem(_WRONG_SHAPE, str(path), wrong))
    day = clock = ""
    texts: list[str] = []
    for value in (stopped, action):
        inner = value if isinstance(value, dict) else {"date": value}
        if not day:
            day, clock = _day_and_clock(
                inner.get("date") or inner.get("at") or inner.get("timestamp"), inner.get("time")
            )
        # a moment says when, anything else says what
        is_moment = isinstance(value, str) and bool(_DAY.match(value)) and len(value.strip()) <= 35
        text = _text_of(value) if isinstance(value, dict) else value if isinstance(value, str) and not is_moment else ""
        if text and text.strip():
            texts.append(text.strip())
    for key in ("lastUpdated", "updatedAt", "lastSession", "date"):
        if not day:
            day, clock = _day_and_clock(project.get(key), None)
    if texts and not day:
        # nothing recorded says when: then the file's own time does
        try:
            day = f"{datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d}"
        except (OSError, ValueError, OverflowError):
            problems.append(Problem("session history entries without a date", str(path)))
    if texts and day:
        found.append(HistoryEntry(day[:7], day, clock, "\n".join(texts), projects))
    return found


def _text_of(entry: Any) -> str:
    """Return the words of an entry: text, or a list of texts; "" when it has none."""
    if not isinstance(entry, dict):
        return ""
    for name in _TEXT_NAMES:
        value = entry.get(name)
        if isinstance(value, list):
            value = "\n".join(each for each in value if isinstance(each, str))
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _day_and_clock(day: Any, clock: Any) -> tuple[str, str]:
    """Return (``YYYY-MM-DD``, time as recorded) of an entry, "" for what is not recorded or no real day."""
    if isinstance(day, int | float) and not isinstance(day, bool):
        try:
            day = datetime.fromtimestamp(day / 1000 if abs(day) > 1e11 else day, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            day = ""
    found = _DAY.match(day) if isinstance(day, str) else None
    recorded = clock.strip() if isinstance(clock, str) else ""
    if not found:
        return "", recorded
    try:
        date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return "", recorded
    return f"{found[1]}-{found[2]}-{found[3]}", recorded or (found[4] or "")


def _projects(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the projects that an entry names: texts, or objects with a name."""
    given = entry.get("projectsWorked")
    if given is None:
        given = entry.get("projects") or entry.get("project")
    names = []
    for each in given if isinstance(given, list) else [given]:
        name = each.get("name") or each.get("id") if isinstance(each, dict) else each
        if isinstance(name, str) and name.strip():
            names.append(name.strip())
    return tuple(dict.fromkeys(names))


def _newest_first(found: list[HistoryEntry]) -> list[HistoryEntry]:
    """Return the entries newest first; the same entry of two files once, with the projects of both."""
    merged: dict[tuple[str, str, str], HistoryEntry] = {}
    for entry in found:
        key = (entry.date, entry.time, entry.text)
        before = merged.get(key)
        if before is not None:
            entry = msgspec.structs.replace(before, projects=tuple(dict.fromkeys(before.projects + entry.projects)))
        merged[key] = entry
    return sorted(merged.values(), key=lambda entry: (entry.date, entry.time), reverse=True)

"""The last step of a search: when the conversations hold nothing, the summaries of the session history do perhaps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from prima_tui.model.hits import PastEntry
from prima_tui.model.text import fold
from prima_tui.sources.base import Problem
from prima_tui.sources.session_history import HistoryEntry, archive, current_month


def search_past(workspace: Path, words: Sequence[str], today: date, problems: list[Problem]) -> list[PastEntry]:
    """Return the summaries that hold every word: of the current month, else of the archive.

    Newest first; what can't be read is added to ``problems``.
    """
    if not words:
        return []
    found = [entry for entry in current_month(workspace, today, problems) if _holds(entry, words)]
    if not found:
        for month in archive(workspace, problems):
            found += [entry for entry in month if _holds(entry, words)]
    return [PastEntry(entry.month, entry.date, entry.time, entry.text, entry.projects) for entry in found]


def _holds(entry: HistoryEntry, words: Sequence[str]) -> bool:
    text = fold("\n".join((entry.text, *entry.projects)))
    return all(word in text for word in words)

"""What is said while the index of meaning grows: how long it still takes, and, the first time, what it is for."""

from __future__ import annotations

from prima_tui.model.hits import IndexProgress

FIRST_TIME = (
    "Your conversations are made searchable by meaning now, the newest first. That is done once; words are found"
    " already. Leave whenever you like: it goes on next time."
)
_KNOWN_AFTER = 2.0
"""Seconds from which on the speed tells something."""


def index_hint(progress: IndexProgress, budget: float | None) -> str:
    """Return how long the work still takes, as far as that can be told, and how it is stopped.

    ``budget`` is how many seconds it may take in all, None for as long as it needs.
    """
    left = seconds_left(progress, budget)
    return "F6 stops" if left is None else f"{duration_text(left)} left, F6 stops"


def seconds_left(progress: IndexProgress, budget: float | None) -> float | None:
    """Return about how many seconds are left; None while that can't be told."""
    if progress.seconds < _KNOWN_AFTER or not 0 < progress.files_done < progress.files_total:
        return None
    left = progress.seconds / progress.files_done * (progress.files_total - progress.files_done)
    return left if budget is None else max(0.0, min(left, budget - progress.seconds))


def duration_text(seconds: float) -> str:
    """Return a length of time in round words: ``a moment``, ``20 s``, ``3 min``, ``2 h``."""
    if seconds < 5:
        return "a moment"
    if seconds < 55:
        return f"{5 * round(seconds / 5)} s"
    if seconds < 3_300:
        return f"{max(1, round(seconds / 60))} min"
    return f"{max(1, round(seconds / 3_600))} h"

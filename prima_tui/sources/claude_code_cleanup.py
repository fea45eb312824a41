"""When Claude Code deletes a transcript: ``cleanupPeriodDays`` days after the file was last written to.

It looks at the files' times when it starts. Every configuration folder has settings of its own.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

import orjson

USUAL_DAYS = 30
"""What counts where nothing, or nothing that can be used, is set."""
_LONGEST_DAYS = 36_500
"""From here on (people write 99999 for "never") nothing is deleted in anybody's lifetime."""
_SETTINGS_SECONDS = 5


def deleted_at(root: str, mtime_ns: int) -> datetime | None:
    """Return when the cleanup of the configuration folder ``root`` takes a file last written at ``mtime_ns``.

    None: not in anybody's lifetime.
    """
    days = _kept_days(root, int(time.monotonic() / _SETTINGS_SECONDS))
    if days >= _LONGEST_DAYS:
        return None
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC) + timedelta(days=days)
    except (OverflowError, OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _kept_days(root: str, _moment: int) -> float:
    """Return the days that are set in ``settings.json``; asked of the disk every few seconds at most."""
    try:
        settings = orjson.loads(Path(root, "settings.json").read_bytes())
    except (OSError, ValueError):
        return USUAL_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    if isinstance(days, bool) or not isinstance(days, int | float) or days <= 0:
        return USUAL_DAYS
    return days

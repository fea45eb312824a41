"""Deep search: the extracts and checkpoints beside the sessions.

20 points when the file's name contains the whole query, 15 for each word in its description, 3 for each word in its
text, up to 5 for a date within seven days.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from prima_tui.extracts import stored_extracts
from prima_tui.model.hits import ExtractFound
from prima_tui.model.query import Query
from prima_tui.model.scoring import recency
from prima_tui.model.text import fold


def search_extracts(root: Path, query: Query, words: Sequence[str], now: datetime) -> list[ExtractFound]:
    """Return the extracts and checkpoints below ``root`` that match, best first, ties newest first."""
    whole = fold(query.text)
    if not whole:
        return []
    hits = []
    for one in stored_extracts(root):
        description, text = fold(one.description), fold(one.text)
        points = 20.0 * (whole in fold(Path(one.path).name))
        points += 15.0 * sum(word in description for word in words)
        points += 3.0 * sum(word in text for word in words)
        if points:
            score = points + recency(one.at, now) / 2
            hits.append(ExtractFound(one.path, one.project, one.at, one.description, one.text, score))
    return sorted(hits, key=lambda hit: (hit.score, hit.at, hit.path), reverse=True)

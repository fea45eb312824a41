"""Extracts that a deep search found, as rows of the list: they are looked at like sessions, but never resumed."""

from __future__ import annotations

from prima_tui.model.hits import ExtractFound, Hit, Reason
from prima_tui.model.session import Exchange, Session

EXTRACT = "extract"
"""Stands in the place of a source."""


def extract_hit(found: ExtractFound) -> Hit:
    """Return an extract as a hit; its text is the exchange's reply."""
    session = Session(found.path, EXTRACT, EXTRACT, found.description, ended_at=found.at)
    return Hit(session, found.score, exchange=Exchange("", found.text), reasons=(Reason("words", found.score),))


def is_extract(hit: Hit) -> bool:
    """Return whether a hit is an extract."""
    return hit.session.source == EXTRACT

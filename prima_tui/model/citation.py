"""Citations of an exchange: ``ID#N``, N from 1 as the screen numbers exchanges; the session alone is ``ID``."""

from __future__ import annotations

import re

from prima_tui.model.session import Session

_CITED = re.compile(r"(?P<id>[^#\s]+)(?:#(?P<number>\d{1,9}))?")


def citation(session: Session, place: int | None) -> str:
    """Return the command that opens a session at an exchange (its place from 0; None or -1: where it opens itself)."""
    number = f"#{place + 1}" if place is not None and place >= 0 else ""
    return f"prima-tui --open {session.id}{number}"


def cited(text: str) -> tuple[str, int | None] | None:
    """Return the id (or its start) and the place, from 0, that a citation names; None when it is none."""
    match = _CITED.fullmatch(text.strip().removeprefix("prima-tui --open "))
    if match is None or match["number"] == "0":
        return None
    return match["id"], int(match["number"]) - 1 if match["number"] else None

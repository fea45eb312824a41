"""One session as a search sees it."""

from __future__ import annotations

import msgspec

from prima_tui.model.session import Session
from prima_tui.sources.assemble import Part


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One session with what a search compares: its folded title and paths, and where its messages are."""

    session: Session
    parts: tuple[Part, ...]
    numbers: tuple[int, ...]
    """For each part, its number in the message table (-1: not there)."""
    title: str
    paths: tuple[str, ...]
    """Folded, each changed file once, relative to the session's own folder."""
    all_paths: str
    """They all, one on a line: what no line holds, no path does."""

"""A document whose bytes were understood, whatever kind of file it is."""

from __future__ import annotations

import msgspec

from prima_tui.documents.markdown import Outline


class Readable(msgspec.Struct, frozen=True):
    """A document that could be read. Lines count in ``text``."""

    text: str
    outline: Outline | None = None
    """None for a text that has paragraphs alone."""
    title: str = ""
    """What the document itself gives as its title; "" when it gives none."""
    warning: str = ""
    language: str = ""
    """Of source code; "" of a text."""
    unfinished: bool = False
    """There was no time for the rest of it."""


class Unreadable(Exception):
    """A document can't be read; the text says why, on one line."""

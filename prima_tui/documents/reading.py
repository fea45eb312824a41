"""The bytes of a document as text: which encoding they are in, and whether they are text at all."""

from __future__ import annotations

import codecs
import re

import msgspec

_LOOKED_AT = 8192
"""Bytes at the beginning in which signs of a binary file are looked for."""
_BINARY_STARTS = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\x1f\x8b", b"\x7fELF", b"GIF8", b"\xff\xd8\xff", b"MZ\x90")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What no text holds: control characters other than white space, backspace and escape.
_CONTROL = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_LINE_END = re.compile("\r\n?")


class Decoded(msgspec.Struct, frozen=True):
    """A document's text, its lines ended by a line feed; ``warning`` says what was guessed or lost, "" mostly."""

    text: str
    warning: str = ""


def decode(data: bytes) -> Decoded | None:
    """Return the text of a document, None when the bytes are no text.

    A byte order mark decides; else UTF-8; else UTF-16 where every other byte is zero; else, with a warning, UTF-8 with
    the broken places replaced when most of it is sound, or Latin-1.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _lenient(data[len(mark) :], encoding)
    head = data[:_LOOKED_AT]
    if head.startswith(_BINARY_STARTS):
        return None
    if b"\x00" in head:
        wide = _utf16_without_mark(head)
        if not wide:
            return None
        found = _lenient(data, wide)
        return Decoded(found.text, found.warning or f"read as {wide.upper()}, which is a guess")
    try:
        return Decoded(_plain(data.decode("utf-8")))
    except UnicodeDecodeError:
        pass
    if len(_CONTROL.findall(head)) * 20 > len(head):
        return None
    text = data.decode("utf-8", "replace")
    sound = sum(not character.isascii() for character in text) - text.count("\ufffd")
    if sound > text.count("\ufffd"):
        return Decoded(_plain(text), "damaged UTF-8; what could not be read is replaced")
    return Decoded(_plain(data.decode("latin-1")), "not UTF-8; read as Latin-1, which is a guess")


def _lenient(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(_plain(data.decode(encoding)))
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return Decoded(_plain(text), f"damaged {encoding.upper()}; what could not be read is replaced")


def _plain(text: str) -> str:
    return _LINE_END.sub("\n", text).replace("\x00", "\ufffd")


def _utf16_without_mark(head: bytes) -> str:
    """Return which UTF-16 it is when nearly all zeros stand at even, or at odd, places and are many; else ""."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    enough = len(head) // 4
    if odd > enough and even * 20 < odd:
        return "utf-16-le"
    if even > enough and odd * 20 < even:
        return "utf-16-be"
    return ""

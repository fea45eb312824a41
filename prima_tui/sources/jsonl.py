"""JSON objects out of damaged bytes: every usable line of a file, and a count of those that are none.

Lines end at ``\\n`` bytes only (U+2028 and its kin may stand unescaped in strings). A cut last line, invalid UTF-8,
NULs, lone surrogate escapes, two objects run together, numbers of any size: what is good beside it is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from io import BufferedReader
from typing import Any

import orjson

Record = dict[str, Any]

LONGEST_LINE = 128 * 1024 * 1024
"""Bytes; a longer line is passed over (and counted), so that memory stays bounded."""
_WHOLE_FILE = 32 * 1024 * 1024
"""Bytes; a file up to this size is read at once, which is faster."""


class Lines:
    """Iterate over the JSON objects of a JSON Lines file; afterwards ``malformed`` and ``too_long`` hold counts.

    Raises OSError from iteration when the file can't be opened or read. A file that shrinks meanwhile just ends early.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.malformed = 0
        self.too_long = 0

    def __iter__(self) -> Iterator[Record]:
        for line in self.raw():
            yield from self.objects(line)

    def raw(self) -> Iterator[bytes]:
        """Yield the lines that are not empty, undecoded, for a reader with a decoder of its own; raises like iterating.

        What that decoder can't read it hands to :meth:`objects`.
        """
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size < _WHOLE_FILE:
                whole = file.read()
                # cut off one by one: split() would hold the file twice
                start = 0
                while (end := whole.find(b"\n", start)) >= 0:
                    if end > start:
                        yield whole[start:end]
                    start = end + 1
                if start < len(whole):
                    yield whole[start:]
                return
            yield from self.lines_of(file)

    def lines_of(self, stream: BufferedReader) -> Iterator[bytes]:
        """Yield the lines of an open file; one that is too long is passed over, and counted."""
        while line := stream.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                self.too_long += 1
                while (rest := stream.readline(1024 * 1024)) and not rest.endswith(b"\n"):
                    pass
                continue
            yield line

    def objects(self, line: bytes) -> Iterator[Record]:
        """Yield the objects of one line, mostly one; a line or a part of it that is none is counted."""
        try:
            value = orjson.loads(line)
        except ValueError:
            yield from self._salvaged(line)
            return
        if type(value) is dict:
            yield value
        else:
            self.malformed += 1

    def _salvaged(self, line: bytes) -> Iterator[Record]:
        """Yield what a line that is not plain valid JSON still holds; count it when that is nothing."""
        text = line.decode("utf-8", "replace").strip("\ufeff \t\r\n\v\f\0")
        if not text:
            if b"\0" in line:
                self.malformed += 1
            return
        found = 0
        while text:
            try:
                value, end = _DECODER.raw_decode(text)
            except (ValueError, RecursionError):
                self.malformed += 1
                # what a crash cut off may be followed by a whole object in the same line
                start = text.find('{"', 1)
                while start > 0:
                    try:
                        value, end = _DECODER.raw_decode(text, start)
                    except (ValueError, RecursionError):
                        start = text.find('{"', start + 1) if start < 100_000 else -1
                        continue
                    if isinstance(value, dict) and len(value) > 1 and "type" in value and end == len(text):
                        yield without_surrogates(value)
                    return
                return
            if isinstance(value, dict):
                found += 1
                yield without_surrogates(value)
            elif not found:
                self.malformed += 1
                return
            text = text[end:].lstrip(" \t\r\n\0")


_DECODER = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits) if len(digits) < 20 else float(digits))


def without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which no encoder accepts, in every string of a decoded value."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if any("\ud800" <= c <= "\udfff" for c in value) else value
    if isinstance(value, dict):
        return {without_surrogates(k): without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_surrogates(v) for v in value]
    return value


def whole_value(content: bytes) -> Any:
    """Return the one JSON value that a whole file holds, what plain JSON forbids (NaN, lone surrogates) mended.

    Raises ValueError when it holds none, or something else beside it.
    """
    try:
        return orjson.loads(content)
    except ValueError:
        text = content.decode("utf-8", "replace").strip("\ufeff \t\r\n\v\f\0")
    try:
        value, end = _DECODER.raw_decode(text)
        if end == len(text):
            return without_surrogates(value)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    raise ValueError("more than one value")


def instant(value: object) -> datetime | None:
    """Return a recorded time as UTC: ISO 8601 text, or a number of seconds or milliseconds; None if it is neither."""
    try:
        if isinstance(value, str):
            when = datetime.fromisoformat(value)
            return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def first_and_last(stamps: Sequence[object]) -> tuple[datetime | None, datetime | None]:
    """Return the earliest and the latest of recorded times; those that are no time are passed over."""
    texts = [stamp for stamp in stamps if type(stamp) is str]
    if len(texts) == len(stamps) and texts:
        first = texts[0]
        length = len(first)
        if first.endswith("Z") and all(len(text) == length and text.endswith("Z") for text in texts):
            # one format in UTC: the texts stand in the order of the times
            earliest, latest = instant(min(texts)), instant(max(texts))
            if earliest is not None and latest is not None:
                return earliest, latest
    times = [when for stamp in stamps if (when := instant(stamp)) is not None]
    return min(times, default=None), max(times, default=None)

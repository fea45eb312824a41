"""The lines of a file on the disk as they are now, for showing them; what can't be shown is told in words."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

LARGEST_BYTES = 4_000_000
"""Of a larger file the beginning is read."""
MOST_LINES = 50_000
_LOOKED_AT = 8_192


class FileText(msgspec.Struct, frozen=True):
    """A file's lines, without line ends; none where it can't be shown."""

    path: str
    """Absolute."""
    lines: tuple[str, ...] = ()
    note: str = ""
    """What a person should know: why there are no lines, or that there would be more; "" mostly."""
    gone: bool = False
    """Whether there is no such file."""
    stamp: tuple[int, int] = (0, 0)
    """Time of change and size: another value means another text."""


def read_file_text(path: str) -> FileText:
    """Return the lines of a regular text file. Never raises: what is in the way is the result's note."""
    try:
        # without waiting for a writer, should a pipe have that name
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return FileText(path, note="This file is not on the disk any more.", gone=True)
    except (OSError, ValueError) as error:
        return FileText(path, note=f"This file can't be read: {getattr(error, 'strerror', None) or error}.")
    try:
        with open(handle, "rb") as file:
            state = os.fstat(handle)
            stamp = (state.st_mtime_ns, state.st_size)
            if not stat.S_ISREG(state.st_mode):
                kind = "a folder" if stat.S_ISDIR(state.st_mode) else "no regular file"
                return FileText(path, note=f"This is {kind}.", stamp=stamp)
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        return FileText(path, note=f"This file can't be read: {error.strerror or error}.")
    if b"\0" in data[:_LOOKED_AT]:
        return FileText(path, note="This is no text file.", stamp=stamp)
    if not data:
        return FileText(path, note="This file is empty.", stamp=stamp)
    lines = text_lines(data[:LARGEST_BYTES].decode("utf-8", "replace"))
    cut = len(data) > LARGEST_BYTES or len(lines) > MOST_LINES
    lines = lines[:MOST_LINES]
    note = f"A very large file: its first {len(lines):,} lines." if cut else ""
    return FileText(path, tuple(lines), note, stamp=stamp)


def text_lines(text: str) -> list[str]:
    """Return the lines of a text; the line end at the very end begins no further line."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def file_on_disk(typed: str, workspace: Path) -> str:
    """Return the absolute path of the file that a typed path names, as it is or in the workspace; "" for none."""
    if not typed.strip():
        return ""
    try:
        asked = Path(typed).expanduser()
        for path in (asked, workspace / asked) if asked.is_absolute() else (workspace / asked, asked.absolute()):
            if path.is_file():
                return os.path.normpath(path)
    except (OSError, ValueError, RuntimeError):
        pass
    return ""

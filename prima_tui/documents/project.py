"""A project root is a folder that holds a ``.memory`` folder; a bare one is enough."""

from __future__ import annotations

from pathlib import Path

from prima_tui.errors import PrimaError

MEMORY_FOLDER = ".memory"
_IGNORE_LINE = f"{MEMORY_FOLDER}/"


def find_root(start: Path) -> Path | None:
    """Return the nearest folder, from ``start`` upwards, that holds a ``.memory`` folder; None when there is none."""
    start = start.absolute()
    for folder in (start, *start.parents):
        try:
            if (folder / MEMORY_FOLDER).is_dir():
                return folder
        except OSError:
            continue
    return None


def make_root(folder: Path) -> Path:
    """Make the folder's ``.memory`` folder if it isn't there; return the folder. Raises PrimaError."""
    folder = folder.absolute()
    memory = folder / MEMORY_FOLDER
    try:
        memory.mkdir(exist_ok=True)
    except OSError as error:
        raise PrimaError(f"{memory} can't be made: {error.strerror or error}") from error
    return folder


def is_ignored(folder: Path) -> bool:
    """Tell whether the folder's own ``.gitignore`` has a line for ``.memory``."""
    try:
        text = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(line.strip().strip("/") == MEMORY_FOLDER for line in text.splitlines())


def add_to_gitignore(folder: Path) -> Path:
    """Add ``.memory`` to the folder's ``.gitignore``, made if missing; return its path. Raises PrimaError."""
    path = folder / ".gitignore"
    try:
        old = path.read_bytes() if path.exists() else b""
        end = b"\r\n" if b"\r\n" in old else b"\n"
        joint = end if old and not old.endswith(b"\n") else b""
        with path.open("ab") as file:
            file.write(joint + _IGNORE_LINE.encode() + end)
    except OSError as error:
        raise PrimaError(f"{path} can't be written: {error.strerror or error}") from error
    return path

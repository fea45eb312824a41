"""Recorded paths against folders of this computer: the same place, or inside it, as the disk itself would say.

Links are followed, so that a workspace and a link to it are one; a disk that takes ``Shop`` and ``shop`` for one name
is asked and believed; paths of Windows are compared without regard to case anywhere.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from functools import lru_cache
from pathlib import Path

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_SECONDS = 5
"""How long an answer of the disk is believed: the same paths are asked about in loops."""


def is_windows_path(path: str) -> bool:
    """Tell whether a path is one of Windows, by its drive or its two backslashes."""
    return _WINDOWS.match(path) is not None


def same_place(first: str, second: str) -> bool:
    """Tell whether two paths name one place: as text, or with links resolved."""
    return _same_place(first, second, int(time.monotonic() / _SECONDS))


def inside(path: str | Path, folder: str | Path) -> bool:
    """Tell whether a recorded path is the folder or lies inside it (``/ws-other`` is not inside ``/ws``)."""
    return _inside(str(path), str(folder), int(time.monotonic() / _SECONDS))


def moved_place(path: str, old: str, new: Path) -> Path | None:
    """Return where a path inside ``old`` is since that folder became ``new``; None for a path that isn't inside it.

    Where the same sub-folder doesn't exist in the new place, that is the new place itself.
    """
    if not inside(path, old):
        return None
    rest = os.path.relpath(path, old)
    place = new if rest == "." or rest.startswith("..") else new / rest
    return place if place.is_dir() else new


def is_vanished_namesake(path: str, folder: str) -> bool:
    """Tell whether a path has the last name of a folder, and nothing is there any more."""
    if not Path(path).is_absolute() or Path(path).name != Path(folder).name:
        return False
    return not os.path.lexists(path)


def resolved(path: str) -> str:
    """Return the path with its links resolved; one that isn't absolute here (another system's, a URI) as it is."""
    return _resolved(path, int(time.monotonic() / _SECONDS)) if Path(path).is_absolute() else path


def ignores_case(path: str) -> bool:
    """Tell whether the disk takes names that differ only in case for one, where this path is or would be."""
    return _ignores_case(path, int(time.monotonic() / _SECONDS))


@lru_cache(maxsize=4096)
def _same_place(first: str, second: str, _moment: int) -> bool:
    folds = ignores_case(second)
    if _form(first, folds) == _form(second, folds):
        return True
    return _form(resolved(first), folds) == _form(resolved(second), folds)


@lru_cache(maxsize=4096)
def _inside(path: str, folder: str, _moment: int) -> bool:
    folds = ignores_case(folder)
    if _is_below(_form(path, folds), _form(folder, folds)):
        return True
    real = _form(resolved(folder), folds)
    return _is_below(_form(path, folds), real) or _is_below(_form(resolved(path), folds), real)


@lru_cache(maxsize=4096)
def _resolved(path: str, _moment: int) -> str:
    return os.path.realpath(path)


@lru_cache(maxsize=4096)
def _ignores_case(path: str, _moment: int) -> bool:
    """Look at the deepest folder that exists and has letters in its name, under its own name and in the other case."""
    if not Path(path).is_absolute():
        return False
    for place in (Path(path), *Path(path).parents):
        if place.name.swapcase() != place.name:
            try:
                return place.samefile(place.with_name(place.name.swapcase()))
            except OSError:
                if place.exists():
                    return False
    return False


def _form(path: str, folds: bool) -> str:
    """Return a path in the form in which it is compared."""
    text = unicodedata.normalize("NFC", os.path.normpath(path))
    if is_windows_path(text):
        text = text.replace("\\", "/").lower()
    elif folds:
        text = text.casefold()
    return text.rstrip("/") or "/"


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")

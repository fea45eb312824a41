"""How the screen was left: theme, rows, order, room for the list. Kept in the data folder, for the owner only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from prima_tui.config import private_folder
from prima_tui.tui.session_arrangement import Group, Sort

NAME = "screen.json"


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is taken up again at the next start."""

    theme: str = ""
    """"" for the one of the settings."""
    density: Literal[0, 1, 2, 3] = 0
    """Lines of a row; 0: as fits."""
    sort: Sort = "best"
    group: Group = "auto"
    searches: tuple[str, ...] = ()
    """Earlier searches, the newest first."""
    share: int = 0
    """Per cent of the width that the list has; 0: as the layout says."""
    split: int = 0
    """Per cent that the conversation has of what it shares with the extract; 0: as the layout says."""


def remembered(folder: Path) -> Remembered:
    """Return how the screen was left; what can't be read is as if nothing was."""
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=Remembered)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Remembered()


def remember(folder: Path, state: Remembered) -> None:
    """Keep how the screen is left. Raises OSError."""
    path = private_folder(folder) / NAME
    part = path.with_suffix(f".{os.getpid()}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(state))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)

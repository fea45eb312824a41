"""Opening a session's folder in the desktop's file manager; where there is none, saying the path."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App

from prima_tui.model.session import Session
from prima_tui.tui.resuming import copy_text
from prima_tui.tui.terminal import not_started, start_beside

Start = Callable[[Sequence[str]], object]
"""Starts a program beside us. Raises OSError."""


def folder_command(
    folder: str, env: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> tuple[str, ...] | None:
    """Return what opens a folder on this system's desktop; None over ssh and where there is no desktop."""
    if any(env.get(name) for name in ("SSH_CONNECTION", "SSH_TTY")):
        return None
    if platform == "win32":
        return ("explorer", folder)
    if platform == "darwin":
        return ("open", folder)
    has_desktop = env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    found = shutil.which("xdg-open", path=env.get("PATH")) if has_desktop else None
    return (found, folder) if found else None


async def open_folder(
    app: App[Any], session: Session, env: Mapping[str, str] = os.environ, start: Start = start_beside
) -> None:
    """Open the folder that a session belongs to; its path is copied where no file manager can show it."""
    folder = session.workspace or (session.resume.cwd if session.resume else None)
    if not folder:
        app.notify("No folder is recorded for this session.", severity="warning", timeout=4)
        return
    if not await asyncio.to_thread(Path(folder).is_dir):
        app.notify(f"Its folder {folder} is gone.", severity="warning", markup=False)
        return
    command = folder_command(folder, env)
    if command is None or app.is_web:
        copy_text(app, folder)
        return
    try:
        await asyncio.to_thread(start, command)
    except OSError as error:
        app.notify(not_started(command[0], error), severity="error", markup=False)

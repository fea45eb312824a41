"""Opening a file in the user's editor: the terminal handed over to one that draws in it, any other run beside us."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from prima_tui.editor import EditPlan, plan_editing
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.resuming import copy_text
from prima_tui.tui.terminal import run_in_terminal

Edit = Callable[[Sequence[str]], int]
"""Runs an editor in the terminal; returns its exit code. Raises OSError."""

# An editor with a window of its own that ends this soon with an error didn't open.
_WINDOW_SECONDS = 1.5


def edit_in_terminal(argv: Sequence[str]) -> int:
    """Run an editor with the whole terminal; return its exit code. Raises OSError."""
    return run_in_terminal(argv, None, {})


async def open_in_editor(app: App[Any], path: Path, line: int = 1, edit: Edit = edit_in_terminal) -> bool:
    """Open a file in ``$VISUAL``, else ``$EDITOR``, at a line (from 1); whether an editor ran.

    What stands against it is said, and where there is no editor the place is offered for copying as ``FILE:LINE``.
    """
    plan, there = await asyncio.to_thread(_look, path, line)
    if not there:
        app.notify(f"{path} isn't there any more.", severity="warning", markup=False)
        return False
    if plan.problem:
        notice = NoticeScreen("Can't open an editor", f"{plan.problem}\n\n{plan.place}", copy=True, copies="the place")
        if await app.push_screen_wait(notice) == "copy":
            copy_text(app, plan.place)
        return False
    try:
        code = _hand_over(app, plan, edit) if plan.in_terminal else await asyncio.to_thread(_run_beside, plan.argv)
    except SuspendNotSupported:
        copy_text(app, plan.place)
        app.notify("The terminal can't be handed over here; the place was copied instead.", markup=False)
        return False
    except OSError as error:
        reason = error.strerror or str(error)
        app.notify(f"{plan.argv[0]} could not be started: {reason}", severity="error", markup=False)
        return False
    if code:
        app.notify(f"{plan.argv[0]} ended with exit code {code}.", severity="warning", markup=False)
    return True


def _look(path: Path, line: int) -> tuple[EditPlan, bool]:
    return plan_editing(path, line), path.exists()


def _hand_over(app: App[Any], plan: EditPlan, edit: Edit) -> int:
    with app.suspend():
        return edit(plan.argv)


def _run_beside(argv: Sequence[str]) -> int:
    """Start an editor that has a window of its own; return its exit code when it fails at once, else 0."""
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(_WINDOW_SECONDS)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, name="editor", daemon=True).start()
        return 0

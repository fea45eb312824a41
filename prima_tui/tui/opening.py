"""Opening a file in the user's editor: the terminal handed over to one that draws in it, any other run beside us."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from prima_tui.editor import EditPlan, plan_editing
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.resuming import copy_text
from prima_tui.tui.terminal import ended_badly, not_started, run_in_terminal, start_beside

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
        if plan.in_terminal:
            code = _hand_over(app, plan, edit)
        else:
            code = await asyncio.to_thread(start_beside, plan.argv, _WINDOW_SECONDS)
    except SuspendNotSupported:
        copy_text(app, plan.place)
        app.notify("The terminal can't be handed over here; the place was copied instead.", markup=False)
        return False
    except OSError as error:
        app.notify(not_started(plan.argv[0], error), severity="error", markup=False)
        return False
    if code:
        app.notify(ended_badly(plan.argv[0], code), severity="warning", markup=False)
    return True


def _look(path: Path, line: int) -> tuple[EditPlan, bool]:
    return plan_editing(path, line), path.exists()


def _hand_over(app: App[Any], plan: EditPlan, edit: Edit) -> int:
    with app.suspend():
        return edit(plan.argv)

"""Resuming a session: look before, hand the terminal to the agent, come back; or say why not and what can be done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from textual.app import App, SuspendNotSupported

from prima_tui.model.hits import ResumePlan
from prima_tui.model.session import ResumeCommand, Session
from prima_tui.model.text import one_line
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.terminal import ended_badly, not_started, run_in_terminal

Run = Callable[[ResumeCommand], int]


class Plans(Protocol):
    """What knows how a session is resumed."""

    def resume_plan(self, session: Session, *, fork: bool = False) -> ResumePlan:
        """Return what resuming runs and what stands against it; may block, is called in a thread."""
        ...


def run_command(command: ResumeCommand) -> int:
    """Run an agent's resume command in the session's own folder; return its exit code. Raises OSError."""
    return run_in_terminal(command.argv, command.cwd, command.env)


def copy_text(app: App[Any], text: str) -> None:
    """Put text on the clipboard (of the terminal, so it works over ssh too) and show it."""
    app.copy_to_clipboard(text)
    app.notify(one_line(text), title="Copied", markup=False, timeout=6)


async def copy_resume_command(app: App[Any], memory: Plans, session: Session) -> None:
    """Copy the session's resume command, or say why there is none."""
    plan = await asyncio.to_thread(memory.resume_plan, session)
    if plan.shell_line:
        copy_text(app, plan.shell_line)
    else:
        app.notify(plan.problem or "This session can't be resumed.", severity="warning", markup=False)


async def resume(app: App[Any], memory: Plans, session: Session, run: Run = run_command, *, fork: bool = False) -> bool:
    """Resume a session, or a fork of it, and come back; whether the agent ran.

    What stands against it is explained in a box.
    """
    plan = await asyncio.to_thread(partial(memory.resume_plan, session, fork=fork))
    title = one_line(session.title)
    if plan.problem or plan.command is None:
        text = f"{title}\n\n{plan.problem or 'Its agent has no command to take it up again.'}"
        if plan.shell_line:
            text += f"\n\n{plan.shell_line}"
        answer = await app.push_screen_wait(NoticeScreen("Can't resume", text, copy=bool(plan.shell_line)))
    elif plan.warning:
        text = f"{title}\n\n{plan.warning}"
        answer = await app.push_screen_wait(NoticeScreen("Before you resume", text, go_on="resume it", copy=True))
    else:
        answer = "yes"
    if answer == "copy":
        copy_text(app, plan.shell_line)
    if answer != "yes" or plan.command is None:
        return False
    if app.is_web:
        # no terminal to hand over, and a browser may keep what is copied from the clipboard: it is shown to be taken
        notice = NoticeScreen("In a terminal", f"{title}\n\n{plan.shell_line}", copy=True)
        if await app.push_screen_wait(notice) == "copy":
            copy_text(app, plan.shell_line)
        return False
    return _hand_over(app, plan, run)


def _hand_over(app: App[Any], plan: ResumePlan, run: Run) -> bool:
    assert plan.command is not None
    try:
        with app.suspend():
            code = run(plan.command)
    except SuspendNotSupported:
        copy_text(app, plan.shell_line)
        app.notify("The terminal can't be handed over here; run the copied command in another.", markup=False)
        return False
    except OSError as error:
        app.notify(not_started(plan.command.argv[0], error), severity="error", markup=False)
        return False
    if code:
        app.notify(ended_badly(plan.command.argv[0], code), severity="warning", markup=False)
    return True

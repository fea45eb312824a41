"""What is forgotten, and what was, as JSON and as text. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Sequence

from prima_tui.forgotten import ForgottenSession
from prima_tui.model.session import Session
from prima_tui.model.text import count_text, one_line
from prima_tui.output import Json, instant


def forgetting_text(sessions: Sequence[Session]) -> str:
    """Return what is about to be forgotten, and what stays all the same."""
    lines = [
        f"{one_line(f'{one.id}  {one.title}')}  ({count_text(one.exchange_count, 'exchange')})" for one in sessions
    ]
    copies = sorted({one for session in sessions for one in (session.continued_by, session.copied_from) if one})
    copies = [one for one in copies if one not in {session.id for session in sessions}]
    if copies:
        lines.append(f"Other sessions hold parts of these, and stay: {', '.join(copies)}")
    paths = [path for session in sessions for path in session.paths[:1]]
    lines.append(f"The agents' own files stay as they are: {paths[0] if paths else ''}" + " …" * (len(paths) > 1))
    lines.append("Index files that were damaged and set aside are removed, since nobody can tell what they hold.")
    return "\n".join(lines)


def forgotten_text(rows: Sequence[ForgottenSession], undone: bool) -> str:
    """Return the list of what was forgotten, or of what was just taken off it."""
    if not rows:
        return "nothing is forgotten"
    lines = [f"{one.at.astimezone():%Y-%m-%d %H:%M}  {one.shown}" for one in rows]
    return "\n".join(["to be read again:", *lines] if undone else lines)


def forgotten_json(rows: Sequence[ForgottenSession]) -> Json:
    """Return the list of what was forgotten."""
    return {"forgotten": [{"id": one.shown, "forgotten_at": instant(one.at)} for one in rows], "warnings": []}

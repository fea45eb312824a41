"""Results as text for people at a terminal, safe to print there. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Sequence

from prima_tui.extracts import StoredExtract, duration, local_time
from prima_tui.model.hits import Answer, Hit, Status
from prima_tui.model.session import Session, shown_path
from prima_tui.model.text import count_text, one_line, snippet
from prima_tui.output import FileRow

_NO_SESSIONS = b"No sessions here. `prima-tui status` says where they are looked for; --all looks at every workspace.\n"


def session_text(session: Session) -> str:
    """Return one session on two lines: when, label, title; then what it is made of."""
    facts = [session.id, count_text(session.message_count, "message")]
    changed = len({change.path for change in session.files_changed})
    if changed:
        facts.append(f"{count_text(changed, 'file')} changed")
    facts += [value for value in (duration(session), session.branch, ", ".join(session.tags)) if value]
    head = f"{local_time(session.ended_at) or 'no date':16}  {session.label}  {session.title}"
    return f"{one_line(head)}\n{'':18}{one_line(' · '.join(facts))}"


def extracts_text(extracts: Sequence[StoredExtract]) -> str:
    """Return what ``extracts`` prints for people."""
    if not extracts:
        return "No extracts yet. `prima-tui index` writes them for sessions of 50 messages, 10 files or 30 minutes."
    return "\n".join(
        f"{local_time(one.at):16}  {one_line(one.project)}  {one_line(one.description)}\n{'':18}{one_line(one.path)}"
        for one in extracts
    )


def picked_text(session: Session) -> str:
    """Return a picked session as one line for scripts: id, source, folder and title, tab-separated."""
    return "\t".join(one_line(value) for value in (session.id, session.source, session.workspace or "", session.title))


def session_bytes(session: Session) -> bytes:
    """Return one session's line of :func:`sessions_bytes`."""
    return session_text(session).encode("utf-8", "replace") + b"\n"


def sessions_bytes(lines: Sequence[bytes]) -> Sequence[bytes]:
    """Return what ``sessions`` prints for people, in pieces."""
    if not lines:
        return [_NO_SESSIONS]
    return lines


def search_text(answer: Answer) -> str:
    """Return what ``search`` prints for people."""
    blocks = []
    for hit in answer.hits:
        lines = [f"{hit.score:6.1f}  {session_text(hit.session)}", f"{'':18}{_why(hit)}"]
        if hit.exchange:
            for side, text in (("user", hit.exchange.user), ("assistant", hit.exchange.assistant)):
                if text:
                    lines.append(f"{'':18}{side}: {snippet(text, answer.words, 160)}")
        blocks.append("\n".join(lines))
    if not blocks:
        nothing = "No session was found." if answer.documents else "Nothing was found."
        blocks.append(nothing if answer.query.strip() else "No sessions here.")
    if answer.similar:
        blocks.append("Similar titles and files:\n" + "\n".join(session_text(one) for one in answer.similar))
    if answer.documents:
        blocks.append(
            "Documents:\n"
            + "\n".join(
                f"{hit.score:6.1f}  {one_line(f'{hit.path}:{hit.first_line}')}  {one_line(hit.heading or hit.title)}"
                for hit in answer.documents
            )
        )
    if answer.extracts:
        rows = [f"{one.score:6.1f}  {one_line(one.description)}\n{'':8}{one_line(one.path)}" for one in answer.extracts]
        blocks.append("Extracts and checkpoints:\n" + "\n".join(rows))
    if answer.session_history:
        rows = [
            f"{one_line(f'{one.date or one.month} {one.time}'):18}{one_line(one.text)}"
            for one in answer.session_history
        ]
        blocks.append("Session History Summaries\n" + "\n".join(rows))
    return "\n\n".join(blocks)


def _why(hit: Hit) -> str:
    words = {
        "title": "title",
        "words": "words",
        "file": "file",
        "recent": "recent",
        "changes": "files changed",
        "meaning": "meaning",
        "tool": "tools",
    }
    parts = []
    for reason in hit.reasons:
        points = f"{reason.points:.2f}" if reason.kind == "meaning" else f"+{reason.points:g}"
        if reason.kind == "recent":
            points = f"+{reason.points:.1f}"
        name = words[reason.kind] + (f" {one_line(reason.detail)}" if reason.kind == "file" else "")
        parts.append(f"{name} {points}")
    return " · ".join(parts) or "newest first"


def files_text(rows: Sequence[FileRow]) -> str:
    """Return what ``files`` prints for people."""
    if not rows:
        return "No session here changed a file with that in its path."
    blocks = []
    for change, session in rows:
        path = shown_path(change.path, session.workspace)
        lines = [
            f"{local_time(change.at) or 'no date':16}  {one_line(path)} ({change.action})",
            f"{'':18}{one_line(f'{session.label}  {session.title} · {session.id}')}",
        ]
        if change.explanation:
            lines.append(f"{'':18}{snippet(change.explanation, (part_of(path),), 200)}")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def part_of(path: str) -> str:
    """Return the file's name without its folders."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def status_text(status: Status) -> str:
    """Return what ``status`` prints for people."""
    lines = [f"Workspace  {one_line(status.workspace)}", "", "Sources"]
    for one in status.sources:
        what = (
            f"{count_text(one.sessions, 'session')} in {count_text(one.files, 'file')}"
            if one.installed
            else "not on this computer"
        )
        lines.append(f"  {one.source:14}{what}")
    lines += [
        "",
        f"Index      {one_line(status.index_path)}",
        f"           {count_text(status.exchanges, 'exchange')},"
        f" {count_text(status.pending_files, 'file')} not indexed yet · {status.model}",
        f"Catalog    {one_line(status.catalog_path)}",
        f"Log        {one_line(status.log)}",
    ]
    if status.warnings:
        lines += ["", "Warnings", *(f"  {one_line(line)}" for line in status.warnings)]
    return "\n".join(lines)

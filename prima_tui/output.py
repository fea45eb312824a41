"""Results as JSON (the stable shapes) and as text, for the command line and other programs. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from prima_tui.extracts import StoredExtract, duration, extract_markdown, local_time
from prima_tui.forgotten import ForgottenSession
from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import Answer, Conversation, Hit, Snapshot, Status
from prima_tui.model.session import Exchange, FileChange, Session, TextEdit, ToolUse, shown_path
from prima_tui.model.text import fold, shown, snippet

Json = dict[str, Any]


def instant(when: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC with ``Z``, to the millisecond."""
    if when is None:
        return None
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def session_json(session: Session) -> Json:
    """Return one session in its stable shape."""
    return {
        "id": session.id,
        "source": session.source,
        "label": session.label,
        "title": session.title,
        "tags": list(session.tags),
        "started_at": instant(session.started_at),
        "ended_at": instant(session.ended_at),
        "workspace": session.workspace,
        "branch": session.branch,
        "message_count": session.message_count,
        "exchange_count": session.exchange_count,
        "author": session.author,
        "model": session.model,
        "files_changed": [change_json(change, session) for change in session.files_changed],
        "paths": list(session.paths),
        "resume_command": list(session.resume.argv) if session.resume else None,
        "resume_folder": session.resume.cwd if session.resume else None,
        "flags": list(session.flags),
        "continued_by": session.continued_by or None,
        "copied_from": session.copied_from or None,
    }


def change_json(change: FileChange, session: Session) -> Json:
    """Return one file change; the path is relative to the session's own folder where it lies inside."""
    return {
        "path": shown_path(change.path, session.workspace),
        "action": change.action,
        "at": instant(change.at),
        "explanation": change.explanation,
    }


def exchange_json(index: int | None, exchange: Exchange) -> Json:
    """Return one exchange with its place in the conversation."""
    extra = {
        name: value
        for name, value in (
            ("agent", exchange.agent),
            ("rewound", exchange.rewound),
            ("compacted", exchange.compacted),
        )
        if value
    }
    return {
        "index": index,
        "at": instant(exchange.at),
        "user": exchange.user,
        "assistant": exchange.assistant,
        **extra,
    }


def sessions_json(snapshot: Snapshot, sessions: Sequence[Session], warnings: Iterable[str]) -> Json:
    """Return what ``sessions`` prints."""
    return {
        "sessions": [session_json(one) for one in sessions],
        "hidden": snapshot.hidden,
        "warnings": [*warnings, *snapshot.warnings],
    }


def search_json(answer: Answer, warnings: Iterable[str]) -> Json:
    """Return what ``search`` prints."""
    return {
        "query": answer.query,
        "mode": answer.mode,
        "took_ms": round(answer.took_ms, 1),
        "warnings": [*answer.warnings, *warnings],
        "indexed": {"exchanges": answer.indexed_exchanges, "pending_files": answer.pending_files},
        "results": [hit_json(hit) for hit in answer.hits],
        "similar": [session_json(one) for one in answer.similar],
        "documents": [document_json(hit) for hit in answer.documents],
        "extracts": [
            extract_json(one.path, one.project, one.at, one.description, one.score) for one in answer.extracts
        ],
        "session_history": [
            {"month": one.month, "date": one.date, "time": one.time, "text": one.text, "projects": list(one.projects)}
            for one in answer.session_history
        ],
    }


def document_json(hit: DocumentHit) -> Json:
    """Return one chunk of a document in its stable shape."""
    return {
        "path": hit.path,
        "title": hit.title,
        "heading": hit.heading,
        "first_line": hit.first_line,
        "last_line": hit.last_line,
        "score": hit.score,
        "keyword_score": hit.keyword_score,
        "similarity": hit.similarity,
        "modified_at": instant(hit.modified_at),
        "stale": hit.stale,
        "text": hit.text,
    }


def extract_json(path: str, project: str, at: datetime, description: str, score: float | None = None) -> Json:
    """Return one extract or checkpoint; the score is that of a deep search."""
    found = {} if score is None else {"score": score}
    return {"path": path, "project": project, "at": instant(at), "description": description, **found}


def hit_json(hit: Hit) -> Json:
    """Return one result of a search."""
    index = hit.exchange_index if hit.exchange_index is not None else 0
    return {
        "session": session_json(hit.session),
        "score": hit.score,
        "keyword_score": hit.keyword_score,
        "similarity": hit.similarity,
        "exchange": exchange_json(index, hit.exchange) if hit.exchange else None,
        "reasons": [{"kind": one.kind, "points": one.points, "detail": one.detail} for one in hit.reasons],
    }


def show_json(conversation: Conversation, warnings: Iterable[str], tools: Tools | None = None) -> Json:
    """Return what ``show`` prints; with ``tools`` each exchange has those that belong to it."""
    exchanges = [exchange_json(place, one) for place, one in enumerate(conversation.exchanges)]
    for exchange, uses in zip(exchanges, tools or (), strict=False):
        exchange["tools"] = [tool_json(use, conversation.session) for use in uses]
    return {"session": session_json(conversation.session), "exchanges": exchanges, "warnings": list(warnings)}


def status_json(status: Status) -> Json:
    """Return what ``status`` prints."""
    return {
        "workspace": status.workspace,
        "sources": [
            {
                "source": one.source,
                "installed": one.installed,
                "files": one.files,
                "sessions": one.sessions,
                "warnings": list(one.warnings),
            }
            for one in status.sources
        ],
        "index": {
            "path": status.index_path,
            "exchanges": status.exchanges,
            "pending_files": status.pending_files,
            "model": status.model,
            "rebuild": status.rebuild,
        },
        "catalog": status.catalog_path,
        "log": status.log,
        "warnings": list(status.warnings),
    }


Tools = Sequence[Sequence[ToolUse]]
"""For each exchange of a conversation the uses of tools that belong to it."""


def tool_json(use: ToolUse, session: Session) -> Json:
    """Return one use of a tool, with all its text."""
    return {
        "name": use.name,
        "summary": use.summary,
        "at": instant(use.at),
        "failed": use.failed,
        "given": use.given,
        "gave": use.gave,
        "edits": [text_edit_json(edit, session) for edit in use.edits],
    }


def text_edit_json(edit: TextEdit, session: Session) -> Json:
    """Return what a tool replaced in one file."""
    return {
        "path": shown_path(edit.path, session.workspace),
        "action": edit.action,
        "old": edit.old,
        "new": edit.new,
    }


FileRow = tuple[FileChange, Session]


def file_history(sessions: Iterable[Session], part: str) -> list[FileRow]:
    """Return every change of a file whose path contains ``part`` (capitals ignored), newest first."""
    wanted = fold(part)
    rows = [
        (change, session)
        for session in sessions
        if not session.continued_by
        for change in session.files_changed
        if wanted in fold(shown_path(change.path, session.workspace))
    ]
    rows.sort(key=lambda row: instant(row[0].at) or "", reverse=True)
    return rows


def files_json(rows: Sequence[FileRow], warnings: Iterable[str]) -> Json:
    """Return what ``files`` prints."""
    return {
        "files": [
            {
                **change_json(change, session),
                "session": {
                    "id": session.id,
                    "source": session.source,
                    "label": session.label,
                    "title": session.title,
                    "started_at": instant(session.started_at),
                    "resume_command": list(session.resume.argv) if session.resume else None,
                },
            }
            for change, session in rows
        ],
        "warnings": list(warnings),
    }


# -- text -----------------------------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """Return text on one line, safe for a terminal."""
    return " ".join(shown(text).split())


def session_text(session: Session) -> str:
    """Return one session on two lines: when, label, title; then what it is made of."""
    facts = [session.id, f"{session.message_count} message{'' if session.message_count == 1 else 's'}"]
    changed = len({change.path for change in session.files_changed})
    if changed:
        facts.append(f"{changed} file{'s' if changed > 1 else ''} changed")
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


def sessions_text(sessions: Sequence[Session]) -> str:
    """Return what ``sessions`` prints for people."""
    if not sessions:
        return "No sessions here. `prima-tui status` says where they are looked for; --all looks at every workspace."
    return "\n".join(session_text(session) for session in sessions)


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


def show_text(conversation: Conversation, tools: Tools | None = None) -> str:
    """Return what ``show`` prints for people: header, files, conversation; each use of a tool on one line."""
    session = conversation.session
    lines = [session_text(session)]
    if session.workspace:
        lines.append(f"{'':18}{one_line(session.workspace)}")
    files: dict[str, str] = {}
    for change in session.files_changed:
        files[shown_path(change.path, session.workspace)] = change.action
    if files:
        lines += ["", "Files changed:"]
        lines += [f"  {one_line(path)} ({action})" for path, action in files.items()]
    for place, one in enumerate(conversation.exchanges):
        note = "".join(
            text
            for text, holds in (
                (f" · subagent {one.agent}", one.agent),
                (" · taken back", one.rewound),
                (" · after compaction", one.compacted),
            )
            if holds
        )
        lines += ["", shown(f"── {place}  {local_time(one.at)}{note}")]
        if one.user:
            lines += ["", "You:", shown(one.user)]
        if one.assistant:
            lines += ["", "Assistant:", shown(one.assistant)]
        if tools and place < len(tools) and tools[place]:
            lines += ["", *(f"  {tool_line(use)}" for use in tools[place])]
    return "\n".join(lines)


def tool_line(use: ToolUse) -> str:
    """Return one use of a tool folded to one line."""
    size = len(use.gave)
    gave = f"{size:,} characters back" if size else "nothing back"
    return one_line(f"▸ {use.name or 'tool'}  {use.summary} · {'failed · ' if use.failed else ''}{gave}")


def show_markdown(conversation: Conversation, tools: Tools | None = None) -> str:
    """Return the session as a markdown document: the extract's header and files, then the whole conversation."""
    head = extract_markdown(conversation.session, ()).rstrip()
    parts = [head, "## Conversation"]
    for place, one in enumerate(conversation.exchanges):
        title = f"### {local_time(one.at)}" + (f" (subagent {one.agent})" if one.agent else "")
        parts.append(title)
        if one.user:
            parts.append(f"**User:** {one.user.strip()}")
        if one.assistant:
            parts.append(f"**Assistant:** {one.assistant.strip()}")
        if tools and place < len(tools) and tools[place]:
            parts.append("\n".join(f"- {tool_line(use)}" for use in tools[place]))
    return shown("\n\n".join(parts)) + "\n"


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
        what = f"{one.sessions} sessions in {one.files} files" if one.installed else "not on this computer"
        lines.append(f"  {one.source:14}{what}")
    lines += [
        "",
        f"Index      {one_line(status.index_path)}",
        f"           {status.exchanges} exchanges, {status.pending_files} files not indexed yet · {status.model}",
        f"Catalog    {one_line(status.catalog_path)}",
        f"Log        {one_line(status.log)}",
    ]
    if status.warnings:
        lines += ["", "Warnings", *(f"  {one_line(line)}" for line in status.warnings)]
    return "\n".join(lines)


def forgetting_text(sessions: Sequence[Session]) -> str:
    """Return what is about to be forgotten, and what stays all the same."""
    lines = [f"{one_line(f'{one.id}  {one.title}')}  ({one.exchange_count} exchanges)" for one in sessions]
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

"""Results as JSON, in stable shapes, for the command line and other programs. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson

from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import Answer, Conversation, Hit, Snapshot, Status
from prima_tui.model.session import Exchange, FileChange, Session, TextEdit, ToolUse, shown_path
from prima_tui.model.text import fold, one_line

Json = dict[str, Any]
_SESSIONS_AT_ONCE = 1_000
_SECONDS = len("2026-01-02T03:04:05")
_MILLISECONDS = len("2026-01-02T03:04:05.123")


def instant(when: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC with ``Z``, to the millisecond."""
    if when is None:
        return None
    # a list has as many of them as changed files: this takes a fifth of the time of ``isoformat``
    text: str = msgspec.to_builtins(when.astimezone(UTC))
    return f"{text[:_MILLISECONDS]}Z" if len(text) > _MILLISECONDS else f"{text[:_SECONDS]}.000Z"


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
        "expires_at": instant(session.expires_at),
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


def session_bytes(session: Session) -> bytes:
    """Return one session as it stands in the document of :func:`sessions_bytes`."""
    # a text in JSON holds no line break
    return orjson.dumps(session_json(session), option=orjson.OPT_INDENT_2).replace(b"\n", b"\n    ")


def sessions_bytes(sessions: Sequence[bytes], snapshot: Snapshot, warnings: Iterable[str]) -> Iterator[bytes]:
    """Yield what ``sessions`` prints, in pieces: :func:`sessions_json` with each session in its bytes already."""
    document = orjson.dumps(
        sessions_json(snapshot, (), warnings), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    before, _none, after = document.partition(b"[]")
    yield before + (b"[\n    " if sessions else b"[]")
    for first in range(0, len(sessions), _SESSIONS_AT_ONCE):
        yield (b",\n    " if first else b"") + b",\n    ".join(sessions[first : first + _SESSIONS_AT_ONCE])
    yield (b"\n  ]" if sessions else b"") + after


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


_SUMMARY = 300
"""Characters of a tool's summary: more than fits on a line."""


def tool_title(use: ToolUse, workspace: str | None) -> str:
    """Return a tool's name and what it was used on, in one line, a path relative to the workspace."""
    what = shown_path(use.path or use.summary, workspace)  # of a tool that reads, the summary is the path
    return one_line(f"{use.name or 'tool'} {what[:_SUMMARY]}".rstrip())


def tool_head(use: ToolUse, session: Session) -> str:
    """Return the one line that a use of a tool, or a thought, is folded to in what is exported."""
    return tool_title(use, session.workspace) + (" · failed" if use.failed else "")


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

"""What the MCP tools answer: the stable JSON shapes, typed and held to a size. Pure: asks and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypedDict, TypeVar

import orjson

from prima_tui import output, output_documents
from prima_tui.model.activity import Activity
from prima_tui.model.documents import Asked, DocumentHit, DocumentsProgress, DocumentsStatus
from prima_tui.model.hits import Hit, IndexProgress, Status
from prima_tui.model.session import Exchange, FileChange, Session
from prima_tui.model.text import spans
from prima_tui.output import Json

LARGEST = 30_000
"""Characters of JSON that one answer's rows may take together."""
LONGEST_FOUND = 1_500
"""Characters of one side of an exchange in a list of results."""
LONGEST_IN_LISTS = 300
"""Characters of what stands beside something else in a list."""
LONGEST_SHOWN = 8_000
"""Characters of one side of an exchange where a conversation is read."""
_FILES_IN_LISTS = 10
_BEFORE_MATCH = 200
_DAYS = 92
_LISTED = 50

Row = TypeVar("Row")


class Page(TypedDict):
    """Where the rows of an answer stand among all there are."""

    offset: int
    next_offset: int | None
    """Pass it as ``offset`` for the following rows; null at the end."""
    total: int | None
    """How many rows there are; null where they weren't counted."""
    note: str


class SearchAnswer(Page):
    """Sessions found, best first, each with its best exchange."""

    query: str
    mode: str
    results: list[Json]
    documents: list[Json]
    similar: list[Json]
    session_history: list[Json]
    indexed: Json
    warnings: list[str]


class SessionsAnswer(Page):
    """Sessions, newest first."""

    sessions: list[Json]
    warnings: list[str]


class DetailsAnswer(Page):
    """One session, in the detail that was asked for."""

    detail: str
    session: Json
    files: list[Json]
    exchanges: list[Json]
    warnings: list[str]


class FilesAnswer(Page):
    """Changes of files, newest first."""

    files: list[Json]
    warnings: list[str]


class PeriodAnswer(Page):
    """What was done in a period: counts, and the sessions with their titles."""

    period: str
    sessions: int
    messages: int
    exchanges: int
    file_changes: int
    files_changed: int
    agents: dict[str, int]
    branches: dict[str, int]
    tags: dict[str, int]
    days: dict[str, int]
    busiest_files: list[Json]
    titles: list[Json]
    warnings: list[str]


class ChunksAnswer(Page):
    """Chunks of documents, best first; an answer where a model was asked to write one."""

    query: str
    results: list[Json]
    answer: str
    citations: list[Json]
    warnings: list[str]


class StatusAnswer(TypedDict):
    """The state of the memory."""

    documents: Json | None
    sessions: Json
    note: str


class ReindexAnswer(TypedDict):
    """What an update of the memory did and what it left."""

    documents: Json | None
    sessions: Json
    finished: bool
    note: str


class RebuildAnswer(TypedDict):
    """Where a rebuild of the index of conversations stands."""

    state: str
    """``not started``, ``running``, ``finished`` or ``failed``."""
    would_lose: int
    files_done: int
    files_total: int
    exchanges_embedded: int
    note: str


# -- keeping to a size ----------------------------------------------------------------------------------------------


class Fitted(Generic[Row]):
    """The rows that fit into one answer, with where they stand."""

    def __init__(
        self,
        rows: Iterable[Row],
        as_json: Callable[[Row], Json],
        offset: int,
        total: int | None,
        *,
        more: bool = False,
    ) -> None:
        """``rows`` begin at ``offset``; ``more``: others are known to follow them."""
        self.rows: list[Row] = []
        self.json: list[Json] = []
        self.offset = offset
        self.total = total
        size = 0
        for row in rows:
            document = as_json(row)
            size += len(orjson.dumps(document))
            if self.rows and size > LARGEST:
                more = True
                break
            self.rows.append(row)
            self.json.append(document)
        end = offset + len(self.rows)
        self.next_offset = end if more or (total is not None and end < total) else None

    @property
    def note(self) -> str:
        """One line on what is left out, "" when nothing is."""
        if self.next_offset is None:
            return ""
        of = "" if self.total is None else f" of {self.total}"
        return f"{self.offset} to {self.next_offset - 1}{of} are shown; call again with offset={self.next_offset}"

    def page(self, note: str = "") -> Page:
        """Return the answer's page, ``note`` in front of its own."""
        notes = [one for one in (note, self.note) if one]
        return Page(offset=self.offset, next_offset=self.next_offset, total=self.total, note="; ".join(notes))


def cut(text: str, longest: int, start: int = 0) -> str:
    """Return at most ``longest`` characters from ``start`` on; what is left out is said in brackets."""
    part = text[start : start + longest]
    left = len(text) - start - len(part)
    if left > 0:
        part += f" … [{left} more characters]"
    return f"[{start} characters before] … {part}" if start and part else part


def _around(text: str, words: Sequence[str], longest: int) -> str:
    """Return a long text cut to the stretch with the first match in it."""
    if len(text) <= longest:
        return text
    found = spans(text, words)
    if not found or found[0][1] <= longest:
        return cut(text, longest)
    return cut(text, longest, max(0, min(found[0][0] - _BEFORE_MATCH, len(text) - longest)))


def session_row(session: Session) -> Json:
    """Return a session in its stable shape, with the latest of its file changes only."""
    changes = session.files_changed[-_FILES_IN_LISTS:]
    row = output.session_json(session)
    row["files_changed"] = [change_row(change, session, LONGEST_IN_LISTS) for change in changes]
    row["files_changed_total"] = len({change.path for change in session.files_changed})
    row["paths"] = row["paths"][:1]
    return row


def change_row(change: FileChange, session: Session, longest: int = LONGEST_FOUND) -> Json:
    """Return a change of a file, its explanation cut."""
    row = output.change_json(change, session)
    row["explanation"] = cut(row["explanation"], longest)
    return row


def hit_row(hit: Hit, words: Sequence[str]) -> Json:
    """Return a result of a search, its exchange cut to the place that was found."""
    row = output.hit_json(hit)
    row["session"] = session_row(hit.session)
    if row["exchange"]:
        for side in ("user", "assistant"):
            row["exchange"][side] = _around(row["exchange"][side], words, LONGEST_FOUND)
    return row


def exchange_row(place: int, exchange: Exchange, start: int) -> Json:
    """Return an exchange of a conversation; of long texts the stretch from ``start`` on."""
    row = output.exchange_json(place, exchange)
    for side in ("user", "assistant"):
        row[side] = cut(row[side], LONGEST_SHOWN, start)
    return row


def file_row(change: FileChange, session: Session) -> Json:
    """Return a change of a file with the session that made it."""
    row: Json = output.files_json([(change, session)], ())["files"][0]
    row["explanation"] = cut(row["explanation"], LONGEST_FOUND)
    return row


def chunk_row(hit: DocumentHit, longest: int = LONGEST_SHOWN) -> Json:
    """Return a chunk of a document in its stable shape, its text cut."""
    row = output.document_json(hit)
    row["text"] = cut(row["text"], longest)
    return row


def period_row(session: Session) -> Json:
    """Return a session of a period as one line of it."""
    return {
        "id": session.id,
        "source": session.source,
        "title": session.title,
        "ended_at": output.instant(session.ended_at),
        "branch": session.branch,
        "files_changed_total": len({change.path for change in session.files_changed}),
    }


def period_answer(
    value: str, done: Activity, titles: Fitted[Session], warnings: list[str], most: int = 20
) -> PeriodAnswer:
    """Return the counts of a period, with at most so many files, branches and tags."""
    return PeriodAnswer(
        period=value,
        sessions=len(done.sessions),
        messages=done.messages,
        exchanges=done.exchanges,
        file_changes=done.changes,
        files_changed=len(done.files),
        agents=dict(done.agents),
        branches=dict(done.branches[:most]),
        tags=dict(done.tags[:most]),
        days=dict(done.days[-_DAYS:]),
        busiest_files=[
            {"path": one.path, "changes": one.changes, "sessions": one.sessions} for one in done.files[:most]
        ],
        titles=titles.json,
        warnings=warnings,
        **titles.page(),
    )


def citations(asked: Asked) -> list[Json]:
    """Return the files that a written answer names."""
    return [{"path": one.path, "number": one.number, "known": one.known} for one in asked.citations]


def documents_status(status: DocumentsStatus) -> Json:
    """Return the state of the documents; of long lists the beginning."""
    row = output_documents.documents_status_json(status)
    row["stale_files_total"] = len(status.stale_files)
    return _beginnings(row)


def documents_progress(progress: DocumentsProgress) -> Json:
    """Return what an update of the documents did."""
    return _beginnings(output_documents.progress_json(progress))


def sessions_status(status: Status) -> Json:
    """Return the state of the conversations; of long lists the beginning."""
    return _beginnings(output.status_json(status))


def _beginnings(row: Json) -> Json:
    return {name: value[:_LISTED] if isinstance(value, list) else value for name, value in row.items()}


def sessions_progress(progress: IndexProgress) -> Json:
    """Return what an update of the conversations did."""
    return {
        "files_done": progress.files_done,
        "files_total": progress.files_total,
        "exchanges_embedded": progress.exchanges_embedded,
        "finished": progress.finished,
        "note": progress.note,
    }

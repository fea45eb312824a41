"""The questions behind the MCP tools: blocking, one method for each tool, an answer as JSON and as text.

They ask the services of sessions and documents; :mod:`prima_tui.mcp_server` runs them in threads.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from prima_tui import mcp_answers as answers
from prima_tui import mcp_text as text
from prima_tui import output
from prima_tui.errors import PrimaError, UsageError
from prima_tui.mcp_answers import Fitted
from prima_tui.model import dates
from prima_tui.model.activity import activity
from prima_tui.model.documents import Asked
from prima_tui.model.hits import Cancel, Conversation, IndexProgress, Mode
from prima_tui.model.session import Exchange, FileChange
from prima_tui.model.text import count_text

if TYPE_CHECKING:
    from prima_tui.documents_memory import Documents
    from prima_tui.memory import Memory

Detail = Literal["summary", "files", "full"]
Answered = tuple[object, str]

UPDATE_SECONDS = 10.0
"""Most that a search spends on indexing first; an agent waits for it."""
_REBUILD_WAIT_SECONDS = 15.0
"""How long the call that starts a rebuild waits for it; it goes on in the background."""
_WRITING_SECONDS = 20.0
"""How long a local model may write at an answer."""
_SUBSTANTIAL = 200
"""Characters from which a reply says something."""
_NO_PROJECT = "this project has no memory of documents yet; `prima-tui docs init` in its root makes one"
_NOT_FINISHED = "not finished; call again to go on"
_SHORT_PERIOD = re.compile(r"[0-9]{1,6}(?:h|d|w|m|mo|y)")


class Questions:
    """Answers the tools of one server. Safe to use from several threads."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._opening = threading.Lock()
        self._updating = threading.Lock()
        self._rebuild: _Rebuild | None = None

    # -- documents ----------------------------------------------------------------------------------------------

    def query(self, question: str, limit: int, answer: bool, cancel: Cancel) -> Answered:
        """The best chunks for a question and, if wanted, an answer written from them."""
        documents = self._project()
        if answer:
            asked = _asked(documents, question, limit, cancel)
            hits, warnings, note = asked.hits, asked.warnings, asked.note
            written, cited = asked.answer, answers.citations(asked)
        else:
            found = documents.find(question, "combined", limit, cancel=cancel, every_chunk=True)
            hits, warnings, note, written, cited = found.hits, found.warnings, "", "", []
        fitted = Fitted(hits, answers.chunk_row, 0, len(hits))
        page = fitted.page(note)
        page["next_offset"] = None
        result = answers.ChunksAnswer(
            query=question,
            results=fitted.json,
            answer=answers.cut(written, answers.LONGEST_SHOWN),
            citations=cited,
            warnings=list(warnings),
            **page,
        )
        return result, text.chunks_text(result)

    def documents_found(self, query: str, mode: Mode, limit: int, offset: int, cancel: Cancel) -> Answered:
        """The documents that hold something, each with its best chunk."""
        found = self._project().find(query, mode, offset + limit + 1, cancel=cancel)
        hits = found.hits[offset : offset + limit]
        fitted = Fitted(hits, answers.chunk_row, offset, None, more=len(found.hits) > offset + limit)
        result = answers.ChunksAnswer(
            query=query,
            results=fitted.json,
            answer="",
            citations=[],
            warnings=list(found.warnings),
            **fitted.page(),
        )
        return result, text.chunks_text(result)

    def status(self, cancel: Cancel) -> Answered:
        """The state of documents and conversations."""
        self._memory.refresh(cancel=cancel)
        documents = self._memory.documents()
        result = answers.StatusAnswer(
            documents=answers.documents_status(documents.status()) if documents else None,
            sessions=answers.sessions_status(self._memory.status()),
            note="" if documents else _NO_PROJECT,
        )
        return result, text.plain_text(result)

    def reindex(self, seconds: float, cancel: Cancel) -> Answered:
        """Bring conversations and documents up to date for at most so many seconds together."""
        started = time.monotonic()
        self._memory.refresh(cancel=cancel)
        with self._updating:
            left = max(0.0, seconds - (time.monotonic() - started))
            second, first = self._memory.update_both(left, cancel=cancel)
        finished = second.finished and (first is None or first.finished)
        notes = [one for one in ("" if first else _NO_PROJECT, "" if finished else _NOT_FINISHED) if one]
        result = answers.ReindexAnswer(
            documents=answers.documents_progress(first) if first else None,
            sessions=answers.sessions_progress(second),
            finished=finished,
            note="; ".join(notes),
        )
        return result, text.plain_text(result)

    # -- conversations ------------------------------------------------------------------------------------------

    def sessions_found(self, query: str, mode: Mode, limit: int, offset: int, cancel: Cancel) -> Answered:
        """The sessions in which something was said, the index brought up to date for some seconds first."""
        warnings = self._refresh(cancel)
        if mode != "keyword" and query.strip():
            warnings += self._updated(cancel)
        answer = self._memory.search(query, mode, limit=offset + limit + 1, cancel=cancel)
        fitted = Fitted(
            answer.hits[offset : offset + limit],
            lambda hit: answers.hit_row(hit, answer.words),
            offset,
            None,
            more=len(answer.hits) > offset + limit,
        )
        whole = output.search_json(answer, ())
        result = answers.SearchAnswer(
            query=query,
            mode=mode,
            results=fitted.json,
            documents=[answers.chunk_row(one, answers.LONGEST_IN_LISTS) for one in answer.documents],
            similar=[answers.session_row(one) for one in answer.similar[:limit]],
            session_history=whole["session_history"][:limit],
            indexed=whole["indexed"],
            warnings=[*answer.warnings, *warnings],
            **fitted.page(),
        )
        return result, text.search_text(result, fitted.rows)

    def recent(self, filters: str, limit: int, offset: int, cancel: Cancel) -> Answered:
        """The sessions in scope, newest first, those that pass the filters."""
        warnings = self._refresh(cancel)
        sessions = self._memory.snapshot().sessions
        if filters.strip():
            answer = self._memory.search(filters, "keyword", cancel=cancel)
            warnings += answer.warnings
            sessions = tuple(hit.session for hit in answer.hits)
        fitted = Fitted(sessions[offset : offset + limit], answers.session_row, offset, len(sessions))
        result = answers.SessionsAnswer(sessions=fitted.json, warnings=warnings, **fitted.page())
        return result, text.sessions_text(result, fitted.rows)

    def details(
        self, session_id: str, detail: Detail, limit: int, offset: int, text_offset: int, cancel: Cancel
    ) -> Answered:
        """One session: facts with its first prompt and last substantial reply, its files, or its conversation."""
        warnings = self._refresh(cancel)
        conversation = self._memory.conversation(self._memory.known_session(session_id))
        session, exchanges = conversation.session, conversation.exchanges
        changes: tuple[FileChange, ...] = ()
        numbered: list[tuple[int, Exchange]] = []
        start, total, note = 0, None, f"{count_text(len(exchanges), 'exchange')} in all; detail=full shows them"
        if detail == "files":
            total, note = len(session.files_changed), ""
            start = _from_end(offset, total)
            changes = session.files_changed[start : start + limit]
        elif detail == "full":
            total, note = len(exchanges), ""
            start = _from_end(offset, total)
            numbered = list(enumerate(exchanges[start : start + limit], start))
        else:
            numbered, text_offset = _ends(exchanges), 0
        files = Fitted(changes, lambda change: answers.change_row(change, session), start, total)
        shown = Fitted(numbered, lambda row: answers.exchange_row(row[0], row[1], text_offset), start, total)
        page = (files if detail == "files" else shown).page(note)
        result = answers.DetailsAnswer(
            detail=detail,
            session=answers.session_row(session),
            files=files.json,
            exchanges=shown.json,
            warnings=warnings,
            **page,
        )
        return result, text.details_text(result, Conversation(session, exchanges))

    def file_history(self, path: str, limit: int, offset: int, cancel: Cancel) -> Answered:
        """The changes of files whose path contains the text, newest first."""
        warnings = self._refresh(cancel)
        rows = output.file_history(self._memory.all_sessions(), path)
        fitted = Fitted(rows[offset : offset + limit], lambda row: answers.file_row(*row), offset, len(rows))
        result = answers.FilesAnswer(files=fitted.json, warnings=warnings, **fitted.page())
        return result, text.files_text(result)

    def period(self, value: str, limit: int, offset: int, cancel: Cancel) -> Answered:
        """What was done in a period, counted."""
        named = f"<{value.strip()}" if _SHORT_PERIOD.fullmatch(value.strip().lower()) else value
        wanted = dates.period(named, dates.local_now())
        if wanted is None:
            raise UsageError(f"{value!r} names no period; try today, week, 7d, 2026-11-03, 2026-11, 2026-10..2026-11")
        warnings = self._refresh(cancel)
        done = activity(self._memory.snapshot().sessions, wanted)
        fitted = Fitted(done.sessions[offset : offset + limit], answers.period_row, offset, len(done.sessions))
        result = answers.period_answer(value, done, fitted, warnings)
        return result, text.period_text(result)

    def rebuild(self, confirm: bool, cancel: Cancel) -> Answered:
        """Say what a rebuild would lose; when confirmed start one, or say how far the one that runs is."""
        with self._opening:
            running = self._rebuild if self._rebuild and not self._rebuild.told else None
            if running is None and confirm:
                self._memory.refresh(cancel=cancel)
                running = self._rebuild = _Rebuild(self._memory)
        if running is None:
            self._memory.refresh(cancel=cancel)
            lost = self._memory.rebuild_loss()
            note = (
                f"nothing was done: {count_text(lost, 'exchange')} of conversations"
                " whose files no longer exist would be lost; call again with confirm=true once the user has agreed"
            )
            result = answers.RebuildAnswer(
                state="not started", would_lose=lost, files_done=0, files_total=0, exchanges_embedded=0, note=note
            )
        else:
            result = running.state(_REBUILD_WAIT_SECONDS, cancel)
        return result, text.plain_text(result)

    # -- what they share ----------------------------------------------------------------------------------------

    def _refresh(self, cancel: Cancel) -> list[str]:
        """Bring the sessions up to date; return what is to be said about them."""
        snapshot = self._memory.refresh(cancel=cancel)
        return [*self._memory.settings.problems, *snapshot.warnings]

    def _updated(self, cancel: Cancel) -> list[str]:
        """Index for some seconds (another call's indexing counts as ours); return what is to be said about that."""
        budget = min(self._memory.settings.budget_seconds, UPDATE_SECONDS)
        started = time.monotonic()
        while not self._updating.acquire(timeout=0.05):
            cancel.check()
            if time.monotonic() - started > budget:
                return []
        try:
            left = max(0.0, budget - (time.monotonic() - started))
            progress = self._memory.update_index(left, cancel=cancel)
        finally:
            self._updating.release()
        return [progress.note] if progress.note else []

    def _project(self) -> Documents:
        documents = self._memory.documents()
        if documents is None:
            raise UsageError(_NO_PROJECT)
        return documents


def _asked(documents: Documents, question: str, limit: int, cancel: Cancel) -> Asked:
    """Ask, and after a time go on without the rest of the answer: the chunks are worth more than its end."""
    writing = Cancel()
    cancel.on_cancel(writing.cancel)
    timer = threading.Timer(_WRITING_SECONDS, writing.cancel)
    timer.daemon = True
    timer.start()
    try:
        asked = documents.ask(question, limit, cancel=writing)
    finally:
        timer.cancel()
    if writing.cancelled and not asked.complete:
        return msgspec.structs.replace(asked, note=f"the model was not done after {_WRITING_SECONDS:.0f} s")
    return asked


class _Rebuild:
    """A rebuild in a thread of its own, which outlives the call that started it."""

    def __init__(self, memory: Memory) -> None:
        self.told = False
        """Whether its end was told to a caller."""
        self._memory = memory
        self._lost = memory.rebuild_loss()
        self._progress = IndexProgress()
        self._error = ""
        self._done = threading.Event()
        threading.Thread(target=self._run, name="rebuild", daemon=True).start()

    def _run(self) -> None:
        try:
            self._progress = self._memory.rebuild(self._report)
        except PrimaError as error:
            self._error = str(error)
        except Exception as error:  # a fault of ours: the caller must hear of an end all the same
            self._error = f"{type(error).__name__}: {error}"
            self._memory.log.note([f"mcp: rebuild: {self._error}"])
        finally:
            self._done.set()

    def _report(self, progress: IndexProgress) -> None:
        self._progress = progress

    def state(self, seconds: float, cancel: Cancel) -> answers.RebuildAnswer:
        """Return how far it is after waiting for its end for at most so many seconds."""
        deadline = time.monotonic() + seconds
        while not cancel.cancelled and time.monotonic() < deadline and not self._done.wait(0.1):
            pass
        progress = self._progress
        if not self._done.is_set():
            state, note = "running", "it goes on in the background; call again to see how far it is"
        elif self._error or not progress.finished:
            state, note = "failed", self._error or progress.note
        else:
            state, note = "finished", ""
        self.told = self._done.is_set()
        return answers.RebuildAnswer(
            state=state,
            would_lose=self._lost,
            files_done=progress.files_done,
            files_total=progress.files_total,
            exchanges_embedded=progress.exchanges_embedded,
            note=note,
        )


def _from_end(offset: int, total: int) -> int:
    return max(0, total + offset) if offset < 0 else offset


def _ends(exchanges: Sequence[Exchange]) -> list[tuple[int, Exchange]]:
    """Return the first exchange and the last one whose reply says something, with their places."""
    if not exchanges:
        return []
    last = len(exchanges) - 1
    for place in range(last, 0, -1):
        if len(exchanges[place].assistant) >= _SUBSTANTIAL and not exchanges[place].agent:
            last = place
            break
    return [(place, exchanges[place]) for place in dict.fromkeys((0, last))]

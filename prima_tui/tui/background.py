"""What runs while one works: keeping the catalog up to date with the files, and the semantic index after it.

It reports in messages (Textual's ``post_message`` may be called from any thread) and never touches a widget.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

import msgspec
from textual.message import Message

from prima_tui.model.documents import DocumentsProgress
from prima_tui.model.hits import Cancel, Cancelled, IndexProgress, Snapshot
from prima_tui.tui.cancellable import in_thread
from prima_tui.tui.messages import DocumentsMoved, IndexMoved, SnapshotArrived, WorkFailed

REFRESH_SECONDS = 2.0
# (seconds since the user did something, how many times longer the pause between two looks at the files is then)
_CALMER = ((300.0, 15), (30.0, 5))
# A report for every file would keep the screen busy with progress alone.
_REPORT_SECONDS = 0.1

_LATER = "documents: time was up; the rest comes later"

Moved = TypeVar("Moved")
Post = Callable[[Message], object]
Report = Callable[[IndexProgress], None]


class Works(Protocol):
    """What can be kept up to date."""

    def refresh(self, report: Callable[[Snapshot], None] | None = None, cancel: Cancel | None = None) -> Snapshot:
        """Bring the catalog up to date; blocks, is called in a thread."""
        ...

    def rebuild(
        self, report: Callable[[IndexProgress], None] | None = None, cancel: Cancel | None = None
    ) -> IndexProgress:
        """Make the index anew; blocks, is called in a thread."""
        ...

    def warm(self) -> None:
        """Load what a search by meaning needs; blocks, is called in a thread."""
        ...

    def update_index(
        self,
        budget: float | None,
        report: Callable[[IndexProgress], None] | None,
        cancel: Cancel | None,
    ) -> IndexProgress:
        """Embed what is new; blocks, is called in a thread."""
        ...

    def update_documents(
        self,
        budget: float | None = None,
        report: Callable[[DocumentsProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> list[str]:
        """Index new and changed documents; blocks, is called in a thread."""
        ...


class Background:
    """Refreshes and updates, one of each at a time."""

    def __init__(self, post: Post, refresh_seconds: float = REFRESH_SECONDS) -> None:
        self._post = post
        self._refresh_seconds = refresh_seconds
        self._wake = asyncio.Event()
        self._touched = time.monotonic()
        self._index_cancel: Cancel | None = None
        self._index_free = asyncio.Event()
        self._index_free.set()
        self.index_stopped = False
        """The user stopped the index's update; it stays so until files are looked at again by hand."""

    @property
    def indexing(self) -> bool:
        """Whether the index is being updated."""
        return self._index_cancel is not None

    def refresh_now(self) -> None:
        """Look at the files now instead of in a moment."""
        self.index_stopped = False
        self._wake.set()

    def touched(self) -> None:
        """The user did something; after a pause the files are looked at at once."""
        now = time.monotonic()
        if now - self._touched >= _CALMER[-1][0]:
            self._wake.set()
        self._touched = now

    def focused(self) -> None:
        """The user came back to the terminal: look at the files."""
        self._touched = time.monotonic()
        self._wake.set()

    @property
    def pause(self) -> float:
        """Seconds until the files are looked at again: the longer, the longer nothing was done."""
        idle = time.monotonic() - self._touched
        return self._refresh_seconds * next((times for after, times in _CALMER if idle >= after), 1)

    def stop_index(self) -> bool:
        """Stop the update of the index; whether one was running."""
        if self._index_cancel is None:
            return False
        self.index_stopped = True
        self._index_cancel.cancel()
        return True

    def _reporter(self, message: Callable[[Moved], Message], cancel: Cancel) -> Callable[[Moved], None]:
        """Return what posts how far work is, as a message made of it: not too often, and nothing once cancelled."""
        told = 0.0

        def report(moved: Moved) -> None:
            nonlocal told
            now = time.monotonic()
            if now - told >= _REPORT_SECONDS and not cancel.cancelled:
                told = now
                self._post(message(moved))

        return report

    async def refresh_forever(self, memory: Works) -> None:
        """Bring the catalog up to date, again and again, until cancelled."""
        last: Snapshot | None = None
        while True:
            self._wake.clear()
            try:
                snapshot, changed = await in_thread(partial(self._refresh, memory, last))
            except Cancelled:
                return
            except Exception as error:
                self._post(WorkFailed("reading the history", error))
            else:
                last = snapshot
                self._post(SnapshotArrived(snapshot, changed, done=True))
            try:
                await asyncio.wait_for(self._wake.wait(), self.pause)
            except TimeoutError:
                continue

    def _refresh(self, memory: Works, last: Snapshot | None, cancel: Cancel) -> tuple[Snapshot, bool]:
        report = self._reporter(partial(SnapshotArrived, changed=True, done=False), cancel)
        snapshot = memory.refresh(report, cancel)
        # Compared here, in the thread: for many thousand sessions that takes its time.
        return snapshot, last is None or snapshot.sessions != last.sessions

    async def update_index(self, memory: Works, budget: float, *, documents_first: bool = False) -> None:
        """Update the index of sessions and that of documents once, unless that is running or was stopped.

        Each may take as long as the budget, since nobody waits for it here.
        """
        if self.indexing or self.index_stopped:
            return

        def update(report: Report, cancel: Cancel) -> IndexProgress:
            notes = self._update_documents(memory, budget, cancel) if documents_first else []
            progress = memory.update_index(budget, report, cancel)
            if not documents_first:
                notes = self._update_documents(memory, budget, cancel)
            note = progress.note or next((line for line in notes if line != _LATER), "")
            return msgspec.structs.replace(progress, note=note)

        await self._work_on_index(update, rebuild=False)

    def _update_documents(self, memory: Works, budget: float, cancel: Cancel) -> list[str]:
        if cancel.cancelled:
            return []
        moved = self._reporter(DocumentsMoved, cancel)

        def report(progress: DocumentsProgress) -> None:
            if progress.files_total:
                moved(progress)

        return memory.update_documents(budget, report=report, cancel=cancel)

    async def rebuild(self, memory: Works) -> None:
        """Make the index anew; an update that is running ends first, and none begins beside it."""
        while self._index_cancel is not None:
            self._index_cancel.cancel()
            await self._index_free.wait()
        await self._work_on_index(memory.rebuild, rebuild=True)

    async def _work_on_index(self, work: Callable[[Report, Cancel], IndexProgress], rebuild: bool) -> None:
        cancel = self._index_cancel = Cancel()
        self._index_free.clear()
        report = self._reporter(partial(IndexMoved, done=False, rebuild=rebuild), cancel)
        progress = IndexProgress(finished=True)
        try:
            progress = await asyncio.to_thread(work, report, cancel)
        except asyncio.CancelledError:
            cancel.cancel()
            raise
        except Cancelled:
            progress = IndexProgress(note="stopped")
        except Exception as error:
            self._post(WorkFailed("the index", error))
        finally:
            self._index_cancel = None
            self._index_free.set()
        self._post(IndexMoved(progress, done=True, rebuild=rebuild))

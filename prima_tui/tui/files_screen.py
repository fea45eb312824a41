"""File history without its keys: what is typed, the sessions that changed such files, the lines of one and who wrote
them. All of it is asked for in threads, and what is not wanted any more is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from prima_tui.errors import PrimaError
from prima_tui.model.hits import Cancel
from prima_tui.model.session import shown_path
from prima_tui.model.text import count_text, one_line
from prima_tui.search.changed_files import (
    SessionChange,
    file_place,
)
from prima_tui.search.file_text import file_on_disk
from prima_tui.tui.blame_pane import BlamePane
from prima_tui.tui.blame_rows import line_facts, said_of
from prima_tui.tui.cancellable import in_thread
from prima_tui.tui.document import Document
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.file_finder import FileFinder, Found
from prima_tui.tui.file_list import FileList
from prima_tui.tui.file_rows import FileRow, cut_start
from prima_tui.tui.file_texts import foot_content, no_lines, nothing_known, nothing_typed
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.outcome import SessionPlace
from prima_tui.tui.plain_input import plain_input
from prima_tui.tui.resuming import Run, run_command
from prima_tui.tui.work_screen import WorkScreen

if TYPE_CHECKING:
    from prima_tui.memory import Memory

_PAUSE = 0.02
_PANE_AFTER = 0.05
_LOOK_AGAIN_SECONDS = 2.0


class Progress(Message):
    """Reading the conversations that changed a file is at another point."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__()
        self.done = done
        self.total = total


class FilesScreen(WorkScreen[SessionPlace | None]):
    """A path is typed; below stand the sessions that changed it, or its lines with who wrote them."""

    CSS_PATH = "file_history.tcss"
    AUTO_FOCUS = "#file-query"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium")]  # noqa: RUF012  (Textual's)

    def __init__(
        self,
        memory: Memory,
        typed: str = "",
        *,
        first: Collection[str] = (),
        run: Run = run_command,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """``first`` are absolute paths of files to list first: those of the session one came from."""
        super().__init__()
        self._memory = memory
        self._typed = typed
        self._finder = FileFinder(memory, first)
        self._run_command = run
        self._clock = clock
        self._found: Found | None = None
        self._sessions: object = None
        """The history that the rows are from."""
        self._exchange: int | None = None
        """Place of the exchange with the selected row's latest change."""
        self._row_of_pane: SessionChange | None = None

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        with Horizontal(id="file-box") as box:
            box.border_title = Content("File history")
            yield Static("❯", id="file-prompt")
            yield plain_input(self._typed, 'a path, path:LINE, or path "some text"', id="file-query")
            yield Static(id="file-count")
        with Container(id="file-body"):
            yield FileList(id="file-list", clock=self._clock)
            yield DocumentPane(id="file-pane")
            yield BlamePane(id="file-lines", clock=self._clock)
            yield Static(id="file-empty")
        yield Static(id="file-foot")
        yield KeyLine()

    @property
    def _list(self) -> FileList:
        return self.query_one(FileList)

    @property
    def _pane(self) -> DocumentPane:
        return self.query_one(DocumentPane)

    @property
    def _lines(self) -> BlamePane:
        return self.query_one(BlamePane)

    @property
    def _in_lines(self) -> bool:
        return self.has_class("-lines")

    def on_mount(self) -> None:
        """Textual's."""
        self.add_class("-files")
        self._start(self._look, "look")
        self.set_interval(_LOOK_AGAIN_SECONDS, self._look_when_changed)

    def _start(self, work: Callable[[], Coroutine[Any, Any, object]], group: str) -> None:
        self.start_work(work, group, exclusive=True)

    # -- what is typed ------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        """Textual's: look for another path."""
        event.stop()
        if event.value != self._typed:
            self._typed = event.value
            self._start(self._look, "look")

    def _look_when_changed(self) -> None:
        if self._found is not None and self._memory.snapshot().sessions is not self._sessions:
            self._start(partial(self._look, keep=True), "look")

    async def _look(self, keep: bool = False) -> None:
        await asyncio.sleep(_PAUSE)
        typed = self._typed
        sessions = self._memory.snapshot().sessions
        try:
            found = await in_thread(partial(self._finder.find, file_place(typed)))
        except (PrimaError, OSError) as error:
            self._say_empty(Content(f"The history can't be read: {one_line(str(error))}"))
            return
        self._sessions = sessions
        if typed != self._typed:
            return
        self._found = found
        if not keep:
            self.remove_class("-lines")
            self.refresh_bindings()
        blank = not found.place.part
        self.set_class(blank, "-files")
        self._count(found)
        rows: Sequence[FileRow] = found.files if blank else found.changes
        self._list.border_title = Content("Changed files, latest first" if blank else "Sessions that changed it")
        self._list.show(rows, (found.place.part,) if found.place.part else (), found.first, keep)
        if found.place.line or found.place.text:
            self._start(partial(self._open_place, found), "lines")
        else:
            self._settle_empty(found)

    def _count(self, found: Found) -> None:
        text = (
            f"{count_text(found.sessions, 'session')} · {count_text(len(found.files), 'file')}" if found.changes else ""
        )
        self.query_one("#file-count", Static).update(Content(text))

    def _settle_empty(self, found: Found) -> None:
        """Say why nothing is listed, where nothing is."""
        if found.changes:
            self.remove_class("-empty")
        elif not found.place.part:
            self._say_empty(nothing_typed(self._memory.scope.reach))
        else:
            self._start(partial(self._say_nothing_known, found.place.part), "lines")

    async def _say_nothing_known(self, part: str) -> None:
        path = await asyncio.to_thread(file_on_disk, part, self._memory.scope.workspace)
        self._say_empty(nothing_known(part, path != "", self._memory.scope.reach))

    def _say_empty(self, text: Content) -> None:
        self.add_class("-empty")
        self.query_one("#file-empty", Static).update(text)

    # -- the changes of a session -------------------------------------------------------------------------------

    def on_file_list_highlighted(self, message: FileList.Highlighted) -> None:
        """Another row is selected: show its changes."""
        message.stop()
        row = message.row
        if isinstance(row, SessionChange):
            self._start(partial(self._show_change, row), "pane")

    async def _show_change(self, change: SessionChange) -> None:
        await asyncio.sleep(_PANE_AFTER)
        try:
            document, exchange = await asyncio.to_thread(self._finder.document, change)
        except (PrimaError, OSError) as error:
            document, exchange = Document(), None
            self.notify(one_line(str(error)), severity="warning", markup=False)
        self._exchange = exchange
        self._row_of_pane = change
        self._pane.border_title = Content(cut_start(one_line(change.shown), max(8, self._pane.size.width - 8)))
        self._pane.show(document)

    # -- the file's lines ---------------------------------------------------------------------------------------

    async def _open_place(self, found: Found) -> None:
        """Show the line that was typed; what is not on the disk as typed is looked for in the edits."""
        place = found.place
        path = await asyncio.to_thread(self._finder.path_of, found)
        if place.text and (edited := await in_thread(partial(self._finder.edited, place))):
            path = edited
        if not path:
            self._settle_empty(found)
            return
        await self._show_lines(path, place.line - 1, place.text)

    async def _show_lines(self, path: str, line: int, text: str = "") -> None:
        self.query_one("#file-foot", Static).update(Content("Reading the conversations that changed this file …"))
        self.remove_class("-empty", "-files")
        self.add_class("-lines")
        self.refresh_bindings()
        try:
            view = await in_thread(lambda cancel: self._finder.view(path, partial(self._tell, cancel), cancel))
        except (PrimaError, OSError) as error:
            self._say_empty(Content(f"The history can't be read: {one_line(str(error))}"))
            return
        if text:
            line = view.blame.line_with(text)
            if line < 0:
                self.notify("That text does not stand in the file any more; its edits are listed.", timeout=4)
                self.remove_class("-lines")
                self.refresh_bindings()
                return
        shown = shown_path(path, str(self._memory.scope.workspace))
        if not view.code:
            self._say_empty(no_lines(shown, view.file.note))
            return
        if self._found is not None and line >= len(view.code):
            self.notify(f"This file has {count_text(len(view.code), 'line')}.", timeout=3)
        self._lines.border_title = Content(cut_start(one_line(shown), max(8, self.size.width - 12)))
        self._lines.show(view, max(0, line), text)

    def _tell(self, cancel: Cancel, done: int, total: int) -> None:
        if not cancel.cancelled:
            self.post_message(Progress(done, total))

    def on_progress(self, message: Progress) -> None:
        """Say how far reading is."""
        message.stop()
        if self._in_lines and message.done < message.total:
            text = f"Reading the conversations that changed this file: {message.done:,} of {message.total:,}"
            self.query_one("#file-foot", Static).update(Content(text))

    def on_blame_pane_line_moved(self, message: BlamePane.LineMoved) -> None:
        """Another line: say below who wrote it and why."""
        message.stop()
        pane = self._lines
        if pane.view is None:
            return
        now = (self._clock or (lambda: datetime.now(UTC)))()
        author = pane.view.blame.author(pane.selected)
        facts = line_facts(pane.view, pane.selected, now)
        said = said_of(author) if author else ""
        foot = foot_content(facts, said, max(20, self.size.width - 2))
        self.query_one("#file-foot", Static).update(foot)
        note = f" · {pane.view.file.note}" if pane.view.file.note else ""
        known = count_text(pane.view.conversations, "conversation")
        pane.border_subtitle = Content(f"line {pane.selected + 1:,} of {len(pane.view.code):,} · {known}{note}")

"""The main screen's part for the project's documents: which kinds are shown, opening one, making a project."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.app import SystemCommand
from textual.binding import BindingType

from prima_tui.errors import PrimaError
from prima_tui.model.hits import Answer
from prima_tui.model.query import parse
from prima_tui.tui import messages
from prima_tui.tui.bindings import browse_binding
from prima_tui.tui.document_rows import DocumentRow
from prima_tui.tui.live_search import KINDS
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.opening import open_in_editor
from prima_tui.tui.status_line import StatusLine
from prima_tui.tui.working_screen import WorkingScreen

_NO_PROJECT = (
    "This folder is in no project with a memory of its documents yet. A project has a folder .memory, where the index "
    "of its documents (.md, .markdown, .txt) is kept; nothing else is changed."
)


class DocumentsScreen(WorkingScreen):
    """Shows documents beside sessions, and opens them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        browse_binding("alt+m", "kinds", "Documents", "Sessions and documents, documents only, sessions only"),
        browse_binding("alt+q", "ask", "Ask", "Ask the project's documents a question"),
    ]

    project = ""
    """The root of the project whose documents are shown; "" as long as there is none."""

    # -- which kinds --------------------------------------------------------------------------------------------

    def take_project(self, answer: Answer) -> None:
        """Learn from an answer whether there are documents."""
        if answer.project and answer.project != self.project:
            self.project = answer.project
            self._search_line.show_kinds(self.kinds)

    def action_kinds(self) -> None:
        """Search sessions and documents, documents alone, or sessions alone."""
        if self.pick:
            self.notify("Only sessions can be picked.", timeout=3)
        elif not self.project:
            self.action_make_project()
        else:
            self.kinds = KINDS[(KINDS.index(self.kinds) + 1) % len(KINDS)]
            self._search_line.show_kinds(self.kinds)
            self._search()

    def on_kinds_wanted(self, message: messages.KindsWanted) -> None:
        """The chip was clicked."""
        message.stop()
        self.action_kinds()

    # -- the index ----------------------------------------------------------------------------------------------

    _files_done = 0

    def on_documents_moved(self, message: messages.DocumentsMoved) -> None:
        """The documents' index grew: show how far, and the present query's answer on it."""
        message.stop()
        progress = message.progress
        self.query_one(StatusLine).show_progress(
            "documents indexed", progress.files_done, progress.files_total, "F6 stops"
        )
        if progress.files_done != self._files_done:
            self._files_done = progress.files_done
            if self.query_text.strip() and self.mode != "keyword" and self.kinds != "sessions":
                self._search_again("index")

    # -- opening ------------------------------------------------------------------------------------------------

    def open_document(self, row: DocumentRow) -> None:
        """Open a document in the user's editor, at the chunk."""
        self.start_work(partial(self._open_document, row), group="resume", exclusive=True)

    async def _open_document(self, row: DocumentRow) -> None:
        if await open_in_editor(self.app, row.file, row.line):
            self.read_anew()
            self._search()

    # -- asking -------------------------------------------------------------------------------------------------

    def action_ask(self) -> None:
        """Ask the documents, first what stands in the search line."""
        self.start_work(self._ask, group="ask", exclusive=True)

    async def _ask(self) -> None:
        from prima_tui.tui.ask_screen import AskScreen

        documents = await asyncio.to_thread(self.memory.documents)
        if documents is None:
            self.action_make_project()
            return
        self.index_soon()
        self.app.push_screen(AskScreen(documents, parse(self.query_text).text))

    # -- a project ----------------------------------------------------------------------------------------------

    def document_commands(self) -> Iterable[SystemCommand]:
        """Return what the command palette offers beyond what has a key."""
        if not self.project and not self.pick:
            text = "Search its documents beside the sessions (as `prima-tui docs init` does)"
            yield SystemCommand("Make this folder a project (docs init)", text, self.action_make_project)

    def action_make_project(self) -> None:
        """Make the workspace a project, after asking."""
        self.start_work(self._make_project, group="make-project", exclusive=True)

    async def _make_project(self) -> None:
        memory = self.memory
        folder = memory.scope.workspace
        notice = NoticeScreen("Documents", f"{_NO_PROJECT}\n\n{folder}", go_on="make this folder a project")
        if await self.app.push_screen_wait(notice) != "yes":
            return
        try:
            ignored = await asyncio.to_thread(memory.make_project)
        except PrimaError as error:
            self._failed("making the project", error)
            return
        text = f"{folder} is a project now; its documents are in every search."
        if not ignored:
            text += " .memory is not in its .gitignore."
        self.notify(text, markup=False, timeout=8)
        self.index_soon()
        self._search()

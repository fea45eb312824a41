"""The main screen: every key, and what it does."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import Input

from prima_tui.model.hits import MODES, Hit
from prima_tui.model.session import Session
from prima_tui.tui import messages
from prima_tui.tui.bindings import browse_binding as _binding
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.document_rows import DocumentRow, is_session
from prima_tui.tui.documents_screen import DocumentsScreen
from prima_tui.tui.extract_rows import is_extract
from prima_tui.tui.frame_screen import FrameScreen
from prima_tui.tui.log_screen import LogScreen
from prima_tui.tui.open_folder import open_folder
from prima_tui.tui.outcome import PickResult
from prima_tui.tui.plain_input import type_elsewhere
from prima_tui.tui.resuming import copy_resume_command, copy_text, resume
from prima_tui.tui.room_screen import RoomScreen
from prima_tui.tui.scoped_screen import ScopedScreen
from prima_tui.tui.searches_screen import SearchesScreen
from prima_tui.tui.status_line import StatusLine
from prima_tui.tui.views_screen import ViewsScreen


class BrowseScreen(ScopedScreen, FrameScreen, RoomScreen, SearchesScreen, ViewsScreen, DocumentsScreen):
    """Search, look, resume."""

    BINDING_GROUP_TITLE = "Everywhere"
    BINDINGS: ClassVar[list[BindingType]] = [
        _binding("enter", "resume", "Resume", "Resume the selected session in its agent and folder", show=True),
        _binding("alt+r", "fork", "Fork", "Resume a fork of the session: a new one that begins with all of it"),
        _binding("alt+o", "open_folder", "Folder", "Open the session's folder"),
        _binding("ctrl+y", "copy_command", "Copy", "Copy the command that resumes the session", show=True),
        _binding("f2,ctrl+t", "next_mode", "Mode", "Search by words and meaning, by words, or by meaning", show=True),
        _binding("ctrl+g", "toggle_scope", "Scope", "This workspace, its repository, or everywhere", show=True),
        _binding("f4", "turn_pane", "Extract", "Show the conversation or the extract", show=True),
        _binding("ctrl+o", "maximise_pane", "Full", "Give the pane all the room, and back", show=True),
        _binding("alt+d", "deep", "Deep search", "Search the extracts too, or not"),
        _binding("up", "move(-1)", "Up", "Select the session above"),
        _binding("down", "move(1)", "Down", "Select the session below"),
        _binding("pageup", "move_page(-1)", "Page up", "Go up one page in the list"),
        _binding("pagedown", "move_page(1)", "Page down", "Go down one page in the list"),
        _binding("ctrl+home", "edge(-1)", "First", "Select the first session"),
        _binding("ctrl+end", "edge(1)", "Last", "Select the last session"),
        _binding("alt+up,ctrl+up", "preview_lines(-1)", "Preview up", "Scroll the preview up"),
        _binding("alt+down,ctrl+down", "preview_lines(1)", "Preview down", "Scroll the preview down"),
        _binding("alt+pageup,ctrl+pageup", "preview_page(-1)", "Preview page up", "Scroll the preview a page up"),
        _binding("alt+pagedown,ctrl+pagedown", "preview_page(1)", "Preview page down", "Scroll the preview a page"),
        _binding("tab", "app.focus_next", "Next part", "Go to the next part of the screen"),
        _binding("shift+tab", "app.focus_previous", "Previous part", "Go to the part before"),
        _binding("escape", "back", "Clear", "Leave the pane, then clear the search"),
        _binding("f5", "refresh_now", "Refresh", "Look at the files again now"),
        _binding("f6", "stop_work", "Stop indexing", "Stop the update or the rebuild of the index"),
        _binding("f10", "rebuild", "Rebuild", "Make the index of your conversations anew"),
        _binding("f8", "open_demo", "Demo", "Open a demo history"),
        _binding("f9", "show_log", "Log", "Show what could not be read"),
        _binding("ctrl+r", "copy_id", "Copy id", "Copy the session's id"),
    ]

    # -- resume and copy ----------------------------------------------------------------------------------------

    def action_resume(self) -> None:
        """Resume the selected session, or with --pick choose it."""
        self.choose_selected()

    def choose_selected(self) -> None:
        """Do with the selected session what Enter does; the answer to a query still running is waited for."""
        if self._answered != self._wanted:
            self._resume_when_answered = True
            return
        if hit := self._list.selected_hit:
            self.choose(hit)

    def choose(self, hit: Hit) -> None:
        """Resume the session, or with --pick end with it. It is this session, whatever the list does meanwhile.

        An extract that a deep search found is opened instead, and a document in the user's editor.
        """
        self.keep_search()
        if isinstance(hit, DocumentRow):
            self.open_document(hit)
        elif is_extract(hit):
            self.add_class("-full")
            self.remove_class("-extract")
            self._conversation.focus()
        elif self.pick:
            self.app.exit(PickResult(session=hit.session))
        else:
            self.start_work(partial(self._resume, hit.session), group="resume", exclusive=True)

    def action_fork(self) -> None:
        """Resume a fork of the selected session."""
        if (hit := self._list.selected_hit) and is_session(hit):
            self.start_work(partial(self._resume, hit.session, fork=True), group="resume", exclusive=True)

    def action_open_folder(self) -> None:
        """Open the selected session's folder."""
        if (hit := self._list.selected_hit) and is_session(hit):
            work = partial(open_folder, self.app, hit.session, self.memory.scope.env)
            self.start_work(work, group="folder", exclusive=True)

    async def _resume(self, session: Session, *, fork: bool = False) -> None:
        if await resume(self.app, self.memory, session, self._run, fork=fork):
            self.read_anew()

    def action_copy_command(self) -> None:
        """Copy the command that resumes the selected session; of a document its place."""
        hit = self._list.selected_hit
        if isinstance(hit, DocumentRow):
            copy_text(self.app, f"{hit.file}:{hit.line}")
        elif hit and is_session(hit):
            work = partial(copy_resume_command, self.app, self.memory, hit.session)
            self.start_work(work, group="resume", exclusive=True)

    def action_copy_id(self) -> None:
        """Copy the selected session's id."""
        if hit := self._list.selected_hit:
            copy_text(self.app, hit.session.id)

    # -- how and where to search --------------------------------------------------------------------------------

    def action_next_mode(self) -> None:
        """Switch to the next search mode."""
        self.mode = MODES[(MODES.index(self.mode) + 1) % len(MODES)]
        self._search_line.show_mode(self.mode)
        self._background.index_stopped = False
        self._search()

    def on_mode_wanted(self, message: messages.ModeWanted) -> None:
        """The mode's chip was clicked."""
        message.stop()
        self.action_next_mode()

    def action_deep(self) -> None:
        """Search the extracts too, or not."""
        self.deep = not self.deep
        self._search_line.show_deep(self.deep)
        if self.query_text.strip():
            self._search()

    def on_deep_wanted(self, message: messages.DeepWanted) -> None:
        """The chip was clicked."""
        message.stop()
        self.action_deep()

    def action_refresh_now(self) -> None:
        """Look at the files again."""
        self.read_anew()
        if self.query_text.strip() and self.mode != "keyword":
            self.index_soon()
        self.query_one(StatusLine).show_note("looking at the files again")

    def action_stop_work(self) -> None:
        """Stop the update or the rebuild of the index."""
        if self._background.stop_index():
            self.query_one(StatusLine).show_note("indexing stopped; results are from what is indexed (F5 goes on)")

    def on_stop_wanted(self, message: messages.StopWanted) -> None:
        """The progress bar was clicked."""
        message.stop()
        self.action_stop_work()

    # -- moving -------------------------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Move the selection."""
        self._list.move(step)

    def action_move_page(self, step: int) -> None:
        """Move the selection by pages."""
        self._list.move_page(step)

    def action_edge(self, step: int) -> None:
        """Select the first (-1) or last (1) session."""
        self._list.select(0 if step < 0 else len(self._list.hits) - 1)

    def action_preview_lines(self, step: int) -> None:
        """Scroll the pane by lines."""
        self._pane.scroll_relative(y=step * 3, animate=False)

    def action_preview_page(self, step: int) -> None:
        """Scroll the pane by pages."""
        self._pane.scroll_relative(y=step * max(1, self._pane.page_height - 2), animate=False)

    def on_key(self, event: events.Key) -> None:
        """Textual's: what is typed while another part has the focus goes to the search line."""
        type_elsewhere(event, self.focused, self._search_line.input)

    def action_back(self) -> None:
        """One step back: out of the full pane, to the search line, then to an empty search; with --pick, out."""
        if self.is_finding:
            self.action_close_find()
        elif self.has_class("-full"):
            self.remove_class("-full")
            self._search_line.input.focus()
            self.refresh_bindings()
        elif not isinstance(self.focused, Input):
            self._search_line.input.focus()
        elif self.pick:
            self.app.exit(None)
        elif self.query_text:
            self.keep_search()
            self._search_line.clear()
        else:
            self.notify("Ctrl+Q leaves the program.", timeout=3)

    # -- layout -------------------------------------------------------------------------------------------------

    def action_turn_pane(self) -> None:
        """Make the other pane the one that is shown (where one is) and that keys act on."""
        had_focus = isinstance(self.focused, DocumentPane)
        self.toggle_class("-extract")
        if had_focus:
            self._pane.focus()
        self.refresh_bindings()

    def action_maximise_pane(self) -> None:
        """Give the pane all the room below the search line, and back."""
        if isinstance(self.focused, DocumentPane):
            self.set_class(self.focused.id == "extract", "-extract")
        self.toggle_class("-full")
        if not self.has_class("-full") and isinstance(self.focused, DocumentPane):
            self._search_line.input.focus()
        self.refresh_bindings()

    def key_name(self, action: str) -> str:
        """Return what a key of the room does as it is: which pane it brings, and that the full one goes back."""
        if action == "turn_pane":
            conversation = "Chat" if self.has_class("-narrow") or self.has_class("-tiny") else "Conversation"
            return conversation if self.has_class("-extract") else "Extract"
        return "Back" if action == "maximise_pane" and self.has_class("-full") else ""

    # -- other screens ------------------------------------------------------------------------------------------

    def action_show_log(self) -> None:
        """Show the startup log."""
        self.app.push_screen(LogScreen(self.memory.log_path))

    def on_log_wanted(self, message: messages.LogWanted) -> None:
        """The state at the right of the status line was clicked."""
        message.stop()
        self.action_show_log()

    def action_open_demo(self) -> None:
        """End, and be started again on the demo history."""
        self.app.exit(PickResult(demo=True))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Textual's: no demo in the demo or in a picker."""
        if action == "open_demo":
            return not self.demo and not self.pick
        return super().check_action(action, parameters)

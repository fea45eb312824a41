"""File history: which conversations changed a file, with reason and diff, and which one wrote each of its lines."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import Input

from prima_tui.model.session import Session
from prima_tui.search.changed_files import KnownFile, SessionChange, absolute_path, file_place
from prima_tui.tui.bindings import key_binding
from prima_tui.tui.blame_pane import BlamePane
from prima_tui.tui.file_list import FileList
from prima_tui.tui.files_screen import FilesScreen
from prima_tui.tui.outcome import SessionPlace
from prima_tui.tui.plain_input import type_elsewhere
from prima_tui.tui.resuming import copy_resume_command, resume


def _bind(key: str, action: str, text: str, tooltip: str, show: bool = False) -> BindingType:
    return key_binding("files", key, action, text, tooltip, show)


class FileHistoryScreen(FilesScreen):
    """Every key of the file history, and what it does."""

    BINDING_GROUP_TITLE = "File history"
    HELP = """
    ## File history

    Type a path or a part of one: every session that changed such a file, newest first. `path:LINE` or
    `path "some text"` shows the file itself with, beside each line, the conversation that wrote it.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        _bind("enter", "choose", "Open", "Open the session at this change; for a file: its history", show=True),
        _bind("f4", "lines", "Lines", "The file's own lines with who wrote each, or its changes", show=True),
        _bind("f12,alt+enter", "resume", "Resume", "Resume the session in its agent and folder", show=True),
        _bind("ctrl+y", "copy_command", "Copy", "Copy the command that resumes the session", show=True),
        _bind("alt+n", "stretch(1)", "Next", "Go to the lines of the next conversation", show=True),
        _bind("alt+p", "stretch(-1)", "Previous", "Go to the lines of the conversation before"),
        _bind("up", "move(-1)", "Up", "Go one row or line up"),
        _bind("down", "move(1)", "Down", "Go one row or line down"),
        _bind("pageup", "move_page(-1)", "Page up", "Go one page up"),
        _bind("pagedown", "move_page(1)", "Page down", "Go one page down"),
        _bind("ctrl+home", "edge(-1)", "First", "Go to the first row or line"),
        _bind("ctrl+end", "edge(1)", "Last", "Go to the last row or line"),
        _bind("alt+up,ctrl+up", "scroll(-3)", "Pane up", "Scroll the changes up"),
        _bind("alt+down,ctrl+down", "scroll(3)", "Pane down", "Scroll the changes down"),
        _bind("alt+left", "shift(-1)", "Left", "Show the left part of long lines"),
        _bind("alt+right", "shift(1)", "Right", "Show what is farther right in long lines"),
        _bind("f5", "look_again", "Refresh", "Read the file and the changes again"),
        _bind("tab", "app.focus_next", "Next part", "Go to the next part of the screen"),
        _bind("shift+tab", "app.focus_previous", "Previous part", "Go to the part before"),
        _bind("escape", "back", "Back", "One step back", show=True),
        _bind("alt+v", "leave", "Leave", "Back to the sessions"),
    ]

    # -- keys ---------------------------------------------------------------------------------------------------

    def _selected(self) -> SessionPlace | None:
        """The session that keys act on, and the exchange it is to be opened at."""
        if self._in_lines:
            view = self._lines.view
            author = view.blame.author(self._lines.selected) if view else None
            return SessionPlace(author.session, author.exchange_index) if author else None
        row = self._list.selected_row
        if isinstance(row, SessionChange):
            exchange = self._exchange if row is self._row_of_pane else None
            if self._pane.has_focus and row is self._row_of_pane and (seen := self._pane.exchange_in_view()) >= 0:
                exchange = seen
            return SessionPlace(row.session, exchange)
        return SessionPlace(row.last.session, None) if isinstance(row, KnownFile) else None

    def action_choose(self) -> None:
        """Open the session at the change, or the history of the selected file."""
        row = self._list.selected_row
        if not self._in_lines and isinstance(row, KnownFile):
            one_folder = self._memory.scope.reach == "workspace"
            self.type_path(row.shown if one_folder else absolute_path(row.last.path, row.last.session))
        elif place := self._selected():
            self.dismiss(place)
        elif self._in_lines:
            self.notify("No conversation known here wrote this line.", timeout=3)

    def on_file_list_chosen(self, message: FileList.Chosen) -> None:
        """A double click."""
        message.stop()
        self.action_choose()

    def on_blame_pane_line_chosen(self, message: BlamePane.LineChosen) -> None:
        """A double click."""
        message.stop()
        self.action_choose()

    def type_path(self, text: str) -> None:
        """Put another path into the field."""
        field = self.query_one("#file-query", Input)
        field.value = text
        field.cursor_position = len(text)
        field.focus()

    def key_name(self, action: str) -> str:
        """Return which of the two the key brings that turns between lines and changes."""
        return "Changes" if action == "lines" and self._in_lines else ""

    def action_lines(self) -> None:
        """Turn between the changes of the selected file and its own lines."""
        if self._in_lines:
            self.remove_class("-lines", "-empty")
            self.set_class(self._found is not None and not self._found.place.part, "-files")
            self.refresh_bindings()
            return
        row = self._list.selected_row
        if row is None:
            if self._found is not None and self._found.place.part:
                self._start(partial(self._open_place, self._found), "lines")
            return
        change = row.last if isinstance(row, KnownFile) else row
        self._start(partial(self._show_lines, absolute_path(change.path, change.session), 0), "lines")

    def action_resume(self) -> None:
        """Resume the session that is shown."""
        if place := self._selected():
            self._start(partial(resume, self.app, self._memory, place.session, self._run_command), "resume")

    def action_copy_command(self) -> None:
        """Copy the command that resumes the session."""
        if place := self._selected():
            self._start(partial(copy_resume_command, self.app, self._memory, place.session), "resume")

    def action_stretch(self, step: int) -> None:
        """Go to the lines of the next or previous conversation."""
        if self._in_lines:
            self._lines.move_stretch(step)

    def action_move(self, step: int) -> None:
        """Move the selected row or line."""
        if self._in_lines:
            self._lines.move(step)
        elif self._pane.has_focus:
            self._pane.scroll_relative(y=step, animate=False)
        else:
            self._list.move(step)

    def action_move_page(self, step: int) -> None:
        """Move by pages."""
        if self._in_lines:
            self._lines.move_page(step)
        else:
            self._list.move_page(step)

    def action_edge(self, step: int) -> None:
        """Go to the first (-1) or last (1) row or line."""
        self.action_move(step * 10_000_000)

    def action_scroll(self, lines: int) -> None:
        """Scroll the changes."""
        self._pane.scroll_relative(y=lines, animate=False)

    def action_shift(self, step: int) -> None:
        """Show another part of long lines."""
        if self._in_lines:
            self._lines.shift(step)

    def action_look_again(self) -> None:
        """Read everything again."""
        self._finder.forget()
        if self._in_lines and self._lines.view is not None:
            again = partial(self._show_lines, self._lines.view.file.path, self._lines.selected)
            self._start(again, "lines")
        else:
            self._start(partial(self._look, keep=True), "look")

    def action_back(self) -> None:
        """One step back: from the lines to the changes, to all files, to the sessions."""
        place = file_place(self._typed)
        if self._in_lines and (place.line or place.text):
            self.type_path(place.part)
        elif self._in_lines:
            self.action_lines()
        elif self._typed:
            self.type_path("")
        else:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Back to the sessions."""
        self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        """Textual's: what is typed while another part has the focus goes to the field."""
        type_elsewhere(event, self.focused, self.query_one("#file-query", Input))


def session_paths(session: Session) -> frozenset[str]:
    """Return the absolute paths of the files that a session changed."""
    return frozenset(absolute_path(change.path, session) for change in session.files_changed)

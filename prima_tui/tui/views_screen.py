"""The main screen's other views of the history: files, months, figures; and a session that one of them opens here.

Views are loaded once the list stands and nobody waits for it, or when one is opened before that.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import ClassVar

import msgspec
from textual.binding import BindingType

from prima_tui.model.hits import Hit
from prima_tui.model.session import Session
from prima_tui.tui import messages
from prima_tui.tui.bindings import browse_binding
from prima_tui.tui.conversation_screen import ConversationScreen
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.extract_rows import is_extract
from prima_tui.tui.outcome import Asked, SessionPlace
from prima_tui.tui.results_screen import Wanted
from prima_tui.tui.session_arrangement import Arrangement, place_of

_VIEWS = ("file_history_screen", "timeline_screen", "statistics_screen")


class ViewsScreen(ConversationScreen):
    """Opens the views, and does what they end with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        browse_binding("alt+v", "file_history", "Files", "Which sessions changed a file, and which wrote each line"),
        browse_binding("alt+l", "timeline", "Timeline", "When the present results happened; search in a stretch of it"),
        browse_binding("alt+s", "statistics", "Statistics", "What all sessions, or the present results, come to"),
    ]
    _opened: SessionPlace | None = None
    """The session that a view opened here, and where; until another is selected."""
    _to_open: SessionPlace | None = None
    """One that is selected when the list of all sessions is there."""

    async def _warm(self) -> None:
        await super()._warm()
        await asyncio.to_thread(_load_views)

    # -- files --------------------------------------------------------------------------------------------------

    def action_file_history(self) -> None:
        """Open the file history; the files of the selected session come first."""
        self._open_file_history("")

    def on_extract_pane_file_clicked(self, message: ExtractPane.FileClicked) -> None:
        """A file was clicked in the extract: open its history."""
        message.stop()
        self._open_file_history(message.path)

    def _open_file_history(self, typed: str) -> None:
        from prima_tui.tui.file_history_screen import FileHistoryScreen, session_paths

        hit = self._list.selected_hit
        first = session_paths(hit.session) if hit and not is_extract(hit) else ()
        screen = FileHistoryScreen(self.memory, typed, first=first, run=self._run, clock=self._clock)
        self.app.push_screen(screen, self._left_view)

    def _left_view(self, place: SessionPlace | None) -> None:
        if place is not None:
            self.open_session(place)

    # -- months -------------------------------------------------------------------------------------------------

    def action_timeline(self) -> None:
        """Open the timeline of the present results."""
        from prima_tui.tui.timeline_screen import TimelineScreen

        asked = Asked(self.query_text, self.mode, self.deep)
        self.app.push_screen(TimelineScreen(self.memory, asked, self._clock), self._search_for)

    def _search_for(self, query: str | None) -> None:
        if query is not None:
            self._search_line.set_text(query)

    # -- figures ------------------------------------------------------------------------------------------------

    def action_statistics(self) -> None:
        """Open the statistics of the present results, or of all sessions."""
        from prima_tui.tui.statistics_screen import StatisticsScreen

        asked = Asked(self.query_text, self.mode, self.deep)
        self.app.push_screen(StatisticsScreen(self.memory, asked), self._left_statistics)

    def _left_statistics(self, wanted: SessionPlace | str | None) -> None:
        if isinstance(wanted, str):
            self._search_for(wanted)
        else:
            self._left_view(wanted)

    # -- a session that a view found ------------------------------------------------------------------------------

    def open_first(self, place: SessionPlace) -> None:
        """Open a session at an exchange as soon as the list is there; to be called before the screen is shown."""
        self._opened = self._to_open = place

    def open_session(self, place: SessionPlace) -> None:
        """Select a session and open its conversation at an exchange; the search is cleared if it hides the session."""
        self._opened = place
        self.remove_class("-extract")
        if self.has_class("-tiny") or self.has_class("-flat"):
            self.add_class("-full")
        if self._select(place.session):
            return
        self._to_open = place
        if self.query_text:
            self._search_line.clear()
        else:
            self._search()

    def _select(self, session: Session) -> bool:
        """Select a session that the list shows, and show it anew; whether the list shows it."""
        place = place_of(self._list.hits, session.key)
        if place < 0:
            return False
        self._list.select(place)
        self._shown_preview = ()
        self.post_message(messages.SessionHighlighted(self._list.selected_hit))
        return True

    def _take(self, arrangement: Arrangement, wanted: Wanted, last: bool) -> None:
        super()._take(arrangement, wanted, last)
        place, answer = self._to_open, arrangement.answer
        if place is None or self.answer is not answer or answer.query.strip():
            return
        self._to_open = None
        if not self._select(place.session):
            if owner := self._list.owner_of(place.session.key):
                self._list.view = self._list.view._replace(opened=self._list.view.opened | {owner})
            else:  # one that lists leave out (a program's): on top, just now
                answer = msgspec.structs.replace(answer, hits=(Hit(place.session, 0.0), *answer.hits))
            self._list.show(answer, keep=False)
            self._select(place.session)

    async def _show_preview(self, hit: Hit | None) -> None:
        if (place := self._opened) is not None and hit is not None:
            if hit.session.key == place.session.key:
                hit = msgspec.structs.replace(hit, exchange_index=place.exchange)
            elif self._to_open is None:
                self._opened = None
        await super()._show_preview(hit)


def _load_views() -> None:
    """Load the views in a thread, so that no key waits for it."""
    for name in _VIEWS:
        import_module(f"prima_tui.tui.{name}")

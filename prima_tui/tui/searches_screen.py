"""The main screen's part for what can be chosen instead of typed: filters, and the searches that led somewhere."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer

from prima_tui.tui.bindings import browse_binding
from prima_tui.tui.messages import SearchesWanted
from prima_tui.tui.results_screen import Wanted
from prima_tui.tui.session_arrangement import Arrangement
from prima_tui.tui.working_screen import WorkingScreen

MOST_KEPT = 100
# A search whose answer one looked at for so long was no mere step on the way to another.
_LOOKED_AT_SECONDS = 3.0


class SearchesScreen(WorkingScreen):
    """Offers filters, keeps searches."""

    BINDINGS: ClassVar[list[BindingType]] = [
        browse_binding("ctrl+l", "filters", "Filter", "Choose a filter: agent, date, file, folder, tag …", show=True),
        browse_binding("alt+a", "earlier_searches", "Again", "Search again for something you searched for before"),
    ]
    _looked_at: Timer | None = None

    def action_earlier_searches(self) -> None:
        """Offer the earlier searches that contain what is typed."""
        searches = self._kept.searches
        if not searches:
            self.notify("There are no earlier searches yet.", timeout=2)
        else:
            self._search_line.offer_searches(searches)

    def action_filters(self) -> None:
        """Offer the filters."""
        self._search_line.offer_filters()

    def on_searches_wanted(self, message: SearchesWanted) -> None:
        """The sign before the search line was clicked."""
        message.stop()
        self.action_earlier_searches()

    def keep_search(self) -> None:
        """Keep the present search, as the newest; one that was typed on the way to it goes."""
        query = " ".join(self.query_text.split())
        known = self._kept.searches
        if not query or (known and known[0] == query):
            return
        others = tuple(one for one in known if one != query)
        if others and query.startswith(others[0]):
            others = others[1:]
        self.remember(searches=(query, *others)[:MOST_KEPT])

    def _take(self, arrangement: Arrangement, wanted: Wanted, last: bool) -> None:
        super()._take(arrangement, wanted, last)
        if last and self.query_text.strip():
            if self._looked_at is not None:
                self._looked_at.stop()
            self._looked_at = self.set_timer(_LOOKED_AT_SECONDS, self.keep_search)

    def remember(self, **changes: object) -> None:
        """Keep how the screen looks for the next start."""
        raise NotImplementedError

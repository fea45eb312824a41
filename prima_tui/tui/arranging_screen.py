"""How the main screen's list is arranged: order, groups, rows, copies; kept for the next start."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import ClassVar

import msgspec
from textual.binding import BindingType

from prima_tui.tui import messages
from prima_tui.tui.bindings import browse_binding
from prima_tui.tui.remembered import remember
from prima_tui.tui.session_arrangement import SORTS, next_group, shown_group
from prima_tui.tui.working_screen import WorkingScreen


class ArrangingScreen(WorkingScreen):
    """Arranges the list in other ways."""

    BINDINGS: ClassVar[list[BindingType]] = [
        browse_binding("f7", "density", "Density", "Rows of one, two or three lines"),
        browse_binding("ctrl+s", "sort", "Sort", "Best first, newest, longest, most files"),
        browse_binding("alt+g", "group", "Group", "Group the list by day, by folder, or not"),
        browse_binding("alt+u", "copies", "Copies", "List the older copies of a resumed session, or fold them again"),
    ]

    def action_density(self) -> None:
        """Show rows of one, two or three lines."""
        density = self._list.row_height % 3 + 1
        self._list.set_density(density)
        self.remember(density=density)

    def action_sort(self) -> None:
        """Show the list in the next order."""
        sort = SORTS[(SORTS.index(self._list.view.sort) + 1) % len(SORTS)]
        self.arrange_anew(sort=sort)
        self.remember(sort=sort)
        self.notify(f"Sorted: {sort}{' first' if sort == 'best' else ''}", timeout=2)

    def action_group(self) -> None:
        """Group the list in the next way."""
        view = self._list.view
        group = next_group(view, self.answer)
        self.arrange_anew(group=group)
        self.remember(group=group)
        shown = shown_group(view._replace(group=group), self.answer)
        how = {"day": "by day", "workspace": "by folder"}.get(shown, "not at all")
        self.notify(f"Grouped: {how}{', best first when you search' if group == 'auto' else ''}", timeout=2)

    def action_copies(self) -> None:
        """List the copies of the selected session below it, or fold them again."""
        hit = self._list.selected_hit
        owner = self._list.owner_of(hit.session.key) if hit else None
        if owner is None:
            self.notify("This session has no copies.", timeout=2)
        else:
            self.arrange_anew(opened=self._list.view.opened ^ {owner})

    def on_copies_wanted(self, message: messages.CopiesWanted) -> None:
        """The mark in a row was clicked."""
        message.stop()
        self.action_copies()

    def remember(self, **changes: object) -> None:
        """Keep how the screen looks for the next start; where that can't be written it is as it was."""
        self._kept = msgspec.structs.replace(self._kept, **changes)
        self.start_work(partial(asyncio.to_thread, self._write_kept), group="remember")

    def _write_kept(self) -> None:
        with contextlib.suppress(OSError):
            remember(self.memory.settings.paths.data, self._kept)

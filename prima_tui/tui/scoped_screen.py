"""The main screen's scope: this workspace, its repository, everywhere; and what a workspace was before it moved."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from prima_tui.errors import PrimaError
from prima_tui.model.reach import REACHES
from prima_tui.model.text import one_line
from prima_tui.tui import messages
from prima_tui.tui.bindings import browse_binding
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.working_screen import WorkingScreen

if TYPE_CHECKING:
    from prima_tui.memory import Memory

_OFFER_SECONDS = 20


class ScopedScreen(WorkingScreen):
    """Goes from scope to scope, and offers the sessions of a folder that may have become this workspace."""

    BINDINGS: ClassVar[list[BindingType]] = [
        browse_binding("alt+w", "take_over", "Moved here", "Take in the sessions of the folder that this was before"),
    ]
    _earlier_sought = False

    def action_toggle_scope(self) -> None:
        """Search the next scope: this workspace, its repository, everywhere."""
        reach = REACHES[(REACHES.index(self.memory.scope.reach) + 1) % len(REACHES)]
        self._go_on_with(self.memory.reaching(reach))

    def on_scope_wanted(self, message: messages.ScopeWanted) -> None:
        """The scope's chip was clicked."""
        message.stop()
        self.action_toggle_scope()

    def _go_on_with(self, memory: Memory) -> None:
        self.memory = memory
        self._search_line.show_scope(memory.scope.reach)
        self._background.stop_index()
        self._background.index_stopped = False
        self.start_refreshing()
        self._search()

    # -- a workspace that moved ---------------------------------------------------------------------------------

    def on_snapshot_arrived(self, message: messages.SnapshotArrived) -> None:
        """After the first whole list: look whether the workspace's sessions stand under another folder's name.

        What else is to be done with it the class above does: Textual calls the handler of each class.
        """
        if message.done and message.snapshot.complete and not self._earlier_sought:
            self._earlier_sought = True
            self.start_work(self._look_for_earlier, group="earlier", exclusive=True)

    async def _look_for_earlier(self) -> None:
        self._earlier = await asyncio.to_thread(self.memory.earlier_folders)
        if self._earlier:
            self.refresh_bindings()
            where = self._earlier[0] if len(self._earlier) == 1 else f"{len(self._earlier)} folders that are gone"
            text = f"Was this workspace {where} before? Alt+W takes its sessions in."
            self.notify(one_line(text), title="Moved here?", timeout=_OFFER_SECONDS, markup=False)
            self._show_empty()

    def action_take_over(self) -> None:
        """Ask whether this workspace is what became of a folder, and take its sessions in."""
        self.start_work(self._take_over, group="earlier", exclusive=True)

    async def _take_over(self) -> None:
        for folder in self._earlier:
            text = (
                f"Sessions were recorded in\n{folder}\nwhich is gone, and has the name of this workspace:\n"
                f"{self.memory.scope.workspace}\n\nIf that folder was moved here, its sessions belong to this "
                "workspace. The workspace's own configuration will say so."
            )
            answer = await self.app.push_screen_wait(NoticeScreen("Moved here", text, go_on="it was moved here"))
            if answer != "yes":
                continue
            try:
                memory = await asyncio.to_thread(self.memory.take_over, folder)
            except (OSError, PrimaError) as error:
                self._failed("taking its sessions in", error)
                return
            self._earlier = tuple(place for place in self._earlier if place != folder)
            self.refresh_bindings()
            self._go_on_with(memory)
            return

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Textual's: nothing to take in where no such folder was found."""
        if action == "take_over":
            return bool(self._earlier)
        return super().check_action(action, parameters)

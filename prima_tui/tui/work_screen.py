"""A screen with work beside it, which ends before the parts of the screen do."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.messages import Prune
from textual.screen import Screen, ScreenResultType


class WorkScreen(Screen[ScreenResultType]):
    """Starts work that may take long, and may show what came of it in any part of the screen.

    Textual ends such work after the parts have gone one by one: what came back from a thread just then found them
    missing, and that ended the program with an error.
    """

    _leaving = False

    def start_work(self, work: Callable[[], Coroutine[Any, Any, object]], group: str, exclusive: bool = False) -> None:
        """Start work beside the screen; with ``exclusive`` what still runs of the same group is cancelled."""
        if self._leaving:
            return
        # with a description of ours: Textual's own is all that the work holds, written out, be it 20,000 sessions
        self.run_worker(work, group=group, exclusive=exclusive, description=group)  # type: ignore[arg-type]

    async def on_prune(self, event: Prune) -> None:  # noqa: ARG002
        """Textual's: the screen is going to be taken apart. Textual's own method of this name is called besides."""
        self._leaving = True
        self.workers.cancel_node(self)

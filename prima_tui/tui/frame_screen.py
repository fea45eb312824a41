"""Keeping the picture of the empty screen that the next start shows first."""

from __future__ import annotations

import asyncio
import contextlib
import os
from functools import partial
from pathlib import Path

from textual.timer import Timer
from textual.widget import Widget

from prima_tui import first_frame
from prima_tui.last_list import replace_private
from prima_tui.tui.arranging_screen import ArrangingScreen
from prima_tui.tui.empty_frame import EmptyFrame, empty_frame

FOLDER = "frames"
_SETTLED_SECONDS = 1.0
"""After a start, or a change of size or look: by then the screen is as it will be."""
_MOST = 40
"""Frames kept: one for each size and look, the oldest go."""


class FrameScreen(ArrangingScreen):
    """Keeps its frame: after the start, in another size, and when it looks otherwise."""

    _frame_timer: Timer | None = None
    _kept_frame: EmptyFrame | None = None

    async def on_mount(self) -> None:
        """Textual's."""
        self._frame_soon()

    def on_resize(self) -> None:
        """Textual's."""
        self._frame_soon()

    def remember(self, **changes: object) -> None:
        """Keep how the screen looks for the next start."""
        super().remember(**changes)
        self._frame_soon()

    def _frame_soon(self) -> None:
        if self.app.is_headless or self.app.is_web:
            return
        if self._frame_timer is not None:
            self._frame_timer.stop()
        self._frame_timer = self.set_timer(_SETTLED_SECONDS, self.take_frame)

    def take_frame(self) -> None:
        """Keep the frame, or do so later where something else stands before the screen now."""
        if not self._is_plain:
            self._frame_soon()
            return
        frame = empty_frame(self)
        if frame != self._kept_frame:
            self._kept_frame = frame
            self.start_work(partial(asyncio.to_thread, self._keep_frame, frame), group="frame", exclusive=True)

    @property
    def _is_plain(self) -> bool:
        """Whether the screen stands there as at a start: no query, nothing over it, the list beside its panes."""
        return (
            self.app.screen is self
            and not self.query_text
            and not self._search_line.text
            and not self.has_class("-full")
            and not self._body.has_class("-nothing")
            and not self._notes_or_choices
        )

    @property
    def _notes_or_choices(self) -> bool:
        over: list[Widget] = [*self.query("QueryChoices"), *self.query("Tooltip").results(Widget)]
        return bool(self.app._notifications) or any(widget.display and widget.region for widget in over)

    def _keep_frame(self, frame: EmptyFrame) -> None:
        look = (self.memory.scope.reach, self.mode, self.pick)
        name = first_frame.frame_name(frame.size, look, os.environ)
        path: Path = self.memory.settings.paths.cache / FOLDER / name
        with contextlib.suppress(OSError):
            content = frame.drawn(self.app.console)
            if not path.exists() or path.read_bytes() != content:
                replace_private(path, content)
            kept = sorted(path.parent.glob("*x*-*"), key=lambda one: one.stat().st_mtime, reverse=True)
            for old in kept[_MOST:]:
                old.unlink()

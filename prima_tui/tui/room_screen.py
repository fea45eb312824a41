"""How the main screen's room is shared among list, conversation and extract: by key, by mouse; remembered."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from textual import events
from textual.binding import BindingType
from textual.widget import Widget

from prima_tui.tui.bindings import browse_binding
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.working_screen import WorkingScreen

SHARES = (30, 35, 40, 45, 50, 55, 60, 65, 70)
"""Per cent that the keys go through."""
_LEAST, _MOST = 20, 80
"""Per cent that the mouse can give."""
_PARTS = 5.0
"""What the heights of conversation and extract come to in the style sheet, 3 and 2."""
Border = Literal["list", "panes"]


class RoomScreen(WorkingScreen):
    """Gives the parts of the screen more or less room."""

    BINDINGS: ClassVar[list[BindingType]] = [
        browse_binding("alt+left", "resize(-1)", "Narrower list", "Give the list less room"),
        browse_binding("alt+right", "resize(1)", "Wider list", "Give the list more room"),
        browse_binding(
            "alt+shift+up,alt+shift+left", "split(-1)", "Smaller conversation", "Give the extract more room"
        ),
        browse_binding(
            "alt+shift+down,alt+shift+right", "split(1)", "Larger conversation", "Give the conversation more room"
        ),
    ]
    _dragged: Border | None = None
    """The border that the mouse holds."""
    _beside: bool | None = None
    """Whether conversation and extract were side by side when their room was shared last."""

    # -- keys ---------------------------------------------------------------------------------------------------

    def action_resize(self, step: int) -> None:
        """Give the list more or less room."""
        if not self.query_one("#right").region or not self.query_one("#left").region:
            self.notify("The list stands alone here: there is nothing to share.", timeout=2)
            return
        now = 100 * self.query_one("#left").outer_size.width // max(1, self.size.width)
        self._share(_next(now, step))
        self.remember(share=self._kept.share)

    def action_split(self, step: int) -> None:
        """Give the conversation more or less room beside the extract."""
        conversation, extract = self._panes
        if not conversation.region or not extract.region:
            self.notify("One pane is shown here: there is nothing to share.", timeout=2)
            return
        here, there = _length(conversation, self._side_by_side), _length(extract, self._side_by_side)
        self._split(_next(round(100 * here / max(1, here + there)), step))
        self.remember(split=self._kept.split)

    # -- the shares ---------------------------------------------------------------------------------------------

    @property
    def _panes(self) -> tuple[ConversationPane, ExtractPane]:
        return self.query_one(ConversationPane), self.query_one(ExtractPane)

    @property
    def _side_by_side(self) -> bool:
        return "-wide" in self._size_classes()

    def _share(self, share: int) -> None:
        """Give the list so many per cent of the width."""
        self._kept = msgspec.structs.replace(self._kept, share=share)
        self.query_one("#left").styles.width = f"{share}%"

    def _split(self, split: int) -> None:
        """Give the conversation so many per cent of what it has with the extract."""
        self._kept = msgspec.structs.replace(self._kept, split=split)
        self._show_split()

    def _show_split(self) -> None:
        """Set the room of the panes, in the direction in which they stand side by side now."""
        self._beside = self._side_by_side
        if not self._kept.split:
            return
        split = _within(self._kept.split * 100, 100)
        for pane, part in zip(self._panes, (split, 100 - split), strict=True):
            room = f"{_PARTS * part / 100:g}fr"
            pane.styles.width, pane.styles.height = (room, None) if self._beside else (None, room)

    async def on_mount(self) -> None:
        """Textual's: as it was shared last; what else is to be done the class above does."""
        self._show_split()

    def on_resize(self) -> None:
        """Textual's: from stacked to side by side, or back."""
        if self._beside is not None and self._beside != self._side_by_side:
            self._show_split()

    # -- the mouse ----------------------------------------------------------------------------------------------

    def _border_at(self, x: int, y: int) -> Border | None:
        """The border between two parts that stands at a place of the screen."""
        left, right = self.query_one("#left").region, self.query_one("#right").region
        conversation, extract = (pane.region for pane in self._panes)
        if left and right and x in (left.right - 1, right.x) and left.y <= y < left.bottom:
            return "list"
        if not (conversation and extract and right.contains(x, y)):
            return None
        if self._side_by_side:
            return "panes" if x in (conversation.right - 1, extract.x) else None
        return "panes" if y in (conversation.bottom - 1, extract.y) else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Textual's: take hold of a border."""
        border = self._border_at(event.screen_x, event.screen_y)
        if border is not None and event.button == 1:
            self.clear_selection()
            self._dragged = border
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Textual's: the border goes where the mouse goes."""
        if self._dragged == "list":
            self._share(_within(100 * (event.screen_x + 1), self.size.width))
        elif self._dragged == "panes":
            room = self.query_one("#right").region
            if self._side_by_side:
                self._split(_within(100 * (event.screen_x + 1 - room.x), room.width))
            else:
                self._split(_within(100 * (event.screen_y + 1 - room.y), room.height))

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        """Textual's: let the border go."""
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()
            self.remember(share=self._kept.share, split=self._kept.split)

    def remember(self, **changes: object) -> None:
        """Keep how the screen looks for the next start."""
        raise NotImplementedError


def _length(pane: Widget, side_by_side: bool) -> int:
    return pane.outer_size.width if side_by_side else pane.outer_size.height


def _within(part: int, whole: int) -> int:
    return min(_MOST, max(_LEAST, round(part / max(1, whole))))


def _next(now: int, step: int) -> int:
    """The next share above (``step`` 1) or below (-1)."""
    if step > 0:
        return next((share for share in SHARES if share > now + 1), SHARES[-1])
    return next((share for share in reversed(SHARES) if share < now - 1), SHARES[0])

"""The line of keys at the foot: what the most useful keys do where one is, drawn by one widget and clickable.

From the same bindings as everything else. Textual's own footer mounts a widget for every key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from rich.cells import cell_len
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from prima_tui.tui.palette import layers
from prima_tui.tui.styled_lines import StyledLine, joined, segments

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.screen import Screen

STYLES = ("key", "text", "off")


_HELP = "app.toggle_help"


@runtime_checkable
class NamesKeys(Protocol):
    """A part with keys that turn something, and so do another thing each time."""

    def key_name(self, action: str) -> str:
        """Return what the key of an action does just now, "" for what is always said of it."""
        ...


class ShownKey(NamedTuple):
    """A key in the line."""

    key: str
    does: str
    active: ActiveBinding

    @property
    def text(self) -> str:
        """What stands in the line, with the space at both sides."""
        return f" {self.key} {self.does} "


def _does(active: ActiveBinding) -> str:
    """What a key does, as the line says it."""
    binding, node = active.binding, active.node
    now = node.key_name(binding.action) if isinstance(node, NamesKeys) else ""
    description = now or binding.description or binding.action
    return f"{description[:1].upper()}{description[1:]}"


class KeyLine(Widget):
    """Shows the keys that are bound where the focus is; a click does what the key does."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys: list[ShownKey] | None = None
        self._places: list[tuple[int, int, ActiveBinding]] = []

    def on_mount(self) -> None:
        """Textual's."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, _screen: Screen[object]) -> None:
        keys = self._shown_keys()
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _shown_keys(self) -> list[ShownKey]:
        found: dict[str, ShownKey] = {}
        active = self.screen.active_bindings
        palette = active.get(self.app.COMMAND_PALETTE_BINDING)
        for one in (*active.values(), *([palette] if palette else [])):
            binding = one.binding
            if (binding.show or one is palette) and binding.action not in found:
                found[binding.action] = ShownKey(self.app.get_key_display(binding), _does(one), one)
        # What one does most comes first, whichever class it is bound in.
        return sorted(found.values(), key=lambda one: one.active.binding.key != "enter")

    def _line(self, width: int) -> StyledLine:
        """The keys that fit, and where each stands. The one that shows all keys is never left out."""
        if self._keys is None:
            self._keys = self._shown_keys()
        pieces: list[tuple[str, str]] = []
        self._places = []
        used = 0
        reserved = sum(cell_len(one.text) for one in self._keys if one.active.binding.action == _HELP)
        for one in self._keys:
            key, does, active = one
            size = cell_len(one.text)
            helps = active.binding.action == _HELP
            if used + size + (0 if helps else reserved) > width:
                continue
            reserved = 0 if helps else reserved
            off = "" if active.enabled else "off"
            pieces += [(" ", ""), (key, off or "key"), (f" {does}", off or "text"), (" ", "")]
            self._places.append((used, used + size, active))
            used += size
        return joined(pieces)

    def render_line(self, y: int) -> Strip:
        """Textual's: draw the line."""
        width = self.size.width
        base = self.rich_style
        if y or not width:
            return Strip.blank(width, base)
        return Strip(segments(self._line(width), layers(self, "keys", STYLES), base)).adjust_cell_length(width, base)

    def _at(self, x: int) -> ActiveBinding | None:
        return next((active for start, end, active in self._places if start <= x < end), None)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Textual's: say more about the key under the mouse."""
        found = self._at(event.x)
        text = found.tooltip if found else None
        if text != self.tooltip:
            self.tooltip = text

    async def on_click(self, event: events.Click) -> None:
        """Textual's: do what the key does."""
        event.stop()
        found = self._at(event.x)
        if found is not None and found.enabled:
            await self.app.run_action(found.binding.action, found.node)

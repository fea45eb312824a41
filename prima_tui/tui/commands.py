"""The command palette's commands: every action that has a key here, found by its name first, then by what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from prima_tui.model.text import fold
from prima_tui.tui.bindings import told
from prima_tui.tui.key_sections import actions, sections

if TYPE_CHECKING:
    from textual.app import App
    from textual.binding import ActiveBinding
    from textual.screen import Screen

_MOVES = ("move", "edge", "preview_", "scroll", "page_", "app.focus_", "back", "choice", "take_choice", "close_choices")


class Command(NamedTuple):
    """One command: its name, its key ("" for none), what it does, and doing it."""

    name: str
    key: str
    told: str
    run: Callable[[], Awaitable[object] | object]


def action_commands(app: App[object], screen: Screen[object]) -> Iterator[Command]:
    """Yield every action that has a key on a screen, in the order of help; moving about is nothing one looks for."""
    order = {
        row.active.binding.action: place
        for place, row in enumerate(row for section in sections(screen) for row in section.rows)
        if row.active is not None
    }
    found = [active for active in actions(screen) if not active.binding.action.startswith(_MOVES)]
    found.sort(key=lambda active: order.get(active.binding.action, len(order)))
    for active in found:
        binding = active.binding
        yield Command(binding.description, app.get_key_display(binding), told(binding), _runner(app, active))


def _runner(app: App[object], active: ActiveBinding) -> Callable[[], Awaitable[object]]:
    async def run() -> None:
        await app.run_action(active.binding.action, active.node)

    return run


def command_score(query: str, command: Command, likeness: float) -> float:
    """Return how well a command fits what was typed, 0 for not at all.

    A name that begins with it comes first, then one that holds its words, then what the command does in words; last a
    name with its letters in this order, as like as ``likeness`` (0 to 1).
    """
    typed, name, told = fold(query.strip()), fold(command.name), fold(command.told)
    if name.startswith(typed):
        return 4.0 + likeness
    for score, text in ((3.0, name), (2.0, told)):
        if all(word in text for word in typed.split()):
            return score + likeness
    return likeness


class ActionCommands(Provider):
    """Gives the palette every action of the screen it was opened on, and Textual's own commands after them."""

    def _commands(self) -> list[Command]:
        others = self.app.get_system_commands(self.screen)
        rest = (Command(other.title, "", other.help, other.callback) for other in others)
        return [*action_commands(self.app, self.screen), *rest]

    async def discover(self) -> Hits:
        """Textual's: all commands, before anything is typed."""
        for command in self._commands():
            yield DiscoveryHit(_shown(Content(command.name), command), command.run, command.name, command.told)

    async def search(self, query: str) -> Hits:
        """Textual's: the commands that fit, each with how well it does."""
        matcher = self.matcher(query)
        for command in self._commands():
            if score := command_score(query, command, min(1.0, matcher.match(command.name))):
                shown = _shown(matcher.highlight(command.name), command)
                yield Hit(score, shown, command.run, command.name, command.told)


def _shown(name: Content, command: Command) -> Content:
    return Content.assemble(name, "  ", (command.key, "$accent not bold")) if command.key else name

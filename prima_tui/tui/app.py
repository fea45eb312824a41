"""The full-screen program: made with the memory it shows, gives back what was picked."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input

from prima_tui import first_frame
from prima_tui.model.hits import Mode
from prima_tui.terminal_unicode import speaks_unicode
from prima_tui.tui.background import REFRESH_SECONDS
from prima_tui.tui.bindings import help_binding
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.commands import ActionCommands
from prima_tui.tui.garbage import ShortRounds
from prima_tui.tui.key_sections import sections
from prima_tui.tui.keymap import keymap_problems, usable_keys
from prima_tui.tui.outcome import PickResult, SessionPlace
from prima_tui.tui.plain_terminal import AsciiFilter
from prima_tui.tui.remembered import remembered
from prima_tui.tui.resuming import Run, run_command
from prima_tui.tui.search_input import SearchInput
from prima_tui.tui.terminal import copy_by_tmux
from prima_tui.tui.themes import DARK, OWN_THEMES, variable_defaults
from prima_tui.tui.threads import ScreenThreads

if TYPE_CHECKING:
    from textual.driver import Driver

    from prima_tui.memory import Memory


_SETTLED_SECONDS = 1.5
_SWITCH_SECONDS = 0.001
_IDLE_LOOK_SECONDS = 10.0


class PrimaApp(App[PickResult | None]):
    """Shows a memory. ``run()`` returns a :class:`PickResult`, or None when one left or cancelled."""

    TITLE = "prima-tui"
    CSS_PATH: ClassVar[list[str]] = [  # type: ignore[assignment]
        "app.tcss",
        "search_line.tcss",
        "session_list.tcss",
        "document_pane.tcss",
        "status_line.tcss",
        "key_line.tcss",
        "notice_screen.tcss",
        "find_line.tcss",
    ]
    COMMANDS: ClassVar[set[type[Provider]]] = {ActionCommands}  # type: ignore[assignment]
    COMMAND_PALETTE_BINDING = "ctrl+backslash"
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit", tooltip="Leave the program"),
        Binding(
            "ctrl+c,super+c", "copy_or_quit", "Copy or quit", show=False, priority=True, id="app.copy_or_quit",
            tooltip="Copy what is selected; with nothing selected, leave",
        ),
        Binding(
            "ctrl+z", "suspend_process", "To the shell", show=False, priority=True, id="app.suspend",
            tooltip="Back to the shell for a while (fg returns)",
        ),
        help_binding(),
    ]  # fmt: skip

    def __init__(
        self,
        memory: Memory,
        *,
        query: str = "",
        mode: Mode = "combined",
        pick: bool = False,
        demo: bool = False,
        place: SessionPlace | None = None,
        theme: str = "",
        clock: Callable[[], datetime] | None = None,
        run: Run = run_command,
        refresh_seconds: float = REFRESH_SECONDS,
    ) -> None:
        super().__init__()
        for own in OWN_THEMES:
            self.register_theme(own)
        settings = memory.settings
        kept = remembered(settings.paths.data)
        wanted = theme or settings.theme or kept.theme
        self.theme = wanted if wanted in self.available_themes else DARK.name
        # Textual would read its rules in the colours of its own theme first, and then all of them once more.
        dark = self.current_theme.dark
        self.update_classes({f"-theme-{self.theme}": True, "-dark-mode": dark, "-light-mode": not dark}, update=False)
        self.stylesheet.set_variables(self.get_css_variables())
        self._styled_in = self.theme
        self._first_shown = False
        # Nothing is animated: scrolling is where it goes at once, and a screen reader or a slow line sees no flicker.
        self.animation_level = "none"
        self._theme_kept = self.theme
        self._garbage = ShortRounds()
        self.threads = ScreenThreads()
        """What the event loop's work in threads runs in."""
        self._browse = BrowseScreen(
            memory,
            query=query,
            mode=mode,
            pick=pick,
            demo=demo,
            budget=settings.budget_seconds,
            clock=clock,
            run=run,
            refresh_seconds=refresh_seconds,
            kept=kept,
        )
        if place is not None:
            self._browse.open_first(place)
        self.set_keymap(usable_keys(settings.keys))
        encoding = "" if self.is_headless else getattr(sys.__stdout__, "encoding", "")
        self._early: list[events.Key] | None = []
        """What was typed before any part had the focus; None once one has."""
        self._ascii = AsciiFilter(enabled=not speaks_unicode(os.environ, encoding))

    def on_load(self) -> None:
        """Textual's: nothing has begun yet."""
        if not self.is_headless:
            asyncio.get_running_loop().set_default_executor(self.threads)

    def on_mount(self) -> None:
        """Textual's."""
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.app_resume_signal.subscribe(self, self._draw_again)
        if keys := self._browse.memory.settings.keys:
            self.run_worker(self._tell_wrong_keys(keys), group="keys")
        self.set_timer(_SETTLED_SECONDS, self._take_early_keys_anyway)
        if not self.is_headless:
            self.set_timer(_SETTLED_SECONDS, self._garbage.begin)
            self.set_interval(_IDLE_LOOK_SECONDS, self._garbage.rest)
            # A thread at work gives the interpreter back after this long when the screen wants it.
            sys.setswitchinterval(_SWITCH_SECONDS)

    def on_unmount(self) -> None:
        """Textual's: the program is being left."""
        self._garbage.end()

    async def _tell_wrong_keys(self, keys: Mapping[str, str]) -> None:
        # in a thread: it looks at every view, and those not opened yet are loaded for it
        for problem in await asyncio.to_thread(keymap_problems, keys):
            self.notify(problem, severity="warning", timeout=12, markup=False)

    def _draw_again(self, _app: App[Any]) -> None:
        """Draw all of it: the terminal was somebody else's, and Textual draws only what changed since."""
        self.refresh(layout=True)

    def _keep_theme(self, theme: Theme) -> None:
        if theme.name != self._theme_kept:
            self._theme_kept = theme.name
            self._browse.remember(theme=theme.name)

    async def on_event(self, event: events.Event) -> None:
        """Textual's: whatever the user does keeps the list up to date with the files."""
        if isinstance(event, events.InputEvent):
            self._browse.touched()
            self._garbage.touched()
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            # Most terminals send Escape and the letter: Textual has it as a key that prints the letter, too.
            event.character = None
        if self._early is not None and isinstance(event, events.Key) and event.is_printable and event.character:
            # typed while the program was loaded: it would go to the screen, and come there when nothing is to be typed
            self._early.append(event)
            return
        await super().on_event(event)

    async def on_descendant_focus(self) -> None:
        """Textual's: a part has the focus."""
        await self._take_early_keys()

    async def _take_early_keys_anyway(self) -> None:
        """No part has the focus: what was typed is the screen's, once it has parts, be the computer ever so slow."""
        if self._browse.query(SearchInput):
            await self._take_early_keys()
        else:
            self.set_timer(_SETTLED_SECONDS, self._take_early_keys_anyway)

    async def _take_early_keys(self) -> None:
        early, self._early = self._early, None
        for event in early or ():
            await super().on_event(event)

    def on_app_focus(self) -> None:
        """Textual's: the terminal has the focus again, so something may have happened elsewhere."""
        self._browse.came_back()

    def get_driver_class(self) -> type[Driver]:
        """Textual's: what draws on the terminal; ours, where the first frame may stand."""
        if os.name != "posix" or os.environ.get("TEXTUAL_DRIVER"):
            return super().get_driver_class()
        from prima_tui.tui.frame_driver import FrameDriver

        return FrameDriver

    def _handle_exception(self, error: Exception) -> None:
        # what Textual says of an error before it draws is not to vanish with the frame
        first_frame.leave()
        super()._handle_exception(error)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Textual's: our own variables, for themes that don't set them."""
        return variable_defaults(self.current_theme.dark)

    def refresh_css(self, animate: bool = True) -> None:
        """Textual's: style everything anew. It asks for that at the start too, when everything is styled already."""
        styled, self._styled_in = self._styled_in == self.theme, ""
        if not styled:
            super().refresh_css(animate)

    def update_styles(self, node: DOMNode, animate: bool = True) -> None:
        """Textual's: style a part of the screen anew. It asks for that of all of the first screen just after mounting.

        Everything is styled by then, and what has the focus too.
        """
        if self._first_shown or node is not self._browse:
            super().update_styles(node, animate)
        self._first_shown = self._first_shown or node is self._browse

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's: what is done to every line before it is written."""
        return [*super().get_line_filters(), self._ascii] if self._ascii.enabled else super().get_line_filters()

    def get_key_display(self, binding: Binding) -> str:
        """Textual's: how a key is named on the screen."""
        return super().get_key_display(binding).replace("⏎", "enter" if self._ascii.enabled else "⏎")

    def copy_to_clipboard(self, text: str) -> None:
        """Textual's: copy by the terminal, which works over ssh too; inside tmux, which keeps that back, also by it.

        What in it is no character (a lone surrogate, which no encoder accepts) is replaced.
        """
        text = text.encode("utf-8", "replace").decode()
        super().copy_to_clipboard(text)
        if os.environ.get("TMUX") and not self.is_headless:
            self.run_worker(partial(copy_by_tmux, text), thread=True, group="copy")

    def get_default_screen(self) -> Screen[None]:
        """Textual's: the main screen."""
        return self._browse

    def action_copy_or_quit(self) -> None:
        """Copy the text selected by mouse or in the search line; with none, leave."""
        if text := self.screen.get_selected_text():
            self.copy_to_clipboard(text)
            self.screen.clear_selection()
            self.notify("Copied.", timeout=2)
        elif isinstance(self.focused, SearchInput) and not self.focused.selection.is_empty:
            self.focused.action_copy()
        elif self.screen is not self._browse:
            self.pop_screen()
        else:
            self.exit(None)

    def action_command_palette(self) -> None:
        """Textual's: show the command palette; its cursor is as still as all of ours."""
        super().action_command_palette()
        self.call_after_refresh(self._hold_cursors)

    def _hold_cursors(self) -> None:
        for field in self.screen.query(Input):
            field.cursor_blink = False

    def action_toggle_help(self) -> None:
        """Show all keys; a key closes that again."""
        from prima_tui.tui.help_screen import HelpScreen

        told = getattr(self.focused, "HELP", None) or self.screen.HELP or ""
        told = " ".join(line.strip() for line in told.splitlines() if not line.strip().startswith("#")).replace("`", "")
        self.push_screen(HelpScreen(sections(self.screen), told.strip(), filters=self.screen is self._browse))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's: for the command palette, what has no key on this screen."""
        if isinstance(screen, BrowseScreen):
            yield from screen.document_commands()
        for command in super().get_system_commands(screen):
            if command.title not in ("Quit", "Keys", "Maximize", "Minimize"):
                yield command

"""The box in which one says where a conversation is written to, and in which form."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from prima_tui.errors import PrimaError
from prima_tui.export import FORMATS, FileThere, Format, exported, file_name, format_of, free_path, write_export
from prima_tui.model.hits import Conversation
from prima_tui.model.session import Session, ToolUse
from prima_tui.tui.bindings import help_binding
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.plain_input import PlainInput, plain_input

_NAMES: dict[Format, str] = {"markdown": "Markdown", "html": "HTML"}


class Reads(Protocol):
    """Where conversations come from."""

    def conversation(self, session: Session) -> Conversation:
        """Return all exchanges of a session; may block, is called in a thread."""
        ...

    def tools(self, session: Session, *, thinking: bool) -> tuple[tuple[ToolUse, ...], ...]:
        """Return the uses of tools, and thinking, for each exchange; may block, is called in a thread."""
        ...


class ExportScreen(ModalScreen[tuple[Path, bool] | None]):
    """Asks for a file; its result is the path and whether tools are written too, or None."""

    BINDING_GROUP_TITLE = "Export"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "turn_format", "Markdown or HTML", id="export.format", tooltip="Write the other form"),
        Binding("f4", "turn_tools", "Tools", id="export.tools", tooltip="With tools and thinking, or without"),
        Binding("enter", "write", "Write", id="export.write", tooltip="Write the file"),
        Binding("escape,ctrl+c", "leave", "Leave", id="export.leave", tooltip="Write nothing"),
        help_binding(),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._tools = True

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        with Vertical(id="notice") as box:
            box.border_title = Content("Export the conversation")
            yield plain_input(str(self._path), id="export-path")
            with Horizontal(id="notice-keys"):
                for key, action, identifier in (
                    ("Enter", "write", "export-write"),
                    ("F2", "turn_format", "export-format"),
                    ("F4", "turn_tools", "export-tools"),
                    ("Esc", "leave", "export-leave"),
                ):
                    yield ExportKey(key, action, id=identifier)

    def on_mount(self) -> None:
        """Textual's: say what the keys do now; of a long path the end is what one changes."""
        self._tell()
        # only with a width is there a part of it in view
        self.call_after_refresh(self._show_end)

    def _show_end(self) -> None:
        field = self.query_one(PlainInput)
        field.action_home()
        field.action_end()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Textual's: the name says the form."""
        event.stop()
        self._tell()

    def _tell(self) -> None:
        form = format_of(Path(self.query_one(PlainInput).value))
        other = next(one for one in FORMATS if one != form)
        self.query_one("#export-write", ExportKey).tell(f"write {_NAMES[form]}")
        self.query_one("#export-format", ExportKey).tell(f"{_NAMES[other]} instead")
        self.query_one("#export-tools", ExportKey).tell("without tools" if self._tools else "with tools")
        self.query_one("#export-leave", ExportKey).tell("close")

    def action_turn_format(self) -> None:
        """Ask for the other form, by the file's name."""
        field = self.query_one(PlainInput)
        path = Path(field.value)
        field.value = str(path.with_suffix(".md" if format_of(path) == "html" else ".html"))
        field.cursor_position = len(field.value)

    def action_turn_tools(self) -> None:
        """Write tools and thinking too, or not."""
        self._tools = not self._tools
        self._tell()

    def action_write(self) -> None:
        """End with the path."""
        if text := self.query_one(PlainInput).value.strip():
            self.dismiss((Path(text).expanduser(), self._tools))

    def action_leave(self) -> None:
        """End without."""
        self.dismiss(None)


class ExportKey(Static):
    """A key and what it does; a click does it too."""

    def __init__(self, key: str, action: str, *, id: str) -> None:
        super().__init__(id=id)
        self._key = key
        self._action = action

    def tell(self, text: str) -> None:
        """Say what the key does."""
        self.update(Content.assemble((f"{self._key} ", "bold $accent"), text))

    async def on_click(self, event: events.Click) -> None:
        """Textual's: what the key does."""
        event.stop()
        await self.screen.run_action(self._action)


async def export_conversation(app: App[Any], memory: Reads, session: Session, folder: Path) -> Path | None:
    """Ask for a file, a free name in ``folder`` offered, and write the session there; return what was written.

    A file that exists is replaced only after asking.
    """
    suggested = await asyncio.to_thread(free_path, folder, file_name(session, "markdown"))
    chosen = await app.push_screen_wait(ExportScreen(suggested))
    if chosen is None:
        return None
    path, with_tools = chosen
    try:
        text = await asyncio.to_thread(_text, memory, session, format_of(path), with_tools)
        try:
            await asyncio.to_thread(write_export, path, text)
        except FileThere as error:
            notice = NoticeScreen("Export", f"{error}.", go_on="replace it")
            if await app.push_screen_wait(notice) != "yes":
                return None
            await asyncio.to_thread(write_export, path, text, replace=True)
    except (PrimaError, OSError) as error:
        app.notify(str(error), severity="error", markup=False)
        return None
    app.notify(str(path), title="Written", markup=False, timeout=6)
    return path


def _text(memory: Reads, session: Session, form: Format, with_tools: bool) -> str:
    uses: Sequence[Sequence[ToolUse]] = memory.tools(session, thinking=True) if with_tools else ()
    return exported(memory.conversation(session), form, uses)

"""The main screen's conversation: going through it, unfolding, copying."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from prima_tui.model.citation import citation
from prima_tui.model.fences import code_blocks
from prima_tui.model.hits import Hit
from prima_tui.model.query import parse
from prima_tui.model.session import Session, shown_path
from prima_tui.model.text import count_text, one_line, shown
from prima_tui.tui.bindings import browse_binding as binding
from prima_tui.tui.cancellable import in_thread
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.document import Document, with_words
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.document_rows import DocumentRow, is_session
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.extract_rows import is_extract
from prima_tui.tui.find_line import FindLine
from prima_tui.tui.messages import SessionHighlighted
from prima_tui.tui.opening import open_in_editor
from prima_tui.tui.results_screen import Wanted
from prima_tui.tui.resuming import copy_text
from prima_tui.tui.session_arrangement import Arrangement
from prima_tui.tui.session_rows import title_text
from prima_tui.tui.tool_blocks import Unfolded
from prima_tui.tui.working_screen import WorkingScreen

_PREVIEW_AFTER = 0.04
# While someone types, the list keeps up with every key and the panes follow when the fingers rest.
_PREVIEW_AFTER_TYPING = 0.15
_TYPING_SECONDS = 0.4
_FRAME = 1 / 60
_FIND_AFTER = 0.05


class ConversationScreen(WorkingScreen):
    """What can be done with the conversation that the panes show."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("f3,ctrl+n", "match(1)", "Match", "Go to the next match in the conversation", show=True),
        binding("shift+f3,ctrl+p", "match(-1)", "Previous match", "Go to the previous match"),
        binding("alt+n", "message(1)", "Next message", "Go to the next message of the conversation"),
        binding("alt+p", "message(-1)", "Previous message", "Go to the previous message"),
        binding("alt+j", "prompt(1)", "Next prompt", "Go to what you said next"),
        binding("alt+k", "prompt(-1)", "Previous prompt", "Go to what you said before"),
        binding("alt+t", "tools", "Tools", "Open or fold what tools were given and gave back"),
        binding("alt+h", "thinking", "Thinking", "Open or fold what the model thought"),
        binding("ctrl+f", "find", "Find", "Find in the conversation", priority=True),
        binding("alt+c", "copy_exchange", "Copy exchange", "Copy the exchange in view as markdown"),
        binding("alt+z", "copy_code", "Copy code", "Copy the code block in view; again for the next one"),
        binding("alt+y", "copy_all", "Copy all", "Copy the whole conversation as markdown"),
        binding("alt+i", "copy_citation", "Cite", "Copy a command that opens this very exchange again"),
        binding("alt+e", "edit_extract", "Extract in editor", "Open the session's extract in your editor"),
        binding("alt+x", "export", "Export", "Write the conversation to a Markdown or HTML file"),
    ]

    _found: tuple[str, ...] = ()
    """What is being found in the conversation; while it is, that is marked and not the words of the query."""
    _copied_code: tuple[object, ...] = ()
    """Where a code block was copied from last, and which it was."""

    # -- what is shown ------------------------------------------------------------------------------------------

    def on_session_highlighted(self, message: SessionHighlighted) -> None:
        """Another session is selected: show it in the panes."""
        message.stop()
        self.start_work(partial(self._show_preview, message.hit), group="preview", exclusive=True)

    async def _show_preview(self, hit: Hit | None) -> None:
        conversation, extract = self._conversation, self.query_one(ExtractPane)
        if hit is None:
            self._shown_preview = ()
            for pane in (conversation, extract):
                pane.show(Document())
            conversation.border_title = Content("Conversation")
            return
        session, words = hit.session, self._list.words
        marked = self._found or words
        asked = (session.key, words, hit.exchange_index, session.message_count, session.ended_at)
        if asked == self._shown_preview and self._preview_whole:
            return
        typing = time.monotonic() - self._typed_at < _TYPING_SECONDS
        await asyncio.sleep(_PREVIEW_AFTER_TYPING if typing else _PREVIEW_AFTER)
        # a key since then: its answer comes first, and most often with another session to show
        while (left := self._typed_at + _PREVIEW_AFTER_TYPING - time.monotonic()) > 0:
            await asyncio.sleep(left)
        if self._shown_preview[:1] != asked[:1]:
            self.unfolded = self.unfolded._replace(turned=frozenset())
        in_tools = self.answer is not None and self.answer.query != "" and parse(self.answer.query).in_tools
        unfolded = self.unfolded._replace(tools=self.unfolded.tools or in_tools)
        same = self._shown_preview[:3] == asked[:3]
        # The part one sees comes first, then all of it with the tools, unless they are what is looked for.
        preview = await self._previews.preview(
            self.memory, hit, marked, unfolded if in_tools else None, near=not same and not in_tools
        )
        self._shown_preview, self._preview_whole = asked, False
        conversation.border_title = Content(title_text(preview.title or session.title))
        extract.border_title = Content("Extract" if not preview.title else "Document")
        conversation.show(preview.conversation, keep_place=same)
        # Textual paints what changed in one go: the panes in two frames hold the loop half as long as in one.
        await asyncio.sleep(_FRAME)
        extract.files = tuple({shown_path(change.path, session.workspace) for change in session.files_changed})
        extract.show(preview.extract, keep_place=same)
        if not in_tools and not preview.problem:
            preview = await self._previews.preview(self.memory, hit, self._found or words, unfolded)
            if preview.has_asides or not conversation.document.whole:
                conversation.show(preview.conversation, keep_place=True)
        self._preview_whole = True

    def on_document_pane_match_moved(self, message: DocumentPane.MatchMoved) -> None:
        """Another match: count at the pane's foot."""
        message.stop()
        count = f"{message.count:,} {'match' if message.count == 1 else 'matches'}"
        found = f"match {message.place:,} of {message.count:,}" if message.place else count
        message.pane.border_subtitle = Content(found if message.count else "")

    # -- going through it ---------------------------------------------------------------------------------------

    @property
    def _marks_words(self) -> bool:
        return bool(self._found or self._list.words)

    def _take(self, arrangement: Arrangement, wanted: Wanted, last: bool) -> None:
        marked = self._marks_words
        super()._take(arrangement, wanted, last)
        if marked != self._marks_words:
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Textual's: no key for the next match where nothing is looked for."""
        if action == "match":
            return self._marks_words
        return super().check_action(action, parameters)

    def action_match(self, step: int) -> None:
        """Go to the next or previous match in the pane."""
        if not self._pane.go_to_match(step):
            self.notify("No match here.", timeout=2)

    def action_message(self, step: int) -> None:
        """Go to the next or previous message in the conversation."""
        if not self._conversation.go_to_message(step):
            self.notify("No message there.", timeout=2)

    def action_prompt(self, step: int) -> None:
        """Go to the next or previous message that the user wrote."""
        if not self._conversation.go_to_message(step, by_user=True):
            self.notify("No message of yours there.", timeout=2)

    # -- finding ------------------------------------------------------------------------------------------------

    async def action_find(self) -> None:
        """Open the line for finding in the conversation, or go back to it."""
        self.remove_class("-extract")
        if self.has_class("-tiny") or self.has_class("-flat"):
            self.add_class("-full")
        if lines := self.query(FindLine):
            lines.first().input.focus()
            return
        line = FindLine(id="find")
        await self.query_one("#right").mount(line)
        line.input.focus()

    def on_find_line_changed(self, message: FindLine.Changed) -> None:
        """Something else is to be found: mark it, and go to the first of it from here."""
        message.stop()
        text = message.text.strip()
        self._found = (text,) if text else ()
        self.start_work(self._mark_found, group="find", exclusive=True)

    async def _mark_found(self) -> None:
        await asyncio.sleep(_FIND_AFTER)
        pane = self._conversation
        # what was typed before is looked for no more: in a long conversation the searches would slow one another
        document = await in_thread(partial(with_words, pane.document, self._found or self._list.words))
        pane.finding = bool(self._found)
        pane.show_found(document, go=bool(self._found))
        self.refresh_bindings()

    def action_close_find(self) -> None:
        """End finding: the words of the query are marked again."""
        for line in self.query(FindLine):
            line.remove()
        if self._found:
            self._found = ()
            self.start_work(self._mark_found, group="find", exclusive=True)
        self._conversation.finding = False
        self._search_line.input.focus()

    @property
    def is_finding(self) -> bool:
        """Whether the line for finding is open."""
        return bool(self.query(FindLine))

    # -- unfolding ----------------------------------------------------------------------------------------------

    def action_tools(self) -> None:
        """Open or fold what tools were given and gave back."""
        self.unfolded = Unfolded(not self.unfolded.tools, self.unfolded.thinking)
        self._unfold("No tools were used here.")

    def action_thinking(self) -> None:
        """Open or fold what the model thought."""
        self.unfolded = Unfolded(self.unfolded.tools, not self.unfolded.thinking)
        self._unfold("Nothing that the model thought is recorded here.")

    def on_conversation_pane_line_turned(self, message: ConversationPane.LineTurned) -> None:
        """The line of a use of a tool, or of a thought, was clicked: open or fold that one."""
        message.stop()
        self.unfolded = self.unfolded._replace(turned=self.unfolded.turned ^ {message.place})
        self._unfold("")

    def _unfold(self, nothing: str) -> None:
        self._preview_whole = False
        if hit := self._list.selected_hit:
            self.start_work(partial(self._show_unfolded, hit, nothing), group="preview", exclusive=True)

    async def _show_unfolded(self, hit: Hit, nothing: str) -> None:
        preview = await self._previews.preview(self.memory, hit, self._found or self._list.words, self.unfolded)
        if preview.has_asides:
            self._conversation.show(preview.conversation, keep_place=True)
        elif nothing:
            self.notify(nothing, timeout=2)
        self._preview_whole = True

    # -- copying ------------------------------------------------------------------------------------------------

    def action_copy_exchange(self) -> None:
        """Copy the exchange that the conversation pane shows, as markdown; of a document the chunk."""
        hit = self._list.selected_hit
        if isinstance(hit, DocumentRow):
            copy_text(self.app, hit.document.text)
        elif hit and is_session(hit):
            place = self._conversation.exchange_in_view()
            self.start_work(partial(self._copy_exchange, hit.session, place), group="copy", exclusive=True)

    async def _copy_exchange(self, session: Session, place: int) -> None:
        from prima_tui.export import exchange_markdown

        conversation = await asyncio.to_thread(self.memory.conversation, session)
        if 0 <= place < len(conversation.exchanges):
            copy_text(self.app, exchange_markdown(conversation.exchanges[place]))

    def action_copy_code(self) -> None:
        """Copy the first code block in view; pressed again without moving, the next one."""
        if (hit := self._list.selected_hit) and is_session(hit):
            pane = self._conversation
            work = partial(self._copy_code, hit.session, pane.exchanges_in_view(), pane.first_code_in_view())
            self.start_work(work, group="copy", exclusive=True)

    async def _copy_code(self, session: Session, places: list[int], first: str) -> None:
        conversation = await asyncio.to_thread(self.memory.conversation, session)
        spoken = [conversation.exchanges[place] for place in places if place < len(conversation.exchanges)]
        blocks = [block for one in spoken for text in (one.user, one.assistant) for block in code_blocks(text)]
        if not blocks:
            self.notify("No code block here.", timeout=2)
            return
        where = (session.key, tuple(places), first)
        if self._copied_code[:1] == (where,):
            number = (int(str(self._copied_code[1])) + 1) % len(blocks)
        else:
            number = next((at for at, block in enumerate(blocks) if first and first in shown(block.code)), 0)
        self._copied_code = (where, number)
        block = blocks[number]
        self.app.copy_to_clipboard(block.code)
        of = f" {number + 1} of {len(blocks)}" if len(blocks) > 1 else ""
        begins = one_line(block.code.strip().split("\n")[0])[:80]
        self.notify(f"{block.language or 'code'}: {begins}", title=f"Copied code block{of}", markup=False, timeout=4)

    def action_copy_all(self) -> None:
        """Copy the whole conversation as markdown."""
        if (hit := self._list.selected_hit) and is_session(hit):
            self.start_work(partial(self._copy_all, hit.session), group="copy", exclusive=True)

    async def _copy_all(self, session: Session) -> None:
        from prima_tui.export import conversation_markdown

        conversation = await asyncio.to_thread(self.memory.conversation, session)
        text = await asyncio.to_thread(conversation_markdown, conversation)
        self.app.copy_to_clipboard(text)
        count = count_text(len(conversation.exchanges), "exchange")
        self.notify(f"{count}, {len(text):,} characters", title="Copied", timeout=4)

    def action_copy_citation(self) -> None:
        """Copy the command that opens this very exchange again."""
        if (hit := self._list.selected_hit) and is_session(hit):
            copy_text(self.app, citation(hit.session, self._conversation.exchange_in_view()))

    def action_export(self) -> None:
        """Write the conversation to a file."""
        if (hit := self._list.selected_hit) and is_session(hit):
            from prima_tui.tui.export_screen import export_conversation

            work = partial(export_conversation, self.app, self.memory, hit.session, Path.cwd())
            self.start_work(work, group="export", exclusive=True)

    def action_edit_extract(self) -> None:
        """Open the selected session's extract in the user's editor."""
        if (hit := self._list.selected_hit) and not isinstance(hit, DocumentRow):
            self.start_work(partial(self._edit_extract, hit), group="resume", exclusive=True)

    async def _edit_extract(self, hit: Hit) -> None:
        path = Path(hit.session.id) if is_extract(hit) else await asyncio.to_thread(self._extract_file, hit.session)
        await open_in_editor(self.app, path)

    def _extract_file(self, session: Session) -> Path:
        """The file of a session's extract: the one that is kept, else one made now among temporary files."""
        import tempfile

        from prima_tui.export import write_export

        kept = next((one.path for one in self.memory.extracts() if session.id in one.text), None)
        if kept is not None:
            return Path(kept)
        path = Path(tempfile.mkdtemp(prefix="prima-tui-")) / "extract.md"
        write_export(path, self.memory.extract(session, self.memory.conversation(session)))
        return path

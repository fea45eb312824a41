"""Asking the project's documents: the best chunks at once, and where a model is configured its answer streaming in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from prima_tui.documents.citations import MARK
from prima_tui.model.documents import Asked, DocumentHit, DocumentText
from prima_tui.model.hits import Answer, Cancel, Cancelled
from prima_tui.model.query import parse
from prima_tui.model.text import count_text, one_line
from prima_tui.output_documents import citations_text
from prima_tui.tui.document import Document, markdown_document
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.document_rows import DocumentRow
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.messages import SessionChosen, SessionHighlighted
from prima_tui.tui.opening import open_in_editor
from prima_tui.tui.plain_input import PlainInput, plain_input
from prima_tui.tui.resuming import copy_text
from prima_tui.tui.section_document import lines_text, section_document
from prima_tui.tui.session_list import SessionList
from prima_tui.tui.work_screen import WorkScreen

_CHUNKS = 8
# An answer comes in many small pieces: they are shown this often.
_SHOW_SECONDS = 0.1
_NOT_CONFIGURED = """No language model is set, so the parts of the documents that answer best are all there is.

To have an answer written from them, name any endpoint for chat completions in the project's
`.memory/config.toml`:

```toml
[ask]
url = "http://localhost:11434"
name = "qwen3:4b"
```
"""


class Asks(Protocol):
    """A project's documents, as far as they are asked. Everything blocks and is called in a thread."""

    root: Path

    @property
    def answering_model(self) -> str:
        """The model that writes answers, "" when none is configured."""
        ...

    def ask(
        self,
        question: str,
        limit: int = 6,
        on_text: Callable[[str], None] | None = None,
        *,
        on_hits: Callable[[tuple[DocumentHit, ...]], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Asked:
        """Return the best chunks and, where a model is configured, an answer."""
        ...

    def text(self, path: str) -> DocumentText:
        """Return a document as it is now."""
        ...


class AskPane(DocumentPane):
    """Shows the answer."""

    BINDING_GROUP_TITLE = "Answer"
    OPENS_AT_MATCH = False


class AskScreen(WorkScreen[None]):
    """Question, chunks, answer, and the chunk that is selected in its document."""

    CSS_PATH = "ask_screen.tcss"
    AUTO_FOCUS = "#question"
    BINDING_GROUP_TITLE = "Asking the documents"
    HELP = """
    ## Asking the documents

    Enter asks; the parts of the project's documents that answer best are listed at once. With a language model
    configured its answer is written from them, and what it cites beyond them is marked. Enter again opens the
    selected part in your editor.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ask_or_open", "Ask, open", id="ask.enter", tooltip="Ask; then open the part in your editor"),
        Binding("up", "move(-1)", "Up", show=False, id="ask.up", tooltip="Select the part above"),
        Binding("down", "move(1)", "Down", show=False, id="ask.down", tooltip="Select the part below"),
        Binding("ctrl+y", "copy_place", "Copy place", id="ask.copy_place", tooltip="Copy file and line"),
        Binding("alt+c", "copy_answer", "Copy answer", id="ask.copy_answer", tooltip="Copy the answer as Markdown"),
        Binding("tab", "app.focus_next", "Next part", show=False, id="ask.next", tooltip="Go to the next part"),
        Binding("escape", "stop_or_close", "Stop, close", id="ask.escape", tooltip="Stop the answer, else go back"),
    ]

    class ChunksFound(Message):
        """The chunks for a question are there."""

        def __init__(self, number: int, hits: tuple[DocumentHit, ...]) -> None:
            super().__init__()
            self.number = number
            self.hits = hits

    class Written(Message):
        """The model wrote a piece of its answer."""

        def __init__(self, number: int, piece: str) -> None:
            super().__init__()
            self.number = number
            self.piece = piece

    def __init__(self, documents: Asks, question: str = "") -> None:
        super().__init__()
        self._documents = documents
        self._question = question.strip()
        self._number = 0
        """Of the question that was asked last: what belongs to an earlier one is dropped."""
        self._asked = ""
        self._cancel: Cancel | None = None
        self._text = ""
        self._complete = True
        """Whether nothing more comes of the answer."""
        self._show_wanted = False

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        question = plain_input(self._question, "Ask the project's documents", id="question")
        question.border_title = Content("Ask the documents")
        yield question
        with Horizontal(id="asked"):
            chunks = SessionList(id="chunks")
            chunks.view = chunks.view._replace(each_chunk=True)
            yield chunks
            with Vertical(id="ask-right"):
                answer = AskPane(id="answer")
                answer.border_title = Content("Answer")
                yield answer
                yield DocumentPane(id="section")
        yield Static(id="ask-state")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Textual's: a question that came along is asked at once."""
        if self._question:
            self._ask()

    def on_unmount(self) -> None:
        """Textual's: nobody waits for the answer any more."""
        self._stop()

    @property
    def _list(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def _selected(self) -> DocumentRow | None:
        hit = self._list.selected_hit
        return hit if isinstance(hit, DocumentRow) else None

    # -- asking -------------------------------------------------------------------------------------------------

    def action_ask_or_open(self) -> None:
        """Ask what stands in the field; when that is asked already open the selected chunk in the editor."""
        question = self.query_one("#question", PlainInput).value.strip()
        if question and question != self._asked:
            self._ask()
        elif row := self._selected:
            self._open(row)

    def _ask(self) -> None:
        self._stop()
        self._asked = self.query_one("#question", PlainInput).value.strip()
        self._number += 1
        self._text = ""
        self._complete = False
        self._show_state("looking through the documents …")
        self.start_work(partial(self._ask_now, self._asked, self._number), "ask", exclusive=True)

    async def _ask_now(self, question: str, number: int) -> None:
        cancel = self._cancel = Cancel()
        documents = self._documents
        try:
            model = await asyncio.to_thread(lambda: documents.answering_model)
            self._show_answer(f"*{one_line(model)} is being asked …*" if model else _NOT_CONFIGURED)
            asked = await asyncio.to_thread(
                documents.ask,
                question,
                _CHUNKS,
                partial(self._post_piece, number),
                on_hits=partial(self._post_hits, number),
                cancel=cancel,
            )
        except asyncio.CancelledError:
            cancel.cancel()
            raise
        except Cancelled:
            self._show_state("stopped")
            return
        except Exception as error:  # whatever fails, the question can be asked again
            self.app.log(f"asking failed: {error!r}")
            self._show_state(f"asking failed: {one_line(str(error)) or type(error).__name__}")
            return
        finally:
            if self._cancel is cancel:
                self._cancel = None
        if number == self._number and self.is_attached:
            self._finish(asked)

    def _post_piece(self, number: int, piece: str) -> None:
        self.post_message(self.Written(number, piece))

    def _post_hits(self, number: int, hits: tuple[DocumentHit, ...]) -> None:
        self.post_message(self.ChunksFound(number, hits))

    def on_ask_screen_chunks_found(self, message: ChunksFound) -> None:
        """The chunks are there: list them."""
        message.stop()
        if message.number == self._number:
            found = Answer(self._asked, "combined", documents=message.hits, project=str(self._documents.root))
            self._list.show(found, keep=False)
            if not self._complete:
                self._show_state(count_text(len(message.hits), "part"))

    def on_ask_screen_written(self, message: Written) -> None:
        """A piece of the answer: show it soon."""
        message.stop()
        if message.number != self._number or self._complete:
            return
        self._text += message.piece
        if not self._show_wanted:
            self._show_wanted = True
            self.set_timer(_SHOW_SECONDS, self._show_text)

    def _show_text(self) -> None:
        self._show_wanted = False
        if self._text and not self._complete:
            self._show_answer(self._text)

    def _finish(self, asked: Asked) -> None:
        self._text = asked.answer
        self._complete = True
        said = bool(asked.answer.strip())
        if said:
            cited = citations_text(asked)
            self._show_answer(asked.answer + (f"\n\n---\n\n{cited}" if cited else ""))
        elif asked.model and asked.note:
            self._show_answer(f"No answer: {asked.note}.")
        parts = [count_text(len(asked.hits), "part")]
        if asked.note:
            parts.append(f"the answer stops here: {asked.note}" if said else f"no answer: {asked.note}")
        parts += asked.warnings
        self._show_state(" · ".join(parts))

    def _show_answer(self, text: str) -> None:
        document = markdown_document(text, (MARK.strip(),))
        self.query_one(AskPane).show(document, keep_place=bool(self._text))

    def _show_state(self, text: str) -> None:
        self.query_one("#ask-state", Static).update(Content(f" {one_line(text)}"))

    def _stop(self) -> bool:
        if self._cancel is None:
            return False
        self._cancel.cancel()
        return True

    def action_stop_or_close(self) -> None:
        """Stop the answer that is being written; else go back."""
        if not self._stop():
            self.dismiss()

    # -- chunks -------------------------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Select another chunk."""
        self._list.move(step)

    def on_session_highlighted(self, message: SessionHighlighted) -> None:
        """Another chunk is selected: show it in its document."""
        message.stop()
        self.start_work(partial(self._show_section, self._selected), "section", exclusive=True)

    async def _show_section(self, row: DocumentRow | None) -> None:
        pane = self.query_one("#section", DocumentPane)
        if row is None:
            pane.border_title = Content("")
            pane.show(Document())
            return
        hit = row.document
        text = await asyncio.to_thread(self._documents.text, hit.path)
        document = await asyncio.to_thread(_marked_section, text, hit, self._asked)
        pane.border_title = Content(one_line(f"{hit.path} · {lines_text(hit.first_line, hit.last_line)}"))
        pane.show(document)

    def on_session_chosen(self, message: SessionChosen) -> None:
        """A double click opens the chunk."""
        message.stop()
        if row := self._selected:
            self._open(row)

    def _open(self, row: DocumentRow) -> None:
        self.start_work(partial(open_in_editor, self.app, row.file, row.line), "open", exclusive=True)

    def action_copy_place(self) -> None:
        """Copy file and line of the selected chunk."""
        if row := self._selected:
            copy_text(self.app, f"{row.file}:{row.line}")

    def action_copy_answer(self) -> None:
        """Copy the answer, or where there is none the selected chunk."""
        if self._text:
            copy_text(self.app, self._text)
        elif row := self._selected:
            copy_text(self.app, row.document.text)


def _marked_section(text: DocumentText, hit: DocumentHit, question: str) -> Document:
    """Return a chunk in its document, the words of the question that say something marked; runs in a thread."""
    from prima_tui.search.questions import content_words

    return section_document(text, hit, tuple(content_words(parse(question))))

"""The conversation of the selected session, opened at the exchange that was found."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from prima_tui.tui.document import YOU, Document
from prima_tui.tui.document_pane import DocumentPane


class ConversationPane(DocumentPane):
    """User and agent told apart, matches marked, subagents and branches that were left set off by dividers."""

    BINDING_GROUP_TITLE = "Conversation"
    HELP = """
    ## Conversation

    All that was said in the selected session, opened at the exchange that fits the query best. What tools were given
    and gave back, and what the model thought, is folded to one line each: a click on the line opens it.
    """

    class LineTurned(Message):
        """The line of a use of a tool, or of a thought, was clicked."""

        def __init__(self, place: tuple[int, int]) -> None:
            super().__init__()
            self.place = place
            """Exchange, and which of its asides."""

    # Before the screen, to which letters that are typed here go otherwise.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "n", "found(1)", "Next found", show=False, priority=True, id="pane.found",
            tooltip="Go to what was found next",
        ),
        Binding(
            "N,shift+n", "found(-1)", "Found before", show=False, priority=True, id="pane.found_before",
            tooltip="Go to what was found before",
        ),
    ]  # fmt: skip
    finding = False
    """Whether something is being found here: then ``n`` and ``N`` go through it."""

    _message: int | None = None
    """The block of the message that one went to last."""

    def on_click(self, event: events.Click) -> None:
        """Textual's: a click on a folded line opens it, one on an open line folds it."""
        line = self.line_clicked(event)
        number = bisect_right(self._tops, line) - 1
        if line < 0 or not 0 <= number < len(self.document.blocks):
            return
        block = self.document.blocks[number]
        if block.voice == "tool" and block.number >= 0:
            event.stop()
            self.post_message(self.LineTurned((block.exchange, block.number)))

    def go_to_message(self, step: int, *, by_user: bool = False) -> bool:
        """Bring the next (``step`` 1) or previous (-1) message, or one of the user's, to the top; whether there is any.

        At the end, where nothing can come to the top any more, going on counts from the message gone to before.
        """
        if not self._heights:
            return False
        blocks = self.document.blocks
        places = [
            number for number, block in enumerate(blocks) if block.speaker and (not by_user or block.speaker == YOU)
        ]
        top = self.scroll_offset.y
        here = bisect_right(self._tops, top) - 1
        if step > 0:
            # what stands at the very top is where one is
            place = bisect_right(places, here)
        else:
            place = bisect_left(places, here if self._tops[here] == top else here + 1) - 1
        if self._message is not None and self.is_in_view(self._message):
            place = bisect_right(places, self._message) if step > 0 else bisect_left(places, self._message) - 1
        if not 0 <= place < len(places):
            return False
        self._message = places[place]
        self._bring(self._message, 0, lead=0)
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Textual's: letters go through what was found only while something is being found."""
        if action == "found":
            return self.finding
        return super().check_action(action, parameters)

    def action_found(self, step: int) -> None:
        """Go to what was found next, or before."""
        self.go_to_match(step)

    def show_found(self, document: Document, go: bool) -> None:
        """Show the same conversation with other words marked; with ``go`` go to the first of them from here."""
        self._current = None
        self.show(document, keep_place=True)
        if go and document.matches:
            top = self._anchor()[0]
            block = next((number for number in document.matches if number >= top), next(iter(document.matches)))
            self._current = (block, self._match_lines(block)[0])
            if not self.is_in_view(block):
                self._bring(*self._current)
            self.redraw()
        self._report()

    def first_code_in_view(self) -> str:
        """Return the text of the first line of code in view that isn't empty; "" for none."""
        for y in range(self.page_height):
            line = self._line_at(self.scroll_offset.y + y)[0]
            text = line.text.lstrip("▌┊│ ").rstrip()
            if line.fill == "code" and text and not any(span.style == "faint" for span in line.spans):
                return text
        return ""

    def exchange_in_view(self) -> int:
        """Return the place of the exchange gone to last, if in view, else as every pane; -1 for none."""
        if self._message is not None and self.is_in_view(self._message):
            return self._exchange_from(self._message)
        return super().exchange_in_view()

    def exchanges_in_view(self) -> list[int]:
        """Return the places of all exchanges of which something is in view, from the top."""
        first = max(0, bisect_right(self._tops, self.scroll_offset.y) - 1)
        last = bisect_left(self._tops, self.scroll_offset.y + self.page_height)
        shown = (block.exchange for block in self.document.blocks[first:last])
        return list(dict.fromkeys(exchange for exchange in shown if exchange >= 0))

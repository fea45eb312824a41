"""The search line: where one types, and beside it how one searches, where, how much was found and how fast."""

from __future__ import annotations

import os
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from prima_tui.model.hits import MODES, Answer, Mode
from prima_tui.model.reach import REACHES, Reach
from prima_tui.model.text import count_text, fold, one_line
from prima_tui.tui.bindings import key_binding
from prima_tui.tui.clickable import Clickable
from prima_tui.tui.live_search import Kinds
from prima_tui.tui.messages import (
    ClearWanted,
    DeepWanted,
    KindsWanted,
    LogWanted,
    ModeWanted,
    QueryChanged,
    ScopeWanted,
    SearchesWanted,
)
from prima_tui.tui.painting import paint_now
from prima_tui.tui.plain_terminal import moves_less
from prima_tui.tui.query_choices import QueryChoice, QueryChoices
from prima_tui.tui.query_colours import QueryHighlighter, QuerySuggester
from prima_tui.tui.search_chips import KINDS_SHOWN, Chip, mode_text, placeholder_text, scope_text
from prima_tui.tui.search_input import SearchInput

# Columns from which the count is said in words.
_ROOMY = 100
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
# Shorter waits are not noticed as waits; a spinner for them would only flicker.
_SPINNER_AFTER = 0.15


class SearchLine(Vertical):
    """Input, count, chips; below them, when a filter is wrong, what is wrong; and over the list, what can be chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key_binding("search", "tab", "complete", "Complete", "Complete the filter, or take the chosen search"),
        key_binding("search", "enter", "take_choice", "Take", "Take what is chosen in the box"),
        key_binding("search", "down", "choice(1)", "Next choice", "Go down in the box of choices"),
        key_binding("search", "up", "choice(-1)", "Previous choice", "Go up in the box of choices"),
        key_binding("search", "escape", "close_choices", "Close", "Close the box of choices"),
    ]

    def __init__(
        self, query: str = "", mode: Mode = "combined", reach: Reach = "workspace", *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._first = (query, mode, reach)
        self._reach: Reach = reach
        self.suggester = QuerySuggester()
        self._spinner: Timer | None = None
        self._waiting: Timer | None = None
        self._frame = 0
        self._answer: Answer | None = None
        self._count = Content("")
        self._count_shown = Content("")
        self._clearable = bool(query)
        self._counted = Static(id="count")  # made here: an answer may come before the parts are mounted
        self._warnings: tuple[str, ...] = ()
        self._searches: tuple[str, ...] = ()
        """Earlier searches, while they are offered."""

    def compose(self) -> ComposeResult:
        """Textual's: the parts."""
        query, mode, reach = self._first
        self._said_roomy = self._roomy
        with Horizontal(id="search-box"):
            yield Clickable(
                SearchesWanted, "❯", id="prompt", tooltip="Search again for something you searched for before"
            )
            field = SearchInput(
                query,
                placeholder=placeholder_text(self.app.size.width),
                highlighter=QueryHighlighter(lambda query: bool(self.suggester.choices(query))),
                select_on_focus=False,
                id="query",
            )
            field.completer = self.suggester
            field.cursor_blink = self.app.animation_level == "full"
            yield field
            yield Clickable(ClearWanted, "✕" if query else "", id="clear", tooltip="Empty the search line")
            yield self._counted
            notes = Chip(LogWanted, id="notes", tooltip="What could not be read: opens the log")
            notes.display = False
            yield notes
            yield Chip(
                ModeWanted,
                mode_text(mode),
                id="mode",
                classes=f"-{mode}",
                tooltip="How to search: by words, by meaning, or both",
            )
            deep = Chip(DeepWanted, " deep ", id="deep", tooltip="Extracts are searched too; a click ends that")
            deep.display = False
            yield deep
            kinds = Chip(KindsWanted, KINDS_SHOWN["both"], id="kinds", tooltip="Sessions, documents, or both")
            kinds.display = False
            yield kinds
            yield Chip(
                ScopeWanted,
                scope_text(reach, roomy=self._roomy),
                id="scope",
                classes=f"-{reach}",
                tooltip="Where to search: this workspace, its repository, everywhere",
            )
        yield QueryChoices(id="choices")

    def on_mount(self) -> None:
        """Textual's: another text is told at once, before the field has told of it from part to part."""
        self.watch(self.input, "value", self._tell, init=False)
        if self.text != self._first[0]:  # the field is there before this, and so may be what is typed
            self._tell(self.text)

    def _tell(self, query: str) -> None:
        self.screen.post_message(QueryChanged(query))

    @property
    def input(self) -> SearchInput:
        """The text field."""
        return self.query_one(SearchInput)

    @property
    def text(self) -> str:
        """What stands in the field."""
        return self.input.value

    @property
    def _roomy(self) -> bool:
        """Whether everything can be said in words."""
        return self.app.size.width >= _ROOMY

    def on_resize(self) -> None:
        """Textual's: say as much as there is room for."""
        self.input.placeholder = placeholder_text(self.app.size.width)
        if self._said_roomy == self._roomy:
            return
        self._said_roomy = self._roomy
        self.query_one("#scope", Chip).update(Content(scope_text(self._reach, roomy=self._roomy)))
        if self._answer is not None:
            self._count = Content(_count_of(self._answer, roomy=self._roomy))
            if self._spinner is None:
                self._show_count(self._count)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Textual's: offer what completes the text."""
        event.stop()
        if event.input is not self.input:
            return
        self._show_clear(bool(event.value))
        self._offer()

    def clear(self) -> None:
        """Empty the field."""
        self.input.value = ""

    def set_text(self, text: str) -> None:
        """Put another query into the field, the cursor at its end."""
        self.input.value = text
        self.input.cursor_position = len(text)

    # -- what can be chosen --------------------------------------------------------------------------------------

    @property
    def _choices(self) -> QueryChoices:
        return self.query_one(QueryChoices)

    def _offer(self) -> None:
        """Offer what completes the filter one types, or the earlier searches that contain what is typed."""
        value = self.text
        if self._searches:
            part = fold(" ".join(value.split()))
            found = tuple(QueryChoice(one, one) for one in self._searches if part in fold(one) and one != value)
        elif self.input.cursor_position == len(value):
            found = self.suggester.choices(value)
        else:
            found = ()
        self._choices.offer(found)

    def offer_searches(self, searches: tuple[str, ...]) -> None:
        """Offer earlier searches, narrowed to those that contain what is typed."""
        self.input.focus()
        self._searches = searches
        self._choices.offer(())
        self._offer()
        if not self._choices.choices:
            self._searches = ()
            self.app.notify("No earlier search contains this.", timeout=2)
        else:
            self._choices.move(0)

    def offer_filters(self) -> None:
        """Offer the filters, and what each is for; the one taken offers its values next."""
        self.input.focus()
        self._searches = ()
        self._choices.offer(self.suggester.filters(self.text))
        self._choices.move(0)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Textual's: the keys of the box act on it while it is open; else they are the screen's."""
        if action == "complete":
            return bool(self._choices.choices or self.suggester.completion(self.text))
        if action == "take_choice":
            return bool(self._choices.choices) and self._choices.moved
        if action in ("choice", "close_choices"):
            return bool(self._choices.choices)
        return super().check_action(action, parameters)

    def action_choice(self, step: int) -> None:
        """Go to another row of the box; the first press takes the first row."""
        self._choices.move(step if self._choices.moved else 0)

    def action_complete(self) -> None:
        """Take what is chosen, else what completes the filter."""
        if choice := self._choices.chosen:
            self._take(choice)
        elif completed := self.suggester.completion(self.text):
            self.set_text(completed)

    def action_take_choice(self) -> None:
        """Take what is chosen."""
        if choice := self._choices.chosen:
            self._take(choice)

    def action_close_choices(self) -> None:
        """Close the box."""
        self._searches = ()
        self._choices.offer(())

    def on_query_choices_chosen(self, message: QueryChoices.Chosen) -> None:
        """A row was clicked."""
        message.stop()
        self._take(message.choice)

    def _take(self, choice: QueryChoice) -> None:
        self.action_close_choices()
        self.input.focus()
        with self.input.prevent(Input.Changed):
            self.set_text(choice.query)
        self._show_clear(True)
        if choice.query.endswith(":"):
            self._offer()

    def on_clear_wanted(self, message: ClearWanted) -> None:
        """The cross was clicked."""
        message.stop()
        self.clear()
        self.input.focus()

    # -- what is shown -------------------------------------------------------------------------------------------

    def show_notes(self, notes: tuple[str, ...]) -> None:
        """Show that something could not be read: how much of it, a click opens the log."""
        chip = self.query_one("#notes", Chip)
        if notes:
            chip.update(Content(f"⚠ {len(notes)}"))
            chip.tooltip = Content("\n".join(one_line(note)[:100] for note in notes[:8]))
        chip.display = bool(notes)

    def show_mode(self, mode: Mode) -> None:
        """Show the search mode."""
        chip = self.query_one("#mode", Chip)
        chip.update(Content(mode_text(mode)))
        chip.update_classes({f"-{other}": other == mode for other in MODES})

    def show_deep(self, deep: bool) -> None:
        """Show whether extracts are searched too."""
        self.query_one("#deep", Chip).display = deep

    def show_kinds(self, kinds: Kinds) -> None:
        """Show which kinds are searched; only where there are documents."""
        chip = self.query_one("#kinds", Chip)
        chip.update(Content(KINDS_SHOWN[kinds]))
        chip.set_class(kinds == "documents", "-documents")
        chip.display = True

    def show_scope(self, reach: Reach) -> None:
        """Show the scope."""
        chip = self.query_one("#scope", Chip)
        self._reach = reach
        chip.update(Content(scope_text(reach, roomy=self._roomy)))
        chip.update_classes({f"-{other}": other == reach for other in REACHES})

    def show_answer(self, answer: Answer, final: bool) -> None:
        """Show how much was found and how long it took, and what was wrong with the query."""
        self._answer = answer
        self._count = Content(_count_of(answer, roomy=self._roomy))
        if final:
            self.stop_waiting()
        else:
            self._show_count(self._count)
        paint_now(self._counted)  # with the list, which is there already
        # a filter whose values are just being offered is no mistake yet
        choosing = bool(self._choices.choices) and not self._searches
        self.show_warnings(() if choosing else answer.warnings)

    def show_warnings(self, warnings: tuple[str, ...]) -> None:
        """Show warnings about the query, none to hide the line."""
        if warnings == self._warnings:
            return
        self._warnings = warnings
        text = Content(" ⚠ " + " · ".join(one_line(warning) for warning in warnings))
        found = self.query("#search-warnings").results(Static)
        line = next(found, None)
        if line is None:
            self.mount(Static(text, id="search-warnings"))
        else:
            line.display = bool(warnings)
            line.update(text)

    def start_waiting(self) -> None:
        """A search began: show that it runs, if it takes long enough to be noticed."""
        self.stop_waiting()
        self._waiting = self.set_timer(_SPINNER_AFTER, self._spin)

    def stop_waiting(self) -> None:
        """The search is done."""
        for timer in (self._waiting, self._spinner):
            if timer is not None:
                timer.stop()
        self._waiting = self._spinner = None
        self._show_count(self._count)

    def _show_count(self, text: Content) -> None:
        """Show the count, or what stands in its place; drawn only when it is another, since each key asks for it."""
        if text != self._count_shown:
            self._count_shown = text
            self._counted.update(text, layout=False)

    def _show_clear(self, clearable: bool) -> None:
        if clearable != self._clearable:
            self._clearable = clearable
            self.query_one("#clear", Clickable).update("✕" if clearable else "", layout=False)

    def _spin(self) -> None:
        self._spinner = self._spinner or self.set_interval(0.1, self._spin)
        if not moves_less(os.environ):
            self._frame = (self._frame + 1) % len(_SPINNER)
        self._show_count(Content(f"{_SPINNER[self._frame]} searching"))


def _count_of(answer: Answer, *, roomy: bool) -> str:
    """Return how much was found, and how long it took."""
    count = len(answer.hits) + len(answer.documents)
    if not answer.query.strip():
        return count_text(count, "document" if answer.documents and not answer.hits else "session")
    took = f"{answer.took_ms:,.0f} ms" if answer.took_ms < 1_000 else f"{answer.took_ms / 1_000:.1f} s"
    return f"{count:,} found · {took}" if roomy else f"{count:,} · {took}"

"""The main screen without its keys: searching as one types, the list, the panes, and the work that runs behind."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from prima_tui.model.hits import Answer, Hit, Mode, Snapshot
from prima_tui.model.reach import Reach
from prima_tui.model.text import one_line
from prima_tui.tui import messages
from prima_tui.tui.background import REFRESH_SECONDS, Background
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.empty_state import EmptyState, no_history_text, no_hits_text, reading_text
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.live_search import Kinds, LiveSearch
from prima_tui.tui.past_pane import PastPane, past_document
from prima_tui.tui.preview import Previews
from prima_tui.tui.remembered import Remembered
from prima_tui.tui.resuming import Run, run_command
from prima_tui.tui.search_line import SearchLine
from prima_tui.tui.session_arrangement import Arrangement, View
from prima_tui.tui.session_list import SessionList
from prima_tui.tui.status_line import StatusLine, state_parts
from prima_tui.tui.tool_blocks import Unfolded
from prima_tui.tui.work_screen import WorkScreen

if TYPE_CHECKING:
    from prima_tui.memory import Memory

# How often an answer is asked for again while the catalog fills or the index grows.
_AGAIN_SECONDS = {"catalog": 0.3, "index": 1.0}
_FIRST_SECONDS = 0.1
_WIDTHS = [(0, "-tiny"), (60, "-narrow"), (100, "-medium"), (160, "-wide")]
_HEIGHTS = [(0, "-flat"), (12, "-low"), (20, "-tall")]


class Wanted(NamedTuple):
    """What is searched for, and how."""

    query: str
    mode: Mode
    reach: Reach
    deep: bool
    kinds: Kinds


class ResultsScreen(WorkScreen[None]):
    """Search line, list of sessions, conversation and extract, kept in step with one another."""

    AUTO_FOCUS = "#query"
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    def __init__(
        self,
        memory: Memory,
        *,
        query: str = "",
        mode: Mode = "combined",
        pick: bool = False,
        demo: bool = False,
        budget: float = 20.0,
        clock: Callable[[], datetime] | None = None,
        run: Run = run_command,
        refresh_seconds: float = REFRESH_SECONDS,
        kept: Remembered | None = None,
    ) -> None:
        super().__init__()
        self.memory = memory
        self.query_text = query
        self.mode: Mode = mode
        self.pick = pick
        self.demo = demo
        self._budget = budget
        self._clock = clock
        self._run = run
        self._kept = kept or Remembered()
        self._live = LiveSearch()
        self._previews = Previews()
        self._background = Background(self.post_message, refresh_seconds)
        self._snapshot = Snapshot()
        self._listed = asyncio.Event()
        """Set when there is a first list."""
        self._reading = False
        """Whether a first report of the history came in."""
        self.answer: Answer | None = None
        """What the list shows."""
        self.deep = False
        """Whether extracts are searched too."""
        self.kinds: Kinds = "sessions" if pick else "both"
        """Whether sessions, the project's documents or both are searched."""
        self._answered: Wanted | None = None
        self._final = False
        self._filled = False  # whether the list was made when all files had been read
        self._resume_when_answered = False
        self._again_wanted = False
        self._again_at = 0.0
        self._typed_at = 0.0
        self._shown_preview: tuple[object, ...] = ()
        self._preview_whole = False
        """Whether the shown preview has its tools; one that was interrupted before is made again."""
        self.unfolded = Unfolded()
        """Which tools and thoughts the conversation shows whole."""
        self._earlier: tuple[str, ...] = ()
        """Folders that are gone and may have been this workspace before it moved."""

    # -- parts --------------------------------------------------------------------------------------------------

    _sessions: SessionList
    _empty: EmptyState | None = None
    _index_rests = False  # whether the index's update is over, though files may be left

    def compose(self) -> ComposeResult:
        """Textual's: the parts; those that are seldom seen are mounted when they are."""
        self.update_classes(dict.fromkeys(self._size_classes(), True), update=False)
        yield SearchLine(self.query_text, self.mode, self.memory.scope.reach, id="search")
        with Container(id="body"):
            left = Container(id="left")
            if self._kept.share:
                left.styles.width = f"{self._kept.share}%"
            with left:
                sessions = self._sessions = SessionList(id="sessions", clock=self._clock)
                sessions.density = self._kept.density or None
                sessions.view = View(self._kept.sort, self._kept.group, home=str(self.memory.scope.home))
                yield sessions
            with Container(id="right"):
                yield ConversationPane(id="conversation")
                extract = ExtractPane(id="extract")
                extract.border_title = Content("Extract")
                yield extract
        yield StatusLine(id="status")
        yield KeyLine(id="keys")

    def _size_classes(self) -> list[str]:
        """The classes that Textual sets once it knows the size. Set before, nothing is styled twice at the start."""
        width, height = self.app.size
        return [
            [name for least, name in steps if size >= least][-1]
            for steps, size in ((_WIDTHS, width), (_HEIGHTS, height))
        ]

    @property
    def _search_line(self) -> SearchLine:
        return self.query_one(SearchLine)

    @property
    def _body(self) -> Container:
        return self.query_one("#body", Container)

    @property
    def _list(self) -> SessionList:
        return self._sessions

    @property
    def _conversation(self) -> ConversationPane:
        return self.query_one(ConversationPane)

    @property
    def _pane(self) -> DocumentPane:
        """The pane that keys from the search line act on."""
        if self._body.has_class("-past") or (self._body.has_class("-beside") and self.has_class("-extract")):
            return self.query_one(PastPane)
        return self.query_one(ExtractPane) if self.has_class("-extract") else self.query_one(ConversationPane)

    def on_mount(self) -> Awaitable[None] | None:
        """Textual's: show what is known, then look for what is new."""
        self._search()
        if not self.query_text.strip():
            return self._first_list()
        self._begin()
        return None

    async def _first_list(self) -> None:
        """Wait for the list as it was last time, which is there at once: so the first picture has it."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listed.wait(), _FIRST_SECONDS)

    def _begin(self) -> None:
        """Begin to look at the files, once. What there is to see comes first, and the list as it was last time."""
        if not self._listed.is_set():
            self._listed.set()
            self.call_after_refresh(self.start_refreshing)

    def on_unmount(self) -> None:
        """Textual's: stop what runs in threads."""
        self._background.stop_index()
        self.memory.go_on()
        self._live.close()

    # -- searching ----------------------------------------------------------------------------------------------

    @property
    def _wanted(self) -> Wanted:
        return Wanted(self.query_text, self.mode, self.memory.scope.reach, self.deep, self.kinds)

    def on_query_changed(self, message: messages.QueryChanged) -> None:
        """Another query: search for it."""
        message.stop()
        if message.query == self.query_text and self._answered is not None:
            return
        self.query_text = message.query
        self._typed_at = time.monotonic()
        self._resume_when_answered = False
        self._search()

    def _search(self) -> None:
        self._final = False
        self._search_line.start_waiting()
        self.start_work(self._search_now, group="search", exclusive=True)

    async def _search_now(self) -> None:
        wanted, memory = self._wanted, self.memory
        try:
            async for answer, last in self._live.answers(memory, wanted.query, wanted.mode, wanted.deep, wanted.kinds):
                if wanted != self._wanted:
                    return
                same = self._answered == wanted  # of another query's hits the first will be selected
                self._take(await asyncio.to_thread(self._list.arranged, answer, same), wanted, last)
        except Exception as error:
            self._failed("the search", error)
            self._search_line.stop_waiting()
            return
        finally:
            self._begin()
        if wanted.query.strip() and wanted.mode != "keyword":
            self.index_soon()

    def _take(self, arrangement: Arrangement, wanted: Wanted, last: bool) -> None:
        """Show an answer, unless the query it answers is no longer the newest, or the program is being left."""
        if not self.app.is_running:
            return
        answer = arrangement.answer
        if answer.query != self.query_text or wanted != self._wanted:
            return
        keep = self._answered == wanted and self._keeps_selection()
        self._answered, self._final, self._filled = wanted, self._final or last, self._snapshot.complete
        self.answer = answer
        self._list.show(arrangement, keep=keep)
        if arrangement.view != self._list.view:  # changed while it was worked out
            self.start_work(self._arrange_anew, group="arrange", exclusive=True)
        self._search_line.show_answer(answer, final=last)
        self.take_project(answer)
        self._show_past(answer)
        self._show_empty()
        self._show_state()
        if self._resume_when_answered:
            self._resume_when_answered = False
            self.choose_selected()

    def _keeps_selection(self) -> bool:
        """Whether the same session stays selected when there is a newer answer to the same query.

        One that merely came first does not while newer ones are still read, nor when it was only similar.
        """
        went_there = self._list.moved or isinstance(self.focused, DocumentPane)
        found = self.answer is not None and bool(self.answer.hits or self.answer.documents)
        return went_there or (self._final and self._filled and found)

    def _search_again(self, why: str) -> None:
        """The same query on newer data: now and then, the selection kept."""
        if self._again_wanted:
            return
        self._again_wanted = True
        self.start_work(partial(self._search_again_soon, _AGAIN_SECONDS[why]), group="again")

    async def _search_again_soon(self, pause: float) -> None:
        try:
            await asyncio.sleep(max(0.0, self._again_at + pause - time.monotonic()))
        finally:
            self._again_wanted = False
        self._again_at = time.monotonic()
        wanted = self._wanted
        if self._answered == wanted and self._final:
            try:
                answer = await self._live.one(self.memory, wanted.query, wanted.mode, wanted.deep, wanted.kinds)
                arrangement = await asyncio.to_thread(self._list.arranged, answer)
            except Exception as error:
                self._failed("the search", error)
                return
            if self._final:
                self._take(arrangement, wanted, last=True)
        self._again_at = time.monotonic()

    def arrange_anew(self, **changes: Any) -> None:
        """Show the present answer in another way: another order, other groups, copies listed or folded."""
        self._list.view = self._list.view._replace(**changes)
        self.start_work(self._arrange_anew, group="arrange", exclusive=True)

    async def _arrange_anew(self) -> None:
        while (answer := self.answer) is not None:
            arrangement = await asyncio.to_thread(self._list.arranged, answer)
            if answer is self.answer:
                self._list.show(arrangement, keep=True)
                self._show_state()
                return

    def _failed(self, what: str, error: Exception) -> None:
        self.log.error(f"{what} failed", error)
        for status in self.query(StatusLine):  # none any more when the program is being left
            status.show_problem(f"{what} failed: {one_line(str(error)) or type(error).__name__}")

    # -- what a screen adds ---------------------------------------------------------------------------------------

    def start_refreshing(self) -> None:
        """Keep the history of the present scope up to date from now on."""
        raise NotImplementedError

    def index_soon(self) -> None:
        """Index what is new, when the fingers rest."""
        raise NotImplementedError

    def take_project(self, answer: Answer) -> None:
        """Learn from an answer whether there are documents."""
        raise NotImplementedError

    def choose_selected(self) -> None:
        """Do with the selected session what Enter does; the answer to a query still running is waited for."""
        raise NotImplementedError

    def choose(self, hit: Hit) -> None:
        """Do with a session what Enter does."""
        raise NotImplementedError

    # -- list and panes -----------------------------------------------------------------------------------------

    def on_session_chosen(self, message: messages.SessionChosen) -> None:
        """A double click."""
        message.stop()
        self.choose(message.hit)

    def _show_past(self, answer: Answer) -> None:
        """Show the summaries of the session history, when they are all that was found."""
        entries = () if answer.hits else answer.session_history
        self._body.set_class(bool(entries) and not answer.documents, "-past")
        self._body.set_class(bool(entries) and bool(answer.documents), "-beside")
        panes = self.query(PastPane)
        if not entries:
            return
        if not panes:
            pane = PastPane(id="past")
            pane.border_title = Content("Session History Summaries")
            self.query_one("#right").mount(pane)
        else:
            pane = panes.first()
        pane.show(past_document(entries, answer.words))

    def _show_empty(self) -> None:
        """Show the list, or in its place why it is empty."""
        answer = self.answer
        nothing = (
            self._reading
            if answer is None
            else not (answer.hits or answer.similar or answer.extracts or answer.documents)
        )
        self._body.set_class(nothing, "-nothing")
        if self._empty is not None:
            self._empty.display = nothing
        if not nothing:
            return
        reach = self.memory.scope.reach
        if not self._snapshot.complete and not self._snapshot.sessions:
            self._tell_empty(reading_text(self._snapshot))
        elif self._snapshot.sessions and answer is not None and answer.query.strip():
            self._tell_empty(no_hits_text(answer, self.mode, reach))
        elif self._snapshot.complete:
            self._tell_empty(no_history_text(None, reach, self.demo))
            self.start_work(self._say_where, group="where", exclusive=True)

    def _tell_empty(self, text: Content) -> None:
        if self._empty is not None:
            self._empty.update(text)
        else:
            self._empty = EmptyState(text, id="empty")
            self.query_one("#left").mount(self._empty)

    async def _say_where(self) -> None:
        status = await asyncio.to_thread(self.memory.status)
        if self._body.has_class("-nothing") and not self.query_text.strip():
            self._tell_empty(no_history_text(status, self.memory.scope.reach, self.demo, self._earlier))

    def _show_state(self) -> None:
        parts = state_parts(self.answer, self._snapshot, self._list.view.sort, rests=self._index_rests)
        self.query_one(StatusLine).show_state(parts, len(self._snapshot.warnings))

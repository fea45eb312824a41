"""The main screen's work behind: files looked at again and again, the index, its rebuild, the model made ready."""

from __future__ import annotations

import asyncio
from functools import partial

from prima_tui.errors import PrimaError
from prima_tui.model.reach import Reach
from prima_tui.model.text import count_text
from prima_tui.tui import messages
from prima_tui.tui.index_telling import FIRST_TIME, index_hint
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.results_screen import ResultsScreen
from prima_tui.tui.status_line import StatusLine

_INDEX_AFTER = 0.4
# Loading the model takes a second of a core: it begins when the list stands and nobody is at the keys.
_WARM_AFTER = 1.0


class WorkingScreen(ResultsScreen):
    """Starts work beside the screen and shows how far it is."""

    _embedded = 0
    _first_time_told = False
    _warmed: tuple[Reach, ...] = ()

    def touched(self) -> None:
        """The user did something."""
        self._background.touched()
        self.memory.give_way()

    def came_back(self) -> None:
        """The terminal has the focus again."""
        self._background.focused()

    # -- the history --------------------------------------------------------------------------------------------

    def start_refreshing(self) -> None:
        """Keep the history of the present scope up to date from now on."""
        self._snapshot = self.memory.snapshot()
        self.start_work(partial(self._background.refresh_forever, self.memory), group="refresh", exclusive=True)

    def read_anew(self) -> None:
        """Look at the files now, and at what the panes show: a program that ran may have changed them."""
        self._previews.forget()
        self._shown_preview = ()
        self._background.refresh_now()

    def on_snapshot_arrived(self, message: messages.SnapshotArrived) -> None:
        """The catalog moved: show how far, and the present query's answer on it."""
        message.stop()
        snapshot = self._snapshot = message.snapshot
        self._reading = True
        self._search_line.show_notes(snapshot.warnings)
        status = self.query_one(StatusLine)
        if message.done:
            if not self._background.indexing:
                status.show_note("")
            if message.changed:
                learn = partial(asyncio.to_thread, self._search_line.suggester.learn, snapshot.sessions)
                self.start_work(learn, "learn", exclusive=True)
            self._make_ready()
        elif snapshot.files_total and not snapshot.complete:
            status.show_progress("files read", snapshot.files_done, snapshot.files_total)
        if message.changed:
            self._search_again("catalog")
        self._show_empty()
        self._show_state()

    def _make_ready(self) -> None:
        """After the first whole list of a scope: load words and model, offer to go on with an interrupted rebuild."""
        reach = self.memory.scope.reach
        if reach not in self._warmed:
            self._warmed += (reach,)
            self.start_work(self._warm, group="warm", exclusive=True)

    async def _warm(self) -> None:
        memory = self.memory
        await asyncio.sleep(_WARM_AFTER)
        if await asyncio.to_thread(memory.rebuild_state) == "interrupted" and not self._background.indexing:
            self.query_one(StatusLine).show_note("a rebuild was interrupted; F10 goes on with it")
        await asyncio.to_thread(memory.warm_words)
        if self.mode != "keyword":
            await asyncio.to_thread(memory.warm)

    # -- the index ----------------------------------------------------------------------------------------------

    def index_soon(self) -> None:
        """Index what is new, when the fingers rest."""
        self._index_rests = False
        self.start_work(self._index_soon, group="index-soon", exclusive=True)

    async def _index_soon(self) -> None:
        await asyncio.sleep(_INDEX_AFTER)
        if not self._background.indexing:
            self._embedded = 0
            first = self.kinds == "documents"
            work = partial(self._background.update_index, self.memory, self._budget, documents_first=first)
            self.start_work(work, group="index")

    def on_index_moved(self, message: messages.IndexMoved) -> None:
        """The index grew: show how far, and the present query's answer on it."""
        message.stop()
        progress, status = message.progress, self.query_one(StatusLine)
        new = progress.exchanges_embedded + progress.exchanges_reused
        if message.done:
            status.show_note(progress.note or ("the index is rebuilt" if message.rebuild else ""))
            self._index_rests = True
            self._show_state()
        elif progress.files_total:
            what = "files indexed anew" if message.rebuild else "files indexed"
            hint = index_hint(progress, None if message.rebuild else self._budget)
            status.show_progress(what, progress.files_done, progress.files_total, hint)
            self._tell_first_time(message.rebuild)
        # While it is rebuilt, the old index answers: nothing new until that is over.
        if (new != self._embedded and not message.rebuild) or (message.rebuild and message.done):
            self._embedded = new
            if self.query_text.strip() and self.mode != "keyword":
                self._search_again("index")

    def _tell_first_time(self, rebuild: bool) -> None:
        """Say once what the index is for, when there was none."""
        answer = self.answer
        if not rebuild and not self._first_time_told and answer is not None and not answer.indexed_exchanges:
            self.notify(FIRST_TIME, title="The first time", markup=False, timeout=12)
        self._first_time_told = True

    def action_rebuild(self) -> None:
        """Make the index anew, after saying what would be lost."""
        self.start_work(self._ask_to_rebuild, group="ask-rebuild", exclusive=True)

    async def _ask_to_rebuild(self) -> None:
        memory = self.memory
        try:
            state = await asyncio.to_thread(memory.rebuild_state)
            lost = await asyncio.to_thread(memory.rebuild_loss)
        except PrimaError as error:
            self._failed("the rebuild", error)
            return
        if state == "running":
            self.notify("The index is being rebuilt already.", timeout=4)
            return
        text = "The index of your conversations is made anew. Search goes on meanwhile, and F6 stops the work."
        if state == "interrupted":
            text = "A rebuild was interrupted. It goes on where it stopped; search goes on meanwhile, and F6 stops it."
        if lost:
            text += (
                f"\n\n{count_text(lost, 'exchange')} would be lost: the files they were read from no longer exist, "
                "only the present index has them."
            )
        answer = await self.app.push_screen_wait(NoticeScreen("Rebuild the index", text, go_on="rebuild it"))
        if answer == "yes":
            self._background.index_stopped = False
            self.query_one(StatusLine).show_note("rebuilding the index")
            self.start_work(partial(self._background.rebuild, memory), group="index")

    def on_work_failed(self, message: messages.WorkFailed) -> None:
        """Work behind failed: say so; everything else goes on."""
        message.stop()
        self._failed(message.what, message.error)

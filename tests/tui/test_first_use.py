"""What somebody meets who has read no manual: what is on the screen says what is the matter and what to do next."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets._toast import ToastRack

from prima_tui.model.hits import Answer, Snapshot
from prima_tui.model.reach import Reach
from prima_tui.tui.document import markdown_document
from prima_tui.tui.empty_state import no_hits_text
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.query_choices import QueryChoices
from prima_tui.tui.query_colours import FILTERS
from prima_tui.tui.search_input import SearchInput
from prima_tui.tui.session_arrangement import no_match_text
from prima_tui.tui.status_line import StatusLine, state_parts

from .conftest import session
from .driving import MakeApp, answered, browse, screen_text, sessions, settled

WORKSPACE: Reach = "workspace"


# -- nothing found, or not yet ------------------------------------------------------------------------------------


def test_while_files_wait_to_be_searchable_by_meaning_nothing_is_called_final() -> None:
    text = no_hits_text(Answer("zebra", "combined", pending_files=42), "combined", WORKSPACE).plain
    assert text.startswith("Nothing found yet") and "42 files are not searchable by meaning yet" in text
    assert "F5" in text
    assert no_match_text(Answer("zebra", "combined", pending_files=42)) == "No match yet"
    assert no_match_text(Answer("zebra", "combined")) == "No match"


def test_the_answer_by_word_alone_says_that_the_meaning_is_still_searched() -> None:
    text = no_hits_text(Answer("zebra", "keyword"), "combined", WORKSPACE).plain
    assert text.startswith("Nothing found by word") and "The search by meaning goes on." in text
    assert "F2" not in text
    assert no_match_text(Answer("zebra", "keyword")) == "No match by word"


@pytest.mark.parametrize(
    ("mode", "said", "not_said"),
    [
        ("keyword", "has all of these words in it", "meaning."),
        ("combined", "none is close in meaning", "yet"),
        ("semantic", "No conversation is close in meaning.", "words"),
    ],
)
def test_what_was_looked_for_is_told_as_the_mode_has_it(mode: Any, said: str, not_said: str) -> None:
    text = no_hits_text(Answer("zebra", mode), mode, WORKSPACE).plain
    assert said in text and not_said not in text


async def test_f5_goes_on_with_the_index_for_the_query_that_stands_there(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: "3 files to index, F5 goes on" in screen_text(app))
        updates = memory.index_updates = []
        work = memory.update_index
        memory.update_index = lambda *given: (updates.append(1), work(*given))[1]
        await pilot.press("f5")
        await settled(pilot, lambda: bool(updates))


# -- the list at the first start ----------------------------------------------------------------------------------


async def test_while_the_history_is_read_the_newest_session_is_selected(memory: Any, make_app: MakeApp) -> None:
    everything = memory.sessions
    newest = session(200, "The newest of all", hours=0.01)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: browse(app)._filled)
        browse(app)._filled = False  # as while files are still read
        memory.sessions = (newest, *everything)
        browse(app)._search_again("catalog")
        await settled(pilot, lambda: len(sessions(app).hits) == len(everything) + 1)
        assert sessions(app).selected_hit.session.title == "The newest of all"  # type: ignore[union-attr]


@pytest.mark.parametrize("how", ["moved", "reading"])
async def test_what_somebody_went_to_or_reads_stays_selected_even_then(
    how: str, memory: Any, make_app: MakeApp
) -> None:
    everything = memory.sessions
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: browse(app)._filled)
        if how == "moved":
            await pilot.press("down")
        else:
            browse(app)._conversation.focus()
            await pilot.pause()
        selected = sessions(app).selected_hit
        browse(app)._filled = False
        memory.sessions = (session(200, "The newest of all", hours=0.01), *everything)
        browse(app)._search_again("catalog")
        await settled(pilot, lambda: len(sessions(app).hits) == len(everything) + 1)
        assert sessions(app).selected_hit.session.key == selected.session.key  # type: ignore[union-attr]


# -- filters ------------------------------------------------------------------------------------------------------


async def test_a_key_offers_the_filters_and_then_the_values_of_the_one_taken(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, "login"))
        suggester = browse(app)._search_line.suggester
        await settled(pilot, lambda: bool(suggester.choices("agent:")))
        await pilot.press("ctrl+l")
        box = app.screen.query_one(QueryChoices)
        assert [choice.shown for choice in box.choices] == list(FILTERS)
        await settled(pilot, lambda: "made by this agent" in screen_text(app))
        await pilot.press("enter")
        field = app.screen.query_one(SearchInput)
        assert field.value == "login agent:"
        assert box.choices[0].shown == "claude-code"
        await pilot.press("down", "enter")
        assert field.value == "login agent:claude-code" and not box.display
        await settled(pilot, answered(app, "login agent:claude-code"))


async def test_the_box_says_how_to_take_what_is_offered_while_enter_still_resumes(
    memory: Any, make_app: MakeApp
) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"date:")
        await settled(pilot, lambda: "Tab takes the first, ↓ chooses" in screen_text(app))
        assert "the last seven days" in screen_text(app) and "▌today" not in screen_text(app)
        await pilot.press("down")
        await settled(pilot, lambda: "▌today" in screen_text(app))
        assert "Tab takes the first" not in screen_text(app)


# -- the two lines at the foot -------------------------------------------------------------------------------------


def test_the_state_says_nothing_that_the_search_line_says() -> None:
    snapshot = Snapshot((session(1, "One", hours=1),) * 41, complete=True)
    assert state_parts(Answer("", "combined"), snapshot, "best", rests=True) == []
    assert state_parts(Answer("login", "combined"), snapshot, "best", rests=True) == ["of 41 sessions"]
    waiting = Answer("login", "combined", pending_files=1)
    assert state_parts(waiting, snapshot, "newest", rests=False) == [
        "sorted: newest",
        "of 41 sessions",
        "1 file to index",
    ]


async def test_at_eighty_columns_the_keys_that_one_begins_with_are_all_there(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, lambda: "match 1 of" in screen_text(app))
        line = screen_text(app).splitlines()[-1]
        assert all(key in line for key in ("Resume", "Filter", "Match", "Extract", "f1 Keys")), line
        await pilot.resize_terminal(44, 24)
        await settled(pilot, lambda: app.screen.query_one(KeyLine).size.width == 44)
        assert "f1 Keys" in screen_text(app).splitlines()[-1]


async def test_a_notice_leaves_the_progress_and_the_keys_readable(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot, answered(app, ""))
        app.notify("Something to know.\nIn two lines.")
        await settled(pilot, lambda: "Something to know." in screen_text(app))
        assert app.screen.query_one(ToastRack).region.bottom <= app.screen.query_one(StatusLine).region.y


# -- which files were changed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_the_extract_opens_at_the_files_that_were_changed(
    size: tuple[int, int], memory: Any, make_app: MakeApp
) -> None:
    app = make_app(memory)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("f4")
        pane = app.screen.query_one(ExtractPane)
        await settled(pilot, lambda: bool(pane.document.blocks) and bool(pane.region))
        await settled(pilot, lambda: "Files changed" in screen_text(app) and "Why" in screen_text(app))
        await pilot.press("tab", "tab", "tab") if size[0] >= 100 else await pilot.press("tab", "tab")
        await pilot.press("home")
        await settled(pilot, lambda: pane.scroll_offset.y == 0)
        assert "Branch" in screen_text(app)


def test_a_text_without_the_line_opens_at_its_start() -> None:
    assert markdown_document("# One\n\nText.", (), "## Files changed").start == 0
    assert markdown_document("# One\n\n## Files changed\n\nText.", (), "## Files changed").start == 1


async def test_where_both_panes_are_seen_the_one_that_keys_act_on_is_marked(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        pane = app.screen.query_one(ExtractPane)
        before = pane.styles.border_title_color
        await pilot.press("f4")
        await settled(pilot, lambda: pane.styles.border_title_color != before)
        await pilot.press("f4")
        await settled(pilot, lambda: pane.styles.border_title_color == before)

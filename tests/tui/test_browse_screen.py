"""Every key of the main screen, and what it is safe against: slow searches, stale answers, hostile text."""

from __future__ import annotations

import asyncio
import gc
import time
from functools import partial
from typing import Any

import pytest

from prima_tui.model.hits import IndexProgress, Snapshot
from prima_tui.model.session import ResumeCommand
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.keymap import own_bindings
from prima_tui.tui.log_screen import LogScreen
from prima_tui.tui.notice_screen import Choice, NoticeScreen
from prima_tui.tui.outcome import PickResult
from prima_tui.tui.search_input import SearchInput
from prima_tui.tui.session_list import SessionList
from prima_tui.tui.status_line import StatusLine

from .driving import MakeApp, answered, browse, screen_text, sessions, settled


async def test_without_a_query_all_sessions_are_listed_newest_first(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        assert [hit.session.id for hit in sessions(app).hits] == [found.id for found in memory.sessions]
        assert "Today" in screen_text(app)


async def test_every_keystroke_searches_and_the_first_hit_is_selected(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("down", "down")
        await pilot.press(*"login")
        await settled(pilot, answered(app, "login"))
        found = sessions(app)
        assert found.selected == 0
        assert found.selected_hit and "login" in found.selected_hit.session.title
        assert ("login", "keyword") in memory.searches
        assert ("login", "combined") in memory.searches


async def test_typing_is_echoed_while_a_search_is_slow_and_stale_answers_are_dropped(
    memory: Any, make_app: MakeApp
) -> None:
    memory.delay = lambda query, mode: 30.0 if query in ("l", "lo", "log") else 0.0
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        shown: list[str] = []
        take = browse(app)._take
        browse(app)._take = lambda answer, *rest, **named: (
            shown.append(answer.answer.query),
            take(answer, *rest, **named),
        )  # type: ignore
        for letter in "login":
            await pilot.press(letter)
            await pilot.pause(0.03)
        assert app.screen.query_one(SearchInput).value == "login"
        await settled(pilot, answered(app, "login"))
        await pilot.pause(1.0)
        assert not {"l", "lo", "log"} & set(shown)
        assert memory.cancelled
        assert browse(app).answer.query == "login"  # type: ignore[union-attr]


async def test_keyword_hits_show_before_the_slower_meaning_joins(memory: Any, make_app: MakeApp) -> None:
    memory.delay = lambda query, mode: 0.5 if mode == "combined" and query else 0.0
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"login")
        await settled(pilot, lambda: browse(app).answer.mode == "keyword")  # type: ignore[union-attr]
        await settled(pilot, lambda: browse(app).answer.mode == "combined")  # type: ignore[union-attr]


async def test_the_selection_stays_on_its_session_when_others_arrive(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, refresh_seconds=0.05)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("down", "down")
        chosen = sessions(app).selected_hit
        assert chosen
        newer = memory.sessions[0]
        import msgspec

        memory.sessions = (msgspec.structs.replace(newer, id="new", title="Brand new"), *memory.sessions)
        await settled(pilot, lambda: len(sessions(app).hits) == len(memory.sessions))
        now = sessions(app).selected_hit
        assert now and now.session.key == chosen.session.key
        assert sessions(app).selected == 3


async def test_moving_in_the_list_from_the_search_line(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        for key, place in (
            ("down", 1),
            ("down", 2),
            ("up", 1),
            ("ctrl+end", len(memory.sessions) - 1),
            ("ctrl+home", 0),
            ("up", 0),
        ):
            await pilot.press(key)
            assert sessions(app).selected == place, key
        await pilot.press("pagedown")
        assert sessions(app).selected > 5
        await pilot.press("pageup")
        assert sessions(app).selected == 0
        assert isinstance(app.focused, SearchInput)


@pytest.mark.parametrize("key", ["f2", "ctrl+t"])
async def test_the_mode_key_goes_round_the_modes_and_searches(memory: Any, make_app: MakeApp, key: str) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        seen = []
        for _ in range(3):
            await pilot.press(key)
            await settled(pilot, lambda: browse(app).answer.mode == browse(app).mode)  # type: ignore[union-attr]
            seen.append(browse(app).mode)
        assert seen == ["keyword", "semantic", "combined"]


def holds(app: PrimaApp, count: int) -> bool:
    return len(sessions(app).hits) == count


@pytest.mark.parametrize("by", ["key", "chip", "action"])
async def test_the_scope_goes_from_the_workspace_to_its_repository_to_everywhere(
    memory: Any, make_app: MakeApp, by: str
) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        for shown, more in (("repository", 1), ("everywhere", 2), ("this workspace", 0)):
            if by == "key":
                await pilot.press("ctrl+g")
            elif by == "chip":
                await pilot.click("#scope")
            else:
                await app.run_action("toggle_scope", app.screen)
            await settled(pilot, partial(holds, app, len(memory.sessions) + more))
            assert f" {shown} " in screen_text(app)


async def test_sessions_of_a_folder_that_moved_here_are_offered_and_taken_in_when_that_is_said(
    memory: Any, make_app: MakeApp
) -> None:
    memory.earlier = ("/old/shop",)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: any("/old/shop before? Alt+W" in one.message for one in app._notifications))
        await pilot.press("alt+w")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        assert "/old/shop" in screen_text(app)
        await pilot.press("escape")
        await settled(pilot, lambda: not isinstance(app.screen, NoticeScreen))
        assert memory.taken_over == []
        await pilot.press("alt+w")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("enter")
        await settled(pilot, lambda: len(sessions(app).hits) == len(memory.sessions) + 1)
        assert memory.taken_over == ["/old/shop"]
        await pilot.press("alt+w")  # nothing is left to take in
        await pilot.pause()
        assert not isinstance(app.screen, NoticeScreen)


async def test_an_empty_screen_names_the_folder_that_may_have_moved_here(memory: Any, make_app: MakeApp) -> None:
    memory.sessions = ()
    memory.earlier = ("/old/shop",)
    app = make_app(memory)
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot, lambda: "take in the sessions of /old/shop" in screen_text(app))
        assert memory.earlier_asked == 1


async def test_the_preview_opens_at_the_best_exchange_and_keys_go_through_the_matches(
    memory: Any, make_app: MakeApp
) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        pane = app.screen.query_one(ConversationPane)
        await settled(pilot, lambda: pane.match_place == 1)
        assert "best match" in screen_text(app)
        await pilot.press("f3")
        assert pane.match_place == 2
        await pilot.press("ctrl+n")
        assert pane.match_place == 3
        await pilot.press("shift+f3", "ctrl+p")
        assert pane.match_place == 1
        await pilot.press("shift+f3")
        assert pane.match_place == pane.document.match_count


async def test_no_conversation_is_opened_between_two_keys(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: bool(browse(app)._shown_preview))
        shown = browse(app)._shown_preview
        browse(app)._typed_at = time.monotonic() + 60  # a key that comes and comes
        sessions(app).select(1)
        await pilot.pause(0.5)
        assert browse(app)._shown_preview == shown
        browse(app)._typed_at = 0.0
        sessions(app).select(2)
        await settled(pilot, lambda: browse(app)._shown_preview[0] == sessions(app).hits[2].session.key)


async def test_scrolling_the_preview_from_the_search_line(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(100, 24)) as pilot:
        pane = app.screen.query_one(ConversationPane)
        await settled(pilot, lambda: bool(pane.document.blocks))
        assert pane.scroll_offset.y == 0
        for key, sign in (("alt+down", 1), ("ctrl+down", 1), ("alt+up", -1), ("alt+pagedown", 1), ("ctrl+pageup", -1)):
            before = pane.scroll_offset.y
            await pilot.press(key)
            await pilot.pause()
            assert (pane.scroll_offset.y - before) * sign > 0, key


async def test_enter_resumes_in_the_sessions_own_folder_and_returns(memory: Any, make_app: MakeApp) -> None:
    ran: list[ResumeCommand] = []
    app = make_app(memory, run=lambda command: ran.append(command) or 0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        app.suspend = _no_suspend  # type: ignore[method-assign]
        refreshes = memory.refreshes
        await pilot.press("down", "enter")
        await settled(pilot, lambda: bool(ran))
        assert ran[0] == memory.sessions[1].resume
        await settled(pilot, lambda: memory.refreshes > refreshes)
        assert isinstance(app.screen, BrowseScreen)


def _no_suspend() -> Any:
    import contextlib

    return contextlib.nullcontext()


async def test_where_the_terminal_cannot_be_handed_over_the_command_is_copied(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("enter")
        await settled(pilot, lambda: "claude --resume" in app.clipboard)


async def test_what_stands_against_resuming_is_explained(memory: Any, make_app: MakeApp) -> None:
    memory.plan_problem = "The folder /home/ana/shop is gone. Make it again, or copy the command."
    app = make_app(memory, run=lambda command: pytest.fail("must not run"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.pause()
        assert "is gone" in screen_text(app)
        await pilot.press("c")
        await settled(pilot, lambda: "claude --resume" in app.clipboard)
        assert isinstance(app.screen, BrowseScreen)


async def test_a_warning_is_asked_about_first(memory: Any, make_app: MakeApp) -> None:
    memory.plan_warning = "The conversation is 40 MB; the agent may be slow."
    ran: list[ResumeCommand] = []
    app = make_app(memory, run=lambda command: ran.append(command) or 0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        app.suspend = _no_suspend  # type: ignore[method-assign]
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert not ran
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("enter")
        await settled(pilot, lambda: bool(ran))


async def test_the_copy_keys(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        await pilot.press("ctrl+y")
        await settled(pilot, lambda: app.clipboard.startswith("cd /home/ana/shop && claude --resume"))
        await pilot.press("ctrl+r")
        await settled(pilot, lambda: app.clipboard == memory.sessions[0].id)
        pane = app.screen.query_one(ConversationPane)
        await settled(pilot, lambda: pane.match_place == 1)
        await pilot.press("alt+c")
        await settled(pilot, lambda: app.clipboard.startswith("## User\n\nFix the login test"))


async def test_enter_just_after_typing_waits_for_that_querys_answer(memory: Any, make_app: MakeApp) -> None:
    memory.delay = lambda query, mode: 0.2 if query else 0.0
    app = make_app(memory, pick=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"checkout", "enter")
        await settled(pilot, lambda: app.return_value is not None)
    assert isinstance(app.return_value, PickResult)
    assert app.return_value.session == memory.sessions[1]


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "ctrl+q"])
async def test_picking_can_be_cancelled(memory: Any, make_app: MakeApp, key: str) -> None:
    app = make_app(memory, pick=True, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        await pilot.press(key)
        await pilot.pause()
    assert app.return_value is None
    assert app.return_code == 0


async def test_escape_clears_the_search_and_then_does_no_harm(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        await pilot.press("escape")
        await settled(pilot, answered(app, ""))
        await pilot.press("escape")
        assert app.is_running


async def test_letters_typed_in_the_list_or_a_pane_go_to_the_search_line(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("tab", *"lo")
        assert app.screen.query_one(SearchInput).value == "lo"
        await pilot.press("tab", "tab", "backspace", "g")
        assert app.screen.query_one(SearchInput).value == "lg"


async def test_a_letter_with_alt_is_a_key_and_types_nothing(memory: Any, make_app: MakeApp) -> None:
    from textual.events import Key

    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        # as it comes from a terminal that knows no newer protocol: with the letter it would print
        app.post_message(Key("alt+d", "d"))
        await settled(pilot, lambda: browse(app).deep)
        assert app.screen.query_one(SearchInput).value == ""


async def test_tab_goes_round_the_parts(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        seen = []
        for _ in range(4):
            seen.append(app.focused.id if app.focused else None)
            await pilot.press("tab")
        assert seen == ["query", "sessions", "conversation", "extract"]
        await pilot.press("shift+tab")
        assert app.focused and app.focused.id == "extract"
        await pilot.press("down", "up", "pagedown", "pageup", "end", "home")
        assert app.screen.query_one(ExtractPane).scroll_offset.y == 0


async def test_the_pane_turns_and_takes_all_the_room(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        conversation, extract = app.screen.query_one(ConversationPane), app.screen.query_one(ExtractPane)
        assert conversation.region.width > 30 and not extract.region
        assert "f4 Extract" in screen_text(app)
        await pilot.press("f4")
        await pilot.pause()
        assert extract.region.width > 30 and not conversation.region
        await settled(pilot, lambda: "f4 Chat" in screen_text(app))
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert extract.region.width == 80
        assert not sessions(app).region
        await pilot.press("escape")
        await pilot.pause()
        assert sessions(app).region.width > 30
        await pilot.press("f4")
        await settled(pilot, lambda: "f4 Extract" in screen_text(app))


async def test_the_keys_of_the_room_say_what_they_do_next(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot, answered(app, ""))
        for key, said in (
            ("f4", "f4 Conversation"),
            ("ctrl+o", "^o Back"),
            ("escape", "^o Full"),
            ("f4", "f4 Extract"),
        ):
            assert said not in screen_text(app)
            await pilot.press(key)
            await settled(pilot, lambda said=said: said in screen_text(app))


async def test_the_list_can_be_made_wider_and_narrower(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        before = sessions(app).region.width
        await pilot.press("alt+right")
        await pilot.pause()
        wider = sessions(app).region.width
        await pilot.press("alt+left", "alt+left")
        await pilot.pause()
        assert sessions(app).region.width < before < wider


async def test_the_line_of_keys_begins_with_what_one_does_most(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.pause()
        keys = screen_text(app).split("\n")[-1]
        assert "Resume" in keys.strip()[:10]
        assert "Match" not in keys, "nothing is looked for"
        assert "Palette" in keys
        await pilot.press(*"login")
        await settled(pilot, answered(app, "login"))
        await settled(pilot, lambda: "Match" in screen_text(app).split("\n")[-1])


async def test_density_and_order(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        heights = []
        for _ in range(3):
            await pilot.press("f7")
            heights.append(sessions(app).row_height)
        assert heights == [3, 1, 2]
        chosen = sessions(app).selected_hit
        await pilot.press("ctrl+s", "ctrl+s")
        assert sessions(app).view.sort == "longest"
        await settled(pilot, lambda: sessions(app).hits[0].session.message_count == 240)
        assert sessions(app).selected_hit == chosen


def with_copies(memory: Any) -> None:
    """The first session continues the second, and the fourth is a fork of it."""
    import msgspec

    first, second, third, fourth, *rest = memory.sessions
    second = msgspec.structs.replace(second, source=first.source, continued_by=first.id)
    fourth = msgspec.structs.replace(fourth, source=first.source, copied_from=second.id)
    memory.sessions = (first, second, third, fourth, *rest)


async def test_copies_are_folded_into_one_row_that_a_key_and_a_click_open(memory: Any, make_app: MakeApp) -> None:
    with_copies(memory)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        every = len(memory.sessions)
        assert len(sessions(app).hits) == every - 2
        await pilot.press("alt+u")
        await settled(pilot, lambda: len(sessions(app).hits) == every)
        assert [hit.session for hit in sessions(app).hits[:3]] == [memory.sessions[n] for n in (0, 1, 3)]
        assert "└ " in screen_text(app)
        await pilot.press("down", "alt+u")
        await settled(pilot, lambda: len(sessions(app).hits) == every - 2)
        assert sessions(app).selected == 0
        line = next(text for text in screen_text(app).split("\n") if "+2 copies" in text)
        await pilot.click(SessionList, offset=(line.index("+2 copies") + 1, 3))
        await settled(pilot, lambda: len(sessions(app).hits) == every)
        await pilot.press("down", "down", "down")
        assert sessions(app).selected == 3
        await pilot.press("alt+u")
        await pilot.pause(0.1)
        assert len(sessions(app).hits) == every


async def test_the_list_is_grouped_by_day_by_folder_or_not(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        assert "Today" in screen_text(app)
        await pilot.press("alt+g")
        await settled(pilot, lambda: "~/shop · 39 sessions" in screen_text(app))
        # a heading is nothing that can be selected
        await pilot.press("down")
        await pilot.click(SessionList, offset=(10, 1))
        assert sessions(app).selected == 1
        await pilot.press("alt+g")
        await settled(pilot, lambda: "~/shop ·" not in screen_text(app) and "Today" not in screen_text(app))
        await pilot.press("alt+g")
        await settled(pilot, lambda: "Today" in screen_text(app))


async def test_the_log_the_refresh_and_the_demo_keys(memory: Any, make_app: MakeApp, tmp_path: Any) -> None:
    memory.log_path = tmp_path / "startup.log"
    memory.log_path.write_text("claude-code: 2 malformed lines, e.g. [red]/x.jsonl\n")
    app = make_app(memory, refresh_seconds=60.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("f9")
        await settled(pilot, lambda: isinstance(app.screen, LogScreen))
        await pilot.pause()
        assert "malformed lines, e.g. [red]/x.jsonl" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        refreshes = memory.refreshes
        await pilot.press("f5")
        await settled(pilot, lambda: memory.refreshes == refreshes + 1)
        await pilot.press("f8")
        await pilot.pause()
    assert app.return_value == PickResult(demo=True)


def test_every_binding_has_an_id_a_description_and_a_tooltip() -> None:
    for binding in own_bindings():
        own = not binding.system  # the find line has the field's own editing keys
        assert not own or (binding.id and binding.description and binding.tooltip), binding


async def test_keys_can_be_set(memory: Any, make_app: MakeApp) -> None:
    import msgspec

    memory.settings = msgspec.structs.replace(memory.settings, keys={"browse.next_mode": "f12"})
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("f12")
        assert browse(app).mode == "keyword"
        await pilot.press("f2")
        assert browse(app).mode == "keyword"


async def test_the_index_is_updated_after_a_query_and_can_be_stopped(memory: Any, make_app: MakeApp) -> None:
    memory.index_steps = 100
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"login")
        await settled(pilot, lambda: "files indexed" in screen_text(app))
        await settled(pilot, lambda: memory.searches.count(("login", "combined")) > 1)
        await pilot.press("f6")
        await settled(pilot, lambda: not browse(app)._background.indexing)
        assert "files indexed" not in screen_text(app)


async def test_reading_for_the_first_time_shows_how_far_it_is(memory: Any, make_app: MakeApp) -> None:
    memory.loading = Snapshot((), 120, 1_200)
    full, memory.sessions = memory.sessions, ()
    app = make_app(memory)
    refresh = memory.refresh

    def slowly(report: Any = None, cancel: Any = None) -> Any:
        report(memory.loading)
        memory.indexing.wait(2)
        memory.sessions = full
        return refresh(None, cancel)

    memory.refresh = slowly
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: "120 of 1,200 files" in screen_text(app))
        memory.indexing.set()
        await settled(pilot, lambda: len(sessions(app).hits) == len(full))


async def test_an_empty_computer_is_told_where_was_looked_and_what_to_do(make_app: MakeApp, memory: Any) -> None:
    memory.sessions = ()
    app = make_app(memory)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, lambda: "not installed" in screen_text(app))
        text = screen_text(app)
        assert "No conversations found" in text and "F8" in text and "/home/ana/shop" in text


async def test_no_hits_say_what_else_to_try_and_alike_sessions_have_their_own_heading(
    memory: Any, make_app: MakeApp
) -> None:
    memory.pending = 0
    app = make_app(memory, query="zzzz")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, lambda: "none is close in meaning" in screen_text(app))
        assert "Nothing found" in screen_text(app)
        await pilot.press("escape", *"logn")
        await settled(pilot, answered(app, "logn"))
        await pilot.pause()
        assert "No match. Similar sessions" in screen_text(app)
        assert len(sessions(app).hits) == 2


async def test_summaries_of_the_session_history_show_when_conversations_hold_nothing(
    memory: Any, make_app: MakeApp
) -> None:
    from prima_tui.model.hits import PastEntry

    memory.past = (PastEntry("2026-10", "2026-10-03", "14:00", "Planned the zzzz migration.", ("shop",)),)
    app = make_app(memory, query="zzzz")
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot, lambda: "Planned the zzzz migration." in screen_text(app))
        assert "Session History Summaries" in screen_text(app)
        await pilot.press("escape")
        await settled(pilot, lambda: "Session History Summaries" not in screen_text(app))


async def test_a_wrong_filter_says_so(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login date:x")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login date:x"))
        await pilot.pause()
        assert "date" in screen_text(app).split("\n")[3]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50), (20, 5), (1, 1), (59, 11), (300, 90)])
async def test_every_size_can_be_used(memory: Any, make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, "login"))
        await pilot.press("down", "ctrl+o", "f3", "pagedown", "escape", "f4", "f7", "up")
        await pilot.resize_terminal(61, 13)
        await pilot.pause()
        await pilot.resize_terminal(*size)
        await pilot.pause()
        if size[0] >= 20:
            assert "login" in screen_text(app).split("\n")[0 if size[1] < 12 else 1]


async def test_hostile_text_is_shown_and_harms_nothing(memory: Any, make_app: MakeApp) -> None:
    import msgspec

    from prima_tui.model.session import Exchange

    evil = "[bold]x[/bold] [@click=app.quit]quit[/] \x1b]0;evil\x07\x1b[2J $x עברית \u202egnirts 👩‍💻字 ```\n| a |\n"
    first = msgspec.structs.replace(
        memory.sessions[0], title=evil, tags=(evil,), branch=evil, label=evil, workspace="/w"
    )
    memory.sessions = (first, *memory.sessions[1:])
    memory.conversations = {first.key: (Exchange(evil * 30, evil * 30),)}
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        pane = app.screen.query_one(ConversationPane)
        await settled(pilot, lambda: bool(pane.document.blocks))
        text = screen_text(app)
        assert "[bold]x[/bold]" in text
        for sign in ("\x1b", "\x07", "\u202e"):
            assert sign not in text
        await pilot.press("enter")
        await pilot.pause(0.2)


@pytest.mark.parametrize(
    "query", ["x" * 10_000, "   ", "[/red] $x {a}", "'; drop table", "(.*[", "👩‍💻字", "שלום", '"']
)
async def test_any_query_is_taken(memory: Any, make_app: MakeApp, query: str) -> None:
    app = make_app(memory, query=query)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, query))
        await pilot.pause(0.1)
        assert app.is_running


async def test_control_characters_that_are_pasted_do_not_reach_the_terminal(memory: Any, make_app: MakeApp) -> None:
    from textual import events

    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.query_one(SearchInput).post_message(events.Paste("a\x1b[31mb\x07"))
        await settled(pilot, lambda: bool(app.screen.query_one(SearchInput).value))
        assert app.screen.query_one(SearchInput).value.isprintable()


async def test_the_mouse_selects_chooses_and_clicks_the_chips(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, pick=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.click("#mode")
        assert browse(app).mode == "keyword"
        await settled(pilot, answered(app, ""))
        await pilot.click(SessionList, offset=(10, 4))
        assert sessions(app).selected == 1
        await pilot.click(SessionList, offset=(10, 4), times=2)
        await pilot.pause()
    assert app.return_value == PickResult(session=memory.sessions[1])


async def test_the_status_line_opens_the_log_and_stops_the_work_by_mouse(memory: Any, make_app: MakeApp) -> None:
    memory.index_steps = 400
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.click("#state")
        await settled(pilot, lambda: isinstance(app.screen, LogScreen))
        await pilot.press("escape", *"login")
        await settled(pilot, lambda: "files indexed" in screen_text(app))
        await pilot.click("#work")
        await settled(pilot, lambda: not browse(app)._background.indexing)


async def test_the_buttons_of_a_notice_are_clicked(memory: Any, make_app: MakeApp) -> None:
    memory.plan_problem = "The folder is gone."
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("enter")
        await settled(pilot, lambda: bool(app.screen.query(Choice)) and app.screen.query(Choice)[0].region.width > 0)
        await pilot.click(Choice)
        await settled(pilot, lambda: "claude --resume" in app.clipboard and isinstance(app.screen, BrowseScreen))


async def test_a_failing_search_or_refresh_is_told_and_the_screen_goes_on(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    search = memory.search

    def failing(query: str, mode: str, **rest: Any) -> Any:
        if query == "boom":
            raise RuntimeError("out of [order]")
        return search(query, mode, **rest)

    memory.search = failing
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"boom")
        await settled(pilot, lambda: "out of [order]" in screen_text(app))
        browse(app).query_one(StatusLine).show_note("")  # an update of the index ended
        await pilot.pause(0.1)
        assert "out of [order]" in screen_text(app)
        await pilot.press("escape")
        await settled(pilot, answered(app, ""))


async def test_fifty_thousand_sessions_are_listed_without_a_stall(memory: Any, make_app: MakeApp) -> None:
    import msgspec

    first = memory.sessions[0]
    memory.sessions = tuple(msgspec.structs.replace(first, id=str(n)) for n in range(50_000))
    app = make_app(memory, refresh_seconds=60.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""), 10)
        await settled(pilot, lambda: memory.refreshes == 1 and not browse(app)._again_wanted)
        await pilot.pause(0.5)
        # As the program does for itself in a terminal: the test runner's own objects are many.
        gc.freeze()
        worst = 0.0

        async def watch() -> None:
            nonlocal worst
            loop = asyncio.get_running_loop()
            while True:
                began = loop.time()
                await asyncio.sleep(0.005)
                worst = max(worst, loop.time() - began)

        watcher = asyncio.create_task(watch())
        for key in ("pagedown", "ctrl+end", "pageup", "ctrl+home", "down"):
            await pilot.press(key)
        watcher.cancel()
        gc.unfreeze()
        assert sessions(app).selected == 1
        # Generous, for a busy machine; the benchmark measures it.
        assert worst < 0.5


def test_progress_of_an_unknown_kind_is_harmless() -> None:
    assert IndexProgress().files_total == 0

"""The panes: long conversations open at once, what one reads stays in place."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from textual.app import App, ComposeResult

from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, Session
from prima_tui.tui.conversation_document import Asides, conversation_document
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.document import BLOCK_CHARACTERS, Block, markdown_document
from prima_tui.tui.session_list import SessionList

from .driving import MakeApp, answered, sessions, settled


class PaneApp(App[None]):
    CSS_PATH = None
    CSS = "ConversationPane { overflow-x: hidden; overflow-y: scroll; } .pane--match { text-style: bold; }"

    def compose(self) -> ComposeResult:
        yield ConversationPane()


def conversation(count: int, text: str = "needle {n}: a reply about something.") -> Conversation:
    exchanges = tuple(Exchange(f"question {n}", text.replace("{n}", str(n)) + "\n\nmore\n" * 3) for n in range(count))
    return Conversation(Session("id", "claude-code", "transcript", "t"), exchanges)


def visible(pane: ConversationPane) -> list[str]:
    return [pane.render_line(y).text.rstrip() for y in range(pane.page_height)]


async def test_five_thousand_exchanges_open_as_fast_as_five_at_the_best_one() -> None:
    app = PaneApp()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.query_one(ConversationPane)
        document = conversation_document(conversation(5_000), ("needle",), 4_200)
        pane.show(document)
        await pilot.pause()
        assert "needle 4200:" in "\n".join(visible(pane))
        assert "best match" in "\n".join(visible(pane))
        assert len(pane._known) < 200  # what was laid out; the rest is, when it is scrolled to


async def test_scrolling_up_into_what_was_never_laid_out_never_jumps() -> None:
    app = PaneApp()
    long = "word " * 150
    async with app.run_test(size=(60, 20)) as pilot:
        pane = app.query_one(ConversationPane)
        pane.show(conversation_document(conversation(300, "reply {n} " + long), (), 250))
        await pilot.pause()
        before = visible(pane)
        for _ in range(60):
            pane.scroll_to(y=pane.scroll_offset.y - 1, animate=False)
            await pilot.pause()
            now = visible(pane)
            assert now[1:] == before[:-1]
            before = now


async def test_going_through_all_matches_visits_each_in_order() -> None:
    app = PaneApp()
    async with app.run_test(size=(60, 12)) as pilot:
        pane = app.query_one(ConversationPane)
        pane.show(conversation_document(conversation(40), ("needle",), 0))
        await pilot.pause()
        seen = [pane.match_place]
        for _ in range(39):
            assert pane.go_to_match(1)
            await pilot.pause()
            seen.append(pane.match_place)
            assert f"needle {pane.match_place - 1}:" in "\n".join(visible(pane))
        assert seen == list(range(1, 41))
        pane.go_to_match(1)
        assert pane.match_place == 1
        pane.go_to_match(-1)
        assert pane.match_place == 40


async def test_a_change_of_width_keeps_the_exchange_in_view() -> None:
    app = PaneApp()
    async with app.run_test(size=(100, 20)) as pilot:
        pane = app.query_one(ConversationPane)
        pane.show(conversation_document(conversation(300, "reply {n} " + "word " * 100), (), 150))
        await pilot.pause()
        for width in (50, 130, 30, 100):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            assert abs(pane.exchange_in_view() - 150) <= 1


async def test_no_matches_is_said() -> None:
    app = PaneApp()
    async with app.run_test(size=(60, 12)):
        pane = app.query_one(ConversationPane)
        assert not pane.go_to_match(1)
        pane.show(conversation_document(conversation(3), ("absent",), None))
        assert not pane.go_to_match(1)


@pytest.mark.parametrize("line", ["x" * 400_000, "字" * 100_000, "a b " * 100_000])
async def test_a_line_without_end_is_shown_in_blocks(line: str) -> None:
    document = markdown_document(line, ())
    assert all(len(block.text) <= BLOCK_CHARACTERS for block in document.blocks)
    app = PaneApp()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.query_one(ConversationPane)
        pane.show(document)
        await pilot.pause()
        pane.scroll_end(animate=False)
        await pilot.pause()


def test_code_cut_into_blocks_is_still_code() -> None:
    text = "before\n```python\n" + "x = 1\n" * 2_000 + "```\nafter"
    blocks = markdown_document(text, ()).blocks
    assert len(blocks) > 2
    assert [block.fence for block in blocks[1:-1]] == ["python"] * (len(blocks) - 2)
    assert [line.text.strip() for line in blocks[-1].lines(60, ())][-1] == "after"


def test_the_columns_of_a_long_table_agree_in_all_its_blocks() -> None:
    rows = [f"| file{n}.py | {'because ' * (n % 9)} |" for n in range(500)]
    blocks = markdown_document("\n".join(["# Files", "", "| file | why |", "|---|---|", *rows, "", "end"]), ()).blocks
    assert len(blocks) > 5
    places = {line.text.index("because") for block in blocks for line in block.lines(60, ())[:40] if "bec" in line.text}
    assert len(places) == 1
    assert sum("file  " in line.text and "why" in line.text for block in blocks for line in block.lines(60, ())) == 1


def test_subagents_compactions_and_what_was_taken_back_are_set_off() -> None:
    exchanges = (
        Exchange("a", "b"),
        Exchange("c", "d", compacted=True),
        Exchange("e", "f", rewound=True),
        Exchange("g", "h"),
        Exchange("i", "j", agent="explorer"),
    )
    found = Conversation(Session("id", "claude-code", "transcript", "t"), exchanges)
    document = conversation_document(found, (), None)
    assert [block.text for block in document.blocks if block.voice == "divider"] == [
        "context compacted here",
        "taken back: the user went another way",
        "the conversation goes on",
        "subagent explorer",
    ]


async def test_text_selected_by_mouse_is_copied_without_the_margin(memory: Any) -> None:
    from textual.geometry import Offset
    from textual.selection import Selection

    app = PaneApp()
    async with app.run_test(size=(60, 12)) as pilot:
        pane = app.query_one(ConversationPane)
        pane.show(conversation_document(conversation(2), (), 0))
        await pilot.pause()
        text = pane.get_selection(Selection(Offset(0, 1), Offset(60, 1)))
        assert text == ("question 0", "\n")


async def test_a_long_conversation_shows_the_part_around_its_best_exchange_first_and_then_all_of_it() -> None:
    long = conversation(20_000)
    near = conversation_document(long, ("needle",), 15_000, around=30)
    whole = conversation_document(long, ("needle",), 15_000)
    assert len(near.starts) == 61
    assert not near.whole
    assert whole.whole
    app = PaneApp()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.query_one(ConversationPane)
        pane.show(near)
        await pilot.pause()
        before = visible(pane)
        assert "needle 15000:" in "\n".join(before)
        pane.show(whole, keep_place=True)
        await pilot.pause()
        assert visible(pane) == before
        assert pane.match_place == 15_001
        pane.go_to_match(1)
        assert "needle 15001:" in "\n".join(visible(pane))


def test_blocks_are_known_again_in_another_document_of_the_conversation() -> None:
    talk = conversation(6)
    talk = Conversation(talk.session, tuple(msgspec.structs.replace(one, compacted=True) for one in talk.exchanges))
    use = Block("▸ Bash ls", "tool", exchange=2)
    plain, with_tools = (
        conversation_document(talk, (), None),
        conversation_document(talk, (), None, {2: Asides((), (use,))}),
    )
    part = conversation_document(talk, (), 3, around=1)
    for number, block in enumerate(with_tools.blocks):
        place = with_tools.place_of(number)
        if block.voice == "tool":
            assert place is None
            continue
        assert place is not None
        found = plain.block_at(place)
        assert found is not None
        assert plain.blocks[found] == block
        here = part.block_at(place)
        assert (here is None) == (place[0] not in (2, 3, 4))
        assert here is None or part.blocks[here].text == block.text


async def test_another_width_draws_each_line_once_and_keeps_it(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    draw = SessionList.draw_line
    monkeypatch.setattr(
        SessionList, "draw_line", lambda self, line, width: drawn.append(line) or draw(self, line, width)
    )
    app = make_app(memory)
    async with app.run_test(size=(160, 45)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.resize_terminal(150, 45)
        await settled(pilot, lambda: bool(drawn))
        await pilot.pause(0.2)
        drawn.clear()
        sessions(app).refresh()
        await pilot.pause(0.1)
        assert not drawn, "what was drawn for this width is kept"

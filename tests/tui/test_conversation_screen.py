"""The conversation: going through it, tools and thinking folded, subagents nested, copies, finding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, ToolUse
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.conversation_document import conversation_document, reading_order
from prima_tui.tui.conversation_pane import ConversationPane

from .conftest import NOW
from .test_browse_screen import answered, browse, settled

MakeApp = Callable[..., PrimaApp]

USES = (
    (),
    (
        ToolUse(1, "thinking", "A plan first.", gave="A plan first.\nThen narwhals.", thinking=True),
        ToolUse(1, "Bash", "pytest -q", "pytest -q", "2 failed"),
        ToolUse(1, "thinking", "It fails.", gave="It fails because of owls.", thinking=True),
        ToolUse(1, "Bash", "git diff", "git diff", "no change"),
    ),
)


def pane_of(app: PrimaApp) -> ConversationPane:
    return browse(app).query_one(ConversationPane)


def shown(app: PrimaApp) -> str:
    pane = pane_of(app)
    return "\n".join(pane.render_line(y).text.rstrip() for y in range(pane.page_height))


def texts(pane: ConversationPane, voice: str) -> list[str]:
    return [block.text for block in pane.document.blocks if block.voice == voice]


async def ready(app: PrimaApp, pilot: Any, query: str = "") -> ConversationPane:
    await settled(pilot, answered(app, query))
    pane = pane_of(app)
    await settled(pilot, lambda: bool(pane.document.blocks) and browse(app)._preview_whole)
    await pilot.pause()
    return pane


async def test_thinking_is_folded_to_a_line_before_the_reply_and_opened_by_a_key(
    memory: Any, make_app: MakeApp
) -> None:
    memory.tool_uses = USES
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        pane = await ready(app, pilot)
        first = next(number for number, block in enumerate(pane.document.blocks) if block.voice == "tool")
        assert pane.document.blocks[first].text == "▸ thinking A plan first."
        assert pane.document.blocks[first + 1].voice == "agent"
        assert texts(pane, "tool") == [
            "▸ thinking A plan first.",
            "▸ Bash pytest -q",
            "▸ thinking It fails.",
            "▸ Bash git diff",
        ]
        await pilot.press("alt+h")
        await settled(pilot, lambda: "It fails because of owls." in texts(pane, "tool-text"))
        assert "A plan first.\nThen narwhals." in texts(pane, "tool-text")
        assert not any("2 failed" in text for text in texts(pane, "tool-text"))
        await pilot.press("alt+h")
        await settled(pilot, lambda: not texts(pane, "tool-text"))


async def test_a_click_on_a_folded_line_opens_that_one_alone(memory: Any, make_app: MakeApp) -> None:
    memory.tool_uses = USES
    app = make_app(memory)
    async with app.run_test(size=(120, 50)) as pilot:
        pane = await ready(app, pilot)
        await pilot.press("ctrl+o")
        await pilot.pause()
        number = next(n for n, block in enumerate(pane.document.blocks) if block.text.startswith("▸ Bash git diff"))
        pane._bring(number, 0, lead=2)
        await pilot.pause()
        line = pane._tops[number] - pane.scroll_offset.y
        await pilot.click(ConversationPane, offset=(8, line + 1))
        await settled(pilot, lambda: "→ no change" in texts(pane, "tool-text"))
        assert not any("2 failed" in text for text in texts(pane, "tool-text"))
        line = pane._tops[number] - pane.scroll_offset.y
        await pilot.click(ConversationPane, offset=(8, line + 1))
        await settled(pilot, lambda: not texts(pane, "tool-text"))


async def test_keys_go_from_message_to_message_and_from_prompt_to_prompt(memory: Any, make_app: MakeApp) -> None:
    found = memory.sessions[0]
    memory.conversations[found.key] = tuple(Exchange(f"prompt {n}", f"reply {n}\n\nmore") for n in range(8))
    app = make_app(memory)
    async with app.run_test(size=(120, 30)) as pilot:
        pane = await ready(app, pilot)

        def current() -> str:
            assert pane._message is not None
            return pane.document.blocks[pane._message].text.split("\n")[0]

        seen = []
        for _ in range(3):
            await pilot.press("alt+n")
            seen.append(current())
        assert seen == ["reply 0", "prompt 1", "reply 1"]
        await pilot.press("alt+j")
        assert current() == "prompt 2"
        await pilot.press("alt+p")
        assert current() == "reply 1"
        await pilot.press("alt+k")
        assert current() == "prompt 1"
        assert pane.exchange_in_view() == 1
        for _ in range(20):
            await pilot.press("alt+n")
        assert current() == "reply 7"
        assert pane.exchange_in_view() == 7
        pane.scroll_home(animate=False)
        await pilot.pause()
        assert pane.exchange_in_view() == 0
        await pilot.press("alt+j")
        assert current() == "prompt 1"


def test_a_subagent_stands_where_it_worked_and_is_set_in() -> None:
    from .conftest import session

    def at(minutes: int) -> Any:
        return NOW + timedelta(minutes=minutes)

    exchanges = (
        Exchange("one", "first", at(0)),
        Exchange("two", "second", at(10)),
        Exchange("look", "looked", at(3), agent="explorer"),
        Exchange("", "again", at(4), agent="explorer"),
        Exchange("test", "tested", at(12), agent="tester"),
    )
    assert reading_order(exchanges) == [0, 2, 3, 1, 4]
    assert reading_order(exchanges[:2]) == [0, 1]
    timeless = tuple(Exchange(one.user, one.assistant, agent=one.agent) for one in exchanges)
    assert reading_order(timeless) == [0, 1, 2, 3, 4]
    document = conversation_document(Conversation(session(1, "t"), exchanges), (), 1)
    assert [block.text for block in document.blocks if block.voice == "divider"] == [
        "subagent explorer",
        "main conversation",
        "subagent tester",
    ]
    nested = next(block for block in document.blocks if block.text == "looked")
    assert all(line.text.startswith("  │ ") for line in nested.lines(80, ()))
    assert document.blocks[document.start].text == "main conversation"
    assert document.blocks[document.start + 1].text == "two"

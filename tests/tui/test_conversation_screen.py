"""The conversation: going through it, tools and thinking folded, subagents nested, copies, finding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from prima_tui.model.citation import citation, cited
from prima_tui.model.fences import code_blocks
from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, ToolUse
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.conversation_document import conversation_document, reading_order
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.export_screen import ExportScreen
from prima_tui.tui.find_line import FindInput
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.outcome import SessionPlace

from .conftest import NOW
from .test_browse_screen import answered, browse, screen_text, settled

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


# -- finding ------------------------------------------------------------------------------------------------------


async def test_finding_marks_as_one_types_goes_on_and_gives_the_querys_words_back(
    memory: Any, make_app: MakeApp
) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        pane = await ready(app, pilot, "login")
        await pilot.press("ctrl+f")
        assert isinstance(app.focused, FindInput)
        await pilot.press(*"cookie")
        await settled(pilot, lambda: pane.document.words == ("cookie",))
        await settled(pilot, lambda: pane.match_place == 1)
        count = pane.document.match_count
        assert count > 2
        await pilot.press("enter")
        assert pane.match_place == 2
        await pilot.press("up")
        assert pane.match_place == 1
        pane.focus()
        await pilot.pause()
        await pilot.press("n")
        assert pane.match_place == 2
        await pilot.press("N")
        assert pane.match_place == 1
        assert browse(app).query_text == "login"
        await pilot.press("escape")
        await settled(pilot, lambda: pane.document.words == ("login",))
        assert not browse(app).query(FindInput)
        pane.focus()
        await pilot.pause()
        await pilot.press("n")
        await settled(pilot, lambda: browse(app).query_text == "loginn")


# -- copies -------------------------------------------------------------------------------------------------------


def test_code_blocks_are_taken_as_they_are_written() -> None:
    text = "a\n```py\n\tx = 1\n```\nb\n  ~~~~\n  ```\n  inner\n  ~~~~\n``` `no` fence\n```\n\n```\n````sh\nnever closed"
    assert code_blocks(text) == [("py", "\tx = 1"), ("", "```\ninner"), ("sh", "never closed")]


async def test_code_in_view_is_copied_and_the_key_again_takes_the_next(memory: Any, make_app: MakeApp) -> None:
    found = memory.sessions[0]
    reply = "one\n\n```py\n\tfirst = 1\n```\n\ntwo\n\n```sh\nsecond\n```\n"
    memory.conversations[found.key] = (Exchange("go", reply), Exchange("on", "nothing"))
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        copied = []
        for _ in range(3):
            await pilot.press("alt+z")
            last = copied[-1] if copied else ""
            await settled(pilot, lambda last=last: app.clipboard != last)
            copied.append(app.clipboard)
        assert copied == ["\tfirst = 1", "second", "\tfirst = 1"]
        await pilot.press("alt+i")
        assert app.clipboard == f"prima-tui --open {found.id}#1"
        await pilot.press("alt+y")
        await settled(pilot, lambda: app.clipboard.startswith("# "))
        assert "second" in app.clipboard and "### #2" in app.clipboard
        app.copy_to_clipboard("half a sign \ud83d, which no encoder takes")
        assert app.clipboard == "half a sign ?, which no encoder takes"


def test_citations_are_read_as_they_are_written() -> None:
    from .conftest import session

    one = session(1, "t")
    assert cited(citation(one, 4)) == (one.id, 4)
    assert cited(citation(one, None)) == (one.id, None)
    assert cited("abc") == ("abc", None)
    for wrong in ("", "#3", "a#0", "a#x", "a b#1", "a#1#2"):
        assert cited(wrong) is None, wrong


async def test_a_citation_opens_at_its_exchange_and_stays_there(memory: Any, make_app: MakeApp) -> None:
    found = memory.sessions[3]
    memory.conversations[found.key] = tuple(Exchange(f"prompt {n}", f"reply {n}\n" * 5) for n in range(40))
    app = make_app(memory, place=SessionPlace(found, 29))
    async with app.run_test(size=(120, 40)) as pilot:
        pane = await ready(app, pilot)
        await settled(pilot, lambda: pane.exchange_in_view() == 29)
        assert browse(app)._list.selected_hit.session.key == found.key
        await pilot.press("f5")
        await pilot.pause(0.5)
        assert pane.exchange_in_view() == 29


# -- export -------------------------------------------------------------------------------------------------------


async def test_the_conversation_is_written_where_one_says_and_nothing_is_overwritten_unasked(
    memory: Any, make_app: MakeApp, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    memory.tool_uses = USES
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("alt+x")
        await settled(pilot, lambda: isinstance(app.screen, ExportScreen))
        await pilot.pause()
        await pilot.press("f2")
        assert app.screen.query_one(Input).value.endswith("-fix-the-login-test-that-fails-on-ci.html")
        await pilot.press("f4", "enter")
        await settled(pilot, lambda: bool(list(tmp_path.iterdir())))
        [first] = tmp_path.iterdir()
        assert "Then narwhals" not in first.read_text("utf-8")
        await settled(pilot, lambda: app.screen is browse(app))

        first.write_text("mine", "utf-8")
        await pilot.press("alt+x")
        await settled(pilot, lambda: isinstance(app.screen, ExportScreen))
        await pilot.pause()
        app.screen.query_one(Input).value = str(first)
        await pilot.press("enter")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("escape")
        await settled(pilot, lambda: app.screen is browse(app))
        assert first.read_text("utf-8") == "mine"
        await pilot.press("alt+x")
        await settled(pilot, lambda: isinstance(app.screen, ExportScreen))
        await pilot.pause()
        app.screen.query_one(Input).value = str(first)
        await pilot.click("#export-write")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("enter")
        await settled(pilot, lambda: "Then narwhals" in first.read_text("utf-8"))


async def test_the_extract_opens_in_the_editor(memory: Any, make_app: MakeApp, monkeypatch: Any) -> None:
    opened: list[str] = []

    async def editor(_app: Any, path: Any) -> bool:
        opened.append(path.read_text("utf-8"))
        return True

    monkeypatch.setattr("prima_tui.tui.conversation_screen.open_in_editor", editor)
    monkeypatch.setattr(memory, "extracts", list, raising=False)
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        await pilot.press("alt+e")
        await settled(pilot, lambda: bool(opened))
    assert opened[0].startswith("# Fix the login test")


async def test_at_eighty_columns_finding_and_exporting_can_be_read_whole(
    memory: Any, make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder with a long name"
    folder.mkdir()
    monkeypatch.chdir(folder)
    app = make_app(memory, query="login")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, "login"))
        await pilot.press("ctrl+f", *"the cookie must exist")
        await settled(pilot, lambda: "Find the cookie must exist" in screen_text(app))
        await pilot.press("escape", "alt+x")
        await settled(pilot, lambda: isinstance(app.screen, ExportScreen) and "Esc close" in screen_text(app))
        await settled(pilot, lambda: "-on-ci.md" in screen_text(app))  # of a long path one sees the end


async def test_going_far_into_what_was_never_laid_out_works_however_it_is_asked_for(
    memory: Any, make_app: MakeApp
) -> None:
    code = "```python\nx = 1\n```"
    memory.conversations[memory.sessions[0].key] = tuple(
        Exchange(f"question {number}", f"{'login again and again. ' * 40}\n\n{code}", NOW) for number in range(300)
    )
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        pane = await ready(app, pilot)
        await settled(pilot, lambda: len(pane.document.starts) == 300)
        # as Textual's own actions do: what is laid out at each step moves what lies below, and with it the view
        for part in (0.3, 0.9, 0.1, 0.6):
            pane.scroll_to(y=int(pane.line_count * part), animate=True)
            await pilot.pause(0.05)
        pane.focus()
        for key in ("end", "home", "pagedown", "end"):
            await pilot.press(key)
            await pilot.pause(0.05)
        assert app.is_running
        assert pane.exchanges_in_view()[-1] == 299

"""What runs behind and what is folded: rebuild, deep search, tools, copies, the cadence, what is remembered."""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prima_tui.config import Settings, paths_below
from prima_tui.model.hits import ExtractFound
from prima_tui.model.session import TextEdit, ToolUse
from prima_tui.tui import views_screen
from prima_tui.tui.background import Background
from prima_tui.tui.browse_screen import BrowseScreen
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.extract_rows import is_extract
from prima_tui.tui.key_line import KeyLine
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.remembered import NAME, Remembered, remember, remembered
from prima_tui.tui.session_list import SessionList
from prima_tui.tui.tool_blocks import Unfolded, aside_blocks, diff_text

from .conftest import NOW
from .driving import MakeApp, answered, browse, screen_text, settled

USES = (
    (),
    (
        ToolUse(1, "Bash", "pytest -q tests", "pytest -q tests", "2 failed, 40 passed, zebra", at=NOW),
        ToolUse(1, "Edit", "", "", "done", edits=(TextEdit("/home/ana/shop/app.py", "a\nb\n", "a\nc\nd\ne\n"),)),
    ),
    (ToolUse(2, "Bash", "git push", "git push", "\x1b[31mrejected", failed=True),),
)


def test_what_a_tool_gave_back_keeps_its_lines_below_one_another() -> None:
    uses = ((ToolUse(0, "Bash", "ls", "ls", "cart.py\n  login.py\n\nmoney.py\n"),),)
    blocks = aside_blocks(uses, None, Unfolded(tools=True))[0].after
    assert blocks[-1].text == "→ cart.py\n    login.py\n\n  money.py"


# -- rebuild ----------------------------------------------------------------------------------------------------


async def test_a_rebuild_says_first_what_would_be_lost_and_shows_how_far_it_is(memory: Any, make_app: MakeApp) -> None:
    memory.rebuild_lost = 1_234
    memory.index_steps = 40
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("f10")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.pause()
        assert "1,234 exchanges would be lost" in screen_text(app)
        assert memory.rebuilt == 0
        await pilot.press("enter")
        await settled(pilot, lambda: "files indexed anew" in screen_text(app))
        await pilot.press("f6")
        await settled(pilot, lambda: not browse(app)._background.indexing)
        assert memory.rebuilt == 1


async def test_a_rebuild_that_is_refused_does_not_begin(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("f10")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("escape")
        await settled(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.pause(0.1)
        assert memory.rebuilt == 0


async def test_an_interrupted_rebuild_is_offered_and_the_model_made_ready(memory: Any, make_app: MakeApp) -> None:
    memory.rebuild_is = "interrupted"
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: "F10 goes on with it" in screen_text(app))
        await settled(pilot, lambda: memory.warmed == 1)


async def test_by_keyword_alone_no_model_is_loaded(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, mode="keyword")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: memory.words_warmed == 1)
        await pilot.pause(0.4)
        assert memory.warmed == 0


async def test_the_views_are_loaded_beside_the_screen_before_a_key_opens_one(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: dict[str, threading.Thread] = {}
    monkeypatch.setattr(views_screen, "import_module", lambda name: loaded.update({name: threading.current_thread()}))
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: len(loaded) == 3)
    assert {name.rpartition(".")[2] for name in loaded} == set(views_screen._VIEWS)
    assert threading.main_thread() not in loaded.values()


# -- cadence ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("idle", "pause"), [(0, 2), (29, 2), (31, 10), (299, 10), (301, 30)])
async def test_files_are_looked_at_the_less_often_the_longer_nothing_is_done(idle: float, pause: float) -> None:
    background = Background(lambda _message: None, 2.0)
    background._touched -= idle
    assert background.pause == pause


@pytest.mark.parametrize("act", ["touched", "focused"])
async def test_coming_back_looks_at_the_files_at_once(act: str) -> None:
    background = Background(lambda _message: None, 2.0)
    background.touched()
    assert not background._wake.is_set()
    background._touched -= 400
    getattr(background, act)()
    assert background._wake.is_set()
    assert background.pause == 2.0


# -- deep search ------------------------------------------------------------------------------------------------


async def test_deep_search_lists_extracts_under_a_heading_and_opens_them(memory: Any, make_app: MakeApp) -> None:
    memory.extracts = (
        ExtractFound("/x/e.md", "shop", NOW, "Login cookie notes", "# Login cookie notes\n\nThe zebra cookie.", 3.0),
    )
    app = make_app(memory, query="login", run=lambda command: pytest.fail("must not run"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        before = len(browse(app).query_one(SessionList).hits)
        await pilot.press("alt+d")
        found = browse(app).query_one(SessionList)
        await settled(pilot, lambda: len(found.hits) == before + 1)
        await pilot.pause()
        assert " deep " in screen_text(app)
        await pilot.press("ctrl+end")
        await pilot.pause()
        assert "Extracts" in screen_text(app)
        assert found.selected_hit and is_extract(found.selected_hit)
        await settled(pilot, lambda: "zebra cookie" in screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        assert browse(app).has_class("-full")
        await pilot.press("escape")
        await pilot.click("#deep")
        await settled(pilot, lambda: len(found.hits) == before)


# -- tools ------------------------------------------------------------------------------------------------------


async def test_tools_are_one_line_each_and_open_by_key_at_the_same_place(memory: Any, make_app: MakeApp) -> None:
    memory.tool_uses = USES
    app = make_app(memory)
    async with app.run_test(size=(120, 150)) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: "▸ Bash pytest -q tests" in screen_text(app))
        assert "▸ Edit app.py (+3 −1)" in screen_text(app)
        assert "zebra" not in screen_text(app)
        await pilot.press("alt+t")
        await settled(pilot, lambda: "2 failed, 40 passed, zebra" in screen_text(app))
        await pilot.press("alt+t")
        await settled(pilot, lambda: "zebra" not in screen_text(app))


async def test_what_is_searched_in_tools_is_open(memory: Any, make_app: MakeApp) -> None:
    memory.tool_uses = USES
    app = make_app(memory, query="login in:tools")
    async with app.run_test(size=(120, 150)) as pilot:
        await settled(pilot, lambda: "2 failed, 40 passed" in screen_text(app))


async def test_opening_tools_keeps_the_line_at_the_top(memory: Any, make_app: MakeApp) -> None:
    memory.tool_uses = USES
    app = make_app(memory)
    async with app.run_test(size=(120, 24)) as pilot:
        pane = browse(app).query_one(ConversationPane)
        await settled(pilot, lambda: any(block.voice == "tool" for block in pane.document.blocks))
        await pilot.press("alt+pagedown", "alt+pagedown")
        await pilot.pause()

        def top() -> list[str]:
            return [pane._line_at(pane.scroll_offset.y + line)[0].text for line in range(3)]

        before = top()
        assert any(line.strip() for line in before)
        await pilot.press("alt+t")
        await settled(pilot, lambda: any(block.voice == "tool-text" for block in pane.document.blocks))
        await pilot.pause()
        assert top() == before


def test_control_characters_of_tools_never_reach_the_terminal() -> None:
    asides = aside_blocks(USES, "/home/ana/shop", Unfolded(tools=True))
    blocks = [block for part in asides.values() for block in (*part.before, *part.after)]
    assert all("\x1b" not in block.text for block in blocks)
    assert any("rejected" in block.text for block in blocks)


def test_lines_that_end_as_on_windows_are_not_doubled() -> None:
    edit = TextEdit("a.txt", old="one\r\ntwo\r\n", new="one\r\nthree\r\n")
    assert diff_text(edit).split("\n")[1:] == [" one", "-two", "+three"]


# -- copies -----------------------------------------------------------------------------------------------------


async def test_the_row_says_how_many_are_folded_into_it(memory: Any, make_app: MakeApp) -> None:
    first, second, *rest = memory.sessions
    memory.sessions = (first, msgspec.structs.replace(second, source=first.source, continued_by=first.id), *rest)
    app = make_app(memory)
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.pause()
        assert "+1 continued" in screen_text(app)
        assert len(browse(app).query_one(SessionList).hits) == len(memory.sessions) - 1


# -- the keys at the foot -----------------------------------------------------------------------------------------


async def test_the_line_of_keys_shows_bindings_and_a_click_does_what_the_key_does(
    memory: Any, make_app: MakeApp
) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        line = browse(app).query_one(KeyLine)
        text = line.render_line(0).text
        assert "Resume" in text and "f2 Mode" in text
        await pilot.click(KeyLine, offset=(text.index("Mode"), 0))
        await settled(pilot, lambda: browse(app).mode == "keyword")


async def test_a_keystroke_styles_and_lays_out_nothing_anew(memory: Any, make_app: MakeApp, monkeypatch: Any) -> None:
    from textual._compositor import Compositor
    from textual.css.stylesheet import Stylesheet

    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("l")
        await settled(pilot, answered(app, "l"))
        await pilot.pause(0.5)  # until what follows an answer has begun
        follows = ("preview", "index-soon", "index", "arrange")
        await settled(pilot, lambda: all(one.is_finished for one in app.workers if one.group in follows))
        done: list[str] = []
        for owner, name in ((Stylesheet, "apply"), (Compositor, "reflow")):
            real = getattr(owner, name)

            def counted(*given: Any, _real: Any = real, _name: str = name, **named: Any) -> Any:
                done.append(_name)
                return _real(*given, **named)

            monkeypatch.setattr(owner, name, counted)
        await pilot.press("o")
        await settled(pilot, answered(app, "lo"))
        await pilot.pause(0.5)
        assert done == []


# -- what is remembered -------------------------------------------------------------------------------------------


async def test_rows_order_width_and_theme_are_as_they_were_left(memory: Any, make_app: MakeApp, tmp_path: Path) -> None:
    memory.settings = Settings(paths=paths_below(tmp_path))
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        assert not memory.settings.paths.data.exists()
        await pilot.press("f7", "ctrl+s", "alt+right")
        app.theme = "prima-light"
        file = memory.settings.paths.data / NAME
        await settled(pilot, lambda: file.exists() and remembered(file.parent).theme == "prima-light")
        await settled(pilot, lambda: all(worker.group != "remember" for worker in app.workers))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = remembered(file.parent)
    assert (kept.density, kept.sort, kept.share > 42) == (3, "newest", True)
    again = make_app(memory)
    async with again.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(again, ""))
        assert again.theme == "prima-light"
        found = browse(again).query_one(SessionList)
        assert (found.density, found.view.sort) == (3, "newest")
        assert browse(again).query_one("#left").outer_size.width > 0.42 * 120


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b'{"density": 9}', b"[]"])
def test_what_was_remembered_and_cannot_be_read_is_left(tmp_path: Path, text: bytes) -> None:
    (tmp_path / NAME).write_bytes(text)
    assert remembered(tmp_path) == Remembered()
    remember(tmp_path, Remembered(share=50))
    assert remembered(tmp_path).share == 50


def test_a_file_that_was_read_is_named_as_seen_from_the_workspace() -> None:
    uses = ((ToolUse(0, "Read", "/home/ana/shop/app/cart.py", "/home/ana/shop/app/cart.py", "PRICE = 3"),),)
    head = aside_blocks(uses, "/home/ana/shop", Unfolded())[0].after[0]
    assert head.text == "\u25b8 Read app/cart.py"


async def test_what_is_being_indexed_gives_way_to_every_key(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        before = memory.gave_way
        await pilot.press("l", "o", "down")
        assert memory.gave_way >= before + 3
        assert memory.went_on == 0
    assert memory.went_on == 1

"""The search line: completion from the data, earlier searches, the cross, what could not be read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from rich.style import Style
from rich.text import Text
from textual.widgets import Static

from prima_tui.config import Settings, paths_below
from prima_tui.model.hits import Snapshot
from prima_tui.tui.log_screen import LogScreen
from prima_tui.tui.query_choices import QueryChoice, QueryChoices
from prima_tui.tui.query_colours import QueryHighlighter, QuerySuggester
from prima_tui.tui.remembered import Remembered, remember, remembered
from prima_tui.tui.search_input import SearchInput
from prima_tui.tui.search_line import SearchLine

from .conftest import believable_sessions, session
from .driving import MakeApp, answered, browse, screen_text, settled


def suggester() -> QuerySuggester:
    made = QuerySuggester()
    odd = msgspec.structs.replace(session(98, "x", branch="two words"), workspace="/srv/Some Folder")
    made.learn((*believable_sessions(), odd))
    return made


def field(app: Any) -> SearchInput:
    return browse(app).query_one(SearchInput)


def choices(app: Any) -> QueryChoices:
    return browse(app).query_one(QueryChoices)


def test_values_come_from_the_sessions_the_commonest_first_with_their_counts() -> None:
    found = suggester().choices("login agent:")
    assert found[0] == QueryChoice("login agent:claude-code", "claude-code", "36")
    assert [choice.shown for choice in found[1:]] == ["codex", "vscode", "shared-log"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("branch:mon", ["branch:money-cents"]),
        ("branch:cents", ["branch:money-cents"]),
        ("-branch:mon", ["-branch:money-cents"]),
        ("branch:two", ['branch:"two words"']),
        ('branch:"two w', ['branch:"two words"']),
        ("dir:some", ['dir:"Some Folder"']),
        ("author:", ["author:bruno"]),
        ("source:cod", ["source:codex", "source:claude-code", "source:vscode"]),
        ("date:yes", ["date:yesterday"]),
        ("branch:money-cents", []),
        ("nothing:x", []),
        ("plain", []),
        ("agent:codex ", []),
    ],
)
def test_what_a_filter_can_be_completed_to(typed: str, expected: list[str]) -> None:
    assert [choice.query for choice in suggester().choices(typed)] == expected


@pytest.mark.parametrize(("typed", "whole"), [("ag", "agent:"), ("x bran", "x branch:"), ("a", ""), ("zz", "")])
def test_names_of_filters_are_completed(typed: str, whole: str) -> None:
    assert suggester().completion(typed) == whole


@pytest.mark.parametrize(
    ("query", "styles"),
    [
        ("agent:", ["green"]),
        ("login agent:cla", ["green"]),
        ("agent:cla login", ["red"]),
        ("agent:nobody", ["red"]),
        ("date:t", ["green"]),
    ],
)
def test_a_filter_that_is_being_typed_is_not_struck_through(query: str, styles: list[str]) -> None:
    known = suggester()
    colours = QueryHighlighter(lambda text: bool(known.choices(text)))
    colours.styles = {"filter": Style.parse("green"), "bad": Style.parse("red")}
    text = Text(query)
    colours.highlight(text)
    assert [str(span.style) for span in text.spans] == styles


async def learnt(app: Any, pilot: Any) -> None:
    await settled(pilot, answered(app, ""))
    await settled(pilot, lambda: bool(browse(app).query_one(SearchLine).suggester.choices("agent:")))


async def test_tab_and_enter_and_a_click_take_a_choice(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await learnt(app, pilot)
        await pilot.press(*"ag", "tab")
        assert field(app).value == "agent:"
        await settled(pilot, lambda: choices(app).display)
        await pilot.press("tab")
        assert field(app).value == "agent:claude-code"
        assert not choices(app).display
        await pilot.press("ctrl+u", *"agent:")
        await pilot.press("down", "down", "up", "down", "enter")
        assert field(app).value == "agent:codex"
        await pilot.press("ctrl+u", *"agent:")
        await settled(pilot, lambda: choices(app).region.height > 4)
        await pilot.click(QueryChoices, offset=(3, 3))
        assert field(app).value == "agent:vscode"
        await settled(pilot, answered(app, "agent:vscode"))


async def test_escape_closes_the_box_first_and_tab_goes_on_when_there_is_none(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await learnt(app, pilot)
        await pilot.press(*"agent:", "escape")
        assert field(app).value == "agent:" and not choices(app).display
        await pilot.press("escape")
        assert field(app).value == ""
        await pilot.press("tab")
        assert app.focused is not field(app)


async def test_enter_resumes_while_one_did_not_go_into_the_box(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, pick=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await learnt(app, pilot)
        await pilot.press(*"agent:", "enter")
        await settled(pilot, lambda: app.return_value is not None)


async def test_searches_that_led_somewhere_are_kept_and_offered_again(
    memory: Any, make_app: MakeApp, tmp_path: Any
) -> None:
    memory.settings = Settings(paths=paths_below(tmp_path))
    folder = memory.settings.paths.data
    remember(folder, Remembered(searches=("checkout", "pool")))
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press(*"login", "escape")
        await settled(pilot, lambda: remembered(folder).searches == ("login", "checkout", "pool"))
        await pilot.press("alt+a")
        await settled(pilot, lambda: choices(app).display)
        assert [choice.shown for choice in choices(app).choices] == ["login", "checkout", "pool"]
        await pilot.press(*"po")
        await settled(pilot, lambda: [choice.shown for choice in choices(app).choices] == ["pool"])
        await pilot.press("tab")
        assert field(app).value == "pool"
        await pilot.press("ctrl+u")
        await pilot.click("#prompt")
        await settled(pilot, lambda: choices(app).display)
        await pilot.press("down", "enter")
        await settled(pilot, answered(app, "checkout"))


async def test_a_search_that_was_typed_on_the_way_to_another_is_not_kept(
    memory: Any, make_app: MakeApp, tmp_path: Any
) -> None:
    memory.settings = Settings(paths=paths_below(tmp_path))
    app = make_app(memory, query="log")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "log"))
        browse(app).keep_search()
        await pilot.press(*"in")
        await settled(pilot, answered(app, "login"))
        browse(app).keep_search()
        assert browse(app)._kept.searches == ("login",)


async def test_without_earlier_searches_it_says_so(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("alt+a")
        await settled(pilot, lambda: any("no earlier" in one.message for one in app._notifications))


async def test_the_cross_empties_the_line(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, "login"))
        assert "✕" in screen_text(app)
        await pilot.click("#clear")
        await settled(pilot, answered(app, ""))
        assert "✕" not in screen_text(app).split("\n")[1]


async def test_what_could_not_be_read_is_told_beside_the_count_and_opens_the_log(
    memory: Any, make_app: MakeApp
) -> None:
    refresh = memory.refresh
    memory.refresh = lambda report=None, cancel=None: msgspec.structs.replace(
        refresh(report, cancel), warnings=("claude-code: 2 malformed lines, e.g. /x.jsonl",)
    )
    assert Snapshot().warnings == ()
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: "⚠ 1" in screen_text(app).split("\n")[1])
        assert "malformed" in str(browse(app).query_one("#notes", Static).tooltip)
        await pilot.click("#notes")
        await settled(pilot, lambda: isinstance(app.screen, LogScreen))


async def test_several_lines_that_are_pasted_become_one(memory: Any, make_app: MakeApp) -> None:
    from textual.events import Paste

    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        field(app).post_message(Paste("\n  login\r\n\ttest  \nfails\n"))
        await settled(pilot, lambda: field(app).value == "login test fails")


async def test_an_empty_line_says_as_much_as_can_be_read(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        assert "Search by word or meaning " in screen_text(app).split("\n")[1]
        assert " workspace " in screen_text(app).split("\n")[1]
        await pilot.resize_terminal(120, 40)
        whole = "Search what you and your agents said, by word or by meaning "
        await settled(pilot, lambda: whole in screen_text(app).split("\n")[1])
        await settled(pilot, lambda: " this workspace " in screen_text(app).split("\n")[1])


async def test_at_eighty_columns_words_and_two_filters_can_be_read_whole(memory: Any, make_app: MakeApp) -> None:
    query = "login agent:codex date:<7d"
    app = make_app(memory, query=query)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, query))
        assert query in screen_text(app).split("\n")[1]


async def test_a_suggestion_is_asked_for_only_where_there_is_one(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        field = app.screen.query_one(SearchInput)
        await pilot.press(*"login")
        assert field.suggester is None  # Textual would start a worker with each key
        await pilot.press(*" age")
        await settled(pilot, lambda: "login agent:" in screen_text(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_warning_about_filters_can_be_read_whole(memory: Any, make_app: MakeApp, size: tuple[int, int]) -> None:
    query = "login date:yesteryear agent:nobody is:nowhere"
    app = make_app(memory, query=query)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, answered(app, query))
        warnings = browse(app).answer.warnings
        assert len(warnings) == 3
        said = "".join(" · ".join(warnings).split())
        await settled(pilot, lambda: said in "".join(screen_text(app).split()))


async def test_the_cross_stands_apart_from_the_longest_count(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, "login"))
        hits = browse(app).answer.hits * 3_000
        browse(app)._search_line.show_answer(msgspec.structs.replace(browse(app).answer, hits=hits[:9_999]), True)
        await settled(pilot, lambda: "✕  9,999 · 12 ms " in screen_text(app))


async def test_the_count_is_said_in_words_as_soon_as_there_is_room(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, "login"))
        count = len(browse(app).answer.hits) + len(browse(app).answer.documents)
        await settled(pilot, lambda: f"{count} · " in screen_text(app))
        await pilot.resize_terminal(120, 40)
        await settled(pilot, lambda: f"{count} found · " in screen_text(app))
        await pilot.resize_terminal(80, 24)
        await settled(pilot, lambda: f"{count} · " in screen_text(app))

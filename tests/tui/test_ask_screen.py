"""Asking the documents in the screen: chunks at once, an answer as it is written, or one line that says why not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from prima_tui.config import Settings, paths_below
from prima_tui.documents_memory import Documents
from prima_tui.tui.ask_screen import AskPane, AskScreen
from prima_tui.tui.document_pane import DocumentPane
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.session_list import SessionList
from tests.documents.chat_server import event, serving, start, streaming
from tests.documents.small_model import WordModel
from tests.tui.test_browse_screen import MakeApp, answered, screen_text, settled


@pytest.fixture
def asked(memory: Any, tmp_path: Path) -> Iterator[Any]:
    root = tmp_path / "project"
    root.mkdir()
    Documents.init(root)
    filler = " ".join(f"word{number}" for number in range(60))
    (root / "setup.md").write_text(f"# Setup\n\n{filler}\n\n## Install\n\nInstall zebra with the package. {filler}\n")
    (root / "other.md").write_text(f"# Other\n\nabout the zebra package {filler}\n")
    documents = Documents(root, Settings(paths=paths_below(tmp_path / "home")), env={}, model=WordModel())  # type: ignore[arg-type]
    documents.index()
    memory.real_documents = documents
    memory.documents_found = ()
    yield memory
    documents.close()


def configure(memory: Any, url: str, seconds: int = 20) -> None:
    file = memory.real_documents.root / ".memory" / "config.toml"
    file.write_text(f'[ask]\nurl = "{url}"\nname = "small"\ntimeout_seconds = {seconds}\n')


def chunks(app: Any) -> list[str]:
    return [hit.session.id for hit in app.screen.query_one("#chunks", SessionList).hits]


async def test_the_question_in_the_search_line_is_asked_and_chunks_are_shown_in_their_document(
    asked: Any, make_app: MakeApp
) -> None:
    app = make_app(asked, query="install zebra agent:codex")
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(pilot, answered(app, "install zebra agent:codex"))
        await pilot.press("alt+q")
        await settled(pilot, lambda: isinstance(app.screen, AskScreen) and len(chunks(app)) >= 2)
        assert app.screen.query_one("#question", Input).value == "install zebra"
        assert len(set(chunks(app))) == len(chunks(app))
        await settled(pilot, lambda: "setup.md · lines" in screen_text(app) and "Install zebra" in screen_text(app))
        section = app.screen.query_one("#section", DocumentPane).document
        assert section.words == ("install", "zebra")
        assert section.match_count >= 2
        # nothing is configured: it says how
        await settled(pilot, lambda: "No language model is set" in screen_text(app))
        assert "config.toml" in screen_text(app)
        await pilot.press("down")
        await settled(pilot, lambda: "other.md · line" in screen_text(app))
        await pilot.press("ctrl+y")
        assert app.clipboard.endswith("other.md:1")
        await pilot.press("escape")
        await settled(pilot, lambda: not isinstance(app.screen, AskScreen))


async def test_the_answer_streams_in_and_what_was_not_given_is_marked(asked: Any, make_app: MakeApp) -> None:
    go_on = threading.Event()

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        event(handler, "Use the package [1 setup.md] ")
        go_on.wait(30)
        event(handler, "and see [7 invented.md] too. ")
        event(handler, None, "stop")

    with serving(behave) as server:
        configure(asked, server.url)
        app = make_app(asked)
        async with app.run_test(size=(140, 40)) as pilot:
            await settled(pilot, answered(app, ""))
            await pilot.press("alt+q")
            await settled(pilot, lambda: isinstance(app.screen, AskScreen))
            await pilot.press(*"zebra", "enter")
            await settled(pilot, lambda: "Use the package" in screen_text(app))
            assert len(chunks(app)) >= 2
            assert "invented" not in screen_text(app)
            go_on.set()
            await settled(pilot, lambda: "Not among the chunks given" in screen_text(app))
            assert "(not given)" in screen_text(app)
            assert app.screen.query_one(AskPane).document.match_count == 1
            await pilot.press("alt+c")
            assert "invented.md" in app.clipboard


async def test_an_answer_that_is_not_wanted_any_more_stops(asked: Any, make_app: MakeApp) -> None:
    never = threading.Event()

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        event(handler, "Beginning ")
        never.wait(30)

    with serving(behave) as server:
        configure(asked, server.url, 600)
        app = make_app(asked, query="zebra")
        async with app.run_test(size=(140, 40)) as pilot:
            await settled(pilot, answered(app, "zebra"))
            await pilot.press("alt+q")
            await settled(pilot, lambda: "Beginning" in screen_text(app))
            await pilot.press("escape")
            await settled(pilot, lambda: "the answer stops here: cancelled" in screen_text(app))
            assert isinstance(app.screen, AskScreen)
            await pilot.press("escape")
            await settled(pilot, lambda: not isinstance(app.screen, AskScreen))
        never.set()


async def test_an_endpoint_that_is_down_costs_one_line(asked: Any, make_app: MakeApp) -> None:
    configure(asked, "http://127.0.0.1:9")
    app = make_app(asked, query="zebra")
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(pilot, answered(app, "zebra"))
        await pilot.press("alt+q")
        await settled(pilot, lambda: "no answer: nothing answers at" in screen_text(app))
        assert len(chunks(app)) >= 2


async def test_another_question_drops_the_answer_to_the_first(asked: Any, make_app: MakeApp) -> None:
    with serving(streaming("All well [1 setup.md]")) as server:
        configure(asked, server.url)
        app = make_app(asked, query="zebra")
        async with app.run_test(size=(140, 40)) as pilot:
            await settled(pilot, answered(app, "zebra"))
            await pilot.press("alt+q")
            await settled(pilot, lambda: "All well" in screen_text(app))
            await pilot.press("end", *" install", "enter")
            await settled(pilot, lambda: len(server.requests) == 2)
            await settled(pilot, lambda: "All well" in screen_text(app))
            assert "Question: zebra install" in server.requests[1][2]["messages"][1]["content"]


async def test_enter_on_a_chunk_opens_it_in_the_editor(
    asked: Any, make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "code"
    editor.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/got"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    app = make_app(asked, query="install zebra")
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(pilot, answered(app, "install zebra"))
        await pilot.press("alt+q")
        await settled(pilot, lambda: isinstance(app.screen, AskScreen) and len(chunks(app)) >= 2)
        await pilot.press("enter")
        await settled(pilot, lambda: (tmp_path / "got").exists() and (tmp_path / "got").read_text() != "")
        place = (tmp_path / "got").read_text()
        assert place.startswith(f"--goto {asked.real_documents.root}/setup.md:")


async def test_without_a_project_it_offers_to_make_one(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("alt+q")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))

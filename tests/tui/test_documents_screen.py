"""The project's documents in the main screen: among the sessions, previewed at the chunk, opened in an editor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.color import Color

from prima_tui.model.documents import DocumentHit, DocumentText
from prima_tui.model.hits import PastEntry
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.document_rows import DocumentRow
from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.past_pane import PastPane
from prima_tui.tui.search_chips import Chip
from tests.tui.conftest import NOW
from tests.tui.test_browse_screen import MakeApp, answered, browse, screen_text, sessions, settled

FILLER = "\n\n".join(f"Paragraph {number} of the introduction." for number in range(60))
SECTION = "## Login\n\nThe login asks for a **zebra** cookie first."
TEXT = f"# Guide\n\n{FILLER}\n\n{SECTION}\n\n## Logout\n\nNothing to say."
FIRST = TEXT[: TEXT.index(SECTION)].count("\n") + 1


@pytest.fixture
def project(memory: Any) -> Any:
    memory.documents_found = (
        DocumentHit("docs/guide.md", "Guide", "Guide > Login", FIRST, FIRST + 2, SECTION, 90.0, 19.0, 0.6, NOW),
        DocumentHit("notes.md", "Notes", "Notes", 1, 3, "# Notes\n\nabout apples", 10.0, 2.0, None, NOW),
    )
    memory.document_texts = {
        "docs/guide.md": DocumentText("docs/guide.md", TEXT, ((1, "Guide", 1), (2, "Login", FIRST)))
    }
    return memory


def rows(app: Any) -> list[DocumentRow]:
    return [hit for hit in sessions(app).hits if isinstance(hit, DocumentRow)]


async def test_documents_stand_among_the_sessions_with_letter_place_and_score(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login")
    async with app.run_test(size=(160, 60)) as pilot:
        await settled(pilot, lambda: answered(app, "login")() and bool(rows(app)))
        hits = list(sessions(app).hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        place = hits.index(rows(app)[0])
        assert 0 < place < len(hits) - 1
        lines = screen_text(app)
        assert "D Guide > Login" in lines
        assert f"docs/guide.md:{FIRST}-{FIRST + 2}" in lines
        assert "score 72" in lines  # on the scale of the sessions, whose best keyword score is 38


async def test_a_document_has_a_colour_of_its_own(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login")
    async with app.run_test(size=(160, 60)) as pilot:
        await settled(pilot, lambda: answered(app, "login")() and bool(rows(app)))
        found = sessions(app)
        colour = Color.parse(app.theme_variables["source-docs"]).rich_color
        place = list(found.hits).index(rows(app)[0])
        segments = [part for part in found.draw_line(found._top(place), 60) if part.text.strip() == "D"]
        assert [part.style.color for part in segments if part.style] == [colour]


async def test_a_key_and_the_chip_narrow_to_documents_and_to_sessions(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: answered(app, "login")() and bool(rows(app)))
        assert " + docs " in screen_text(app)
        await pilot.press("alt+m")
        await settled(pilot, lambda: len(rows(app)) == len(sessions(app).hits) == 1)
        assert browse(app).kinds == "documents"
        await pilot.click("#kinds")
        await settled(pilot, lambda: not rows(app) and bool(sessions(app).hits))
        assert " no docs " in screen_text(app)
        await pilot.press("alt+m")
        await settled(pilot, lambda: bool(rows(app)) and len(sessions(app).hits) > 1)


async def test_documents_alone_are_listed_without_a_query(project: Any, make_app: MakeApp) -> None:
    app = make_app(project)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: answered(app, "")() and browse(app).project != "")
        assert rows(app) == []
        await pilot.press("alt+m")
        await settled(pilot, lambda: len(rows(app)) == 2 == len(sessions(app).hits))
        assert "2 documents" in screen_text(app)


async def test_the_preview_opens_at_the_chunk_with_its_lines_in_the_title(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login is:docs")
    async with app.run_test(size=(160, 40)) as pilot:
        await settled(pilot, lambda: browse(app).project != "")
        await pilot.press("alt+m")
        pane = browse(app).query_one(ConversationPane)
        await settled(pilot, lambda: "zebra" in screen_text(app))
        assert f"docs/guide.md · lines {FIRST}–{FIRST + 2}" in screen_text(app)
        assert pane.document.match_count >= 2
        assert pane.scroll_offset.y > 0
        assert "the document goes on" in screen_text(app)
        assert "**zebra**" not in screen_text(app)  # rendered
        await settled(pilot, lambda: "Headings" in screen_text(app))


async def test_enter_opens_the_document_in_the_editor_at_the_line(
    project: Any, make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "code"
    editor.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/got"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "guide.md").write_text(TEXT)
    monkeypatch.setattr("tests.tui.conftest.WORKSPACE", str(root))
    app = make_app(project, query="login", run=lambda command: pytest.fail("must not run"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: answered(app, "login")() and bool(rows(app)))
        sessions(app).select(list(sessions(app).hits).index(rows(app)[0]))
        await pilot.press("enter")
        await settled(pilot, lambda: (tmp_path / "got").exists() and (tmp_path / "got").read_text() != "")
        assert (tmp_path / "got").read_text().strip() == f"--goto {root}/docs/guide.md:{FIRST}"


async def test_the_place_and_the_chunk_can_be_copied(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: answered(app, "login")() and bool(rows(app)))
        sessions(app).select(list(sessions(app).hits).index(rows(app)[0]))
        await pilot.press("ctrl+y")
        assert app.clipboard.endswith(f"docs/guide.md:{FIRST}")
        await pilot.press("alt+c")
        assert app.clipboard == SECTION


async def test_sessions_do_not_wait_for_slow_documents(project: Any, make_app: MakeApp) -> None:
    project.documents_delay = 6.0
    app = make_app(project)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: bool(sessions(app).hits))
        await pilot.press(*"login")
        screen = browse(app)
        await settled(pilot, lambda: screen.answer is not None and screen.answer.query == "login")
        assert rows(app) == []
        assert screen.answer is not None and screen.answer.hits
        await settled(pilot, lambda: bool(rows(app)))


async def test_a_folder_that_is_no_project_looks_as_ever_and_can_be_made_one(memory: Any, make_app: MakeApp) -> None:
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        assert not browse(app).query_one("#kinds", Chip).display
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "Make this folder a project (docs init)" in titles
        await pilot.press("alt+m")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("escape")
        assert memory.documents_found is None
        await pilot.press("alt+m")
        await settled(pilot, lambda: isinstance(app.screen, NoticeScreen))
        await pilot.press("enter")
        await settled(pilot, lambda: browse(app).project != "")
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "Make this folder a project (docs init)" not in titles


async def test_a_picker_lists_sessions_only(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login", pick=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, "login"))
        await pilot.press("alt+m")
        await pilot.pause(0.2)
        assert rows(app) == []
        assert browse(app).kinds == "sessions"


async def test_the_documents_index_is_updated_after_a_search_by_meaning(project: Any, make_app: MakeApp) -> None:
    app = make_app(project, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: project.document_updates >= 1)
        assert answered(app, "login")()


async def test_summaries_of_the_session_history_stand_beside_documents(project: Any, make_app: MakeApp) -> None:
    project.past = (PastEntry("2026-10", "2026-10-04", "", "apples were discussed at length"),)
    app = make_app(project, query="apples")
    async with app.run_test(size=(160, 50)) as pilot:
        await settled(pilot, lambda: answered(app, "apples")() and bool(rows(app)))
        await settled(pilot, lambda: "apples were discussed" in screen_text(app))
        await settled(pilot, lambda: "notes.md can't be read" in screen_text(app))
        await pilot.press("f4")
        assert isinstance(browse(app)._pane, PastPane)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_every_size_shows_documents(project: Any, make_app: Callable[..., Any], size: tuple[int, int]) -> None:
    app = make_app(project, query="login")
    async with app.run_test(size=size) as pilot:
        await settled(pilot, lambda: answered(app, "login")() and bool(rows(app)))
        sessions(app).select(list(sessions(app).hits).index(rows(app)[0]))
        await settled(pilot, lambda: "zebra" in screen_text(app))
        assert "D Guide > Login" in screen_text(app)

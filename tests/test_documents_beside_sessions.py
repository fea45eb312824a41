"""Documents and sessions in one search: each alone by a filter, both together without."""

from __future__ import annotations

import pytest

from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from tests.world import World


@pytest.fixture
def memory(world: World, embedder: Embedder) -> Memory:
    world.believable()
    for number in range(8):
        path = world.workspace / f"docs/login-{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Login number {number}\n\nThe login test needs a cookie.\n")
    made = world.memory(embedder)
    made.make_project()
    made.refresh()
    return made


def test_both_are_found_and_a_few_documents_stand_beside_the_sessions(memory: Memory) -> None:
    answer = memory.search("login", "keyword", limit=20)
    assert answer.hits
    assert len(answer.documents) == 5
    assert answer.project == str(memory.scope.workspace)


def test_a_filter_keeps_documents_alone_and_then_all_of_them(memory: Memory) -> None:
    answer = memory.search("login is:docs", "keyword", limit=20)
    assert answer.hits == ()
    assert len(answer.documents) == 8
    assert answer.warnings == ()


def test_a_filter_keeps_sessions_alone(memory: Memory) -> None:
    answer = memory.search("login -is:docs", "keyword", limit=20)
    assert answer.hits
    assert answer.documents == ()


def test_the_screen_asks_for_documents_apart(memory: Memory) -> None:
    assert memory.search("login", "keyword").documents == ()
    found = memory.search_documents("login", "keyword")
    assert found is not None
    assert len(found.hits) == 8
    blank = memory.search_documents("", "keyword")
    assert blank is not None
    assert (blank.hits, blank.project) == ((), str(memory.scope.workspace))
    alone = memory.search_documents("", "keyword", alone=True)
    assert alone is not None
    assert len(alone.hits) == 8
    asked = memory.search_documents("is:docs", "keyword")
    assert asked is not None
    assert len(asked.hits) == 8


def test_a_folder_without_a_project_has_no_documents(world: World, embedder: Embedder) -> None:
    memory = world.memory(embedder)
    assert memory.search_documents("login") is None
    assert memory.document_text("a.md").problem
    assert memory.search("login", "keyword", limit=3).project == ""


def test_a_document_is_read_as_it_is_now(memory: Memory) -> None:
    text = memory.document_text("docs/login-1.md")
    assert text.text.startswith("# Login number 1")
    assert text.outline == ((1, "Login number 1", 1),)
    assert "can't be read" in memory.document_text("docs/gone.md").problem


def test_documents_are_indexed_apart_with_progress(memory: Memory) -> None:
    seen: list[int] = []
    assert memory.update_documents(report=lambda progress: seen.append(progress.files_total)) == []
    assert 8 in seen
    found = memory.search_documents("how does one sign in", "semantic")
    assert found is not None
    assert found.hits

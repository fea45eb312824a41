"""Documents and sessions in one search: each alone by a filter, both together without."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from tests.documents.small_model import WordModel
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


class _Clock:
    """A time that passes only while something is embedded: one second for each text."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class _SlowModel(WordModel):
    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def embed(self, texts: Sequence[str]) -> list[object]:  # type: ignore[override]
        self._clock.now += len(texts)
        return list(super().embed(texts))


@pytest.mark.parametrize(("sessions", "documents"), [(400, 400), (400, 40), (40, 400), (40, 40)])
def test_sessions_and_documents_share_the_time_and_each_gets_what_the_other_leaves(
    world: World, monkeypatch: pytest.MonkeyPatch, sessions: int, documents: int
) -> None:
    clock = _Clock()
    for module in ("prima_tui.memory", "prima_tui.index.update", "prima_tui.index.document_update"):
        monkeypatch.setattr(f"{module}.time", clock)
    for number in range(sessions // 10):
        world.claude(f"s{number}", [(f"question {number} {turn}", f"answer {number} {turn}") for turn in range(10)])
    for number in range(documents):
        (world.workspace / f"page-{number}.md").write_text(f"# Page {number}\n\nSaid once.\n")
    memory = world.memory(_SlowModel(clock))  # type: ignore[arg-type]
    memory.make_project()
    memory.refresh()
    of_sessions, of_documents = memory.update_both(200.0)
    assert of_documents is not None
    got = (of_sessions.exchanges_embedded, of_documents.chunks_embedded)
    step = 24
    if (sessions, documents) == (40, 40):
        assert got == (40, 40)
    elif sessions == 40:
        assert got[0] == 40
        assert 160 <= got[1] <= 160 + step
    elif documents == 40:
        assert got[1] == 40
        assert 160 <= got[0] <= 160 + 2 * step
    else:
        assert 100 <= got[0] <= 100 + step
        assert 200 - got[0] <= got[1] <= 100 + step
    assert of_sessions.finished is (got[0] == sessions)
    assert of_sessions.files_done <= of_sessions.files_total
    rest, rest_of_documents = memory.update_both(2000.0)
    assert rest_of_documents is not None
    assert rest.finished
    assert rest_of_documents.finished
    assert rest.exchanges_embedded == sessions - got[0]


def test_without_documents_sessions_have_all_the_time(world: World) -> None:
    world.claude("s", [("a question", "an answer")])
    memory = world.memory(WordModel())  # type: ignore[arg-type]
    memory.refresh()
    progress, documents = memory.update_both(20.0)
    assert (progress.exchanges_embedded, documents) == (1, None)

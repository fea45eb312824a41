"""States of the documents' index: kept, bounded, and compared by what they answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from prima_tui.config import Settings, paths_below
from prima_tui.document_history import DocumentHistory
from prima_tui.documents_memory import Documents
from prima_tui.errors import PrimaError, UsageError
from prima_tui.index import document_states
from prima_tui.index.document_states import DocumentStates
from prima_tui.model.document_states import chunk_changes
from prima_tui.model.documents import DocumentHit
from prima_tui.output_states import change_json, change_text, states_text
from tests.documents.chat_server import serving, streaming
from tests.documents.small_model import WordModel


class Past:
    """A project with its history."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        Documents.init(self.root)
        self.documents = Documents(
            self.root,
            Settings(paths=paths_below(folder / "home")),
            env={},
            model=WordModel(),  # type: ignore[arg-type]
        )
        self.history = DocumentHistory(self.documents)

    def index(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.md").write_text(text)
        assert self.documents.index().finished


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(tmp_path)
    yield made
    made.documents.close()


def hit(path: str, text: str, heading: str = "H") -> DocumentHit:
    return DocumentHit(path, path, heading, 1, 2, text, 1.0)


def test_each_chunk_is_the_same_moved_changed_new_or_gone() -> None:
    before = [hit("a", "one"), hit("b", "two"), hit("c", "three"), hit("d", "four")]
    after = [hit("a", "one"), hit("c", "three"), hit("b", "two and more"), hit("e", "five")]
    found = [(one.kind, one.rank_before, one.rank_after) for one in chunk_changes(before, after)]
    assert found == [("same", 1, 1), ("moved", 3, 2), ("changed", 2, 3), ("new", None, 4), ("gone", 4, None)]


def test_a_text_that_went_to_another_document_is_the_same() -> None:
    changes = chunk_changes([hit("old", "text")], [hit("new", "text")])
    assert [one.kind for one in changes] == ["same"]
    twice = chunk_changes([hit("a", "x"), hit("b", "x")], [hit("b", "x"), hit("a", "x")])
    assert [(one.kind, one.before.path) for one in twice if one.before] == [("moved", "b"), ("moved", "a")]


def test_the_answer_is_compared_with_the_last_other_state(past: Past) -> None:
    past.index(apples="# Apples\n\napples are red", pears="# Pears\n\npears and apples", nuts="# Nuts\n\napples, nuts")
    assert past.history.keep() is not None
    assert past.history.keep() is None  # nothing changed
    (past.root / "nuts.md").unlink()
    past.index(apples="# Apples\n\napples are green", plums="# Plums\n\nplums and apples")
    past.history.keep()
    change = past.history.compare("apples")
    kinds = {(one.after or one.before).path: one.kind for one in change.changes}  # type: ignore[union-attr]
    assert kinds["apples.md"] == "changed"
    assert kinds["plums.md"] == "new"
    assert kinds["nuts.md"] == "gone"
    assert change.after.name == "now"
    text = change_text(change)
    assert "-apples are red" in text
    assert "+apples are green" in text
    assert "no longer in the documents" in text
    document = change_json(change)
    assert document["before"]["content"] != document["after"]["content"]
    assert {one["kind"] for one in document["changes"]} >= {"changed", "new", "gone"}


def test_a_chunk_that_only_lost_its_rank_is_said_to_be_there_still(past: Past) -> None:
    past.index(a="# A\n\napples here")
    past.history.keep("first")
    past.index(b="# B\n\napples", c="# C\n\napples apples")
    change = past.history.compare("apples", "first", limit=1)
    gone = [one for one in change.changes if one.kind == "gone"]
    assert [one.still_there for one in gone] == [True]
    assert "still in the documents" in change_text(change)


def test_two_named_states_are_compared(past: Past) -> None:
    past.index(a="# A\n\napples")
    past.history.keep("one")
    past.index(a="# A\n\napples and pears")
    past.history.keep("two")
    past.index(a="# A\n\nno fruit")
    change = past.history.compare("apples", "one", "two")
    assert [one.kind for one in change.changes] == ["changed"]
    assert (change.before.name, change.after.name) == ("one", "two")
    with pytest.raises(UsageError, match="no state 'three'"):
        past.history.compare("apples", "three")


def test_without_an_earlier_state_it_says_how_one_comes_about(past: Past) -> None:
    past.index(a="# A\n\napples")
    past.history.keep()
    with pytest.raises(PrimaError, match="docs snapshot NAME"):
        past.history.compare("apples")


def test_both_answers_of_the_model_are_shown(past: Past) -> None:
    past.index(a="# A\n\napples are red")
    past.history.keep("red")
    past.index(a="# A\n\napples are green")
    with serving(streaming("They are some colour [1 a.md]")) as server:
        (past.root / ".memory" / "config.toml").write_text(f'[ask]\nurl = "{server.url}"\nname = "small"\n')
        change = past.history.compare("which colour have apples", "red")
        prompts = [request[2]["messages"][1]["content"] for request in server.requests]
        assert ["red" in prompts[0], "green" in prompts[1]] == [True, True]
        assert change.answer_before.startswith("They are some colour")
        assert "Answer" in change_text(change)
        assert past.history.compare("apples", "red", answers=False).answer_after == ""
    change = past.history.compare("apples", "red")
    assert change.answer_after == ""
    assert "no whole answer: nothing answers" in change.warnings[0]


def test_unnamed_states_are_few_and_small_and_named_ones_stay(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    states = DocumentStates(past.root / ".memory" / "states")
    start = datetime(2026, 11, 1, tzinfo=UTC)
    past.index(a="# A\n\nfirst")
    states.keep(past.documents.loaded_index(), "kept", start - timedelta(days=9))
    for number in range(document_states.MOST_UNNAMED + 3):
        past.index(a=f"# A\n\nversion {number}")
        states.keep(past.documents.loaded_index(), "", start + timedelta(days=number))
    found = states.all()
    assert len(found) == document_states.MOST_UNNAMED + 1
    assert found[-1].name == "kept"
    assert found == sorted(found, key=lambda one: one.at, reverse=True)
    monkeypatch.setattr(document_states, "MOST_BYTES", 1)
    past.index(a="# A\n\nlast")
    assert states.keep(past.documents.loaded_index()) is not None
    assert [state.named for state in states.all()] == [False, True]
    assert "kept" in states_text(states.all())
    assert oct(next(iter((past.root / ".memory" / "states").iterdir())).stat().st_mode & 0o777) == "0o600"


def test_states_are_named_and_removed_and_nothing_else_is_touched(past: Past) -> None:
    assert past.history.keep("x") is None  # no index yet
    past.index(a="# A\n\napples")
    past.history.keep("x")
    other = past.root / ".memory" / "states" / "notes.duckdb"
    other.write_text("not ours")
    with pytest.raises(UsageError, match="no name for a state"):
        past.history.keep("../x")
    past.history.remove("x")
    assert past.history.states() == []
    assert other.exists()
    with pytest.raises(UsageError):
        past.history.remove("x")

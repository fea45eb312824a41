"""What is said while the index grows, and where nothing was found."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from prima_tui.model.hits import IndexProgress, Snapshot, SourceStatus, Status
from prima_tui.tui.empty_state import no_history_text, reading_text, short_folder
from prima_tui.tui.index_telling import duration_text, index_hint, seconds_left
from tests.world import World

from .driving import MakeApp, settled


@pytest.mark.parametrize(
    ("seconds", "said"), [(1, "a moment"), (22, "20 s"), (54, "55 s"), (60, "1 min"), (200, "3 min"), (7_000, "2 h")]
)
def test_times_are_round(seconds: float, said: str) -> None:
    assert duration_text(seconds) == said


def test_what_is_left_is_told_when_it_can_be_and_never_more_than_is_given() -> None:
    assert seconds_left(IndexProgress(1, 10, seconds=0.5), None) is None
    assert seconds_left(IndexProgress(0, 10, seconds=9), None) is None
    assert seconds_left(IndexProgress(5, 10, seconds=10), None) == 10
    assert seconds_left(IndexProgress(5, 100, seconds=10), 20) == 10
    assert index_hint(IndexProgress(5, 100, seconds=10), None) == "3 min left, F6 stops"
    assert index_hint(IndexProgress(), 20) == "F6 stops"


@pytest.mark.parametrize(("indexed", "told"), [(0, True), (500, False)])
async def test_the_first_index_says_once_what_it_is_for(
    memory: Any, make_app: MakeApp, indexed: int, told: bool
) -> None:
    search = memory.search
    memory.search = lambda *args, **named: msgspec.structs.replace(search(*args, **named), indexed_exchanges=indexed)
    memory.index_steps = 20
    app = make_app(memory, query="login")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, lambda: app.screen._first_time_told)  # type: ignore[attr-defined]
        said = [note.message for note in app._notifications]
        assert any("by meaning now" in str(message) for message in said) == told


def test_an_empty_history_says_where_was_looked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.home))
    memory = world.memory()
    memory.refresh()
    text = no_history_text(memory.status(), "workspace", False).plain
    assert "~/.claude" in text and "~/.codex" in text and "not installed" in text
    assert "Ctrl+G" in text and "F8" in text


def test_a_folder_elsewhere_stays_as_it_is_and_names_are_shown_as_text() -> None:
    assert short_folder("/srv/x") == "/srv/x"
    status = Status("/w", (SourceStatus("odd\x1b", False, 0, 0, roots=("/a\x1b[0m", "/b")),), "", 0, 0, "m", None, "")
    assert "\x1b" not in no_history_text(status, "everywhere", True).plain.replace("odd\x1b", "")
    assert "and others" in no_history_text(status, "everywhere", True).plain


def test_reading_says_how_far_and_that_one_can_leave() -> None:
    text = reading_text(Snapshot((), 3, 12)).plain
    assert "3 of 12 files" in text and "leave at any time" in text

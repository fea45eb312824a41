"""A list that is printed: always what a whole look at the files tells, and of the sessions one at a time in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui import output
from prima_tui.last_list import LastHistory
from prima_tui.memory import Memory
from prima_tui.search.library import build_library
from tests.world import START, Turn, World


@pytest.fixture
def kept(world: World) -> World:
    """Return a world whose list was kept."""
    world.believable()
    world.claude("a", [Turn("Paint the bedroom", "Blue, I think.", ("web/app.py",))])
    world.claude("b", [Turn("Where is the door?", "Left of the bedroom.")], start=START + timedelta(days=1))
    world.codex("c", [Turn("The login cookie", "Behind the door.")], start=START + timedelta(days=2))
    world.memory().refresh()
    return world


def printed(memory: Memory) -> bytes:
    rows, snapshot = memory.each_listed(output.session_bytes)
    return b"".join(output.sessions_bytes(rows, snapshot, ["one warning"]))


def whole(world: World) -> bytes:
    """Return what is printed of a whole look at the files."""
    snapshot = world.memory().refresh()
    document = output.sessions_json(snapshot, snapshot.sessions, ["one warning"])
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def fresh(world: World) -> Memory:
    memory = world.memory()
    memory.refresh()
    return memory


def from_list(memory: Memory) -> bool:
    """Tell whether the last list came from the one that was kept."""
    return not memory.snapshot().complete


def test_the_list_is_that_of_a_whole_look(kept: World) -> None:
    memory = kept.memory()
    assert printed(memory) == whole(kept)
    assert from_list(memory)


def test_where_nothing_is_kept_everything_is_read(world: World) -> None:
    world.believable()
    memory = world.memory()
    assert printed(memory) == whole(world)
    assert not from_list(memory)


def test_a_list_of_nothing_is_printed_as_ever(world: World) -> None:
    assert printed(world.memory()) == whole(world)


def grown(world: World) -> None:
    world.claude("a", [Turn("Paint the bedroom", "Blue, I think."), Turn("And the bath?", "White.", ("bath.py",))])


def newest(world: World) -> None:
    world.claude("new", [Turn("Open the window", "It is open.")], start=START + timedelta(days=3))


def oldest(world: World) -> None:
    world.codex("old", [Turn("Open the window", "It is open.")], start=START - timedelta(days=300))


def removed(world: World) -> None:
    world.codex("c", [Turn("The login cookie", "Behind the door.")], start=START + timedelta(days=2)).unlink()


def several(world: World) -> None:
    for change in (grown, newest, oldest, removed):
        change(world)


@pytest.mark.parametrize("change", [grown, newest, oldest, removed, several])
def test_of_few_changes_only_what_they_concern_is_made_anew(
    kept: World, monkeypatch: pytest.MonkeyPatch, change: Callable[[World], None]
) -> None:
    change(kept)
    made: list[str] = []

    def building(*given: object) -> object:
        library = build_library(*given)  # type: ignore[arg-type]
        made.extend(entry.session.id for entry in library.entries)
        return library

    monkeypatch.setattr("prima_tui.by_list.build_library", building)
    memory = kept.memory()
    now = printed(memory)
    assert from_list(memory)
    assert len(made) < len(orjson.loads(now)["sessions"])
    assert now == whole(kept)


def test_after_many_changes_everything_is_looked_at(kept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.upkeep.FEW_FILES", 1)
    several(kept)
    memory = kept.memory()
    assert printed(memory) == whole(kept)
    assert not from_list(memory)


@pytest.mark.parametrize("place", [0, 2])
def test_a_list_that_is_damaged_costs_no_answer(kept: World, place: int) -> None:
    last = kept.memory()._last.load()
    (path,) = (kept.memory().settings.paths.cache / "lists").glob("*.msgpack")
    assert last is not None
    part = msgspec.msgpack.encode(last.files if place == 0 else last.entry(place - 1))
    path.write_bytes(path.read_bytes().replace(part, b"\xc1" * len(part)))
    memory = kept.memory()
    now = printed(memory)
    assert not from_list(memory)
    assert now == whole(kept)


def test_what_is_forgotten_is_not_listed(kept: World) -> None:
    memory = kept.memory()
    gone = memory.refresh().sessions[0]
    kept.memory().forget([gone])
    assert gone.id.encode() not in printed(kept.memory())


def test_a_session_is_let_go_when_it_has_its_shape(kept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    entry = LastHistory.entry
    monkeypatch.setattr(LastHistory, "entry", lambda self, place: decoded.append(place) or entry(self, place))
    memory = kept.memory()
    rows, _snapshot = memory.each_listed(lambda session: session.id)
    assert decoded == list(range(len(rows)))
    assert not memory._open().library.entries._made  # type: ignore[attr-defined]


def test_other_questions_have_every_session_after_a_list(kept: World) -> None:
    grown(kept)
    memory = kept.memory()
    printed(memory)
    assert memory.all_sessions() == fresh(kept).all_sessions()
    assert memory.refresh().sessions == kept.memory().refresh().sessions
    found = memory.search("bath", "keyword", limit=5)
    assert [hit.session.title for hit in found.hits] == ["Paint the bedroom"]


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30))])))
def test_a_time_is_told_in_utc_to_the_millisecond(when: datetime) -> None:
    try:
        expected = when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return
    assert output.instant(when) == expected

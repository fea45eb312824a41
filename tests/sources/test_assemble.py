"""Sessions put together from several files: subagents, resumed and forked copies, summaries, second files of one id."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from prima_tui.model.session import Session
from prima_tui.sources.assemble import Assembled, Assembler, Part, place_in_conversation
from prima_tui.sources.base import Scope, Source
from prima_tui.sources.reading import read_files
from prima_tui.sources.registry import all_sources
from tests.world import START, Line, Turn, World, session_id, write_lines

TURNS = [Turn("First question", "First answer"), Turn("Second question", "Second answer", ("app.py",))]
MORE = [Turn("Third question", "Third answer")]


def assembled(world: World, *, everywhere: bool = False) -> dict[str, Assembled]:
    """Everything in the home, by session id."""
    scope = Scope(workspace=world.workspace, everywhere=everywhere, home=world.home, env={})
    sources: dict[str, Source] = {source.id: source for source in all_sources([])}
    files = [file for source in sources.values() for file in source.files(scope, [])]
    found = Assembler(scope, sources).assemble([one.reading for one in read_files(files)])
    return {item.session.id: item for item in found}


def sessions(world: World) -> dict[str, Session]:
    return {identifier: item.session for identifier, item in assembled(world).items()}


def renamed(records: list[Line], name: str) -> list[Line]:
    """Copies of records as a resume or a fork puts them into another session's file."""
    return [line | {"sessionId": session_id(name)} for line in records]


def test_subagents_of_every_generation_are_under_their_session(world: World) -> None:
    world.claude("main", TURNS)
    world.subagent("main", "nested", [("Look at it", "Looked at it")], start=START + timedelta(minutes=1))
    world.subagent("main", "beside", [("Look there", "Looked there")], nested=False)
    found = assembled(world)
    assert set(found) == {session_id("main")}
    item = found[session_id("main")]
    assert [part.agent for part in item.parts] == ["", "beside", "nested"]
    assert item.session.exchange_count == 2
    assert item.session.message_count == 6
    assert len(item.session.paths) == 3
    assert item.session.paths[0].endswith(f"{session_id('main')}.jsonl")


def test_what_a_subagent_changed_is_a_change_of_the_session(world: World) -> None:
    world.claude("main", TURNS)
    world.subagent("main", "one", [Turn("Change it", "Changing it", ("web/page.ts",))])
    session = sessions(world)[session_id("main")]
    assert {Path(change.path).name for change in session.files_changed} == {"app.py", "page.ts"}
    assert {"python", "typescript"} <= set(session.tags)


def test_a_subagent_whose_session_is_gone_is_no_session(world: World) -> None:
    world.subagent("main", "one", [("Look", "Looked")])
    assert assembled(world) == {}


def test_a_resume_that_copies_is_told_on_the_older_session(world: World) -> None:
    world.claude("old", TURNS)
    copied = renamed(world.claude_records("old", TURNS), "new")
    world.claude("new", MORE, copied=copied, start=START + timedelta(hours=5))
    found = sessions(world)
    assert found[session_id("old")].continued_by == session_id("new")
    assert found[session_id("new")].continued_by == ""
    assert found[session_id("new")].copied_from == ""
    assert found[session_id("new")].exchange_count == 3


def test_a_chain_of_resumes_leads_to_its_last_session(world: World) -> None:
    world.claude("one", TURNS)
    first = renamed(world.claude_records("one", TURNS), "two")
    world.claude("two", MORE, copied=first, start=START + timedelta(hours=1))
    second = renamed([*first, *world.claude_records("two", MORE, start=START + timedelta(hours=1))], "three")
    world.claude("three", [("Fourth", "The fourth")], copied=second, start=START + timedelta(hours=2))
    found = sessions(world)
    assert found[session_id("one")].continued_by == session_id("three")
    assert found[session_id("two")].continued_by == session_id("three")
    assert not found[session_id("three")].continued_by


def test_a_fork_that_went_its_own_way_tells_where_it_came_from(world: World) -> None:
    world.claude("origin", [*TURNS, *MORE])
    copied = renamed(world.claude_records("origin", TURNS), "fork")
    world.claude("fork", [("Another way?", "Yes.")], copied=copied, start=START + timedelta(hours=3))
    found = assembled(world)
    origin, fork = found[session_id("origin")], found[session_id("fork")]
    assert fork.session.copied_from == session_id("origin")
    assert not fork.session.continued_by
    assert not origin.session.continued_by
    assert not origin.session.copied_from
    (part,) = fork.parts
    assert part.copied == {0, 1}
    assert part.length == 3


def test_sessions_that_merely_say_the_same_are_no_copies(world: World) -> None:
    world.claude("one", TURNS)
    world.claude("two", TURNS, start=START + timedelta(hours=1))
    found = sessions(world)
    assert all(not one.continued_by and not one.copied_from for one in found.values())


def test_a_summary_belongs_to_the_session_that_holds_its_leaf_wherever_it_stands(world: World) -> None:
    leaf = world.claude_records("old", TURNS)[-1]["uuid"]
    world.claude("old", TURNS)
    world.claude("new", MORE, summaries=[(leaf, "About the old one"), ("nobody's", "About nobody")])
    found = sessions(world)
    assert found[session_id("old")].title == "About the old one"
    assert found[session_id("new")].title == "Third question"


def test_a_file_of_summaries_only_is_no_session_and_still_names_others(world: World) -> None:
    leaf = world.claude_records("old", TURNS)[-1]["uuid"]
    world.claude("old", TURNS)
    world.claude("carrier", [], summaries=[(leaf, "Named from elsewhere")])
    found = sessions(world)
    assert set(found) == {session_id("old")}
    assert found[session_id("old")].title == "Named from elsewhere"


def test_the_sessions_own_last_summary_counts_before_what_others_say(world: World) -> None:
    records = world.claude_records("own", TURNS)
    leaf = records[-1]["uuid"]
    world.claude("own", TURNS, summaries=[(leaf, "First own"), (leaf, "Last own")])
    world.claude("other", MORE, summaries=[(leaf, "Said elsewhere")], start=START + timedelta(days=1))
    assert sessions(world)[session_id("own")].title == "Last own"


def test_titles_count_in_their_order(world: World) -> None:
    leaf = world.claude_records("a", TURNS)[-1]["uuid"]
    world.claude("a", TURNS, title="Given", ai_title="Generated", summaries=[(leaf, "Summary")])
    assert sessions(world)[session_id("a")].title == "Given"
    world.claude("a", TURNS, ai_title="Generated", summaries=[(leaf, "Summary")])
    assert sessions(world)[session_id("a")].title == "Summary"
    world.claude("a", TURNS, ai_title="Generated")
    assert sessions(world)[session_id("a")].title == "Generated"
    world.claude("a", TURNS)
    assert sessions(world)[session_id("a")].title == "First question"


def test_two_files_of_one_session_are_one_and_what_both_hold_counts_once(world: World) -> None:
    records = world.claude_records("a", [*TURNS, *MORE])
    name = f"{session_id('a')}.jsonl"
    write_lines(world.project() / name, records)
    second = world.home / ".config" / "claude" / "projects" / world.project().name
    write_lines(second / name, records[: len(records) - 2])
    found = assembled(world)
    assert set(found) == {session_id("a")}
    item = found[session_id("a")]
    assert item.session.exchange_count == 3
    assert len(item.session.files_changed) == 1
    assert sum(part.length - len(part.left_out) for part in item.parts) == 3
    assert len(item.session.paths) == 2


def test_files_without_words_or_changes_are_no_sessions(world: World) -> None:
    world.claude("empty", [], title="Only a title")
    assert assembled(world) == {}


def test_times_are_those_of_all_counted_files(world: World) -> None:
    world.claude("a", TURNS)
    session = sessions(world)[session_id("a")]
    assert session.started_at == START
    assert session.ended_at == START + timedelta(seconds=20 * 5)


def test_the_place_in_a_conversation_skips_what_another_part_holds() -> None:
    parts = [Part("a", 0, 3), Part("b", 0, 4, left_out=frozenset({0, 2})), Part("c", 0, 2)]
    assert [place_in_conversation(parts, 0, place) for place in range(3)] == [0, 1, 2]
    assert [place_in_conversation(parts, 1, place) for place in range(4)] == [None, 3, None, 4]
    assert [place_in_conversation(parts, 2, place) for place in range(2)] == [5, 6]
    assert place_in_conversation(parts, 0, 3) is None

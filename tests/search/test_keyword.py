"""Keyword search, against a second, plain implementation that reads the files itself and follows the rules."""

from __future__ import annotations

import tempfile
import unicodedata
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.index.embedder import Embedder
from prima_tui.memory import Memory
from prima_tui.model.hits import MODES, Answer, Cancel, Cancelled
from prima_tui.sources.base import Scope
from prima_tui.sources.registry import all_sources
from tests.world import NOW, START, Turn, World, session_id

Scored = list[tuple[str, float]]


# -- the plain implementation ---------------------------------------------------------------------------------------


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def plain_search(world: World, query: str, now: datetime = NOW) -> Scored:
    """Sessions that match words without filters, with their scores, best first; no copies among the files."""
    words = [folded(word) for word in query.split()]
    whole = folded(" ".join(query.split()))
    scope = Scope(workspace=world.workspace, everywhere=False, home=world.home, env={})
    messages: dict[str, list[str]] = {}
    changed: dict[str, set[str]] = {}
    facts: dict[str, tuple[str, datetime, datetime]] = {}
    for source in all_sources([]):
        for file in source.files(scope, []):
            for read in source.read(file).transcripts:
                one = read.transcript
                session = one.parent_id or one.session_id
                said = [text for each in read.exchanges for text in (each.user, each.assistant) if text]
                messages.setdefault(session, []).extend(map(folded, said))
                for change in one.files_changed:
                    changed.setdefault(session, set()).add(folded(change.path.removeprefix(f"{one.workspace}/")))
                if one.parent_id:
                    continue
                assert one.started_at
                assert one.ended_at
                title = one.given_title or one.generated_title or one.prompt_title or "Untitled Session"
                facts[session] = (folded(title), one.started_at, one.ended_at)
    found: list[tuple[float, datetime, datetime, str]] = []
    for session, (title, started, ended) in facts.items():
        files = changed.get(session, set())
        said = messages[session]
        in_title = whole in title
        in_files = sum(whole in path for path in files)
        everywhere = all(any(word in message for message in said) for word in words)
        if not (in_title or in_files or everywhere):
            continue
        score = 20.0 * in_title + 10.0 * in_files
        score += 2.0 * sum(word in message for message in said for word in dict.fromkeys(words))
        age = max(timedelta(0), now - started)
        score += 10.0 * max(0.0, 1 - age / timedelta(days=7))
        score += min(len(files), 5)
        found.append((score, ended, started, session))
    found.sort(reverse=True)
    return [(session, score) for score, _ended, _started, session in found]


def scored(answer: Answer) -> Scored:
    assert answer.warnings == ()
    return [(hit.session.id, hit.score) for hit in answer.hits]


def search(world: World, query: str, **more: object) -> Answer:
    memory = world.memory()
    memory.refresh()
    return memory.search(query, "keyword", now=NOW, **more)  # type: ignore[arg-type]


def titles(world: World, query: str) -> list[str]:
    return [hit.session.title for hit in search(world, query).hits]


# -- any history, any query -----------------------------------------------------------------------------------------

PIECES = ["Room", "bedroom", "ROOM", "api.py", "--flag", "100%", "a_b", "straße", "STRASSE", "é", "e\u0301", "İ", "東"]
ODD_PIECES = ["x", "of", "' OR 1=1", "\U0001f469\u200d\U0001f4bb", "שלום"]
text = st.lists(st.sampled_from(PIECES + ODD_PIECES), max_size=6).map(" ".join)
paths = st.lists(st.sampled_from(["api.py", "web/Room.tsx", "STRASSE.md", "a_b/100%.txt"]), max_size=3, unique=True)
turn = st.builds(lambda user, reply, files: Turn(user or "x", reply or "of", tuple(files)), text, text, paths)
titled = st.sampled_from(["", "Room", "東京 Straße"])
session = st.tuples(st.lists(turn, min_size=1, max_size=3), st.integers(0, 9), titled)
parts = st.sampled_from([*PIECES, "oo", "_", "%", "'", "\U0001f469", "trass", "web/", "Room.tsx", "of"])
query = st.lists(parts, min_size=1, max_size=3).map(" ".join)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    claude=st.lists(session, min_size=1, max_size=4),
    codex=st.lists(session, max_size=2),
    helper=st.lists(turn, max_size=1),
    queries=st.lists(query, min_size=1, max_size=6),
)
def test_sessions_scores_and_order_are_those_of_the_plain_rules(
    claude: list[tuple[list[Turn], int, str]],
    codex: list[tuple[list[Turn], int, str]],
    helper: list[Turn],
    queries: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for number, (turns, days, title) in enumerate(claude):
            world.claude(f"c{number}", turns, start=NOW - timedelta(days=days, minutes=number), title=title)
        if helper:
            world.subagent("c0", "helper", helper)
        for number, (turns, days, _title) in enumerate(codex):
            world.codex(f"x{number}", turns, start=NOW - timedelta(days=days, hours=number))
        memory = world.memory()
        memory.refresh()
        for one in queries:
            found = scored(memory.search(one, "keyword", now=NOW))
            expected = plain_search(world, one)
            assert [each[0] for each in found] == [each[0] for each in expected], one
            assert [each[1] for each in found] == pytest.approx([each[1] for each in expected]), one
        memory.close()


# -- each rule ------------------------------------------------------------------------------------------------------


@pytest.fixture
def rooms(world: World) -> World:
    world.claude("a", [Turn("Paint the BEDROOM", "Blue, I think."), Turn("And the door?", "White.")], title="Colours")
    world.claude("b", [Turn("Where is the door?", "Left.", ("house/Door.py", "house/wall.py"))], title="Doors of rooms")
    return world


def test_words_are_found_inside_longer_words_and_capitals_are_ignored(rooms: World) -> None:
    assert set(titles(rooms, "room")) == {"Colours", "Doors of rooms"}
    assert titles(rooms, "bedROOM") == ["Colours"]


def test_the_words_may_stand_in_different_messages_and_not_in_different_sessions(rooms: World) -> None:
    assert titles(rooms, "blue white") == ["Colours"]
    assert titles(rooms, "blue left") == []


def test_a_title_must_contain_the_whole_query(rooms: World) -> None:
    assert titles(rooms, "doors  of   ROOMS") == ["Doors of rooms"]
    assert titles(rooms, "rooms doors") == []


def test_a_changed_files_path_is_matched_relative_to_the_sessions_folder(rooms: World) -> None:
    assert titles(rooms, "house/door.PY") == ["Doors of rooms"]
    assert titles(rooms, "shop/house") == []
    assert titles(rooms, str(rooms.workspace)) == []


def test_the_score_has_its_parts_and_says_them(rooms: World) -> None:
    now = START + timedelta(days=3.5)
    memory = rooms.memory()
    memory.refresh()
    (hit,) = (one for one in memory.search("door", "keyword", now=now).hits if one.session.title == "Doors of rooms")
    # title 20, one file 10, one message 2, half of the recency 5, two files changed 2
    assert hit.score == hit.keyword_score == pytest.approx(39)
    assert [(one.kind, one.points, one.detail) for one in hit.reasons] == [
        ("title", 20, ""),
        ("file", 10, "house/door.py"),
        ("words", 2, "1"),
        ("recent", pytest.approx(5), ""),
        ("changes", 2, ""),
    ]
    assert hit.similarity is None


def test_ties_are_broken_by_the_newest(world: World) -> None:
    for number in (2, 0, 3, 1):
        world.claude(f"s{number}", [("same", "words")], start=START + timedelta(hours=number), title=f"T{number}")
    assert titles(world, "words") == ["T3", "T2", "T1", "T0"]


def test_a_hit_opens_at_the_exchange_with_most_of_the_words(world: World) -> None:
    world.claude("a", [("red", "one"), ("red and", "blue"), ("red blue", "both"), ("blue red", "later")])
    (hit,) = search(world, "red blue", limit=1).hits
    assert hit.exchange_index == 2
    assert hit.exchange is not None
    assert hit.exchange.user == "red blue"


def test_a_phrase_must_stand_in_one_message_as_it_is(world: World) -> None:
    world.claude("a", [("the red car is fast", "yes")], title="One")
    world.claude("b", [("a red bus", "a fast car")], title="Two")
    assert titles(world, '"red car"') == ["One"]
    assert titles(world, '"red car" fast') == ["One"]
    assert set(titles(world, "red car")) == {"One", "Two"}
    assert titles(world, '"fast red"') == []


def test_filters_narrow_and_alone_list_the_newest_first(world: World) -> None:
    world.believable()
    assert [hit.session.source for hit in search(world, "agent:codex").hits] == ["codex"]
    assert len(search(world, "-agent:codex").hits) == 4
    assert [hit.session.branch for hit in search(world, "branch:cents prices").hits] == ["cents"]
    assert search(world, "agent:codex cookie").hits == ()
    listed = search(world, "tag:python").hits
    assert [hit.session.ended_at for hit in listed] == sorted(
        (hit.session.ended_at for hit in listed if hit.session.ended_at), reverse=True
    )
    assert len(listed) == 3
    answer = search(world, "cookie date:nonsense")
    assert answer.hits
    assert "nonsense" in answer.warnings[0]


@pytest.mark.parametrize("blank", ["", " ", " \t\n  ", "\u3000"])
def test_a_blank_query_lists_everything_newest_first(world: World, blank: str) -> None:
    world.believable()
    memory = world.memory()
    sessions = memory.refresh().sessions
    assert tuple(hit.session for hit in memory.search(blank, "keyword", now=NOW).hits) == sessions


ODD = [
    "'; DROP TABLE messages; --",
    "' OR '1'='1",
    "%",
    "_",
    "[a-z]+(",
    "\\",
    "$w0",
    "[bold]not markup[/bold]",
    "\x1b[31mred",
    "a\x00b",
    "\U0001f469\u200d\U0001f4bb",
    "\u202eright to left",
    "مرحبا",
    "(*)?",
    "\ud83d",
    "{}",
    '"',
    '"unfinished',
    "a:b:c",
    "-",
    "--",
    "file:",
]


@pytest.mark.parametrize("odd", ODD)
def test_odd_characters_are_searched_as_they_are(world: World, embedder: Embedder, odd: str) -> None:
    said = odd.replace("\ud83d", "").strip('"')
    if said and said != "file:":
        world.claude("a", [(f"before {said} after", "fine")])
    world.claude("b", [("something else", "nothing odd here")])
    memory = world.memory(embedder)
    memory.refresh()
    for mode in MODES:
        answer = memory.search(odd, mode, now=NOW, limit=10)
        if said and mode != "semantic" and odd not in ("\ud83d", "file:"):
            assert session_id("a") in {hit.session.id for hit in answer.hits}


@pytest.mark.parametrize(
    "long",
    ["x" * 10_000, " ".join(f"w{n}" for n in range(1100)), '"' + "long" * 2500 + '"', "a b " * 2500, "(" * 10_000],
    ids=["one word", "many words", "a phrase", "few words often", "brackets"],
)
def test_a_query_of_ten_thousand_characters_is_answered(world: World, long: str) -> None:
    world.claude("a", [(f"they said: {long.replace(chr(34), '')}", "did they")], title="Long")
    world.claude("b", [("w0 w1 x", "a b")], title="Short")
    assert titles(world, long) in (["Long"], ["Long", "Short"], ["Short", "Long"])
    assert titles(world, long + " never-said") == []


def test_nothing_found_offers_what_is_alike(world: World) -> None:
    world.believable()
    answer = search(world, "limts.py")
    assert answer.hits == ()
    assert [one.title for one in answer.similar] == ["Add rate limiting to the public API"]
    assert search(world, "cookie").similar == ()


def test_a_resumed_copy_is_one_hit_and_a_fork_only_counts_for_its_own_words(world: World) -> None:
    turns = [Turn("About zebras", "Striped.")]
    world.claude("old", turns)
    world.claude(
        "new", [("And lions", "Maned.")], copied=world.claude_records("old", turns), start=START + timedelta(hours=1)
    )
    assert [hit.session.id for hit in search(world, "zebras").hits] == [session_id("new")]
    more = [*turns, Turn("Then tigers", "Orange.")]
    world.claude("origin", more, start=START)
    world.claude("fork", [("Or bears", "Brown.")], copied=world.claude_records("origin", more[:1]), start=NOW)
    found = {hit.session.id for hit in search(world, "zebras").hits}
    assert session_id("origin") in found
    assert session_id("fork") not in found
    assert [hit.session.id for hit in search(world, "bears").hits] == [session_id("fork")]


def test_text_of_tools_is_not_searched(world: World) -> None:
    world.claude("a", [Turn("Change it", "Changed.", ("x.py",))])
    assert search(world, "old_string").hits == ()
    assert search(world, "toolu_2").hits == ()


def test_the_index_is_neither_needed_nor_opened(world: World) -> None:
    world.believable()
    assert search(world, "cookie").hits
    assert not (world.workspace / ".prima-memory").exists()


def test_a_cancelled_search_ends_as_cancelled(rooms: World) -> None:
    memory = rooms.memory()
    memory.refresh()
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        memory.search("door", "keyword", cancel=cancel)
    assert memory.search("door", "keyword").hits


def test_a_limit_cuts_and_gives_each_hit_its_exchange(rooms: World) -> None:
    memory = rooms.memory()
    memory.refresh()
    assert len(memory.search("door", "keyword").hits) == 2
    (hit,) = memory.search("door", "keyword", limit=1).hits
    assert hit.exchange is not None
    assert memory.search("door", "keyword", limit=0).hits == ()


def test_only_the_scope_is_searched(world: World) -> None:
    world.believable()
    assert search(world, "8080").hits == ()
    everywhere: Memory = world.memory(everywhere=True)
    everywhere.refresh()
    assert [hit.session.id for hit in everywhere.search("8080", "keyword").hits] == [session_id("elsewhere")]

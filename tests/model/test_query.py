"""The language of the search line: words, phrases, filters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.query import matches, parse
from prima_tui.model.session import FileChange, ResumeCommand, Session

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SESSION = Session(
    id="1",
    source="codex",
    label="[Codex]",
    title="Sort the list",
    tags=("python", "bugfix"),
    started_at=datetime(2026, 11, 3, 10, tzinfo=UTC),
    ended_at=datetime(2026, 11, 3, 11, tzinfo=UTC),
    workspace="/home/Ana/My App/Backend",
    branch="feature/Sorting",
    author="Ana",
    files_changed=(FileChange("/home/Ana/My App/Backend/src/App.py"), FileChange("/etc/hosts")),
    resume=ResumeCommand(("codex", "resume", "1")),
    flags=("archived",),
)


def passes(query: str, session: Session = SESSION, now: datetime = NOW) -> bool:
    parsed = parse(query, now)
    assert not parsed.problems, parsed.problems
    return matches(parsed, session)


def lasting(start: datetime, end: datetime | None = None) -> Session:
    return msgspec.structs.replace(SESSION, started_at=start, ended_at=end or start)


def test_words_and_phrases_are_what_filters_leave() -> None:
    query = parse('fix agent:codex  the "login  form" -tag:python bug', NOW)
    assert query.words == ("fix", "the", "bug")
    assert query.phrases == ("login  form",)
    assert query.text == "fix the login form bug"
    assert [(one.name, one.value, one.negated) for one in query.filters] == [
        ("agent", "codex", False),
        ("tag", "python", True),
    ]


@pytest.mark.parametrize(
    "word",
    [
        "http://x.org/a",
        "std::vector",
        "foo:bar",
        "file:///home/a",
        "file::open",
        "a:",
        ":x",
        "--tag:x",
        "C:\\x",
        "-x",
        "12:30",
    ],
)
def test_anything_else_with_a_colon_or_a_dash_is_a_plain_word(word: str) -> None:
    query = parse(f"one {word} two", NOW)
    assert query.words == ("one", word, "two")
    assert not query.filters and not query.problems


def test_a_filter_in_quotes_is_a_phrase() -> None:
    query = parse('"foo:bar" "agent:codex"', NOW)
    assert query.phrases == ("foo:bar", "agent:codex")
    assert not query.filters


def test_a_quote_that_is_not_closed_reaches_to_the_end() -> None:
    assert parse('one "two agent:codex', NOW).phrases == ("two agent:codex",)
    assert parse('"', NOW).text == ""
    assert parse('dir:"my a', NOW).filters[0].value == "my a"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("date:banana", "date:banana is no date"),
        ("date:2026-13", "date:2026-13 is no date"),
        ("date:2026-02-30", "is no date"),
        ("date:..", "is no date"),
        ("date:2026-11..2026-10", "is no date"),
        ("date:<7", "is no date"),
        ("agent:emacs", "agent:emacs is no agent"),
        ("source:x", "source:x is no agent"),
        ("is:happy", "is:happy is no state"),
        ("in:attic", "in:attic is no place"),
        ("tag:", "tag: needs a value"),
        ('dir:" "', "needs a value"),
        ("-date:never", "date:never is no date"),
    ],
)
def test_a_filter_with_a_bad_value_says_so_and_is_ignored(query: str, said: str) -> None:
    parsed = parse("word " + query, NOW)
    assert parsed.words == ("word",) and not parsed.filters
    assert said in parsed.problems[0] and "try" in parsed.problems[0]
    assert parsed.pieces[-1].kind == "bad"
    assert matches(parsed, SESSION)


def test_a_bare_name_before_other_words_is_a_plain_word() -> None:
    assert parse("error in file: app.py", NOW).words == ("error", "in", "file:", "app.py")


def test_pieces_tell_the_screen_what_each_stretch_is() -> None:
    raw = 'Fix  "a b" -is:sdk date:x'
    assert [(raw[one.start : one.end], one.kind) for one in parse(raw, NOW).pieces] == [
        ("Fix", "word"),
        ('"a b"', "phrase"),
        ("-is:sdk", "filter"),
        ("date:x", "bad"),
    ]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "agent:codex",
        "source:Codex",
        "AGENT:CODEX",
        "-agent:claude",
        "dir:backend",
        "dir:back",
        'dir:"my app"',
        "dir:backend/",
        "dir:ana\\my",
        "branch:sorting",
        "-branch:main",
        "tag:Python",
        "-tag:rust",
        "file:app.py",
        "file:src/app",
        "file:src\\app",
        "-file:backend",
        "author:ana",
        "is:resumable",
        "is:archived",
        "-is:deleted",
        "-is:subagent",
        "in:tools",
        "agent:claude agent:codex",
        "tag:rust tag:python dir:backend",
        "date:2026-11-03",
        "date:2026-11",
        "date:2026-10..2026-11",
        "date:2026",
        "date:..2026-11-03",
        "date:2026-11-03..",
        "date:>2w",
        "-date:<7d",
        "-date:today",
    ],
)
def test_filters_that_the_session_passes(query: str) -> None:
    assert passes(query)


@pytest.mark.parametrize(
    "query",
    [
        "agent:claude",
        "agent:copilot",
        "-agent:codex",
        "dir:frontend",
        "branch:main",
        "tag:pyth",
        "-tag:bugfix",
        "file:backend",
        "-file:hosts",
        "author:bo",
        "is:deleted",
        "is:docs",
        "-is:resumable",
        "agent:codex dir:frontend",
        "tag:python -tag:bugfix",
        "date:2026-11-04",
        "date:2026-10",
        "date:<7d",
        "date:week",
        "date:today",
        "date:>2m",
    ],
)
def test_filters_that_the_session_fails(query: str) -> None:
    assert not passes(query)


def test_friendly_names_of_agents() -> None:
    for name, source in [
        ("claude", "claude-code"),
        ("log", "shared-log"),
        ("copilot", "copilot-cli"),
        ("vs-code", "vscode"),
    ]:
        assert passes(f"agent:{name}", msgspec.structs.replace(SESSION, source=source))
    assert passes("agent:copilot", msgspec.structs.replace(SESSION, source="vscode"))


def test_further_sources_can_be_named() -> None:
    assert parse("agent:aider", NOW).problems
    query = parse("agent:Aider", NOW, sources=["aider"])
    assert not query.problems
    assert matches(query, msgspec.structs.replace(SESSION, source="aider"))


def test_a_session_with_subagents_can_be_asked_for() -> None:
    assert not passes("is:subagent")
    assert passes("is:subagent", msgspec.structs.replace(SESSION, flags=("subagent",)))


def test_in_tools_widens_the_search_and_filters_nothing() -> None:
    assert parse("x in:tools", NOW).in_tools
    assert not parse("x -in:tools", NOW).in_tools
    assert passes("-in:tools")


@pytest.mark.parametrize(
    ("value", "ago", "expected"),
    [
        ("<7d", timedelta(days=6, hours=23), True),
        ("<7d", timedelta(days=7, seconds=1), False),
        (">2w", timedelta(days=14, seconds=1), True),
        (">2w", timedelta(days=13), False),
        ("<3h", timedelta(hours=2), True),
        ("<1m", timedelta(days=30, hours=23), True),
        ("<1m", timedelta(days=32), False),
        (">1y", timedelta(days=366), True),
        ("today", timedelta(hours=11), True),
        ("today", timedelta(hours=13), False),
        ("yesterday", timedelta(hours=13), True),
        ("yesterday", timedelta(hours=37), False),
        ("week", timedelta(days=6), True),
        ("week", timedelta(days=8), False),
        ("month", timedelta(days=29), True),
        ("month", timedelta(days=32), False),
    ],
)
def test_dates_that_count_from_now(value: str, ago: timedelta, expected: bool) -> None:
    assert passes(f"date:{value}", lasting(NOW - ago)) is expected


def test_a_session_belongs_to_every_day_it_went_on() -> None:
    session = lasting(NOW - timedelta(days=20), NOW - timedelta(days=1))
    assert passes("date:2026-11-20", session) and passes("date:<7d", session)
    assert not passes("date:>2w", session)


def test_days_are_those_of_the_local_time_zone() -> None:
    late = lasting(datetime(2026, 7, 1, 23, 30, tzinfo=UTC))
    berlin = NOW.astimezone(ZoneInfo("Europe/Berlin"))
    assert passes("date:2026-07-02", late, berlin) and not passes("date:2026-07-01", late, berlin)
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    assert passes("date:2026-07-02", late, tokyo)


def test_a_session_without_times_has_no_date() -> None:
    session = msgspec.structs.replace(SESSION, started_at=None, ended_at=None)
    assert not passes("date:2026-11-03..", session)
    assert passes("-date:today", session)
    assert passes("date:2026-11-03", msgspec.structs.replace(SESSION, ended_at=None))


FRAGMENTS = st.sampled_from(
    [
        "agent:",
        "date:",
        "<",
        ">",
        "7d",
        "9999",
        "-",
        "..",
        "12",
        '"',
        " ",
        "is:",
        "in:tools",
        "x",
        ":",
        "//",
        "date:<999999y",
        "é",
        "date:0001-01-01",
        "date:9999-12-31",
        "date:9999",
        "date:0000",
        "\n",
        "dir:",
    ]
)
TYPED = st.one_of(st.text(), st.lists(FRAGMENTS, max_size=20).map("".join))


@given(
    TYPED, st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), ZoneInfo("America/New_York")]))
)
def test_whatever_is_typed_is_understood_somehow(raw: str, now: datetime) -> None:
    query = parse(raw, now)
    pieces = query.pieces
    assert all(first.end <= second.start for first, second in pairwise(pieces))
    covered = set().union(*(range(one.start, one.end) for one in pieces))
    assert all(raw[place].isspace() for place in range(len(raw)) if place not in covered)
    assert query.text == " ".join(query.text.split())
    assert len(query.filters) + sum(one.kind == "bad" for one in pieces) == sum(
        one.kind in ("filter", "bad") for one in pieces
    )
    matches(query, SESSION)
    matches(query, lasting(datetime.min, datetime.max))
    assert parse(raw) is not None


@given(st.lists(st.text(alphabet="abcé:/.-", min_size=1).map(lambda word: "x" + word), max_size=6))
def test_plain_words_come_back_as_they_were(words: list[str]) -> None:
    query = parse(" ".join(words), NOW)
    assert list(query.words) == words
    assert query.text == " ".join(words)


@pytest.mark.parametrize("unit", ["a ", "agent:x ", '"', "date:", "-", "agent:codex ", "date:2026-11-03 ", "\u00a0"])
@pytest.mark.timeout(30)  # a cost that grows with the square of the length would take minutes
def test_a_million_characters_are_taken(unit: str) -> None:
    raw = (unit * 1_000_000)[:1_000_000]
    assert all(piece.end <= len(raw) for piece in parse(raw, NOW).pieces)

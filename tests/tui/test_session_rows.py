"""How a session looks in the list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from rich.cells import cell_len

from prima_tui.model.hits import Hit, Reason
from prima_tui.model.session import FileChange, ResumeCommand, Session
from prima_tui.tui.session_rows import age, day_headings, reason_text, session_row

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)


def make(title: str = "A title", **fields: object) -> Session:
    values: dict[str, object] = {
        "label": "transcript",
        "ended_at": NOW - timedelta(hours=3),
        "resume": ResumeCommand(("claude",)),
    }
    return Session("id1", "claude-code", title=title, **{**values, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (timedelta(seconds=20), "now"),
        (timedelta(minutes=5), "5min"),
        (timedelta(hours=3), "3h"),
        (timedelta(days=2), "2d"),
        (timedelta(weeks=5), "5w"),
        (timedelta(days=800), "2y"),
        (timedelta(hours=-3), "now"),
    ],
)
def test_age_is_short(ago: timedelta, text: str) -> None:
    assert age(NOW - ago, NOW) == text


def test_a_row_tells_label_files_messages_tags_and_branch() -> None:
    found = make(
        label="Codex",
        files_changed=(FileChange("a.py"), FileChange("b.py"), FileChange("a.py")),
        message_count=52,
        tags=("python",),
        branch="main",
    )
    lines = session_row(Hit(found, 1.0), (), 100, 2, NOW, False)
    assert lines[0].text.split() == ["A", "title", "3h"]
    assert lines[1].text.strip() == "[Codex] · 2 files · 52 messages · #python · on main"


def test_a_row_says_why_it_was_found_with_the_scores() -> None:
    found = make(workspace="/w", files_changed=(FileChange("/w/app/login.py"),))
    reasons = (
        Reason("words", 14.0),
        Reason("file", 10.0, "/w/app/login.py"),
        Reason("title", 20.0),
        Reason("meaning", 0.5432),
        Reason("recent", 3.0),
    )
    assert reason_text(reasons, found) == ["title +20", "meaning 0.54", "words +14", "file login.py +10"]


def test_matches_in_the_title_are_marked() -> None:
    line = session_row(Hit(make("Fix the Login page"), 1.0), ("login",), 60, 2, NOW, False)[0]
    assert [line.text[s.start : s.end] for s in line.spans if s.style == "match"] == ["Login"]


@pytest.mark.parametrize("title", ["[bold red]x[/]", "\x1b[31mred\x1b]0;evil\x07", "a\nb\tc\r", "字" * 90, "👩‍💻" * 40])
@pytest.mark.parametrize("width", [8, 20, 61, 120])
def test_no_title_can_break_a_row(title: str, width: int) -> None:
    for density in (1, 2, 3):
        for line in session_row(Hit(make(title), 1.0), ("x",), width, density, NOW, True):
            assert cell_len(line.text) <= max(width, 14)
            assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in line.text)


def test_a_session_that_cannot_be_resumed_looks_so() -> None:
    line = session_row(Hit(make(resume=None), 1.0), (), 80, 2, NOW, False)
    assert "title-quiet" in {s.style for s in line[0].spans}
    assert "view only" in line[1].text


def test_days_and_months_get_headings_once_each() -> None:
    local = NOW.astimezone().replace(hour=12)
    times = [local, local - timedelta(hours=2), local - timedelta(days=1), local - timedelta(days=60)]
    found = day_headings(len(times), times.__getitem__, local)
    assert [place for place, _ in found] == [0, 2, 3]
    assert [text for _, text in found][:2] == ["Today", "Yesterday"]

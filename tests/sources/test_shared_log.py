"""The shared log: which files are entries, what their headers say in every form, what stays their text."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.model.session import Exchange, Transcript
from prima_tui.sources.base import Problem, Scope, SourceFile
from prima_tui.sources.shared_log import SharedLog, decoded

MTIME = 1_780_000_000


def scope(workspace: Path, *, everywhere: bool = False) -> Scope:
    return Scope(workspace=workspace, everywhere=everywhere, home=workspace, env={})


def write(workspace: Path, name: str, content: str | bytes) -> Path:
    path = workspace / ".claude" / "state" / "sessions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (MTIME, MTIME))
    return path


def read(
    workspace: Path, content: str | bytes, name: str = "PROJ/2026-07-14-1030-note.md"
) -> tuple[Transcript, Exchange]:
    path = write(workspace, name, content)
    result = SharedLog().read(SourceFile("shared-log", str(path), 0, MTIME * 10**9, 0))
    assert result.problems == ()
    (found,) = result.transcripts
    (exchange,) = found.exchanges
    return found.transcript, exchange


def local(*parts: int) -> datetime:
    return datetime(*parts).astimezone()  # type: ignore[arg-type]


def test_entries_are_markdown_files_below_a_project_and_underscores_are_skipped(tmp_path: Path) -> None:
    for name in ("A/one.md", "A/deep/er/two.MD", "B/three.md"):
        write(tmp_path, name, "words")
    for name in ("A/_draft.md", "_templates/x.md", "A/_old/y.md", "A/notes.txt", "loose.md"):
        write(tmp_path, name, "words")
    problems: list[Problem] = []
    for everywhere in (False, True):
        found = SharedLog().files(scope(tmp_path, everywhere=everywhere), problems)
        root = tmp_path / ".claude/state/sessions"
        assert sorted(os.path.relpath(each.path, root) for each in found) == [
            "A/deep/er/two.MD",
            "A/one.md",
            "B/three.md",
        ]
    assert problems == []


def test_no_log_is_no_problem_and_an_empty_one_is_one(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert list(SharedLog().files(scope(tmp_path), problems)) == []
    assert problems == []
    root = tmp_path / ".claude/state/sessions"
    root.mkdir(parents=True)
    assert list(SharedLog().files(scope(tmp_path), problems)) == []
    assert problems == [Problem("empty folder", str(root))]


def test_a_projects_folder_may_be_a_link_and_loops_end(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "one.md").write_text("words")
    root = tmp_path / "w" / ".claude/state/sessions"
    root.mkdir(parents=True)
    (root / "LINKED").symlink_to(outside)
    (outside / "loop").symlink_to(outside)
    (root / "LINKED" / "self").symlink_to(root / "LINKED" / "self")
    (root / "ROUND").symlink_to(root / "ROUND")
    problems: list[Problem] = []
    found = list(SharedLog().files(scope(tmp_path / "w"), problems))
    assert [each.path for each in problems] == [str(root / "ROUND")]
    assert [each.path for each in found] == [str(root / "LINKED" / "one.md")]


def test_an_entry_is_one_session_with_one_exchange(tmp_path: Path) -> None:
    transcript, exchange = read(
        tmp_path, "# Fixed the price\n\nIt was rounding.\n", "PROJ/sub/2026-07-14-1030-price.md"
    )
    assert transcript.session_id == "PROJ/sub/2026-07-14-1030-price"
    assert transcript.workspace == str(tmp_path)
    assert transcript.given_title == "Fixed the price"
    assert (transcript.message_count, transcript.reply_count, transcript.resume) == (1, 1, None)
    assert (exchange.user, exchange.assistant) == ("", "# Fixed the price\n\nIt was rounding.")
    assert (transcript.author, transcript.label) == ("unknown", "[shared log · unknown]")
    assert transcript.started_at == transcript.ended_at == exchange.at == local(2026, 7, 14, 10, 30)
    assert SharedLog().contains(transcript, scope(tmp_path))


@pytest.mark.parametrize(
    "content",
    [
        "---\nauthor: Ana\nproject: shop\ndate: 2026-07-01 09:15\nbranch: main\n---\n\nThe words.",
        '---\r\nauthor: "Ana"\r\ntime: "2026-07-01T09:15:00"\r\nbranch: main\r\n---\r\nThe words.',
        "Author: Ana\nProject: shop\nDate: 2026-07-01\nTime: 09:15\nBranch: main\n\nThe words.",
        "**Author:** Ana\n**Project:** shop\n**Time:** 2026-07-01 09:15\n**Branch:** `main`\n\nThe words.",
        "**Author**: Ana\n**Date**: 2026-07-01T09:15\n**Branch**: main\n\n---\n\nThe words.",
        "- **Author:** Ana\n- **Date:** 2026-07-01 09:15\n- **Git-Branch:** main\n\nThe words.",
        "\ufeff> Author: Ana\n> Timestamp: 2026-07-01 09:15\n> branch: main\n\nThe words.",
    ],
)
def test_headers_are_read_in_every_form_and_are_no_text(tmp_path: Path, content: str) -> None:
    transcript, exchange = read(tmp_path, content)
    assert transcript.author == "Ana"
    assert transcript.label == "[shared log · Ana]"
    assert transcript.started_at == local(2026, 7, 1, 9, 15)
    assert transcript.branch == "main"
    assert exchange.assistant == "The words."


def test_headers_may_stand_under_the_heading_which_stays(tmp_path: Path) -> None:
    transcript, exchange = read(
        tmp_path, "# Price\n\n**Author:** Ana\n**Date:** 2026-07-01\n\nWords.\n\nAuthor: not a header\n"
    )
    assert (transcript.author, transcript.given_title) == ("Ana", "Price")
    assert exchange.assistant == "# Price\n\n\nWords.\n\nAuthor: not a header"


def test_a_line_with_another_key_is_text(tmp_path: Path) -> None:
    transcript, exchange = read(tmp_path, "Author: Ana\nStatus: done\nNote: keep this\n\nWords about a thing: yes.")
    assert transcript.author == "Ana"
    assert exchange.assistant == "Status: done\nNote: keep this\n\nWords about a thing: yes."


def test_an_entry_of_headers_alone_keeps_them_as_its_text(tmp_path: Path) -> None:
    transcript, exchange = read(tmp_path, "Author: Ana\nProject: shop\n")
    assert transcript.author == "Ana"
    assert exchange.assistant == "Author: Ana\nProject: shop"


def test_two_rules_with_prose_between_are_no_front_matter(tmp_path: Path) -> None:
    _, exchange = read(tmp_path, "---\nSome prose here\n---\nmore")
    assert "Some prose here" in exchange.assistant


def test_tags_of_an_entry_are_its_own_tags(tmp_path: Path) -> None:
    assert read(tmp_path, "---\ntags: [billing, 'api']\n---\nx")[0].own_tags == ("billing", "api")
    assert read(tmp_path, "---\ntags:\n  - billing\n  - api\n---\nx")[0].own_tags == ("billing", "api")


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("First line\n\n## The heading ##\n", "The heading"),
        ("```\n# a comment\n```\nThe line\n", "The line"),
        ("Setext title\n====\ntext", "Setext title"),
        ("Only a line\nand another", "Only a line"),
        ("#hashtag is none\n", "#hashtag is none"),
        ("***\nAfter a rule", "After a rule"),
    ],
)
def test_the_title_is_the_first_heading_outside_code_else_the_first_line(
    tmp_path: Path, content: str, title: str
) -> None:
    assert read(tmp_path, content)[0].given_title == title


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-07-14-103015-x", (2026, 7, 14, 10, 30, 15)),
        ("2026-07-14-1030-x", (2026, 7, 14, 10, 30)),
        ("2026-07-14-1030", (2026, 7, 14, 10, 30)),
        ("2026-07-14T10-30-15-x", (2026, 7, 14, 10, 30, 15)),
        ("2026-07-14T10-30", (2026, 7, 14, 10, 30)),
        ("2026-07-14_10-30_x", (2026, 7, 14, 10, 30)),
        ("session-2026-07-14-x", (2026, 7, 14)),
        ("2026-07-14-9999-x", (2026, 7, 14)),
    ],
)
def test_without_a_header_the_time_comes_from_the_file_name(
    tmp_path: Path, name: str, expected: tuple[int, ...]
) -> None:
    assert read(tmp_path, "words", f"P/{name}.md")[0].started_at == local(*expected)


def test_without_any_time_the_files_own_counts(tmp_path: Path) -> None:
    started = read(tmp_path, "Date: soon\n\nwords", "P/note-2026-13-45.md")[0].started_at
    assert started is not None
    assert started.timestamp() == MTIME


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Date: 2026-07-14T08:30:00Z", "2026-07-14 08:30:00+00:00"),
        ("Date: 2026-07-14 08:30:00 +02:00", "2026-07-14 06:30:00+00:00"),
        ("Time: 08:30 UTC\nDate: 2026-07-14", "2026-07-14 08:30:00+00:00"),
    ],
)
def test_a_time_with_a_zone_is_read_with_it(tmp_path: Path, header: str, expected: str) -> None:
    assert str(read(tmp_path, header + "\n\nwords")[0].started_at) == expected


def test_a_day_alone_takes_its_clock_from_a_file_name_of_that_day(tmp_path: Path) -> None:
    assert read(tmp_path, "Date: 2026-07-14\n\nx")[0].started_at == local(2026, 7, 14, 10, 30)
    assert read(tmp_path, "Date: 2026-07-13\n\nx")[0].started_at == local(2026, 7, 13)
    assert read(tmp_path, "Time: 11:45\n\nx")[0].started_at == local(2026, 7, 14, 11, 45)


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\0\0"])
def test_an_empty_entry_is_no_session(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, "P/x.md", content)
    assert SharedLog().read(SourceFile("shared-log", str(path), 0, 0, 0)).transcripts == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_every_usual_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    _, exchange = read(tmp_path, "Author: José\r\n\r\nDer Preis für Café stimmt.\r\n".encode(encoding))
    assert exchange.assistant == "Der Preis für Café stimmt."


def test_one_bad_byte_costs_no_other_letter() -> None:
    assert decoded("für ".encode() + b"\xfc" + " Öl".encode()) == "für ü Öl"


def test_a_very_long_entry_is_read_whole(tmp_path: Path) -> None:
    long = "# Big\n\n" + "word " * 10_000_000 + "plantedend"
    transcript, exchange = read(tmp_path, long)
    assert transcript.given_title == "Big"
    assert exchange.assistant.endswith("plantedend")
    assert len(exchange.assistant) == len(long)


def test_an_entry_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    result = SharedLog().read(SourceFile("shared-log", str(tmp_path / "gone.md"), 0, 0, 0))
    assert [each.what for each in result.problems] == ["can't be read: No such file or directory"]


LINES = st.sampled_from(
    [
        "---",
        "Author: Ana",
        "**Date:** 2026-99-99",
        "# Heading",
        "```",
        "tags:",
        "  - a",
        "",
        "Key: value",
        "====",
        "\0\0",
        "Time: 99:99",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(LINES | st.text(max_size=20)),
    after=st.lists(LINES | st.text(max_size=20)),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_every_word_of_the_text_is_kept(tmp_path: Path, before: list[str], after: list[str], ending: str) -> None:
    lines = [*before, "plantedword stands in a line of prose", *after]
    content = ending.join(lines).encode("utf-8", "surrogatepass")
    transcript, exchange = read(tmp_path, content)
    assert "plantedword stands in a line of prose" in exchange.assistant
    assert transcript.given_title
    assert transcript.author


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(max_size=200), place=st.integers(0, 200))
def test_words_between_any_bytes_are_kept(tmp_path: Path, noise: bytes, place: int) -> None:
    content = b"plain text first\n" * 20 + noise[:place] + b"\nplantedword\n" + noise[place:]
    assert "plantedword" in read(tmp_path, content)[1].assistant

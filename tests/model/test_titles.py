"""Titles made from typed messages."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.titles import UNTITLED, first_title, shorten, title_from_prompt

LINES = st.text(alphabet=st.sampled_from("please can you hi.!?,\n\t -#>`*()éß漢👨\u200d\u0301"), max_size=200)
ANYTHING = st.one_of(LINES, st.text(alphabet=st.characters(exclude_categories=[]), max_size=200))


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("can you fix the login bug", "Fix the login bug"),
        ("Could you please help me fix the login bug?", "Fix the login bug?"),
        ("Please, can you help me: I want to add a test", "Add a test"),
        ("i need to restructure this", "Restructure this"),
        ("would you look at it", "Look at it"),
        ("I’d like you to write docs", "Write docs"),
        ("let's go on", "Go on"),
        ("Let us go on", "Go on"),
        ("Hi! Can you fix it", "Fix it"),
        ("hey claude fix it", "Fix it"),
        ("Hello, please read the file", "Read the file"),
    ],
)
def test_opening_phrases_are_removed_repeatedly(prompt: str, title: str) -> None:
    assert title_from_prompt(prompt) == title


@pytest.mark.parametrize(
    "prompt",
    [
        "Pleased to see it",
        "Hints are missing",
        "Canyon view",
        "Hello world fails",
        "Please.py is broken",
        "Hi-res icons",
    ],
)
def test_words_that_only_begin_like_an_opening_stay(prompt: str) -> None:
    assert title_from_prompt(prompt) == prompt


@pytest.mark.parametrize(("prompt", "title"), [("please", "Please"), ("Hi!", "Hi!"), ("can you", "Can you")])
def test_an_opening_that_is_all_there_is_stays(prompt: str, title: str) -> None:
    assert title_from_prompt(prompt) == title


def test_a_line_of_greeting_gives_way_to_the_next_line() -> None:
    assert title_from_prompt("Hi Claude,\n\ncan you sort the list?\nThanks") == "Sort the list?"


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Update to v1.2.3 now. Then test", "Update to v1.2.3 now"),
        ("look at app.py and main.rs", "Look at app.py and main.rs"),
        ("use a linter, e.g. ruff, i.e. a fast one. Then stop", "Use a linter, e.g. ruff, i.e. a fast one"),
        ("run git add . and commit. Then push", "Run git add . and commit"),
        ("Why? Because", "Why?"),
        ("登录失败了。请修复", "登录失败了"),
        ("なぜ？わからない", "なぜ？"),
        ("first line\nsecond line", "First line"),
    ],
)
def test_the_first_line_or_sentence_is_taken(prompt: str, title: str) -> None:
    assert title_from_prompt(prompt) == title


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("## Fix the build", "Fix the build"),
        ("- [ ] fix the build", "Fix the build"),
        ("1. fix the build", "Fix the build"),
        ("> fix the build", "Fix the build"),
        ("```python\nfix()\n```", "Fix()"),
        ("**Bug:** login", "Bug: login"),
        ("#123 fails", "#123 fails"),
        ("-x does nothing", "-x does nothing"),
    ],
)
def test_markdown_markers_at_the_start_are_removed(prompt: str, title: str) -> None:
    assert title_from_prompt(prompt) == title


def test_control_characters_and_white_space_become_single_spaces() -> None:
    assert title_from_prompt("\u00a0 fix\tthe\u00a0\u00a0bug\x00now \x1b[31mred\x1b[0m") == "Fix the bug now red"


def test_a_long_title_is_cut_at_a_word_within_eighty_characters() -> None:
    title = title_from_prompt("word " * 40)
    assert title == "Word" + " word" * 15 + "…"
    exact = "x" * 39 + " " + "y" * 40
    assert shorten(exact) == exact
    assert shorten(exact + "z") == "x" * 39 + "…"


def test_a_text_without_spaces_is_cut_hard() -> None:
    assert shorten("修" * 81) == "修" * 79 + "…"
    assert shorten("a" * 81) == "a" * 79 + "…"


def test_a_cut_never_splits_what_is_seen_as_one_character() -> None:
    family = "👨‍👩‍👧"
    assert shorten(family * 40).rstrip("…").replace(family, "") == ""
    assert shorten("🇩🇪" * 60).rstrip("…").replace("🇩🇪", "") == ""
    assert not unicodedata.combining(shorten("e\u0301" * 60)[-2]) or shorten("e\u0301" * 60)[-3] == "e"


def test_nothing_gives_no_title() -> None:
    assert title_from_prompt(" \n\t\u00a0") == ""
    assert first_title([]) == first_title(["", " \n"]) == ""
    assert UNTITLED == "Untitled Session"


def test_the_first_prompt_that_gives_a_title_gives_it() -> None:
    assert first_title(["", "\n", "Fix the cache", "And the login"]) == "Fix the cache"


@given(ANYTHING)
def test_a_title_is_one_short_line_and_there_is_one_for_any_text(text: str) -> None:
    for title in (title_from_prompt(text), first_title(["", text])):
        assert len(title) <= 80
        assert title == " ".join(title.split())
        assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in title)
    if any(letter.isalnum() for letter in text):
        assert title_from_prompt(text)


@given(ANYTHING, st.integers(0, 100))
def test_shortening_keeps_to_the_width_and_twice_is_once(text: str, width: int) -> None:
    once = shorten(text, width)
    assert len(once) <= width
    assert shorten(once, width) == once


@pytest.mark.timeout(30)  # a cost that grows with the square of the length would take hours
def test_huge_prompts_are_titled() -> None:
    for prompt in (
        "e.g. " * 500_000,
        "**a " * 500_000,
        "please " * 500_000,
        "- " * 500_000,
        "\n" * 2_000_000,
        "!" * 2_000_000,
    ):
        assert len(title_from_prompt(prompt)) <= 80

"""Folding, match positions, what may reach the terminal, snippets."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.text import fold, one_line, shown, snippet, spans

ODD = st.text(
    alphabet=st.sampled_from(
        "aAsSeEß\u0130\u0131ﬁ\u0301\u0308\u0323é\u1e9e가\u1100\u1161\u11a8\u0345ας \n漢x\U0001f600\u200d"
    )
)
TEXTS = st.one_of(ODD, st.text())


def marked(text: str, *words: str) -> list[str]:
    return [text[start:end] for start, end in spans(text, words)]


def test_capitals_and_normal_forms_fold_together() -> None:
    assert fold("STRASSE") == fold("straße")
    assert fold("Cafe\u0301") == fold("CAFÉ")
    assert fold("ΣΊΣΥΦΟΣ") == fold("σίσυφος")
    assert fold("README") == "readme"


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text)
    assert unicodedata.is_normalized("NFC", once)
    if "\u0345" not in unicodedata.normalize("NFD", text):
        assert fold(once) == once


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("The bedroom ROOM", "room", ["room", "ROOM"]),
        ("eine Straße hier", "STRASSE", ["Straße"]),
        ("Maß", "s", ["ß"]),
        ("ﬁne ﬁle", "file", ["ﬁle"]),
        ("İstanbul x", "x", ["x"]),
        ("ein Cafe\u0301 dort", "café", ["Cafe\u0301"]),
        ("Cafe\u0301s ßx y", "y", ["y"]),
        ("\u1112\u1161\u11ab글 ß", "한글", ["\u1112\u1161\u11ab글"]),
        ("aaa", "aa", ["aa"]),
        ("plain", "é", []),
        ("plain", "", []),
    ],
)
def test_matches_are_positions_of_the_original_text(text: str, word: str, expected: list[str]) -> None:
    assert marked(text, word) == expected


def test_overlapping_matches_of_different_words_become_one() -> None:
    assert spans("foobar foo", ["foo", "oba", "FOO"]) == [(0, 5), (7, 10)]


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_matches_are_sorted_apart_and_hold_the_word(text: str, words: list[str]) -> None:
    found = spans(text, words)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(first[1] <= second[0] for first, second in pairwise(found))
    assert bool(found) == any(fold(word) and fold(word) in fold(text) for word in words)


@given(TEXTS, st.text(min_size=1, max_size=3), TEXTS)
def test_each_match_alone_holds_one_of_the_words(before: str, word: str, after: str) -> None:
    text = before + " " + word + " " + after
    for start, end in spans(text, [word]):
        assert fold(word) in fold(text[start:end])


@pytest.mark.timeout(60)  # a cost that grows with the square of the length would take hours
def test_every_match_of_a_long_text_is_found() -> None:
    assert len(spans("some longer line of words\n" * 40_000, ["words", "line"])) == 80_000
    assert len(spans("eine längere Zeile mit Wörtern\n" * 40_000, ["wörter"])) == 40_000
    assert len(spans("eine längere Straße voll\n" * 20_000, ["voll"])) == 20_000


def test_escape_sequences_never_reach_the_terminal() -> None:
    assert "\x1b" not in shown("\x1b]0;title\x07\x1b[2Jx")
    assert shown("\x1b[31mred\x1b[0m") == "red"
    assert shown("\x1b[2J") == "␛[2J"
    assert shown("a\x9b31mb") == "a\ufffd31mb"


def test_line_ends_stay_and_tabs_become_spaces() -> None:
    assert shown("a\tb\r\nc\rd\u2028e") == "a   b\nc\nd\ne"


def test_direction_overrides_become_visible_and_emoji_stay() -> None:
    assert shown("a\u202eb\u2066c") == "a\ufffdb\ufffdc"
    assert shown("👨‍👩‍👧 नमस्ते") == "👨‍👩‍👧 नमस्ते"
    assert shown("\ud800x") == "\ufffdx"


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_what_is_shown_is_printable_lines(text: str) -> None:
    result = shown(text)
    result.encode("utf-8")
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") and letter != "\n" for letter in result)
    assert not any(letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for letter in result)
    assert shown(result) == result


def test_one_line_is_safe_and_has_single_spaces() -> None:
    assert one_line(" a\tb\r\n\u2028c \x1b[31m d\x07\ufeff ") == "a b c d␇"


def test_a_snippet_stands_around_the_match() -> None:
    text = "word " * 200 + "the needle here " + "more " * 200
    result = snippet(text, ["needle"], 60)
    assert "needle" in result and result.startswith("…") and result.endswith("…") and len(result) <= 60
    assert 15 <= result.index("needle") <= 40


def test_a_snippet_prefers_the_place_where_the_words_meet() -> None:
    text = "alpha " + "x " * 300 + "alpha with beta" + " y" * 300
    assert "alpha with beta" in snippet(text, ["alpha", "beta"], 50)


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("  one\n\ttwo  ", ["two"], 40) == "one two"
    assert snippet("nothing " * 40, ["absent"], 20).startswith("nothing")
    assert snippet("", ["x"], 20) == ""


@given(TEXTS, st.lists(TEXTS, max_size=3), st.integers(0, 60))
def test_a_snippet_is_one_line_within_the_width(text: str, words: list[str], width: int) -> None:
    result = snippet(text * 5, words, width)
    assert len(result) <= width
    assert "\n" not in result


@given(st.text(alphabet="ab \n", max_size=300), st.text(alphabet="abc", min_size=1, max_size=8))
def test_a_word_found_in_the_text_stands_in_the_snippet(text: str, word: str) -> None:
    if word in text:
        assert spans(snippet(text, [word], 30), [word])

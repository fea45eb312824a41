"""Counting letters first drops no text that a comparison would call alike."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from prima_tui.model.likeness import FLOOR, letters_of, may_be_alike

word = st.text(alphabet="abcdeé東 1_", min_size=1, max_size=9)
text = st.lists(word, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(text, st.lists(text, min_size=1, max_size=10))
@example("abc", ["x" * 300 + "abc", "ab", "acb", ""])
@example("1_____", ["1 1 "])
@example("a" * 300, ["a" * 290, "b"])
def test_no_text_that_is_alike_is_dropped(asked: str, names: list[str]) -> None:
    kept = may_be_alike(asked, letters_of(names))
    for name, possible in zip(names, kept.tolist(), strict=True):
        assert possible or fuzz.WRatio(asked, name) < FLOOR, name


def test_most_others_are() -> None:
    kept = may_be_alike(
        "login", letters_of(["the logic of it", "quay", "zebra", "a much longer title of quite another thing"])
    )
    assert kept.tolist() == [True, False, False, False]

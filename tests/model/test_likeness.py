"""Counting letters first drops no text that a comparison would call alike, and puts none too low."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from prima_tui.model.likeness import FLOOR, letters_of, most_points

word = st.text(alphabet="abcdeé東 1_", min_size=1, max_size=9)
text = st.lists(word, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=600, deadline=None)
@given(text, st.lists(text, min_size=1, max_size=10))
@example("abc", ["x" * 300 + "abc", "ab", "acb", ""])
@example("1_____", ["1 1 "])
@example("a" * 300, ["a" * 290, "b"])
@example("abcd abcd abcd abcd", ["abce fghi jklm nopq"])
@example("ab\x1dcd", ["cd\x1dab"])
def test_no_text_gets_more_points_than_it_may(asked: str, names: list[str]) -> None:
    common = np.array([any(one in name for one in asked.split()) for name in names], np.bool_)
    most = most_points(asked, letters_of(names), common)
    for name, points in zip(names, most.tolist(), strict=True):
        assert (exact := fuzz.WRatio(asked, name)) < FLOOR or exact <= points + 1e-9, name


def test_most_others_can_not_be_alike() -> None:
    names = ["the logic of it", "quay", "zebra", "a much longer title of quite another thing", "a log of insertions"]
    most = most_points("login", letters_of(names), np.zeros(len(names), np.bool_))
    assert (most >= FLOOR).tolist() == [True, False, False, False, True]

"""Citations: what was given passes, what was not is marked, however the text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.documents.citations import CitationCheck
from prima_tui.model.documents import Citation, DocumentHit

HITS = [
    DocumentHit("docs/setup.md", "Setup", "Setup", 1, 2, "See changes.md for more.", 1.0),
    DocumentHit("a b/notes.txt", "Notes", "", 1, 2, "text", 1.0),
]


def checked(*pieces: str, question: str = "what of other.md?") -> tuple[str, tuple[Citation, ...]]:
    check = CitationCheck(question, HITS)
    text = "".join(check.feed(piece) for piece in pieces) + check.rest()
    return text, check.citations


@pytest.mark.parametrize(
    "text",
    [
        *("Yes [1].", "Yes [1, 2].", "Yes [1][2].", "Yes [1 docs/setup.md].", "see setup.md", "see ./docs/setup.md"),
        *(
            "changes.md says",
            "other.md is unknown",
            "https://a.example/x.md",
            "row[7] of a list",
            "[ ] todo",
            "[x](#y)",
        ),
        *("[x](#y)", "no citation at all", "", "[", "a ] b [ c", "[see 5 of them]"),
    ],
)
def test_what_was_given_or_is_no_citation_stays_as_it_is(text: str) -> None:
    assert checked(text)[0] == text


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Yes [3].", "Yes [3] (not given)."),
        ("Yes [0]", "Yes [0] (not given)"),
        ("Yes [1, 9]", "Yes [1, 9] (not given)"),
        ("Yes [1 wrong.md]", "Yes [1 wrong.md] (not given)"),
        ("in src/readme.md too", "in src/readme.md (not given) too"),
        ("`up.md`", "`up.md (not given)`"),
    ],
)
def test_what_was_not_given_is_marked(text: str, marked: str) -> None:
    assert checked(text)[0] == marked


def test_citations_are_listed_once_in_order() -> None:
    _text, citations = checked("b [2] a [1] b [2] c [9]")
    assert citations == (
        Citation("a b/notes.txt", 2, True),
        Citation("docs/setup.md", 1, True),
        Citation("[9]", 9, False),
    )


@given(
    st.lists(
        st.sampled_from(["[1", "]", " ", "[", "9", "docs/", "setup", ".md", "x", "\n", "[9]", "up.md"]), max_size=30
    )
)
def test_the_pieces_a_text_comes_in_make_no_difference(pieces: list[str]) -> None:
    assert checked(*pieces)[0] == checked("".join(pieces))[0]

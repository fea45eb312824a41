"""Lines of text: wrapping, cutting, laying styles over one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from prima_tui.tui.styled_lines import Span, StyledLine, cut, fitted, segments, wrap_slices, wrapped

texts = st.text(st.sampled_from("ab é字🌙 \u0301👩‍💻"), max_size=80)


@given(texts, st.integers(2, 20))
def test_no_wrapped_line_is_wider_than_the_room(text: str, width: int) -> None:
    for start, end in wrap_slices(text, width):
        assert cell_len(text[start:end]) <= width


@given(texts, st.integers(2, 20))
def test_wrapping_loses_nothing_but_white_space(text: str, width: int) -> None:
    together = "".join(text[start:end] for start, end in wrap_slices(text, width))
    assert together.replace(" ", "") == text.replace(" ", "")


@given(texts, st.integers(1, 20))
def test_a_cut_text_fits(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= width


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("a plain line of words", 8, "a plain…"),
        ("a plain line of words", 9, "a plain…"),
        ("a plain line of words", 2, "a…"),
        ("abcde\u0301f and more", 6, "abcde\u0301…"),
        ("ab\u5b57cdefgh", 4, "ab…"),
    ],
)
def test_a_line_is_cut_at_the_last_sign_that_fits_and_a_sign_is_never_divided(
    text: str, width: int, wanted: str
) -> None:
    assert cut(text, width) == wanted


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut("字字", 4) == "字字"
    assert cut("字字字", 4) == "字…"


def test_a_hanging_indent_stands_before_every_line_but_the_first() -> None:
    lines = wrapped(StyledLine("• one two three four"), 10, hang=2)
    assert [line.text for line in lines] == ["• one two", "  three", "  four"]


def test_styles_keep_their_place_when_a_line_is_wrapped() -> None:
    line = StyledLine("one two three", (Span(4, 7, "bold"),))
    parts = wrapped(line, 4)
    assert [part.text[s.start : s.end] for part in parts for s in part.spans] == ["two"]


def test_later_spans_lie_over_earlier_ones() -> None:
    styles = {"a": Style(bold=True), "b": Style(italic=True)}
    found = segments(StyledLine("xyz", (Span(0, 3, "a"), Span(1, 2, "b"))), styles, Style.null())
    assert [(part.text, bool(part.style and part.style.italic)) for part in found] == [
        ("x", False),
        ("y", True),
        ("z", False),
    ]


def test_what_matters_less_is_left_out_when_there_is_no_room() -> None:
    assert fitted([("label", ""), ("very long fact", ""), ("short", "")], 13).text == "label · short"

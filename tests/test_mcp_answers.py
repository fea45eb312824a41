"""Answers of the MCP tools: held to a size without losing anything to paging, quotations marked as such."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prima_tui.mcp_answers import LARGEST, Fitted, cut
from prima_tui.mcp_text import quoted


@given(st.lists(st.integers(0, 40_000), max_size=30))
def test_following_the_offsets_shows_every_row_once_in_answers_of_bounded_size(sizes: list[int]) -> None:
    rows = list(enumerate(sizes))
    seen: list[tuple[int, int]] = []
    offset: int | None = 0
    while offset is not None:
        page = Fitted(rows[offset:], lambda row: {"text": "x" * row[1]}, offset, len(rows))
        assert page.rows or not rows
        assert len(page.rows) == 1 or sum(size for _, size in page.rows) <= LARGEST
        seen += page.rows
        assert (page.note == "") == (page.next_offset is None)
        offset = page.next_offset
    assert seen == rows


def test_rows_that_are_known_to_follow_give_an_offset_without_a_total() -> None:
    page = Fitted([1, 2], lambda row: {"n": row}, 4, None, more=True)
    assert page.page("first") == {
        "offset": 4,
        "next_offset": 6,
        "total": None,
        "note": "first; 4 to 5 are shown; call again with offset=6",
    }


@given(st.text(max_size=60), st.integers(1, 20))
def test_a_long_text_can_be_read_on_to_its_end(text: str, longest: int) -> None:
    parts = [text[start : start + longest] for start in range(0, len(text), longest)]
    for place, part in enumerate(parts):
        shown = cut(text, longest, place * longest)
        assert part in shown
        assert ("more characters" in shown) == (place < len(parts) - 1) or "more characters" in text
    assert cut(text, 100) == text


@given(st.text())
def test_no_line_of_a_quotation_stands_without_its_mark(text: str) -> None:
    lines = quoted(text).split("\n")
    assert all(line.startswith("> ") for line in lines)
    assert "\x1b" not in quoted(text)
    assert "\r" not in quoted(text)

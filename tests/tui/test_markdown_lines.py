"""Markdown in lines: what is styled, what stays as it is, and that no text can break it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from prima_tui.tui.code_colours import code_lines
from prima_tui.tui.markdown_lines import markdown_lines
from prima_tui.tui.styled_lines import StyledLine, wrapped
from prima_tui.tui.table_lines import column_widths, table_lines, table_rows


def plain(_text: str) -> list[tuple[int, int]]:
    return []


def texts(lines: list[StyledLine]) -> list[str]:
    return [line.text.rstrip() for line in lines]


def styles_of(lines: list[StyledLine], text: str) -> set[str]:
    return {s.style for line in lines for s in line.spans if line.text[s.start : s.end].strip() == text}


def test_bold_code_and_links_lose_their_marks_and_get_a_style() -> None:
    lines = markdown_lines("**now** run `make` see [docs](http://x)", 60, plain)
    assert texts(lines) == ["now run make see docs (http://x)"]
    assert "bold" in styles_of(lines, "now")
    assert "inline-code" in styles_of(lines, "make")
    assert "link" in styles_of(lines, "docs")


def test_headings_and_lists() -> None:
    assert texts(markdown_lines("# Top\n- one\n  - two\n3. three\n- [x] done", 40, plain)) == [
        "Top",
        "• one",
        "  • two",
        "3. three",
        "☑ done",
    ]


def test_a_hash_in_fenced_code_is_no_heading_and_the_code_keeps_its_stars() -> None:
    lines = markdown_lines("```sh\n# not **a** heading\n```\nafter", 40, plain)
    assert texts(lines) == [" sh", " # not **a** heading", "after"]
    assert lines[1].fill == "code"


def test_a_text_can_begin_inside_code() -> None:
    assert texts(markdown_lines("x = 1\n```\n**b**", 40, plain, fence="python")) == [" x = 1", "b"]


def test_python_is_coloured() -> None:
    lines = markdown_lines("```python\nreturn 'x'\n```", 40, plain)
    assert "code-keyword" in styles_of(lines, "return")


def test_the_last_line_of_a_diff_has_its_colour_too() -> None:
    lines = code_lines("-a\n+b\n+c", "diff")
    assert [[span.style for span in line.spans] for line in lines] == [["code-removed"], ["code-added"], ["code-added"]]


@given(
    st.text(alphabet="ab+- \t\n'\"#<{", max_size=40), st.sampled_from(("diff", "python", "json", "html", "bash", "sql"))
)
def test_coloured_code_has_the_lines_of_the_code(code: str, language: str) -> None:
    assert [line.text for line in code_lines(code, language)] == code.split("\n")


def test_columns_of_a_table_stand_below_one_another() -> None:
    lines = texts(markdown_lines("| a | b |\n|---|---|\n| long cell | x |\n| s | y |", 40, plain))
    assert lines[0].index("b") == lines[2].index("x") == lines[3].index("y")


def test_an_escaped_pipe_is_no_column() -> None:
    assert table_rows([r"| a \| b | c |"]) == [["a | b", "c"]]


def test_a_line_end_in_a_cell_is_one() -> None:
    assert texts(markdown_lines("| a | b |\n|---|---|\n| x | one<br>two |", 40, plain))[2:] == ["x  one", "   two"]


def test_the_widest_column_gives_way() -> None:
    assert column_widths([4, 50], 30) == [4, 26]


def test_matches_are_marked_in_what_is_shown() -> None:
    lines = markdown_lines("a **login** here", 40, lambda text: [(text.index("login"), text.index("login") + 5)])
    assert "match" in styles_of(lines, "login")


@settings(max_examples=150)
@given(st.text(st.sampled_from("ab#`*|->[]() \n~字_1."), max_size=120), st.integers(4, 40))
def test_any_text_is_laid_out_within_the_width(text: str, width: int) -> None:
    for line in markdown_lines(text, width, plain):
        # A table of many columns in very little room is the one thing that may be cut at the edge.
        if "|" not in text:
            assert cell_len(line.text) <= max(width, 4)


def test_paths_and_ids_that_are_too_long_are_cut_at_their_parts() -> None:
    line = StyledLine("/home/ana/projects/tidewater/backend/pricing.py")
    assert texts(wrapped(line, 32)) == ["/home/ana/projects/tidewater/", "backend/pricing.py"]
    assert texts(wrapped(StyledLine("8b7f5b44-641b-51e5-bd8e-b887f4d94ccd"), 34)) == [
        "8b7f5b44-641b-51e5-bd8e-",
        "b887f4d94ccd",
    ]
    # nothing to cut at in the second half of the line: as much as fits
    assert texts(wrapped(StyledLine("a/" + "b" * 30), 16)) == ["a/" + "b" * 14, "b" * 16]


FILES = (
    "| File | Action | Explanation |",
    "|---|---|---|",
    "| backend/tidewater/pricing.py | edit | I'll make `pricing.discounted_cents` the only place for it. |",
    "| web/total.ts | edit | It can ask \\| the API.<br>Then it is right. |",
)


def test_a_long_last_column_stands_below_the_others_where_all_would_be_strips() -> None:
    assert texts(table_lines(FILES, 36, plain)) == [
        "File  Action  Explanation",
        "─" * 36,
        "backend/tidewater/pricing.py  edit",
        "  I'll make pricing.discounted_cents",
        "  the only place for it.",
        "web/total.ts  edit",
        "  It can ask | the API.",
        "  Then it is right.",
    ]


def test_where_the_other_columns_fit_whole_the_table_keeps_its_columns() -> None:
    lines = texts(table_lines(FILES, 70, plain))
    assert lines[2].startswith("backend/tidewater/pricing.py  edit    I'll make")


def test_columns_of_much_the_same_width_stay_columns() -> None:
    rows = ("| one | two |", "|---|---|", "| some words that are here | other words that are there |")
    assert texts(table_lines(rows, 30, plain))[0].split() == ["one", "two"]
    assert len(texts(table_lines(rows, 30, plain))) == 4

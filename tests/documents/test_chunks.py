"""The splitter: nothing is lost, nothing is too large, every chunk knows the headings it stands under."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prima_tui.documents.chunks import (
    FEWEST_WORDS,
    MOST_CHARACTERS,
    MOST_WORDS,
    OVERLAP_WORDS,
    passages,
    split_outlined,
    split_plain,
)
from prima_tui.documents.markdown import markdown_outline
from prima_tui.model.documents import Chunk


def split_markdown(text: str) -> list[Chunk]:
    """The chunks of a Markdown document."""
    return split_outlined(text, markdown_outline(text))


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(start, start + count))


def assert_covers(text: str, chunks: list[Chunk]) -> None:
    """Every non-blank character stands in some chunk, in order, and chunks are what stands on their lines."""
    place = 0
    lines = text.split("\n")
    for chunk in chunks:
        on_lines = "\n".join(lines[chunk.first_line - 1 : chunk.last_line])
        assert chunk.text in on_lines
        # a chunk begins where the one before it ends, or before that (the overlap), never after
        first = len(text) - len(text[place:].lstrip())
        start = text.rfind(chunk.text, 0, first + len(chunk.text))
        assert start >= 0
        assert start + len(chunk.text) > place
        place = start + len(chunk.text)
    assert not text[place:].strip()


LONG = "".join(f"y{number}" for number in range(600))  # one word, longer than a chunk
settings.register_profile("splitter", deadline=None, max_examples=60)
splitter = settings(settings.get_profile("splitter"))
WORD = st.one_of(
    st.sampled_from(
        ["alpha", "beta", "#", "-", "|", LONG, "漢字かなカナ漢文一二三四五六七八九十", "https://a.example/b"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), min_size=1, max_size=12),
)
LINE = st.one_of(
    st.lists(WORD, max_size=20).map(" ".join),
    st.integers(1, 1200).map(words),
    st.sampled_from(
        [
            *("", "# One", "## Two", "### `Three` *four*", "Setext\n===", "Setext two\n---", "#", "```", "~~~"),
            *("- item\n  - nested", "> # quoted", "- # listed", "<div>\n# not one\n</div>", "---", "    # indented"),
            *("| a | b |\n|--|--|\n| 1 | 2 |", "<!--", "-->", "[a]: https://b.example", "\ttab", "## Closed ##"),
        ]
    ),
)
DOCUMENT = st.lists(LINE, max_size=15).map("\n".join)


@splitter
@given(DOCUMENT)
def test_every_character_stands_in_some_chunk_in_order(text: str) -> None:
    assert_covers(text, split_markdown(text))


@splitter
@given(DOCUMENT)
def test_every_character_of_a_plain_text_too(text: str) -> None:
    assert_covers(text, split_plain(text))


@splitter
@given(DOCUMENT)
def test_no_chunk_is_over_the_limits(text: str) -> None:
    for chunk in (*split_markdown(text), *split_plain(text)):
        assert len(chunk.text) <= MOST_CHARACTERS
        assert len(chunk.text.split()) <= MOST_WORDS


@pytest.mark.parametrize(("count", "chunks"), [(720, 2), (721, 3), (1040, 3), (1041, 4)])
def test_splitting_stops_when_the_text_ends(count: int, chunks: int) -> None:
    found = split_markdown(words(count).replace("w", ""))
    assert len(found) == chunks
    assert [chunk.text.endswith(f" {count - 1}") for chunk in found] == [False] * (chunks - 1) + [True]


def headings_by_line(text: str) -> dict[int, tuple[str, ...]]:
    """From the parser's own tree: for each line on which a heading of the document begins, the path it opens."""
    found: dict[int, tuple[str, ...]] = {}
    path: list[tuple[int, str]] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            level = int(token.tag[1])
            path = [one for one in path if one[0] < level]
            inline = tokens[place + 1].children or []
            title = "".join(" " if child.type.endswith("break") else child.content for child in inline)
            path.append((level, " ".join(title.split())))
            found[token.map[0] + 1] = tuple(name for _level, name in path if name)
    return found


@splitter
@given(
    st.lists(st.sampled_from(["# A", "## B", "### C", "#### D", "E\n=", "F\n-", "```\n# no\n```"]), max_size=12),
    st.data(),
)
def test_each_chunk_stands_under_the_headings_of_the_first_text_in_it(lines: list[str], data: st.DataObject) -> None:
    parts = []
    for line in lines:
        parts += [line, "", words(data.draw(st.sampled_from([0, 0, 10, 60, 500]))), ""]
    text = "\n".join(parts)
    headings = headings_by_line(text)
    rows = text.split("\n")
    for chunk in split_markdown(text):
        path: tuple[str, ...] = ()
        for line in range(1, len(rows) + 1):
            path = headings.get(line, path)
            underline = line - 1 in headings and rows[line - 1] in ("=", "-")
            if line >= chunk.first_line and line not in headings and not underline and rows[line - 1].strip():
                break
            if line > chunk.last_line:
                break
        last = [headings[line] for line in sorted(headings) if line <= chunk.last_line]
        assert chunk.headings in (path, *last[-1:])


@pytest.mark.parametrize("heading", ["# Title\n\n", "Title\n=====\n\n", ""])
def test_a_section_of_a_thousand_words_gives_three_chunks(heading: str) -> None:
    text = heading + words(1000)
    chunks = split_markdown(text)
    assert len(chunks) == 3
    assert chunks[-1].text.endswith("w999")
    for one, following in pairwise(chunks):
        assert one.text.split()[-OVERLAP_WORDS:] == following.text.split()[:OVERLAP_WORDS]


def test_a_section_at_the_limit_stays_whole_and_one_word_more_splits_it() -> None:
    assert len(split_markdown(words(400))) == 1
    assert len(split_markdown(words(401))) == 2


def test_sections_are_parted_at_atx_and_setext_headings_and_never_inside_a_fence() -> None:
    fence = "```sh\n# a comment\n## another\nNot\n===\n```"
    text = f"# One\n\n{words(60)}\n\n{fence}\n\nTwo\n---\n\n{words(60)}\n"
    assert [chunk.heading for chunk in split_markdown(text)] == ["One", "One > Two"]
    assert fence in split_markdown(text)[0].text


def test_a_heading_in_a_list_a_quotation_or_html_is_no_section() -> None:
    text = f"# One\n\n> # quoted\n\n- # listed\n\n<div>\n# html\n</div>\n\n{words(60)}"
    assert {chunk.heading for chunk in split_markdown(text)} == {"One"}


def test_the_path_has_the_text_of_headings_without_their_marks() -> None:
    text = f"# The `api` of *ours*\n\n### [Link](x.md) &amp; more ###\n\n{words(60)}"
    assert split_markdown(text)[0].headings == ("The api of ours", "Link & more")


def test_a_heading_closes_those_of_its_level_and_below() -> None:
    body = words(60)
    text = f"# A\n{body}\n## B\n{body}\n### C\n{body}\n## D\n{body}\n# E\n{body}"
    assert [chunk.heading for chunk in split_markdown(text)] == ["A", "A > B", "A > B > C", "A > D", "E"]


def test_a_small_section_goes_with_a_neighbour() -> None:
    text = f"# A\n\n{words(60)}\n\n## B\n\n{words(60)}\n\n## C\n\ntiny\n\n# D\n\n{words(60)}"
    chunks = split_markdown(text)
    assert [chunk.heading for chunk in chunks] == ["A", "A > B", "D"]
    assert chunks[1].text.endswith("tiny")  # the one it shares headings with


@splitter
@given(st.lists(st.integers(0, 49), min_size=2, max_size=40))
def test_no_small_section_stands_alone_beside_others(sizes: list[int]) -> None:
    chunks = split_markdown("\n\n".join(f"## H{place}\n\n{words(size)}" for place, size in enumerate(sizes)))
    assert len(chunks) == 1 or all(len(chunk.text.split()) >= FEWEST_WORDS for chunk in chunks)


def test_a_lone_small_section_is_a_chunk() -> None:
    assert [chunk.text for chunk in split_markdown("# A\n\nshort\n")] == ["# A\n\nshort"]


@pytest.mark.parametrize("text", ["", "\n \t\n", "\u2003\n"])
def test_a_blank_document_has_no_chunk(text: str) -> None:
    assert split_markdown(text) == []
    assert split_plain(text) == []


def test_front_matter_is_no_heading_and_goes_with_what_follows() -> None:
    text = f"---\ntitle: 'My page'\ntags: [a]\n---\n\n# Start\n\n{words(60)}"
    (chunk,) = split_markdown(text)
    assert (chunk.heading, chunk.first_line) == ("Start", 1)
    assert chunk.text.startswith("---\ntitle:")


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    text = f"---\n\n# One\n\n{words(60)}\n\n---\n\n# Two\n\n{words(60)}"
    assert [chunk.heading for chunk in split_markdown(text)] == ["One", "Two"]


def table(rows: int) -> str:
    return "| name | value |\n|--|--|\n" + "\n".join(f"| r{number} | {number} |" for number in range(rows))


@pytest.mark.parametrize("before", [200, 330, 360, 399])
def test_a_table_that_fits_is_kept_whole(before: int) -> None:
    text = f"# A\n\n{words(before)}\n\n{table(30)}\n\n{words(500)}"
    chunks = split_markdown(text)
    assert any(table(30) in chunk.text for chunk in chunks)
    assert_covers(text, chunks)
    partly = [chunk for chunk in chunks if "| r" in chunk.text and table(30) not in chunk.text]
    assert partly == []


def test_a_table_that_does_not_fit_is_split() -> None:
    text = f"# A\n\n{table(300)}"
    chunks = split_markdown(text)
    assert len(chunks) > 1
    assert_covers(text, chunks)


def test_a_script_without_spaces_is_measured_in_characters() -> None:
    text = "# 見出し\n\n" + "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    chunks = split_markdown(text)
    assert [len(chunk.text) for chunk in chunks[1:-1]] == [400]
    assert_covers(text, chunks)
    assert len(split_markdown("# 一\n\n" + "あ" * 60 + "\n\n# 二\n\n" + "い" * 60)) == 2


def test_a_word_longer_than_a_chunk_is_split_too() -> None:
    text = "# A\n\n" + LONG * 4
    chunks = split_markdown(text)
    assert all(len(chunk.text) <= MOST_CHARACTERS for chunk in chunks)
    assert_covers(text, chunks)


def test_lines_count_from_one_and_include_the_last() -> None:
    text = f"\n\n# A\n\n{words(60)}\n\n# B\n{words(60)}\nend\n"
    assert [(chunk.first_line, chunk.last_line) for chunk in split_markdown(text)] == [(3, 5), (7, 9)]


def test_plain_text_is_split_by_paragraphs() -> None:
    text = f"{words(60)}\n{words(5)}\n \n{words(70)}\n\n\ntiny\n"
    assert [len(chunk.text.split()) for chunk in split_plain(text)] == [65, 71]
    assert split_plain("# no heading")[0].headings == ()


def test_passages_cover_a_chunk_below_its_headings() -> None:
    chunk = Chunk(("A", "B"), 1, 9, words(300))
    read = passages(chunk)
    assert all(one.startswith("A > B\n") for one in read)
    assert {word for one in read for word in one.split()[3:]} == set(words(300).split())
    assert all(len(one.split()) <= 83 for one in read)


def test_the_title_of_a_document_stands_above_its_passages_once() -> None:
    assert passages(Chunk(("A", "B"), 1, 9, "text"), "A") == ["A > B\ntext"]
    assert passages(Chunk(("A", "B"), 1, 9, "text"), "The title") == ["The title > A > B\ntext"]
    assert passages(Chunk((), 1, 9, "text"), "notes.txt") == ["notes.txt\ntext"]
    assert passages(Chunk((), 1, 9, "text")) == ["text"]


@splitter
@given(DOCUMENT)
def test_passages_end_for_any_text(text: str) -> None:
    for chunk in split_plain(text):
        read = passages(chunk)
        assert read[0].startswith(chunk.text[:1])
        assert read[-1].endswith(chunk.text[-1:])


def test_a_large_document_is_split_in_time_that_grows_evenly() -> None:
    text = "\n\n".join(f"## H{number}\n\n{words(30)}" for number in range(5000))
    assert len(split_markdown(text)) > 2000

"""A document in the panes: open at its chunk, wherever that stands by now."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.documents import DocumentHit, DocumentText
from prima_tui.tui.section_document import CHUNK, chunk_place, facts_document, fence_after, section_document

TEXT = "# A\n\none\n\n# B\n\ntwo\nthree\n\n# A\n\none\n"


def hit(text: str, first: int, last: int) -> DocumentHit:
    return DocumentHit("a.md", "A", "A", first, last, text, 1.0)


def test_the_chunk_stands_between_marks_and_the_document_opens_there() -> None:
    document = section_document(DocumentText("a.md", TEXT), hit("# B\n\ntwo\nthree", 5, 8), ("two",))
    texts = [block.text for block in document.blocks]
    assert texts == ["# A\n\none", "lines 5–8", "# B\n\ntwo\nthree", "the document goes on", "# A\n\none"]
    assert document.start == document.starts[CHUNK] == 1
    assert document.matches == {2: 1}


def test_of_equal_chunks_the_one_at_the_lines_is_shown() -> None:
    assert TEXT[slice(*chunk_place(TEXT, hit("# A\n\none", 10, 12)))].strip() == "# A\n\none"
    assert chunk_place(TEXT, hit("# A\n\none", 10, 12))[0] == TEXT.rindex("# A")
    assert chunk_place(TEXT, hit("# A\n\none", 1, 3))[0] == 0


def test_a_chunk_that_moved_is_found_where_it_is_now() -> None:
    moved = "new line\n" * 7 + TEXT
    begin, end = chunk_place(moved, hit("two\nthree", 7, 8))
    assert moved[begin:end] == "two\nthree\n"


def test_a_chunk_that_is_gone_is_shown_by_its_lines() -> None:
    begin, end = chunk_place(TEXT, hit("no such text", 7, 8))
    assert TEXT[begin:end] == "two\nthree\n"
    begin, end = chunk_place("short", hit("no such text", 70, 80))
    assert 0 <= begin <= end <= 5


def test_a_chunk_that_begins_in_fenced_code_is_shown_as_code() -> None:
    text = "```python\na = 1\nb = 2\n```\n"
    assert fence_after("```python\na = 1\n") == "python"
    assert fence_after(text) is None
    document = section_document(DocumentText("a.md", text), hit("b = 2", 3, 3), ())
    assert [block.fence for block in document.blocks if block.exchange == CHUNK] == [None, "python"]


def test_what_cannot_be_read_says_so() -> None:
    document = section_document(DocumentText("a.md", "", problem="a.md is gone\x1b[2J"), hit("x", 1, 1), ())
    assert "\x1b" not in document.blocks[0].text
    assert "is gone" in document.blocks[0].text


def test_the_facts_name_file_lines_scores_and_headings() -> None:
    one = msgspec.structs.replace(hit("x", 5, 8), keyword_score=24.0, similarity=0.61, stale=True)
    text = "\n".join(
        block.text for block in facts_document(DocumentText("a.md", TEXT, ((1, "A", 1), (2, "B", 5))), one, ()).blocks
    )
    for part in ("`a.md`, lines 5–8", "by word 24", "by meaning 0.61", "has changed", "- A  `1`", "  - B  `5`"):
        assert part in text


@given(
    text=st.text(alphabet="ab \n`#", max_size=80),
    start=st.integers(0, 80),
    length=st.integers(1, 20),
    shift=st.integers(-3, 3),
)
def test_a_chunk_is_always_found_whole(text: str, start: int, length: int, shift: int) -> None:
    chunk = text[start : start + length]
    if not chunk.strip():
        return
    first = max(1, text[:start].count("\n") + 1 + shift)
    begin, end = chunk_place(text, hit(chunk, first, first + chunk.count("\n")))
    assert chunk in text[begin:end]

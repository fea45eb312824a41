"""Parts of many texts, looked for in all of them at once, against plain substring search."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.many_texts import ManyTexts, utf8

text = st.text(alphabet="ab é東\U0001f469\ud800", max_size=5)


@given(st.lists(text, max_size=6), text)
def test_what_is_found_is_what_plain_search_finds(texts: list[str], part: str) -> None:
    many, wanted = ManyTexts.of(texts), utf8(part)
    assert many.containing(wanted).tolist() == [place for place, one in enumerate(texts) if part in one]
    assert many.starting(wanted).tolist() == [place for place, one in enumerate(texts) if one.startswith(part)]
    assert many.ending(wanted).tolist() == [place for place, one in enumerate(texts) if one.endswith(part)]
    assert many.equal(wanted).tolist() == [place for place, one in enumerate(texts) if one == part]


def test_a_part_is_never_found_across_two_texts() -> None:
    assert ManyTexts.of(["ab", "cd", "bc"]).containing(b"bc").tolist() == [2]

"""Parts of many texts, looked for in all of them at once, against plain substring search."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model import many_texts
from prima_tui.model.many_texts import ManyTexts, SortedTexts, utf8

text = st.text(alphabet="ab é東\U0001f469\ud800", max_size=5)


@given(st.lists(text, max_size=6), text)
def test_what_is_found_is_what_plain_search_finds(texts: list[str], part: str) -> None:
    many, wanted = ManyTexts.of(texts), utf8(part)
    assert many.containing(wanted).tolist() == [place for place, one in enumerate(texts) if part in one]
    assert many.ending(wanted).tolist() == [place for place, one in enumerate(texts) if one.endswith(part)]


@given(st.sets(text, max_size=8), text)
def test_what_is_found_in_order_is_what_plain_search_finds(texts: set[str], part: str) -> None:
    ordered = sorted(map(utf8, texts))
    many, wanted = SortedTexts.of(one.decode("utf-8", "surrogatepass") for one in ordered), utf8(part)
    assert [*range(*many.starting(wanted))] == [place for place, one in enumerate(ordered) if one.startswith(wanted)]
    assert [*range(*many.equal(wanted))] == [place for place, one in enumerate(ordered) if one == wanted]


@given(st.lists(text, max_size=6), text, st.sampled_from([1, 10**6]))
def test_a_part_that_stands_at_many_places_is_found_as_well(texts: list[str], part: str, many: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_texts, "_MANY", many)
        found = ManyTexts.of(texts).containing(utf8(part))
    assert found.tolist() == [place for place, one in enumerate(texts) if part in one]


@given(st.lists(text, max_size=6), st.lists(text, max_size=8), st.sampled_from([1, 32]))
def test_a_part_that_becomes_longer_and_shorter_is_found_as_if_nothing_else_had_been(
    texts: list[str], parts: list[str], many: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_texts, "_MANY", many)
        known = ManyTexts.of(texts)
        for part in parts:
            for end in (*range(len(part) + 1), len(part) // 2):
                found = known.containing(utf8(part[:end])).tolist()
                assert found == [place for place, one in enumerate(texts) if part[:end] in one]


def test_what_becomes_longer_is_looked_for_where_its_beginning_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ManyTexts.of(["login fails", "the cookie", "log of it", *["-" * 100] * 20])
    assert known.containing(b"log").tolist() == [0, 2]
    monkeypatch.setattr(known, "_all_places", None)
    assert known.containing(b"logi").tolist() == [0]
    assert known.containing(b"log").tolist() == [0, 2]
    with pytest.raises(TypeError):
        known.containing(b"cook")


def test_a_part_is_never_found_across_two_texts() -> None:
    assert ManyTexts.of(["ab", "cd", "bc"]).containing(b"bc").tolist() == [2]

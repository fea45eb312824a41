"""The index of words on the disk, against plain substring search."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.errors import StoreUnusable
from prima_tui.index import word_index, word_writer
from prima_tui.index.word_index import WordIndex, cut
from prima_tui.index.word_writer import WordIndexWriter
from prima_tui.model.many_texts import utf8

LETTERS = "ab1 \n._é\u0301ß東京カ한\U0001f469\u200d\ud800\x00"
text = st.text(alphabet=LETTERS, max_size=12)
word = st.text(alphabet=LETTERS, min_size=1, max_size=5)


def written(path: Path, messages: list[str]) -> WordIndex:
    writer = WordIndexWriter()
    writer.add(0, 0, list(enumerate(messages)))
    writer.write(path, [("a.jsonl", b"1")])
    return WordIndex.open(path)


@given(text)
def test_pieces_joined_are_the_text(one: str) -> None:
    assert b"".join(cut(utf8(one))) == utf8(one)


@settings(deadline=None)
@given(st.lists(text, max_size=8), st.lists(word, min_size=1, max_size=4), st.sampled_from([1, 3, 10**6]))
def test_the_messages_found_are_those_that_contain_the_text(messages: list[str], words: list[str], limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_writer, "_FREQUENT_PLACES", limit)
        patch.setattr(word_writer, "_SORTED_AT_ONCE", 32)
        index = written(Path(folder, "words"), messages)
        for one in words:
            assert index.holding(one).tolist() == [one in message for message in messages], one


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab .", min_size=1, max_size=40), min_size=1, max_size=4), st.data())
def test_every_part_of_a_message_is_found_in_it(messages: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = written(Path(folder, "words"), messages)
        whole = data.draw(st.sampled_from(messages))
        start = data.draw(st.integers(0, len(whole) - 1))
        part = whole[start : data.draw(st.integers(start + 1, len(whole)))]
        assert index.holding(part).tolist() == [part in message for message in messages]


def test_a_file_that_is_not_whole_is_no_index(tmp_path: Path) -> None:
    written(tmp_path / "whole", ["some words", "more"])
    data = (tmp_path / "whole").read_bytes()
    for place, damaged in enumerate([b"", data[:-1], data[:40], b"x" + data[1:], data + b"x"]):
        path = tmp_path / f"damaged {place}"
        path.write_bytes(damaged)
        with pytest.raises(StoreUnusable):
            WordIndex.open(path)
    with pytest.raises(StoreUnusable):
        WordIndex.open(tmp_path / "missing")


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    written(tmp_path / "words", ["private"])
    assert (tmp_path / "words").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not Path("/proc/self/smaps").is_file(), reason="the system does not tell what is in memory")
def test_what_searches_read_of_the_file_does_not_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "_TOUCHED_MOST", 1 << 20)
    # a word that follows another one, in places all over a file of many megabytes
    messages = [f"{'filler ' * 200}a{number % 7} b{number % 11} end" for number in range(8_000)]
    index = written(tmp_path / "words", messages)
    most = 0
    for number in range(40):
        index.holding(f"a{number % 7} b{number % 9}{' ' * (number % 2)}")
        most = max(most, resident(tmp_path / "words"))
    assert most < (tmp_path / "words").stat().st_size / 2


def resident(path: Path) -> int:
    """Return how many bytes of a mapped file are in this process's memory."""
    _before, _path, after = Path("/proc/self/smaps").read_text().partition(str(path))
    return int(after.split("Rss:", 1)[1].split()[0]) * 1024

"""Messages looked for in word indexes, in the table, or in both: always what the table alone finds."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.index.messages import MessageTable
from prima_tui.index.part_matches import PartMatches
from prima_tui.index.word_index import WordIndex, state_number
from prima_tui.index.word_view import views_of
from prima_tui.index.word_writer import WordIndexWriter
from prima_tui.sources.reading import Messages

text = st.text(alphabet="ab é東\n.", min_size=1, max_size=8)
transcript = st.lists(st.tuples(st.integers(0, 4), text), max_size=4).map(sorted)
file = st.lists(transcript, min_size=1, max_size=2)
words = st.lists(st.text(alphabet="ab é東.", min_size=1, max_size=3), min_size=1, max_size=3, unique=True)
Files = dict[str, list[list[tuple[int, str]]]]


def messages(transcripts: list[list[tuple[int, str]]]) -> list[Messages]:
    return [
        Messages([place for place, _text in one], [False] * len(one), [text for _place, text in one])
        for one in transcripts
    ]


def table_of(files: Files) -> MessageTable:
    table = MessageTable()
    table.add((path, messages(transcripts)) for path, transcripts in files.items())
    return table


def index_of(path: Path, files: Files) -> WordIndex:
    writer = WordIndexWriter()
    for place, transcripts in enumerate(files.values()):
        for number, one in enumerate(transcripts):
            writer.add(place, number, one)
    writer.write(path, [(name, b"state") for name in files])
    return WordIndex.open(path)


def rows(found: PartMatches) -> list[tuple[int, list[int], int]]:
    return sorted(zip(found.parts.tolist(), found.counts.tolist(), found.best.tolist(), strict=True))


@settings(deadline=None, max_examples=60)
@given(
    files=st.dictionaries(st.sampled_from("abcd"), file, min_size=1),
    indexed=st.lists(st.sets(st.sampled_from("abcd")), max_size=3),
    changed=st.dictionaries(st.sampled_from("abcd"), file, max_size=1),
    removed=st.sets(st.sampled_from("abcd"), max_size=1),
    left_out=st.lists(st.tuples(st.integers(0, 4), st.frozensets(st.integers(0, 4), max_size=2)), max_size=2),
    asked=st.lists(words, min_size=1, max_size=3),
    within=st.none() | st.sets(st.integers(0, 6)),
)
def test_what_is_found_is_what_the_table_alone_finds(
    files: Files,
    indexed: list[set[str]],
    changed: Files,
    removed: set[str],
    left_out: list[tuple[int, frozenset[int]]],
    asked: list[list[str]],
    within: set[int] | None,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain, table = table_of(files), table_of(files)
        parts = [(path, some) for path, some in files.items()]
        indexes = [
            index_of(Path(folder, str(number)), {path: some for path, some in parts if path in chosen})
            for number, chosen in enumerate(indexed)
        ]
        assert table.use(indexes, dict.fromkeys(files, b"state")) == set()
        for one in (plain, table):
            one.add((path, messages(transcripts)) for path, transcripts in changed.items())
            one.remove(removed)
            one.leave_out(left_out)
        held = set().union(*indexed) & files.keys()
        assert {path for path in files if table.is_indexed(path)} == held - changed.keys() - removed
        for some in asked:
            whole = " ".join(some)
            assert rows(table.find(some, whole, within=within)) == rows(plain.find(some, whole, within=within)), some
            for part in range(6):
                for outside in (frozenset[int](), frozenset({0, 2})):
                    expected = plain.contains_outside(part, some, outside)
                    assert table.contains_outside(part, some, outside) == expected
        plain.close()
        table.close()


def test_a_file_in_another_state_is_not_looked_for_in_the_index(tmp_path: Path) -> None:
    table = table_of({"a": [[(0, "new text")]]})
    index = index_of(tmp_path / "words", {"a": [[(0, "old text")]]})
    table.use([index], {"a": b"another state"})
    assert len(table.find(["old"], "old")) == 0
    assert len(table.find(["new"], "new")) == 1
    table.close()


def test_text_in_an_index_takes_no_room_in_the_table_and_is_told_when_the_index_goes(tmp_path: Path) -> None:
    files: Files = {"a": [[(0, "some text")]], "b": [[(0, "other text")]]}
    table = table_of(files)
    assert table.plain_bytes() == 19
    table.use([index_of(tmp_path / "words", {"a": files["a"]})], {"a": b"state", "b": b"state"})
    assert table.plain_bytes() == 10
    assert table.use([], {}) == {"a"}
    assert len(table.find(["text"], "text")) == 1
    table.close()


def test_each_file_counts_in_the_first_index_that_holds_it(tmp_path: Path) -> None:
    first = index_of(tmp_path / "first", {"b": [[(0, "some words")]], "a": [[(0, "other words")]]})
    second = index_of(tmp_path / "second", {"c": [[(0, "more words")]], "a": [[(0, "other words")]]})
    states = np.array([state_number(path, b"state") for path in "abcd"], np.uint64)
    views, held = views_of([first, second], states, np.array([10, 20, 30, 40]))
    assert held.tolist() == [True, True, True, False]
    assert [view.find(["words"], "words", None).parts.tolist() for view in views] == [[20, 10], [30]]
    assert views_of([first], states[3:], np.array([40])) == ([], [False])
    assert views_of([first], states[:0], np.zeros(0, np.int64))[0] == []


def test_the_database_of_the_text_goes_when_an_index_holds_all_of_it_and_a_search_under_way_keeps_it(
    tmp_path: Path,
) -> None:
    files = {"a": [[(0, "red and blue")]], "b": [[(0, "only blue")]]}
    table = table_of(files)
    searching = table.cursor()
    assert searching is not None
    database = weakref.ref(table.connection)
    table.use([index_of(tmp_path / "words", files)], {"a": b"state", "b": b"state"})
    assert database() is None
    assert table.plain_bytes() == 0 and table._connection is None, "asking for its size makes no database"
    assert searching.execute("SELECT count(*) FROM messages").fetchall() == [(2,)]
    assert len(table.find(["blue"], "blue", searching)) == 2
    table.add([("c", messages([[(0, "blue again")]]))])
    assert len(table.find(["blue"], "blue")) == 3
    table.close()

"""The message table: which messages count, how often, and which one is the best."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.index.messages import MessageTable
from prima_tui.sources.reading import Messages


@pytest.fixture
def table() -> Iterator[MessageTable]:
    made = MessageTable()
    yield made
    made.close()


def messages(*texts: str) -> Messages:
    """One message for each text, each in an exchange of its own."""
    return Messages(list(range(len(texts))), [True] * len(texts), list(texts))


def only(table: MessageTable, words: list[str], whole: str) -> tuple[tuple[int, ...], int]:
    """Counts and best place of the one part that is found."""
    matches = table.find(words, whole)
    assert len(matches) == 1
    return tuple(matches.counts[0].tolist()), int(matches.best[0])


def found(table: MessageTable, *words: str) -> dict[int, tuple[int, ...]]:
    matches = table.find(words, " ".join(words))
    return {part: tuple(counts) for part, counts in zip(matches.parts, matches.counts.tolist(), strict=True)}


def test_a_word_counts_once_for_each_message_that_contains_it(table: MessageTable) -> None:
    table.add([("a", [messages("room room", "bedroom", "house")]), ("b", [messages("house")])])
    first = table.part("a", 0)
    assert found(table, "room") == {first: (2,)}
    assert found(table, "room", "house") == {first: (2, 1), table.part("b", 0): (0, 1)}


def test_no_words_find_nothing(table: MessageTable) -> None:
    table.add([("a", [messages("text")])])
    assert len(table.find([], "")) == 0


def test_the_best_exchange_has_most_words_then_the_whole_query_then_comes_first(table: MessageTable) -> None:
    texts = ["red", "blue and red", "red blue", "red blue again"]
    table.add([("a", [messages(*texts)])])
    assert only(table, ["red", "blue"], "red blue")[1] == 2
    assert only(table, ["red", "blue"], "never said")[1] == 1
    assert only(table, ["blue"], "blue")[1] == 1


def test_each_transcript_of_a_file_is_a_part_of_its_own(table: MessageTable) -> None:
    table.add([("a", [messages("one"), messages("two"), messages("one")])])
    assert set(found(table, "one")) == {table.part("a", 0), table.part("a", 2)}


def test_a_file_that_is_added_again_replaces_what_was_known(table: MessageTable) -> None:
    table.add([("a", [messages("old"), messages("older")])])
    table.add([("a", [messages("new")])])
    assert found(table, "old") == {}
    assert set(found(table, "new")) == {table.part("a", 0)}
    assert table.part("a", 1) is None


def test_removed_files_are_found_no_more(table: MessageTable) -> None:
    table.add([("a", [messages("word")]), ("b", [messages("word")])])
    table.remove(["a", "unknown"])
    assert set(found(table, "word")) == {table.part("b", 0)}
    assert table.part("a", 0) is None


def test_reserved_numbers_are_those_of_the_messages_that_come_later(table: MessageTable) -> None:
    table.reserve([("a", 2)])
    numbers = [table.part("a", 0), table.part("a", 1)]
    assert None not in numbers
    assert found(table, "word") == {}


def test_what_is_left_out_does_not_count_until_it_does_again(table: MessageTable) -> None:
    table.add([("a", [messages("word", "word", "word")])])
    part = table.part("a", 0)
    assert part is not None
    table.leave_out([(part, frozenset({0, 2}))])
    assert only(table, ["word"], "word") == ((1,), 1)
    table.leave_out([(part, frozenset({0, 1, 2}))])
    assert len(table.find(["word"], "word")) == 0
    table.leave_out([])
    assert found(table, "word") == {part: (3,)}


def test_contains_outside_looks_beside_the_given_exchanges(table: MessageTable) -> None:
    table.add([("a", [messages("copied word", "own text")])])
    part = table.part("a", 0)
    assert part is not None
    assert table.contains_outside(part, ["word"], frozenset())
    assert not table.contains_outside(part, ["word"], frozenset({0}))
    assert table.contains_outside(part, ["word", "own"], frozenset({0}))


@pytest.mark.parametrize(
    "word", ["%", "_", "'", '"', "\\", "$w0", ";--", "a\x00b", "\x1b[31m", "👩‍💻", "שלום", "東京", "[a-z]+"]
)
def test_every_character_is_only_itself(table: MessageTable, word: str) -> None:
    table.add([("a", [messages(f"before {word} after", "nothing of the kind")])])
    assert only(table, [word], word) == ((1,), 0)


def test_many_and_very_long_words_are_words_too(table: MessageTable) -> None:
    table.add([("a", [messages("x" * 20_000, *(f"word{n}" for n in range(400)))])])
    words = ["x" * 10_000, *(f"word{n}" for n in range(400))]
    counts, _best = only(table, words, " ".join(words))
    assert counts[0] == 1
    assert all(counts)


text = st.text(alphabet="ab é\u0301ßI%_'", max_size=8)


def test_closing_does_not_fail_while_a_search_runs(table: MessageTable) -> None:
    table.add([("a", [messages(*map(str, range(20_000)))])])
    begun, over = threading.Event(), threading.Event()
    failed = []

    def search() -> None:
        cursor = table.connection  # what DuckDB calls busy
        begun.set()
        try:
            while not over.is_set():
                cursor.execute("SELECT count(*) FROM messages WHERE contains(folded, '999')").fetchall()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=search)
    thread.start()
    begun.wait()
    table.close()
    over.set()
    thread.join()
    assert all("closed" in str(error).lower() for error in failed)


@settings(max_examples=40, deadline=None)
@given(
    files=st.lists(st.lists(text, max_size=4), max_size=4),
    words=st.lists(text.filter(str.strip), min_size=1, max_size=3, unique=True),
)
def test_counts_are_those_of_plain_substring_search(files: list[list[str]], words: list[str]) -> None:
    table = MessageTable()
    table.add((str(place), [messages(*texts)]) for place, texts in enumerate(files))
    expected = {
        table.part(str(place), 0): tuple(sum(word in text for text in texts) for word in words)
        for place, texts in enumerate(files)
        if any(word in text for word in words for text in texts)
    }
    assert found(table, *words) == expected
    table.close()

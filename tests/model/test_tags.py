"""Tags from changed files and from words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.tags import LANGUAGE_OF_EXTENSION, TOPICS, language_tags, topic_tags


def test_each_type_of_code_file_gives_its_language_once() -> None:
    assert language_tags(["src/a.py", "/b/c.PY", "web/App.tsx", "x/lib.rs"]) == ("python", "rust", "typescript")


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        ("Dockerfile", "dockerfile"),
        ("build/Dockerfile", "dockerfile"),
        ("api.dockerfile", "dockerfile"),
        ("Makefile", "make"),
        ("x/CMakeLists.txt", "cmake"),
        ("C:\\work\\Main.java", "java"),
        ("types.d.ts", "typescript"),
        ("nb.ipynb", "python"),
        (".bashrc", "shell"),
    ],
)
def test_special_names_and_windows_paths_are_known(path: str, tag: str) -> None:
    assert language_tags([path]) == (tag,)


@pytest.mark.parametrize("path", ["README.md", "py", ".py", "data.json", "a.py/notes", "", "x.", "src/"])
def test_other_files_give_no_tag(path: str) -> None:
    assert language_tags([path]) == ()


def test_the_table_is_a_proper_one() -> None:
    assert len(LANGUAGE_OF_EXTENSION) >= 60
    assert len(set(LANGUAGE_OF_EXTENSION.values())) >= 40


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Fix it", ("bugfix",)),
        ("it was fixed", ("bugfix",)),
        ("a bug", ("bugfix",)),
        ("two errors:", ("bugfix",)),
        ("we refactored", ("refactor",)),
        ("restructuring", ("refactor",)),
        ("a test", ("testing",)),
        ("TESTS!", ("testing",)),
        ("(testing)", ("testing",)),
        ("see test_login.py", ("testing",)),
        ("implement it", ("feature",)),
        ("the implementation", ("feature",)),
        ("added", ("feature",)),
        ("add", ("feature",)),
        ("test the fix, refactor, add", TOPICS),
        ("添加test了", ("testing",)),
    ],
)
def test_topics_are_told_from_words(text: str, tags: tuple[str, ...]) -> None:
    assert topic_tags([text]) == tags


@pytest.mark.parametrize(
    "text",
    [
        "latest",
        "address",
        "additional",
        "contest",
        "prefix",
        "suffix",
        "debug",
        "terror",
        "fixture",
        "testimony",
        "run_tests",
        "runTests",
        "étest",
        "e\u0301test",
        "2test",
        "fi x",
        "",
        "addition",
        "attestation",
    ],
)
def test_a_word_counts_only_from_its_start_and_as_a_whole(text: str) -> None:
    assert topic_tags([text]) == ()


def test_texts_are_read_no_further_than_needed() -> None:
    def texts() -> Iterator[str]:
        yield "fix the test"
        yield "add and refactor"
        raise AssertionError("read on")

    assert topic_tags(texts()) == TOPICS


@given(st.lists(st.text(), max_size=4))
def test_the_tags_of_several_texts_are_those_of_each(texts: list[str]) -> None:
    together = set(topic_tags(texts))
    assert together == {tag for text in texts for tag in topic_tags([text])}


@given(st.lists(st.text(), max_size=4))
def test_any_path_is_taken(paths: list[str]) -> None:
    assert list(language_tags(paths)) == sorted(set(language_tags(paths)))


@pytest.mark.timeout(60)
def test_a_large_conversation_without_a_topic_is_searched_to_its_end() -> None:
    assert topic_tags(["the latest address of the contest and nothing else\n" * 200_000]) == ()

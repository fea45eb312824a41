"""Thirty questions about the project's own documents: how often the first hit holds the answer.

The documents change with the product, so each floor leaves room for three questions below what was last measured
(keyword 18, semantic 17, combined 25; first chunk 18, among the first six 26).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from prima_tui.config import Settings, paths_below
from prima_tui.documents_memory import Documents
from prima_tui.index.embedder import Embedder
from prima_tui.model.hits import Mode

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = json.loads((Path(__file__).parent / "questions.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Documents]:
    folder = tmp_path_factory.mktemp("own-documents")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "assets", folder / "assets")
    Documents.init(folder)
    made = Documents(folder, Settings(paths=paths_below(folder / ".home")), model=embedder)
    assert made.index().finished
    yield made
    made.close()


def test_each_question_has_its_answer_in_the_documents() -> None:
    assert len(QUESTIONS) == 30
    for one in QUESTIONS:
        assert one["says"].lower() in (ROOT / one["file"]).read_text(encoding="utf-8").lower(), one["question"]


@pytest.mark.parametrize(("mode", "at_least"), [("keyword", 15), ("semantic", 14), ("combined", 22)])
def test_the_first_document_is_the_one_with_the_answer(documents: Documents, mode: Mode, at_least: int) -> None:
    right = sum([hit.path for hit in documents.search(one["question"], mode, 1)] == [one["file"]] for one in QUESTIONS)
    assert right >= at_least


def test_the_first_chunks_for_a_question_hold_its_answer(documents: Documents) -> None:
    first = among_six = 0
    for one in QUESTIONS:
        hits = documents.find(one["question"], limit=6, every_chunk=True).hits
        holds = [hit.path == one["file"] and one["says"].lower() in hit.text.lower() for hit in hits]
        first += holds[:1] == [True]
        among_six += any(holds)
    assert first >= 15
    assert among_six >= 23

"""Thirty questions about a project's documents: how often the first hit holds the answer.

The documents are this project's own as they stood when the questions were written (``project`` beside this file) and
the demo's conversations, so that a change of the README changes no figure, and a change of the search does.
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

HERE = Path(__file__).resolve().parent
DEMO = HERE.parents[1] / "assets" / "demo"
QUESTIONS = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Documents]:
    folder = tmp_path_factory.mktemp("documents") / "project"
    shutil.copytree(HERE / "project", folder)
    shutil.copytree(DEMO, folder / "assets" / "demo")
    Documents.init(folder)
    made = Documents(folder, Settings(paths=paths_below(folder / ".home")), model=embedder)
    assert made.index().finished
    yield made
    made.close()


def test_each_question_has_its_answer_in_the_documents(documents: Documents) -> None:
    assert len(QUESTIONS) == 30
    for one in QUESTIONS:
        assert one["says"].lower() in (documents.root / one["file"]).read_text(encoding="utf-8").lower(), one[
            "question"
        ]


@pytest.mark.parametrize(("mode", "at_least"), [("keyword", 17), ("semantic", 20), ("combined", 26)])
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
    assert first >= 21
    assert among_six >= 28

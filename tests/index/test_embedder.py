"""The built-in model: texts read together get the vectors that each has alone."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prima_tui.index.embedder import Embedder

WORDS = ["session", "cookie", "redirect", "login", "error", "value", "query", "index", "cache", "file", "line"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return Embedder(tmp_path_factory.mktemp("cache"))


def _text(number: int, words: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=words))


def _read_together(model: Embedder, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Embed the texts; return those of each run of the model."""
    runs: list[list[str]] = []
    real = Embedder._vectors

    def told(self: Embedder, loaded: Any, some: list[str]) -> list[Any]:
        runs.append(some)
        return list(real(self, loaded, some))

    monkeypatch.setattr(Embedder, "_vectors", told)
    model.embed(texts)
    return runs


def test_texts_read_together_have_the_vectors_that_each_has_alone(model: Embedder) -> None:
    texts = [_text(number, 20 + number % 7) for number in range(12)] + ["", "word", _text(99, 400), "Grüße 你好 😀"]
    together = model.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        alone = model.embed([text])[0]
        assert float(vector @ alone) > 0.99999
        assert np.allclose(vector, alone, atol=1e-4)


def test_short_texts_of_nearly_one_length_are_read_in_one_run(model: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [_text(number, 30) for number in range(12)]
    runs = _read_together(model, texts, monkeypatch)
    assert len(runs) <= len(texts) / 2
    assert sorted(text for run in runs for text in run) == sorted(texts)


def test_texts_that_much_padding_would_make_alike_are_read_alone(
    model: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [_text(number, 10 + 20 * number) for number in range(6)]
    assert sorted(map(len, _read_together(model, texts, monkeypatch))) == [1] * len(texts)


def test_several_threads_that_start_with_it_load_the_model_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Embedder(tmp_path)
    loaded: list[Embedder] = []
    real = Embedder._load

    def told(self: Embedder) -> Any:
        loaded.append(self)
        return real(self)

    monkeypatch.setattr(Embedder, "_load", told)
    threads = [threading.Thread(target=model.embed, args=([_text(number, 9), "two"],)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [model]


@pytest.mark.parametrize("count", [12, 15, 17])
def test_no_worker_is_without_a_text_in_the_last_round(
    model: Embedder, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(model, "workers", 2)
    texts = [_text(number, 30) for number in range(count)]
    runs = _read_together(model, texts, monkeypatch)
    assert len(runs) % 2 == 0
    assert sorted(text for run in runs for text in run) == sorted(texts)

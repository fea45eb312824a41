"""The built-in model leaves the processor to whoever types, and never lets a query wait."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from prima_tui.index import embedder as module
from prima_tui.index.embedder import Embedder


class _Time:
    """A time that moves only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 50.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize("texts", [["one text alone"], ["the first text", "the second text", "and a third one"]])
def test_after_a_key_no_further_text_is_embedded_until_the_keys_rest(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, texts: Sequence[str]
) -> None:
    vectors = embedder.embed(texts)
    time = _Time()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=time.monotonic, sleep=time.sleep))
    embedder.give_way()
    query = embedder.query("the first text")
    assert time.slept == []
    again = embedder.embed(texts)
    assert time.now >= 50.0 + module.REST_SECONDS
    assert np.array_equal(np.array(vectors), np.array(again))
    assert np.isclose(float(query @ query), 1.0, atol=1e-3)
    slept = len(time.slept)
    embedder.embed(texts)
    embedder.give_way()
    embedder.give_way(0.0)  # the screen was left
    embedder.embed(texts)
    assert len(time.slept) == slept

"""The product of small whole numbers: exact, at the ends of their range too, where some processors' kernels are not."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from prima_tui.errors import ModelUnavailable
from prima_tui.index import integer_product as module
from prima_tui.index.integer_product import GREATEST_LEFT, GREATEST_RIGHT, integer_product


@pytest.mark.parametrize(("dimensions", "count"), [(1, 1), (3, 2), (8, 5), (384, 77), (385, 64), (1024, 1000)])
def test_products_are_exact(dimensions: int, count: int) -> None:
    chance = np.random.default_rng(dimensions)
    row = chance.integers(0, GREATEST_LEFT + 1, dimensions).astype(np.uint8)
    columns = chance.integers(-GREATEST_RIGHT, GREATEST_RIGHT + 1, (dimensions, count)).astype(np.int8)
    expected = row.astype(np.int64) @ columns.astype(np.int64)
    assert integer_product(row, columns).tolist() == expected.tolist()


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_greatest_factors_are_multiplied_exactly(sign: int) -> None:
    row = np.full(384, GREATEST_LEFT, np.uint8)
    columns = np.full((384, 40), sign * GREATEST_RIGHT, np.int8)
    assert set(integer_product(row, columns).tolist()) == {sign * 384 * GREATEST_LEFT * GREATEST_RIGHT}


def test_without_the_runtime_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    module._session.cache_clear()
    with pytest.raises(ModelUnavailable, match="ONNX Runtime can't be loaded"):
        integer_product(np.zeros(2, np.uint8), np.zeros((2, 2), np.int8))

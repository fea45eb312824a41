"""Vectors as whole numbers: the true cosine lies within the bounds, whatever the vectors, and the bounds are narrow."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.index.quantised import QuantisedBlock, QuantisedQuery

numbers = st.floats(-1, 1, width=32) | st.sampled_from([0.0, 1.0, -1.0, 1e-30])
vector = st.lists(numbers, min_size=5, max_size=5).map(lambda row: np.array(row, "f4"))


def unit(one: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(one.astype("f8")))
    return (one / length if length else one).astype("f4")


@settings(max_examples=60, deadline=None)
@given(vectors=st.lists(vector, min_size=1, max_size=9), query=vector.filter(lambda one: np.linalg.norm(one) > 1e-6))
def test_the_true_cosine_lies_within_the_bounds(vectors: list[np.ndarray], query: np.ndarray) -> None:
    rows = np.stack([unit(one) for one in vectors])
    bounds = QuantisedBlock(rows).bounds(QuantisedQuery(unit(query)))
    cosines = rows.astype("f8") @ unit(query).astype("f8")
    assert (bounds.lower <= cosines).all()
    assert (bounds.upper >= cosines).all()


def test_the_bounds_are_narrow_and_the_middle_is_nearer_still() -> None:
    chance = np.random.default_rng(4)
    rows = np.stack([unit(one) for one in chance.normal(size=(3000, 384)).astype("f4")])
    for query in rows[:5]:
        bounds = QuantisedBlock(rows).bounds(QuantisedQuery(query))
        assert (bounds.upper - bounds.lower).max() < 0.03
        assert np.abs((bounds.upper + bounds.lower) / 2 - rows @ query).max() < 0.003

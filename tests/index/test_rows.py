"""Rows come into a table as they were given, by either way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.index.connections import in_memory
from prima_tui.index.rows import insert_columns

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_ROWS = st.lists(st.tuples(st.integers(-(2**62), 2**62), st.booleans(), _TEXT), max_size=30)


@pytest.mark.parametrize("with_numpy", [True, False])
@settings(max_examples=40, deadline=None)
@given(rows=_ROWS)
def test_columns_are_inserted_as_they_were_given_with_arrays_and_without(
    with_numpy: bool, rows: list[tuple[int, bool, str]]
) -> None:
    columns: list[list[object]] = [[row[place] for row in rows] for place in range(3)]
    with in_memory(1) as store, pytest.MonkeyPatch.context() as patched:
        patched.setattr("prima_tui.index.rows._arrays_pay", lambda _rows: with_numpy)
        store.execute("CREATE TABLE given (number BIGINT, flag BOOLEAN, text VARCHAR)")
        insert_columns(store, "given", columns)
        assert store.execute("SELECT * FROM given").fetchall() == rows

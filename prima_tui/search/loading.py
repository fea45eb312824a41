"""Getting ready for one search by word, which is more work than the search itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prima_tui.errors import PrimaError
from prima_tui.model.query import parse

if TYPE_CHECKING:
    from prima_tui.index.messages import MessageTable
    from prima_tui.search.library import Library

_THREADS = "OPENBLAS_NUM_THREADS"


def load_search() -> None:
    """Load the modules of a search by word, for a program that was started for one search."""
    if "numpy" not in sys.modules:
        with _without_threads():
            import numpy  # noqa: F401
    from prima_tui.index import word_indexes, word_view  # noqa: F401
    from prima_tui.search import combined, deep  # noqa: F401


def get_ready(text: str, library: Library, table: MessageTable) -> None:
    """Have in memory what a search by word reads from the disk: by searching once, whatever that finds."""
    from prima_tui.search.keyword import search_keyword

    now = datetime.now(UTC).astimezone()
    with suppress(PrimaError):  # the search itself says so
        search_keyword(library, table, parse(text.encode("utf-8", "replace").decode(), now), now)


@contextmanager
def _without_threads() -> Iterator[None]:
    """Have NumPy start no threads for products of matrices: that takes a third of its start, and words need none."""
    if _THREADS in os.environ:
        yield
        return
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]

"""Texts embedded in steps until time is up, so that a long list can be given up at any moment with what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from prima_tui.index.embedder import EmbeddingModel

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector


def embedded_in_steps(
    texts: Mapping[str, str], model: EmbeddingModel, step: int, out_of_time: Callable[[], bool]
) -> Iterator[dict[str, Vector]]:
    """Yield the vectors of texts by their keys, ``step`` at once, in order; end early when time is up.

    The caller tells from what it got whether all is done. Raises ModelUnavailable.
    """
    keys = list(texts)
    for place in range(0, len(keys), step):
        if out_of_time():
            return
        some = keys[place : place + step]
        yield dict(zip(some, model.embed([texts[key] for key in some]), strict=True))

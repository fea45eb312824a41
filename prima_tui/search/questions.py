"""A question as words to look for: those that carry its meaning, and how much of them a text holds. Pure."""

from __future__ import annotations

import math

from prima_tui.index.part_matches import PartMatches
from prima_tui.model.query import Query
from prima_tui.model.text import fold

_EMPTY_WORDS = frozenset(
    word
    for line in (
        "a about an and any are as at be been but by can could did do does for from get had has have how i if in into",
        "is it its me my no not of off on or our should so some than that the their them then there these they this",
        "those to up was we were what when where which who whom whose why will with would you your",
    )
    for word in line.split()
)
_EDGES = ".,:;?!()[]{}<>'\"`‘’“”…。？！¿¡"


def content_words(query: Query) -> list[str]:
    """Return the folded words of a question without those that only hold it together, each once, in order.

    A question of nothing else gives all its words.
    """
    words = [_bare(fold(word)) for word in (*query.words, *query.phrases)]
    words = [word for word in dict.fromkeys(words) if word]
    return [word for word in words if word not in _EMPTY_WORDS] or words


def shares(found: PartMatches, texts: int) -> dict[int, float]:
    """Return for each part how much of the words it holds, from 0 to 1; a word that few texts hold weighs more."""
    holds = found.counts > 0
    weights = [math.log(1 + texts / (1 + count)) for count in holds.sum(axis=0).tolist()]
    shares_held = (holds @ weights) / (sum(weights) or 1.0)
    return dict(zip(found.parts.tolist(), shares_held.tolist(), strict=True))


def _bare(word: str) -> str:
    word = word.strip(_EDGES)
    return word.removesuffix("'s").removesuffix("’s")

"""Words in what tools were given and gave back: every text is looked through, one block expanded at a time.

A text is what one use of a tool was given, or what it gave back. Query words and texts are folded the same way, so
"the text contains the word" is plain search of bytes, since both are UTF-8.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec
import zstandard

from prima_tui.model.hits import Cancel
from prima_tui.sources.reading_tools import ToolBlock

_WINDOW = 2 * 1024 * 1024
"""Bytes searched at a time, since the interpreter lock is held meanwhile."""


class ToolTexts(Protocol):
    """Gives the searchable tool texts of files in slices of (path, transcript number, block)."""

    def __call__(self, paths: Sequence[str], cancel: Cancel) -> Iterable[list[tuple[str, int, ToolBlock]]]: ...


class ToolMatch(msgspec.Struct):
    """What the words of a query found in the tool texts of one transcript."""

    counts: list[int]
    """For each word: how many texts contain it."""
    best: int = 0
    """Place of the exchange whose tool text holds the most of the words, the first such."""
    best_words: int = 0
    """How many different words that text holds."""
    positions: set[int] = msgspec.field(default_factory=set)
    """Places of all exchanges with a text that holds one of the words."""


def find_in_tools(
    blocks: Iterable[list[tuple[str, int, ToolBlock]]],
    words: Sequence[str],
    left_out: dict[tuple[str, int], frozenset[int]],
    cancel: Cancel,
) -> dict[tuple[str, int], ToolMatch]:
    """Return (path, transcript number) to what was found there, for those with at least one word in a text.

    ``words`` are folded; exchanges in ``left_out`` don't count. Raises Cancelled when cancelled meanwhile.
    """
    wanted = [word.encode("utf-8", "surrogatepass") for word in words]
    decompressor = zstandard.ZstdDecompressor()
    found: dict[tuple[str, int], ToolMatch] = {}
    for part in blocks:
        for path, number, block in part:
            cancel.check()
            try:
                data = decompressor.decompress(block.packed)
            except zstandard.ZstdError:
                continue
            held: Counter[int] = Counter()
            skipped = left_out.get((path, number), frozenset())
            per_word = [_texts_with(data, block, word, skipped) for word in wanted]
            if not any(per_word):
                continue
            match = found.setdefault((path, number), ToolMatch([0] * len(wanted)))
            for place, texts in enumerate(per_word):
                match.counts[place] += len(texts)
                held.update(texts)
            for text, count in held.items():
                position = block.positions[text]
                match.positions.add(position)
                if (count, -position) > (match.best_words, -match.best):
                    match.best, match.best_words = position, count
        time.sleep(0)
    return found


def _texts_with(data: bytes, block: ToolBlock, word: bytes, skipped: frozenset[int]) -> list[int]:
    """Return the numbers of the block's texts that contain the word, those of skipped exchanges left out."""
    return [text for text in _numbers(data, block.ends, word) if not skipped or block.positions[text] not in skipped]


def _numbers(data: bytes, ends: Sequence[int], word: bytes) -> Iterator[int]:
    place = _find(data, word, 0)
    while place >= 0:
        # ends are exclusive: a text that ends at or before the place is not the one
        text = bisect_right(ends, place)
        yield text
        place = _find(data, word, ends[text])


def _find(data: bytes, word: bytes, start: int) -> int:
    """Find in windows that overlap by a word."""
    while start < len(data):
        place = data.find(word, start, start + _WINDOW + len(word))
        if place >= 0:
            return place
        start += _WINDOW
        if start < len(data):
            time.sleep(0)
    return -1

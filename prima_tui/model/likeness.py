"""Which texts can be like another one at all: counting letters spares the comparison of most of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

FLOOR = 70
"""Points of rapidfuzz's ``WRatio`` (0 to 100) from which two texts are called alike."""
# Of two texts whose lengths differ by more than this factor, stretches of the longer one give at most 60 points.
_LONGEST = 8.0
# With fewer common letters, as a share of the shorter text, no comparison reaches the floor: stretches of text count
# nine tenths, and 2 * common / (shorter + stretch) must reach 78 hundredths, the stretch being no longer than the
# common letters.
_LEAST_COMMON = 0.6
_GROUPS = 30
"""Groups of characters that are counted: each letter, digits, white space, other ASCII, all others."""


class Letters(msgspec.Struct, frozen=True):
    """The letters of many texts."""

    counts: NDArray[np.uint8]
    """For each text how many characters of each group it holds, 255 for more."""
    lengths: NDArray[np.int64]
    different: NDArray[np.int64]
    """Length of the text's different words, which some comparisons look at alone."""


def letters_of(texts: Sequence[str]) -> Letters:
    """Return the letters of some texts."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    texts_of_bytes = np.repeat(np.arange(len(encoded)), [len(one) for one in encoded])
    groups = _GROUP_OF_BYTE[np.frombuffer(b"".join(encoded), np.uint8)]
    counts = np.bincount(texts_of_bytes * (_GROUPS + 1) + groups, minlength=len(encoded) * (_GROUPS + 1))
    return Letters(
        np.minimum(counts, 255).astype(np.uint8).reshape(-1, _GROUPS + 1)[:, :_GROUPS],
        np.array([len(text) for text in texts], np.int64),
        np.array([_different(text) for text in texts], np.int64),
    )


def _different(text: str) -> int:
    return len(" ".join(dict.fromkeys(text.split())))


def may_be_alike(text: str, letters: Letters) -> NDArray[np.bool_]:
    """Return which texts a comparison with ``text`` may put over the floor."""
    wanted = letters_of([text])
    common = np.minimum(letters.counts, wanted.counts).sum(axis=1, dtype=np.int64)
    shorter, longer = np.minimum(letters.lengths, len(text)), np.maximum(letters.lengths, len(text))
    # a whole word in common is enough
    word = min((len(one) for one in text.split()), default=0)
    least = _LEAST_COMMON * np.minimum(letters.different, wanted.different) - 1
    possible = (common >= np.minimum(least, word)) & (longer <= _LONGEST * shorter)
    kept: NDArray[np.bool_] = possible | (letters.counts == 255).any(axis=1) | (wanted.counts == 255).any()
    return kept


def _groups() -> NDArray[np.int64]:
    """Return the group of each byte; those inside a character have one that isn't counted."""
    groups = np.full(256, _GROUPS - 1, np.int64)
    groups[:0x80] = 28
    groups[0x80:0xC0] = _GROUPS
    groups[ord("a") : ord("z") + 1] = np.arange(26)
    groups[ord("0") : ord("9") + 1] = 26
    groups[[ord(space) for space in " \t\n\r\f\v"]] = 27
    return groups


_GROUP_OF_BYTE = _groups()

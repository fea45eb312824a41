"""How alike two texts can be at most: counting letters spares the comparison of most of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

FLOOR = 70
"""Points of rapidfuzz's ``WRatio`` (0 to 100) from which two texts are called alike."""
Points = NDArray[np.float64]
# What ``WRatio`` gives: texts are compared as they are; their words, sorted, count a little less. When one is longer
# than the other by half, the best stretch of it is compared too, and counts nine tenths. When it is longer still, such
# a stretch gives no more than 60 points.
_OF_WORDS = 0.95
_OF_STRETCH = 0.9
_LONGER = 1.5
_LONGEST = 8.0
_GROUPS = 30
"""Groups of characters that are counted: each letter, digits, white space, other ASCII, all others."""
_SPACE, _SIGN, _OTHER = 27, 28, 29
_INSIDE = _GROUPS
"""The group of bytes inside a character, which are not counted."""
_NO_PAIR = (1 << 10) - 1
_ROUNDING = 1e-9


class Letters(msgspec.Struct, frozen=True):
    """The letters of many texts."""

    counts: NDArray[np.uint8]
    """For each text how many characters of each group it holds, 255 for more."""
    lengths: NDArray[np.int64]
    different: NDArray[np.int64]
    """Length of the text's different words, which some comparisons look at alone."""
    pairs: NDArray[np.uint16]
    """The pairs of ASCII characters inside words, by their groups, text after text."""
    starts: NDArray[np.int64]
    """Where the pairs of each text begin; one more for the end."""

    def with_more(self, more: Letters) -> Letters:
        """Return the letters of these texts and of some more."""
        return Letters(
            np.concatenate((self.counts, more.counts)),
            np.concatenate((self.lengths, more.lengths)),
            np.concatenate((self.different, more.different)),
            np.concatenate((self.pairs, more.pairs)),
            np.concatenate((self.starts[:-1], more.starts + self.starts[-1])),
        )


def letters_of(texts: Sequence[str]) -> Letters:
    """Return the letters of some texts."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    sizes = np.array([len(one) for one in encoded], np.int64)
    groups = _GROUP_OF_BYTE[np.frombuffer(b"".join(encoded), np.uint8)]
    of_text = np.repeat(np.arange(len(encoded)), sizes)
    counts = np.bincount(of_text * (_GROUPS + 1) + groups, minlength=len(encoded) * (_GROUPS + 1))
    counts = counts.reshape(-1, _GROUPS + 1)[:, :_GROUPS]
    lengths = counts.sum(axis=1)
    different = lengths.copy()
    for row in np.flatnonzero((counts[:, _SPACE] > 0) | (counts[:, _OTHER] > 0)).tolist():
        different[row] = len(" ".join(dict.fromkeys(texts[row].split())))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return Letters(
        np.minimum(counts, 255).astype(np.uint8), lengths, different, _pairs(groups.astype(np.uint16), starts), starts
    )


def _pairs(groups: NDArray[np.uint16], starts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return for each byte the pair that it and the next one are; none where one ends a word, or a text."""
    pairs = np.full(len(groups), _NO_PAIR, np.uint16)
    first, second = groups[:-1], groups[1:]
    inside = (first != _SPACE) & (first <= _SIGN) & (second != _SPACE) & (second <= _SIGN)
    pairs[:-1][inside] = (first << 5 | second)[inside]
    ends = starts[1:] - 1
    pairs[ends[ends >= 0]] = _NO_PAIR
    return pairs


def most_points(text: str, letters: Letters, with_common_word: NDArray[np.bool_]) -> Points:
    """Return for each text a number of points that a comparison with ``text`` doesn't exceed.

    What is below the floor anyway may be called less than it can be. ``with_common_word`` tells which texts may have a
    whole word in common with it.
    """
    wanted = letters_of([text])
    length, different = len(text), int(wanted.different[0])
    common = np.minimum(letters.counts, wanted.counts).sum(axis=1, dtype=np.int64)
    shorter, longer = np.minimum(letters.lengths, length), np.maximum(letters.lengths, length)
    words = np.minimum(letters.different, different)
    points = np.maximum(_share(common, shorter + longer), _OF_WORDS * _share(common, letters.different + different))
    # a stretch is at best just the letters in common
    in_words = np.minimum(common, words)
    stretches = np.maximum(_share(common, shorter + common), _OF_WORDS * _share(in_words, words + in_words))
    stretches *= _OF_STRETCH
    stretches[(longer < _LONGER * shorter) | (longer > _LONGEST * shorter)] = 0.0
    stretches[_common_pairs(wanted, letters) < _least_pairs(text, words)] = 0.0
    points = np.maximum(points, stretches)
    points[with_common_word] = 100.0
    points[(letters.counts == 255).any(axis=1) | (wanted.counts == 255).any()] = 100.0
    return points


def _share(same: NDArray[np.int64], both: NDArray[np.int64]) -> Points:
    """Return the points of two texts, ``both`` characters long together, of which so many are the same."""
    return 200.0 * same / np.maximum(both, 1)


def _common_pairs(wanted: Letters, letters: Letters) -> NDArray[np.int64]:
    """Return for each text how many of its pairs are pairs of the wanted one."""
    known = np.zeros(_NO_PAIR + 1, np.uint8)
    known[wanted.pairs] = 1
    known[_NO_PAIR] = 0
    held = np.append(known[letters.pairs], np.uint8(0))
    counts = np.add.reduceat(held, letters.starts[:-1], dtype=np.int64)
    counts[letters.starts[1:] == letters.starts[:-1]] = 0
    return counts


def _least_pairs(text: str, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many pairs a stretch over the floor has in common with ``text``, by the length of the shorter text.

    Of the shorter text's ``length`` characters and the stretch's ``width``, ``same`` stand in both, in one order, and
    ``2 * same / (length + width)`` reaches a share. They stand beside each other ``same - 1`` times, but for the
    characters of either that stand between them: at least ``3 * same - length - width - 1`` times. That is least for
    the narrowest stretch, which is ``same`` wide. A space in common is part of two pairs, which are not counted; which
    other characters separate words is not known here.
    """
    if not text.isascii():
        return np.zeros(len(lengths))
    share = FLOOR / 100 / _OF_STRETCH
    spaces = sum(letter.isspace() for letter in text)
    least: NDArray[np.float64] = np.ceil((3 * share - 2) / (2 - share) * lengths - 1 - 2 * spaces - _ROUNDING)
    return least


def _groups() -> NDArray[np.int64]:
    """Return the group of each byte."""
    groups = np.full(256, _OTHER, np.int64)
    groups[:0x80] = _SIGN
    groups[0x80:0xC0] = _INSIDE
    groups[ord("a") : ord("z") + 1] = np.arange(26)
    groups[ord("0") : ord("9") + 1] = 26
    groups[[ord(space) for space in " \t\n\r\f\v\x1c\x1d\x1e\x1f"]] = _SPACE
    return groups


_GROUP_OF_BYTE = _groups()

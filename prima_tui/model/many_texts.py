"""Many short texts as one block of bytes, in which a part is looked for in all of them at once.

Texts and what is looked for are compared as UTF-8, in which a character's bytes never begin inside another one: so a
part of the bytes is a part of the text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
"""Numbers of texts, ascending, each once."""


def utf8(text: str) -> bytes:
    """Return the text's bytes; what a text holds that is no character (a lone surrogate) is kept too."""
    return text.encode("utf-8", "surrogatepass")


_MANY = 32
"""When more than one byte in so many begins the part, all bytes are gone through instead of telling each place's text.
"""

_KEPT = 4
"""So many parts that were looked for are kept: the words of a query, of which the last becomes longer."""


class ManyTexts:
    """Texts known by their number, from 0. Finding a part takes a few operations on the whole block, not one a text."""

    def __init__(self, data: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        """``data`` holds the texts one after the other; text n is ``data[starts[n] : starts[n + 1]]``."""
        self._data = data
        self._starts = starts
        self._lengths = np.diff(starts)
        self._frequencies: NDArray[np.int64] | None = None
        self._lately: tuple[tuple[bytes, NDArray[np.int64]], ...] = ()
        """Parts looked for lately and their places: while someone types, what is looked for only becomes longer."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> ManyTexts:
        """Return the block of some texts."""
        encoded = [utf8(text) for text in texts]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(one) for one in encoded], out=starts[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts)

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def block(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """What it was made of: the texts one after the other, and where each starts."""
        return self._data, self._starts

    def with_more(self, more: ManyTexts) -> ManyTexts:
        """Return the block of these texts and of some more."""
        starts = np.concatenate((self._starts[:-1], more._starts + self._starts[-1]))
        return ManyTexts(np.concatenate((self._data, more._data)), starts)

    def in_order(self, numbers: NDArray[np.int64]) -> ManyTexts:
        """Return the block of these texts, in this order; those that stood together are copied together."""
        starts = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(self._lengths[numbers], out=starts[1:])
        if not len(numbers):
            return ManyTexts(self._data[:0], starts)
        cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
        firsts, lasts = numbers[np.append(0, cuts)], numbers[np.append(cuts - 1, len(numbers) - 1)]
        begins, ends = self._starts[firsts].tolist(), self._starts[lasts + 1].tolist()
        return ManyTexts(
            np.concatenate([self._data[begin:end] for begin, end in zip(begins, ends, strict=True)]), starts
        )

    def texts(self) -> list[str]:
        """Return the texts one by one."""
        data, starts = self._data.tobytes(), self._starts.tolist()
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(starts)]

    def joined(self, numbers: Iterable[int]) -> bytes:
        """Return these texts, one after the other."""
        return b"".join(self._data[self._starts[one] : self._starts[one + 1]].tobytes() for one in numbers)

    def containing(self, part: bytes) -> Numbers:
        """Return the texts that contain the part (every text contains the empty one)."""
        if not part:
            return np.arange(len(self))
        places = self._places(part)
        if len(places) > len(self._data) // _MANY:
            return self._holding_one_of(places, len(part))
        texts = np.searchsorted(self._starts, places, side="right") - 1
        texts = texts[places + len(part) <= self._starts[texts + 1]]
        return texts if not len(texts) else texts[np.concatenate(([True], texts[1:] != texts[:-1]))]

    def _holding_one_of(self, places: NDArray[np.int64], length: int) -> Numbers:
        """Return the texts in which one of the places begins such a length: what ``containing`` does, for many."""
        holds = np.zeros(len(self._data) + 1, np.bool_)
        holds[places] = True
        # a part that reaches into the next text is in neither
        for text_end in range(1, length):
            inner = self._starts[1:-1] - text_end
            holds[inner[inner >= 0]] = False
        texts = np.flatnonzero(self._lengths >= length)
        return texts[np.logical_or.reduceat(holds, self._starts[texts])] if len(texts) else texts

    def ending(self, part: bytes) -> Numbers:
        """Return the texts that end with the part."""
        texts = np.flatnonzero(self._lengths >= len(part))
        places = self._starts[texts + 1] - len(part)
        for offset, byte in enumerate(part):
            if not len(texts):
                break
            same = self._data[places + offset] == byte
            texts, places = texts[same], places[same]
        return texts

    def _places(self, part: bytes) -> NDArray[np.int64]:
        """Return where in the block the part stands, also across two texts."""
        last = len(self._data) - len(part)
        if last < 0:
            return np.zeros(0, np.int64)
        lately = self._lately
        begun = max((known for known in lately if part.startswith(known[0])), key=_length_of_part, default=None)
        places = self._all_places(part, last) if begun is None else self._narrowed(*begun, part, last)
        if len(places) <= len(self._data) // _MANY:
            # made anew and put there in one step, since several searches may run
            self._lately = ((part, places), *(known for known in lately if known[0] != part))[:_KEPT]
        return places

    def _narrowed(self, begun: bytes, places: NDArray[np.int64], part: bytes, last: int) -> NDArray[np.int64]:
        """Return the places at which a part stands, of those at which its beginning does."""
        places = places[places <= last]
        for offset in range(len(begun), len(part)):
            if not len(places):
                break
            places = places[self._data[places + offset] == part[offset]]
        return places

    def _all_places(self, part: bytes, last: int) -> NDArray[np.int64]:
        if self._frequencies is None:
            self._frequencies = np.bincount(self._data, minlength=256)
        # the rarest byte first: it leaves the fewest places to look at
        order = sorted(range(len(part)), key=lambda offset: int(self._frequencies[part[offset]]))  # type: ignore[index]
        first = order[0]
        places = np.flatnonzero(self._data[first : first + last + 1] == part[first])
        for offset in order[1:]:
            if not len(places):
                break
            places = places[self._data[places + offset] == part[offset]]
        return places


def _length_of_part(known: tuple[bytes, NDArray[np.int64]]) -> int:
    return len(known[0])


class SortedTexts(ManyTexts):
    """Different texts in the order of their bytes, so that those with one beginning are a range of numbers."""

    def starting(self, part: bytes) -> tuple[int, int]:
        """Return the range of the texts that begin with the part, from the first one to the one after the last."""
        return self._first(lambda text: text >= part), self._first(lambda text: text[: len(part)] > part)

    def equal(self, whole: bytes) -> tuple[int, int]:
        """Return the range of the one text that is just this, an empty range where there is none."""
        number = self._first(lambda text: text >= whole)
        return number, number + (number < len(self) and self._text(number) == whole)

    def _first(self, holds: Callable[[bytes], bool]) -> int:
        """Return the first text for which something holds, which then holds for all that follow."""
        return bisect_left(range(len(self)), True, key=lambda number: holds(self._text(number)))

    def _text(self, number: int) -> bytes:
        return self._data[self._starts[number] : self._starts[number + 1]].tobytes()

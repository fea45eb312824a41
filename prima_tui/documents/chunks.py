"""A document split into chunks: by its headings, no section over the limits, none too small to say anything.

A section is a heading with what stands below it up to the next heading, of whatever level. One that is over the limits
is split into stretches that overlap; one that is very small is merged with a neighbour. Sizes count in words and in
characters; where a script puts no spaces between words, each of its characters counts as a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from prima_tui.documents.markdown import Heading, Outline
from prima_tui.model.documents import HEADING_JOINT, Chunk

MOST_WORDS = 400
MOST_CHARACTERS = 2_000
OVERLAP_WORDS = 80
FEWEST_WORDS = 50
PASSAGE_WORDS = 80
_PASSAGE_CHARACTERS = 600
_OVERLAP_CHARACTERS = MOST_CHARACTERS // 2
"""Of long words fewer are repeated, so that a stretch says something new too."""
_LONGEST_WORD = 200
"""A longer word (an encoded picture, say) counts as several and can be split, since nothing could hold it."""
_NO_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U000323af"
)
_WORD = re.compile(rf"[{_NO_SPACES}]|[^\s{_NO_SPACES}]{{1,{_LONGEST_WORD}}}")
_LINE = re.compile("\n")
_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n)+")


class _Section(msgspec.Struct, frozen=True):
    """A stretch of the text, in numbers of its words: what stands under one heading, or several small ones together."""

    first: int
    text: int
    """The first word after heading and front matter."""
    end: int
    """The word after the last."""
    headings: tuple[str, ...]
    """The heading path at its beginning."""
    last_headings: tuple[str, ...]
    """The heading path at its end."""


def split_outlined(text: str, outline: Outline) -> list[Chunk]:
    """Return the chunks of a document by its headings; none when it is blank."""
    splitter = _Splitter(text, outline.tables)
    return splitter.chunks(splitter.by_headings(outline.headings, outline.body_starts))


def split_plain(text: str) -> list[Chunk]:
    """Return the chunks of a plain text, by its paragraphs; none when it is blank."""
    splitter = _Splitter(text, ())
    return splitter.chunks(splitter.by_paragraphs())


class _Splitter:
    def __init__(self, text: str, tables: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.lines = [0, *(found.end() for found in _LINE.finditer(text))]
        words = [found.span() for found in _WORD.finditer(text)]
        self.starts = [start for start, _end in words]
        self.ends = [end for _start, end in words]
        spans = [self._words_of_lines(first, end) for first, end in tables]
        self.tables = [(first, end) for first, end in spans if first < end and self._fits(first, end)]
        self._table_starts = [first for first, _end in self.tables]

    def by_headings(self, headings: Sequence[Heading], body_starts: int) -> list[_Section]:
        """Return the sections; what stands before the first heading is one too. ``body_starts``: after front matter."""
        edges = [0, *(self._word_at(one.first_line) for one in headings), len(self.starts)]
        texts = [self._word_at(body_starts), *(self._word_at(one.end_line) for one in headings)]
        above = self.text[self._offset(body_starts) : self._offset(headings[0].first_line)] if headings else self.text
        if not any(map(str.isalnum, above)):
            texts[0] = edges[1]  # a rule above the first heading is no text
        paths = [(), *(one.path for one in headings)]
        return [
            _Section(first, text, end, path, path)
            for path, text, (first, end) in zip(paths, texts, pairwise(edges), strict=True)
            if first < end
        ]

    def by_paragraphs(self) -> list[_Section]:
        """Return the paragraphs: what is parted by blank lines."""
        edges = [0, *(self._word_from(found.end()) for found in _PARAGRAPH.finditer(self.text)), len(self.starts)]
        return [_Section(first, first, end, (), ()) for first, end in pairwise(edges) if first < end]

    def chunks(self, sections: Sequence[_Section]) -> list[Chunk]:
        """Return the chunks of all sections, in order."""
        firsts = [section.first for section in sections]
        found = []
        for merged in self._merged(sections):
            for first, end in self._windows(merged.first, merged.end):
                # a chunk stands under the headings of the first text in it: a bare heading says nothing of its own
                place = bisect_right(firsts, first) - 1
                while max(first, sections[place].text) >= sections[place].end < end:
                    place += 1
                found.append(self._chunk(sections[place].headings, first, end))
        return found

    def _merged(self, sections: Sequence[_Section]) -> list[_Section]:
        """Merge each section that is too small with the neighbour it is nearest to."""
        done: list[_Section] = []
        waiting: _Section | None = None
        for place, section in enumerate(sections):
            current = section if waiting is None else _joined(waiting, section)
            waiting = None
            if current.end - current.first >= FEWEST_WORDS:
                done.append(current)
                continue
            before = self._nearness(done[-1], current, done[-1]) if done else None
            following = sections[place + 1] if place + 1 < len(sections) else None
            after = self._nearness(current, following, following) if following else None
            if after is not None and (before is None or after >= before):
                waiting = current
            elif before is not None:
                done[-1] = _joined(done[-1], current)
            else:
                done.append(current)
        return done

    def _nearness(self, one: _Section, next_one: _Section, other: _Section) -> tuple[bool, int, int]:
        """Return how well a small section and its neighbour ``other`` go together: fit, shared headings, smallness."""
        shared = 0
        for left, right in zip(one.last_headings, next_one.headings, strict=False):
            if left != right:
                break
            shared += 1
        return (self._fits(one.first, next_one.end), shared, other.first - other.end)

    def _windows(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield stretches (first word, word after the last) within the limits that cover the words in order.

        Each begins some words before the end of the one before it. A table that fits in a chunk is not cut.
        """
        start = first
        while True:
            stop = self._reach(start, end)
            yield start, stop
            if stop >= end:
                return
            again = self._overlap(start, stop)
            while again < stop and self._reach(again, end) <= stop:
                again += 1  # what comes next needs the room
            start = again

    def _reach(self, start: int, end: int) -> int:
        """Return the word after the last that a chunk beginning with word ``start`` can hold."""
        stop = min(start + MOST_WORDS, end, bisect_right(self.ends, self.starts[start] + MOST_CHARACTERS))
        if stop < end:
            table = self._table_around(stop)
            if table is not None and table[0] > start:
                stop = table[0]
        return max(stop, start + 1)

    def _overlap(self, start: int, stop: int) -> int:
        """Return the word with which the stretch after (start, stop) begins."""
        again = max(start + 1, stop - OVERLAP_WORDS)
        again = max(again, bisect_left(self.starts, self.ends[stop - 1] - _OVERLAP_CHARACTERS))
        table = self._table_around(again)
        # part of a table says little
        return min(stop, table[1]) if table is not None else min(stop, again)

    def _table_around(self, word: int) -> tuple[int, int] | None:
        """Return the table that would be cut by a stretch that begins or ends at this word."""
        place = bisect_right(self._table_starts, word) - 1
        if place >= 0 and self.tables[place][0] < word < self.tables[place][1]:
            return self.tables[place]
        return None

    def _fits(self, first: int, end: int) -> bool:
        return end - first <= MOST_WORDS and self.ends[end - 1] - self.starts[first] <= MOST_CHARACTERS

    def _word_at(self, line: int) -> int:
        """Return the number of the first word on this line (from 0) or after it."""
        return self._word_from(self._offset(line))

    def _offset(self, line: int) -> int:
        return self.lines[line] if line < len(self.lines) else len(self.text)

    def _word_from(self, offset: int) -> int:
        return bisect_left(self.starts, offset)

    def _words_of_lines(self, first: int, end: int) -> tuple[int, int]:
        return self._word_at(first), self._word_at(end)

    def _chunk(self, headings: tuple[str, ...], first: int, end: int) -> Chunk:
        start, stop = self.starts[first], self.ends[end - 1]
        return Chunk(
            headings,
            bisect_right(self.lines, start),
            bisect_right(self.lines, stop - 1),
            self.text[start:stop],
        )


def _joined(one: _Section, following: _Section) -> _Section:
    return _Section(one.first, one.text, following.end, one.headings, following.last_headings)


def passages(chunk: Chunk, title: str = "") -> list[str]:
    """Return what an embedding model reads of a chunk: stretches of at most some 80 words, each below the heading path.

    The document's ``title`` stands above the path where it isn't its beginning: a section seldom says what it is about.

    A model puts everything it reads into one vector: of a whole chunk little but its general subject would be left, so
    each passage gets a vector of its own, and the chunk is as near to a query as its nearest passage.
    """
    words = [found.span() for found in _WORD.finditer(chunk.text)]
    headings = chunk.headings if not title or chunk.headings[:1] == (title,) else (title, *chunk.headings)
    above = f"{HEADING_JOINT.join(headings)}\n" if headings else ""
    count = max(-(-len(words) // PASSAGE_WORDS), -(-len(chunk.text) // _PASSAGE_CHARACTERS))
    edges = sorted({place * len(words) // count for place in range(count + 1)})
    return [above + chunk.text[words[first][0] : words[end - 1][1]] for first, end in pairwise(edges)]

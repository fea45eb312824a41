"""Text as it is compared and as it is shown: folding, where words match, what is safe to print, snippets.

Folding is Unicode case folding in normal form C. Positions are always those of the text that was passed in, counted
in characters, although folding can change a text's length.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

Span = tuple[int, int]
"""Start and end (exclusive) of a stretch of text, in characters."""

TAB_WIDTH = 4

# A text can be megabytes long; the best match is looked for in its beginning first.
_READ_FIRST = 100_000

# Every piece begins with an ASCII character, which never combines with what stands before it: so folding the pieces
# one by one gives the same as folding the whole.
_PIECE = re.compile(r".{1,200}[^\x00-\x7f]*", re.DOTALL)
_SMALL_PIECE = re.compile(r".{1,8}[^\x00-\x7f]*", re.DOTALL)
_SPACES = re.compile(r"\s+")

# A complete colour code has no place in plain text and is left out; any other control character is made visible.
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;:]*m")
_NOT_SHOWABLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2060\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_SHOWN_AS: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys([0x85, 0x2028, 0x2029], "\n"),
    **dict.fromkeys([code for code in range(0x80, 0xA0) if code != 0x85], "\ufffd"),
    # Direction overrides and isolates could make a line read as something else than it is.
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x2070), *range(0xFFF9, 0xFFFC)], "\ufffd"),
    # Marks of no width that only a text's encoding needs.
    **dict.fromkeys([0x2060, 0xFEFF], ""),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


def fold(text: str) -> str:
    """Return the form in which texts are compared: without capitals (Unicode case folding), in normal form C."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", folded)


def spans(text: str, words: Iterable[str]) -> list[Span]:
    """Return where the words stand in the text, inside longer words too: sorted, not overlapping.

    ``words`` may be folded or not; empty ones are passed over. A match of half a character (the "s" in "ß" folded to
    "ss") covers the whole character with its marks; matches of different words that overlap become one.
    """
    wanted = {folded for folded in map(fold, words) if folded}
    if not wanted or not text:
        return []
    if text.isascii():
        lowered = text.lower()
        return _merged(_found(lowered, [word for word in wanted if word.isascii()]))
    folded = unicodedata.normalize("NFC", text).casefold()
    if len(folded) == len(text) and unicodedata.is_normalized("NFC", text) and unicodedata.is_normalized("NFC", folded):
        # Folding one character never gives none, so equal length means that every character stayed at its place.
        return _merged(_found(folded, wanted))
    mapped = _FoldedText(text)
    return _merged([mapped.original(start, end) for start, end in _found(mapped.folded, wanted)])


def shown(text: str) -> str:
    """Return the text as it may be written to a terminal: no control characters but the line feed.

    Tabs become spaces (to columns of four), other line ends a line feed, colour codes nothing; escape, other control
    characters, direction overrides and lone surrogates become a visible sign. Joiners inside emoji stay. Find matches
    (:func:`spans`) in what this returns when they are to be marked in it, since the length can change.
    """
    if not _NOT_SHOWABLE.search(text):
        return text
    text = _COLOUR_CODE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_SHOWN_AS).expandtabs(TAB_WIDTH)


def one_line(text: str) -> str:
    """Return text safe for one line: as :func:`shown` has it, line ends and runs of white space as one space."""
    return " ".join(shown(text).split())


def count_text(count: int, one: str) -> str:
    """Return ``1 file``, ``3 files``."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def snippet(text: str, words: Sequence[str], width: int = 120) -> str:
    """Return one line of at most ``width`` characters around the best match, safe to show.

    ``…`` stands where text is left out. The best match is the first place where the most different words stand
    together within the width; with no match the text's beginning is returned. Mark the matches in it with
    ``spans(snippet, words)``.
    """
    if width < 1:
        return ""
    start, end = _best_place(text, words, width)
    end = min(end, start + width)
    # White space shrinks to single spaces, so more than the width is read on both sides.
    reach = 4 * width + 40
    more_before, more_after = start > reach, end + reach < len(text)
    before = _one_line(text[max(0, start - reach) : start])
    after = _one_line(text[start : end + reach])
    if not more_before:
        before = before.lstrip()
    if not more_after:
        after = after.rstrip()
    if not before or before.endswith(" "):
        after = after.lstrip()
    line = before + after
    if len(line) <= width and not more_before and not more_after:
        return line
    match_length = min(max(1, end - start), width)
    left = max(0, min(len(before) - (width - match_length) // 2, len(line) - width))
    right = min(len(line), left + width)
    cut_left, cut_right = left > 0 or more_before, right < len(line) or more_after
    body = line[left:right]
    if cut_left:
        body = "…" + body[1:].lstrip()
    if cut_right:
        body = (body[:-1] if len(body) >= width else body).rstrip() + "…"
    return body[:width]


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", shown(text))


def _best_place(text: str, words: Sequence[str], width: int) -> Span:
    """Return the stretch from the first to the last match of the first window with the most different words."""
    wanted = {folded for folded in map(fold, words) if folded}
    best, count = _fullest_window(text[:_READ_FIRST], wanted, width)
    if count < len(wanted) and len(text) > _READ_FIRST:
        best, _ = _fullest_window(text, wanted, width)
    return best


def _fullest_window(text: str, words: Iterable[str], width: int) -> tuple[Span, int]:
    places = sorted((start, end, word) for word in words for start, end in spans(text, [word]))
    best, best_count = (0, 0), 0
    inside: Counter[str] = Counter()
    first = 0
    for _, end, word in places:
        inside[word] += 1
        while end - places[first][0] > width and inside.total() > 1:
            inside[places[first][2]] -= 1
            first += 1
        count = sum(1 for matches in inside.values() if matches)
        if count > best_count:
            best, best_count = (places[first][0], end), count
    return best, best_count


def _found(folded: str, words: Iterable[str]) -> list[Span]:
    found = []
    for word in words:
        place = folded.find(word)
        while place >= 0:
            found.append((place, place + len(word)))
            place = folded.find(word, place + len(word))
    return found


def _merged(found: list[Span]) -> list[Span]:
    found.sort()
    merged: list[Span] = []
    for start, end in found:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


class _FoldedText:
    """A folded text that knows, for each of its positions, where the original stands.

    Kept in pieces: most fold character by character and need only an offset; the others get a table.
    """

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._original_starts: list[int] = []
        self._tables: list[list[Span] | None] = []
        self._parts: list[str] = []
        self._length = 0
        for piece in _PIECE.finditer(text):
            if not self._add(piece.group(), piece.start()):
                # Only the few characters around the one that changes length are worth a table.
                for small in _SMALL_PIECE.finditer(text, piece.start(), piece.end()):
                    if not self._add(small.group(), small.start()):
                        self._add_tabled(small.group(), small.start())
        self.folded = "".join(self._parts)

    def _add(self, piece: str, start: int) -> bool:
        """Add a piece that folds character by character; say no to any other."""
        folded = piece.lower() if piece.isascii() else piece.casefold()
        if len(folded) != len(piece) or not (
            unicodedata.is_normalized("NFC", piece) and unicodedata.is_normalized("NFC", folded)
        ):
            return False
        self._append(folded, start, None)
        return True

    def _add_tabled(self, piece: str, start: int) -> None:
        folded, table = _tabled(piece)
        self._append(folded, start, table)

    def _append(self, folded: str, start: int, table: list[Span] | None) -> None:
        self._starts.append(self._length)
        self._original_starts.append(start)
        self._tables.append(table)
        self._parts.append(folded)
        self._length += len(folded)

    def original(self, start: int, end: int) -> Span:
        """Return the stretch of the original text that the folded stretch comes from."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, position: int) -> Span:
        number = bisect_right(self._starts, position) - 1
        within, base = position - self._starts[number], self._original_starts[number]
        table = self._tables[number]
        if table is None:
            return base + within, base + within + 1
        return base + table[within][0], base + table[within][1]


def _tabled(piece: str) -> tuple[str, list[Span]]:
    """Return the folded piece and, for each of its characters, the stretch of the piece that it comes from."""
    folded, table = [], []
    start = 0
    for place in range(1, len(piece) + 1):
        if place < len(piece) and _continues(piece[place]):
            continue
        part = fold(piece[start:place])
        folded.append(part)
        table.extend([(start, place)] * len(part))
        start = place
    return "".join(folded), table


def _continues(letter: str) -> bool:
    """Tell whether a character may combine with the one before it: a mark, or a Hangul vowel or final."""
    return not letter.isascii() and ("\u1160" <= letter <= "\u11ff" or unicodedata.category(letter).startswith("M"))

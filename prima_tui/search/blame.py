"""For each line of a file, the conversation that wrote it: blame over conversations instead of commits.

The edits of a file are taken back one by one, the newest first. The lines that an edit brought in, where its new text
still stands as a whole, are its own; those that it only kept belong to an older one. A line that stands once in the
file is known by its text, too: it belongs to the newest edit that brought such a line in, wherever it stood then. What
is left is found line by line: the newest edit that brought such a line in, then the newest that held it.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal

import msgspec

from prima_tui.model.hits import Cancel
from prima_tui.model.session import TextEdit
from prima_tui.search.edits import Tools, Written, edits_in, same_path
from prima_tui.search.file_text import FileText, read_file_text, text_lines
from prima_tui.search.library import Entry

_EARLY = datetime.min.replace(tzinfo=UTC)
_LONG_COMPARISON = 4_000_000
"""Lines before times lines after: beyond it lines that are in a text very often are not compared."""

Sureness = Literal["wrote", "alike", "kept"]
"""``wrote``: the edit's text stands there as it was written; ``alike``: the same line is in an edit that brought it in;
``kept``: only in an edit that had it before and after."""


class Blame(msgspec.Struct, frozen=True):
    """A file's lines and who wrote each."""

    file: FileText
    edits: tuple[Written, ...] = ()
    """Every edit that is known, newest first."""
    authors: tuple[int, ...] = ()
    """For each line the place in ``edits`` of the one that wrote it; -1 for none known."""
    sureness: tuple[Sureness, ...] = ()
    """For each line how sure that is; ``wrote`` also where nobody is known."""

    def author(self, line: int) -> Written | None:
        """Return the edit that wrote line number ``line``, from 0; None for none known."""
        place = self.authors[line] if 0 <= line < len(self.authors) else -1
        return self.edits[place] if place >= 0 else None

    def line_with(self, text: str) -> int:
        """Return the number, from 0, of the line that is meant by a text; -1 for none.

        A line that is the text (white space at its ends aside) comes before one that holds it, of several the one
        whose edit is the newest, then the first.
        """
        wanted = text.strip()
        found = [number for number, line in enumerate(self.file.lines) if wanted and wanted in line]
        whole = [number for number in found if self.file.lines[number].strip() == wanted]
        return min(whole or found, key=lambda line: (self.authors[line] < 0, self.authors[line]), default=-1)


Report = Callable[[int, int], None]
"""Told how many conversations were read, and of how many."""


def blamed_file(
    entries: Iterable[Entry], tools: Tools, path: str, report: Report | None = None, cancel: Cancel | None = None
) -> Blame:
    """Return who wrote each line of the file with this absolute path, as it is on the disk now.

    A file that is gone has the lines that its edits left it. Raises Cancelled.
    """
    edits = edits_of_file(entries, tools, path, report, cancel)
    text = read_file_text(path)
    return blame(last_known_text(path, edits) if text.gone else text, edits, cancel)


def edits_of_file(
    entries: Iterable[Entry], tools: Tools, path: str, report: Report | None = None, cancel: Cancel | None = None
) -> list[Written]:
    """Return every successful edit of the file with this absolute path, newest first. Raises Cancelled."""
    is_meant = same_path(path)
    changed = [
        entry
        for entry in entries
        if any(is_meant(change.path, entry.session) for change in entry.session.files_changed)
    ]
    found: list[tuple[datetime, int, Written]] = []
    for number, entry in enumerate(changed):
        if cancel is not None:
            cancel.check()
        if report is not None:
            report(number, len(changed))
        for written in edits_in(entry, tools, is_meant):
            found.append((written.at or _EARLY, len(found), written))
    if report is not None:
        report(len(changed), len(changed))
    # of two edits at one time the later in the conversation is the newer
    found.sort(key=lambda one: one[:2], reverse=True)
    return [written for _at, _number, written in found]


def blame(file: FileText, edits: Sequence[Written], cancel: Cancel | None = None) -> Blame:
    """Return who wrote each line of a file; ``edits`` are newest first. Raises Cancelled.

    That is the newest edit whose new text holds the line and whose old text does not, wherever that text stands now.
    Of a line that stands several times it is, for each place, the newest that wrote it there. Where no edit brought a
    line in, it is the newest that held it.
    """
    lines = list(file.lines)
    authors = [-1] * len(lines)
    sureness: list[Sureness] = ["wrote"] * len(lines)
    text = _TakenBack(lines)
    moved: list[int] = []
    once = _standing_once(lines)
    for number, written in enumerate(edits):
        if cancel is not None:
            cancel.check()
        origins = text.take_back(written.edit)
        if origins is None:
            moved.append(number)
        for line in origins or ():
            if authors[line] < 0:
                authors[line] = number
        for line in [once.pop(brought) for brought in _brought_in(written.edit) & once.keys()]:
            if authors[line] < 0:
                authors[line], sureness[line] = number, "alike"
    _by_lines(lines, authors, sureness, edits, moved, cancel)
    _fill_gaps(lines, authors, sureness)
    return Blame(file, tuple(edits), tuple(authors), tuple(sureness))


class _TakenBack:
    """The text of the file as it was before more and more edits, each line with its place in the file of now."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._origins = list(range(len(lines)))
        self._text = "\n".join(lines)
        self._starts = _line_starts(self._lines)

    def take_back(self, edit: TextEdit) -> list[int] | None:
        """Undo an edit; return the lines of now that it brought in, or None where its text does not stand there."""
        old, new = (part.replace("\r\n", "\n") for part in (edit.old, edit.new))
        if new.endswith("\n") and (old.endswith("\n") or not old):
            old, new = old.removesuffix("\n"), new.removesuffix("\n")
        place = self._text.find(new) if new.strip() else -1
        if place < 0:
            return None
        first = bisect_right(self._starts, place) - 1
        last = bisect_right(self._starts, place + len(new)) - 1
        now = self._lines[first : last + 1]
        head = self._text[self._starts[first] : place]
        tail = self._text[place + len(new) : self._starts[last] + len(self._lines[last])]
        before = (head + old + tail).split("\n") if head or old or tail else []
        brought, kept = _compared(before, now)
        origins = [self._origins[first + line] for line in brought if self._origins[first + line] >= 0]
        self._origins[first : last + 1] = [
            self._origins[first + kept[line]] if line in kept else -1 for line in range(len(before))
        ]
        self._lines[first : last + 1] = before
        self._text = "\n".join(self._lines)
        self._starts = _line_starts(self._lines)
        return origins


def _line_starts(lines: Sequence[str]) -> list[int]:
    """Where each line begins in the joined text."""
    return [0, *accumulate(len(line) + 1 for line in lines[:-1])] if lines else [0]


def _compared(before: Sequence[str], now: Sequence[str]) -> tuple[list[int], dict[int, int]]:
    """Return the lines of ``now`` that are new, and for each line of ``before`` that was kept its place in ``now``."""
    if not before:
        return list(range(len(now))), {}
    matcher = difflib.SequenceMatcher(None, before, now, autojunk=len(before) * len(now) > _LONG_COMPARISON)
    kept = {
        block.a + number: block.b + number for block in matcher.get_matching_blocks() for number in range(block.size)
    }
    old = set(kept.values())
    return [line for line in range(len(now)) if line not in old], kept


def _by_lines(
    lines: Sequence[str],
    authors: list[int],
    sureness: list[Sureness],
    edits: Sequence[Written],
    moved: Sequence[int],
    cancel: Cancel | None,
) -> None:
    """Give lines that still belong to nobody to the newest edit with such a line: first one that brought it in."""
    levels: tuple[tuple[Sureness, Sequence[int]], ...] = (("alike", moved), ("kept", range(len(edits))))
    for level, numbers in levels:
        waiting: dict[str, list[int]] = {}
        for line, author in enumerate(authors):
            if author < 0 and _tells(lines[line]):
                waiting.setdefault(lines[line].strip(), []).append(line)
        for number in numbers:
            if not waiting:
                return
            if cancel is not None:
                cancel.check()
            edit = edits[number].edit
            held = _brought_in(edit) if level == "alike" else _held(edit.new)
            for text in held & waiting.keys():
                for line in waiting.pop(text):
                    authors[line], sureness[line] = number, level


def _held(text: str) -> set[str]:
    """The lines of a text, white space at their ends aside."""
    return {line.strip() for line in text_lines(text)}


def _brought_in(edit: TextEdit) -> set[str]:
    """The lines that an edit's new text holds and its old text does not."""
    return _held(edit.new) - _held(edit.old)


def _standing_once(lines: Sequence[str]) -> dict[str, int]:
    """The lines that say enough to be known again and stand once in the file, with their numbers."""
    counts = Counter(line.strip() for line in lines)
    return {text: number for number, line in enumerate(lines) if counts[text := line.strip()] == 1 and _tells(line)}


def _tells(line: str) -> bool:
    """Whether a line says enough to be known again: a closing bracket or an empty line could be anybody's."""
    return sum(letter.isalnum() for letter in line) >= 3


def _fill_gaps(lines: Sequence[str], authors: list[int], sureness: list[Sureness]) -> None:
    """Empty lines and brackets that belong to nobody go with the lines around them, where these agree."""
    place = 0
    while place < len(lines):
        if authors[place] >= 0:
            place += 1
            continue
        end = place
        while end < len(lines) and authors[end] < 0:
            end += 1
        around = authors[place - 1] if place else -1
        if place > 0 and end < len(lines) and around == authors[end] and not any(map(_tells, lines[place:end])):
            for line in range(place, end):
                authors[line], sureness[line] = around, sureness[place - 1]
        place = end


def last_known_text(path: str, edits: Sequence[Written]) -> FileText:
    """Return the text of a file that is gone, as the edits left it; without lines when it was never written whole."""
    whole = next((place for place, one in enumerate(edits) if not one.edit.old and one.edit.new.strip()), None)
    if whole is None:
        return FileText(path, note="This file is not on the disk any more.", gone=True)
    text = edits[whole].edit.new.replace("\r\n", "\n")
    for written in reversed(edits[:whole]):
        old, new = (part.replace("\r\n", "\n") for part in (written.edit.old, written.edit.new))
        if old and old in text:
            text = text.replace(old, new, 1)
    note = "This file is gone; these are its lines as the last edits known here left it."
    return FileText(path, tuple(text_lines(text)), note, gone=True)

"""Keyword search: the whole history in scope, by title, by changed file, and by the words of the messages.

A session matches when its title contains the whole query, or the path of a file it changed contains it, or every word
of the query appears somewhere in its messages, or with ``in:tools`` in what its tools were given and gave back. It
never touches the semantic index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.index.messages import MessageTable
from prima_tui.index.part_matches import PartMatches, of_more_words
from prima_tui.model.hits import Cancel
from prima_tui.model.query import Query
from prima_tui.model.scoring import keyword_score
from prima_tui.model.text import fold
from prima_tui.search.columns import Columns, Flags, Rows
from prima_tui.search.keyword_hits import Evidence, KeywordHits
from prima_tui.search.library import Entry, Library
from prima_tui.search.tools import ToolMatch, ToolTexts, find_in_tools

_WORDS_AT_ONCE = 64


def search_keyword(
    library: Library,
    table: MessageTable,
    query: Query,
    now: datetime,
    cancel: Cancel | None = None,
    tool_texts: ToolTexts | None = None,
) -> KeywordHits:
    """Return the sessions that match, best first, ties newest first. Filters alone list sessions, newest first.

    When the query asks for tools, what they were given and gave back (``tool_texts``) counts as messages do.
    Raises Cancelled when cancelled meanwhile.
    """
    cancel = cancel or Cancel()
    columns = library.columns
    chosen = columns.selected(query)
    words = query_words(query)
    if not words:
        return KeywordHits.listed(library, np.flatnonzero(chosen))
    whole = fold(query.text)
    cursor = table.cursor()
    if cursor is not None:
        cancel.on_cancel(cursor.interrupt)

    def find(some: Sequence[str], within: set[int] | None) -> PartMatches:
        cancel.check()
        # a word that no message holds may be in the tools
        return table.find(some, whole, cursor, None if query.in_tools else within)

    texts = [_in_messages(find_words(words, whole, library, find), columns)]
    cancel.check()
    tools: dict[tuple[str, int], ToolMatch] = {}
    if query.in_tools and tool_texts is not None:
        tools = _find_in_tools(
            [library.entries[row] for row in np.flatnonzero(chosen).tolist()], words, tool_texts, cancel
        )
        texts.append(_in_tools(tools, library, len(words)))
    evidence, every_word = _evidence(whole, texts, columns, now, len(words))
    matching_rows = ((evidence.title_hits > 0) | (evidence.file_hits > 0) | every_word) & chosen
    kept = _without_copies(matching_rows, _Asked(library, table, tools, words, whole))
    rows = np.flatnonzero(kept)
    scores = evidence.scores[rows]
    # the entries stand newest first, and a stable sort keeps that order among equals
    order = np.argsort(-scores, kind="stable")
    return KeywordHits(library, rows[order], scores[order], evidence, whole)


def query_words(query: Query) -> list[str]:
    """Return the folded words and phrases of a query, each once, in order."""
    return list(dict.fromkeys(word for word in map(fold, (*query.words, *query.phrases)) if word))


Find = Callable[[Sequence[str], set[int] | None], PartMatches]
"""Looks for some words, in all parts or in those alone."""


def find_words(words: Sequence[str], whole: str, library: Library, find: Find) -> PartMatches:
    """Look for the words, some dozens at a time: a pasted page has thousands, and few sessions hold the first ones."""
    found = find(words[:_WORDS_AT_ONCE], None)
    for first in range(_WORDS_AT_ONCE, len(words), _WORDS_AT_ONCE):
        possible = _still_possible(found, whole, library)
        found = of_more_words(found, find(words[first : first + _WORDS_AT_ONCE], possible))
    return found


def _still_possible(found: PartMatches, whole: str, library: Library) -> set[int]:
    """Return the parts of sessions that hold all words looked for so far, or match by title or file anyway."""
    columns = library.columns
    texts = _in_messages(found, columns)
    said = _totals([texts], len(library.entries), found.counts.shape[1])
    possible = (said > 0).all(axis=1) | columns.title_holds(whole) | (columns.paths_holding(whole) > 0)
    possible &= (said > 0).any(axis=1)
    return {number for row in np.flatnonzero(possible).tolist() for number in library.entries[row].numbers}


class _Texts(msgspec.Struct, frozen=True):
    """What was found in messages, or in tools: one row for each part in which something was."""

    entries: Rows
    """Rows of the library."""
    found: PartMatches
    held: Rows
    """How many of the words the best place holds, or for messages the whole part."""
    order: Rows
    """Place of the part in its session; the main conversation's first."""
    by_tools: bool = False


def _in_messages(found: PartMatches, columns: Columns) -> _Texts:
    entries = columns.entries_of(found.parts)
    known = entries >= 0
    found, entries = found.of_parts(known), entries[known]
    return _Texts(entries, found, np.count_nonzero(found.counts, axis=1), columns.order_of(found.parts))


def _find_in_tools(
    entries: Sequence[Entry], words: Sequence[str], tool_texts: ToolTexts, cancel: Cancel
) -> dict[tuple[str, int], ToolMatch]:
    paths = list(dict.fromkeys(part.path for entry in entries for part in entry.parts))
    left_out = {(part.path, part.number): part.left_out for entry in entries for part in entry.parts if part.left_out}
    return find_in_tools(tool_texts(paths, cancel), words, left_out, cancel)


def _in_tools(tools: dict[tuple[str, int], ToolMatch], library: Library, words: int) -> _Texts:
    rows: list[tuple[int, int, int, int, int]] = []
    counts: list[list[int]] = []
    for (path, number), match in tools.items():
        entry = library.by_place.get((path, number))
        if entry is None:
            continue
        place = [(part.path, part.number) for part in entry.parts].index((path, number))
        if entry.numbers[place] >= 0:
            row = library.columns.row_of[entry.session.key]
            rows.append((row, entry.numbers[place], match.best, match.best_words, place))
            counts.append(match.counts)
    entries, parts, best, held, order = np.array(rows, np.int64).reshape(-1, 5).T
    return _Texts(
        entries, PartMatches(parts, np.array(counts, np.int64).reshape(-1, words), best), held, order, by_tools=True
    )


def _totals(texts: Sequence[_Texts], entries: int, words: int) -> NDArray[np.int64]:
    """Return for each session and word how many messages, or texts of tools, contain it."""
    totals = np.zeros((entries, words), np.int64)
    for one in texts:
        for word in range(words):
            counts = np.bincount(one.entries, weights=one.found.counts[:, word], minlength=entries)
            totals[:, word] += counts.astype(np.int64)
    return totals


def _evidence(
    whole: str, texts: Sequence[_Texts], columns: Columns, now: datetime, words: int
) -> tuple[Evidence, Flags]:
    """Return what speaks for each session, and whether its texts hold every word."""
    title_hits = columns.title_holds(whole).astype(np.float64)
    file_hits = columns.paths_holding(whole).astype(np.float64)
    said = _totals([one for one in texts if not one.by_tools], len(title_hits), words)
    pairs = said.sum(axis=1).astype(np.float64)
    with_tools = said
    if len(texts) > 1:
        with_tools = _totals(texts, len(title_hits), words)
    used = with_tools.sum(axis=1) - pairs
    recent, changes = columns.recency(now), columns.changes.astype(np.float64)
    scores = keyword_score(title_hits, file_hits, pairs + used, recent, changes)
    parts, positions = _best_places(texts, len(title_hits))
    evidence = Evidence(title_hits, file_hits, pairs, used, recent, changes, scores, parts, positions)
    every_word: Flags = np.all(with_tools > 0, axis=1)
    return evidence, every_word


def _best_places(texts: Sequence[_Texts], entries: int) -> tuple[Rows, Rows]:
    """Return the (part, position) of each session's best exchange; part -1 when no text was found.

    A part whose messages hold the most of the words comes first, the main conversation's before a subagent's; tools
    only when one of their texts holds more of them.
    """
    entry = np.concatenate([one.entries for one in texts])
    part = np.concatenate([one.found.parts for one in texts])
    position = np.concatenate([one.found.best for one in texts])
    several = np.bincount(entry, minlength=entries)[entry] > 1
    if several.any():
        held = np.concatenate([one.held for one in texts])
        by_tools = np.repeat([one.by_tools for one in texts], [len(one.entries) for one in texts])
        order = np.concatenate([one.order for one in texts])
        rows = np.flatnonzero(several)
        # what is written last stays
        rows = rows[np.lexsort((order[rows], by_tools[rows], -held[rows]))[::-1]]
        rows = np.concatenate((np.flatnonzero(~several), rows))
        entry, part, position = entry[rows], part[rows], position[rows]
    parts, positions = np.full(entries, -1, np.int64), np.zeros(entries, np.int64)
    parts[entry], positions[entry] = part, position
    return parts, positions


class _Asked(msgspec.Struct, frozen=True):
    """What a session that copies another one is held against."""

    library: Library
    table: MessageTable
    tools: dict[tuple[str, int], ToolMatch]
    words: Sequence[str]
    whole: str


def _without_copies(found: Flags, asked: _Asked) -> Flags:
    """Drop hits that another hit doubles: a session that another one continues, a fork found only by what it copied."""
    columns = asked.library.columns
    kept = found & ~((columns.continued_by >= 0) & found[columns.continued_by])
    forks = kept & (columns.copied_from >= 0) & found[columns.copied_from]
    for row in np.flatnonzero(forks).tolist():
        entry, origin = asked.library.entries[row], asked.library.entries[int(columns.copied_from[row])]
        kept[row] = _on_its_own(entry, origin, asked)
    return kept


def _on_its_own(entry: Entry, origin: Entry, asked: _Asked) -> bool:
    """Whether something beside what was copied was found: a title, a file, a message or a tool of its own."""
    if asked.whole in entry.title and entry.title != origin.title:
        return True
    if any(asked.whole in path and path not in origin.paths for path in entry.paths):
        return True
    for part in entry.parts:
        match = asked.tools.get((part.path, part.number))
        if match is not None and match.positions - part.copied:
            return True
    return any(
        asked.table.contains_outside(number, asked.words, part.copied)
        for number, part in zip(entry.numbers, entry.parts, strict=True)
        if number >= 0
    )

"""Keyword search: the whole history in scope, by title, by changed file, and by the words of the messages.

A session matches when its title contains the whole query, or the path of a file it changed contains it, or every word
of the query appears somewhere in its messages, or with ``in:tools`` in what its tools were given and gave back. It
never touches the semantic index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from rapidfuzz import fuzz, process

from prima_tui.index.messages import MessageTable, PartMatch
from prima_tui.model.hits import Cancel, Reason
from prima_tui.model.query import Query, matches
from prima_tui.model.scoring import (
    CHANGES_COUNTED,
    FILE_POINTS,
    RECENT,
    TITLE_POINTS,
    WORD_POINTS,
    match_points,
    recency,
)
from prima_tui.model.session import Session
from prima_tui.model.text import fold
from prima_tui.search.library import Entry, Library, newest_first
from prima_tui.search.tools import ToolMatch, ToolTexts, find_in_tools

_ALIKE_FLOOR = 70
_ALIKE_MOST = 8
_WORDS_AT_ONCE = 64
_SLICE = 1_000
"""Comparisons at a time: each slice holds the interpreter lock for some milliseconds."""


class KeywordHit(msgspec.Struct, frozen=True, gc=False):
    """One session found by word; ``part`` and ``position`` tell its best exchange (part -1: only title or files)."""

    entry: Entry
    score: float
    reasons: tuple[Reason, ...]
    part: int = -1
    position: int = 0


def search_keyword(
    library: Library,
    table: MessageTable,
    query: Query,
    now: datetime,
    cancel: Cancel | None = None,
    tool_texts: ToolTexts | None = None,
) -> list[KeywordHit]:
    """Return the sessions that match, best first, ties newest first. Filters alone list sessions, newest first.

    When the query asks for tools, what they were given and gave back (``tool_texts``) counts as messages do.
    Raises Cancelled when cancelled meanwhile.
    """
    cancel = cancel or Cancel()
    entries = matching(library, query)
    words = query_words(query)
    if not words:
        return [KeywordHit(entry, 0.0, ()) for entry in entries]
    whole = fold(query.text)
    cursor = table.connection.cursor()
    cancel.on_cancel(cursor.interrupt)

    def find(some: Sequence[str], within: set[int] | None) -> list[PartMatch]:
        cancel.check()
        # a word that no message holds may be in the tools
        return table.find(some, whole, cursor, None if query.in_tools else within)

    found = _by_session(find_words(words, whole, library, find), library)
    cancel.check()
    tools: dict[tuple[str, int], ToolMatch] = {}
    if query.in_tools and tool_texts is not None:
        tools = _find_in_tools(entries, words, tool_texts, cancel)
    asked = _Asked(whole, len(words), now, now - RECENT, tools)
    hits = []
    for entry in entries:
        hit = _hit(entry, found.get(entry.numbers, ()), asked)
        if hit is not None:
            hits.append(hit)
    hits.sort(key=_by_score)  # the entries stand newest first, and sorting keeps that order among equals
    return _without_copies(hits, table, tools, words)


def _by_score(hit: KeywordHit) -> float:
    return -hit.score


def matching(library: Library, query: Query) -> Sequence[Entry]:
    """Return the entries that satisfy the query's filters, newest first."""
    return [entry for entry in library.entries if matches(query, entry.session)]


def query_words(query: Query) -> list[str]:
    """Return the folded words and phrases of a query, each once, in order."""
    return list(dict.fromkeys(word for word in map(fold, (*query.words, *query.phrases)) if word))


Find = Callable[[Sequence[str], set[int] | None], list[PartMatch]]
"""Looks for some words, in all parts or in those alone."""


def find_words(words: Sequence[str], whole: str, library: Library, find: Find) -> list[PartMatch]:
    """Look for the words, some dozens at a time: a pasted page has thousands, and few sessions hold the first ones."""
    found = {match.part: match for match in find(words[:_WORDS_AT_ONCE], None)}
    for first in range(_WORDS_AT_ONCE, len(words), _WORDS_AT_ONCE):
        some = words[first : first + _WORDS_AT_ONCE]
        more = {match.part: match for match in find(some, _still_possible(found.values(), whole, library))}
        for part in found.keys() | more.keys():
            before = found.get(part, PartMatch(part, (0,) * first, 0))
            after = more.get(part, PartMatch(part, (0,) * len(some), 0))
            best = before.best if any(before.counts) else after.best
            found[part] = PartMatch(part, before.counts + after.counts, best)
    return list(found.values())


def _still_possible(found: Iterable[PartMatch], whole: str, library: Library) -> set[int]:
    """Return the parts of sessions that hold all words looked for so far, or match by title or file anyway."""
    possible: set[int] = set()
    for parts in _by_session(found, library).values():
        entry = library.by_number[parts[0].part]
        all_words = all(any(counts) for counts in zip(*(match.counts for match in parts), strict=True))
        if all_words or whole in entry.title or any(whole in path for path in entry.paths):
            possible.update(entry.numbers)
    return possible


def _by_session(found: Iterable[PartMatch], library: Library) -> dict[tuple[int, ...], list[PartMatch]]:
    """Return what was found by the session it is of, each known by the numbers of its parts."""
    by_session: dict[tuple[int, ...], list[PartMatch]] = {}
    for match in found:
        entry = library.by_number.get(match.part)
        if entry is not None:
            by_session.setdefault(entry.numbers, []).append(match)
    return by_session


def _find_in_tools(
    entries: Sequence[Entry], words: Sequence[str], tool_texts: ToolTexts, cancel: Cancel
) -> dict[tuple[str, int], ToolMatch]:
    paths = list(dict.fromkeys(part.path for entry in entries for part in entry.parts))
    left_out = {(part.path, part.number): part.left_out for entry in entries for part in entry.parts if part.left_out}
    return find_in_tools(tool_texts(paths, cancel), words, left_out, cancel)


class _Asked(msgspec.Struct, frozen=True):
    """What every session is held against."""

    whole: str
    word_count: int
    now: datetime
    recent_from: datetime
    """Sessions that started before it get no points for being recent."""
    tools: Mapping[tuple[str, int], ToolMatch]


def _hit(entry: Entry, found: Sequence[PartMatch], asked: _Asked) -> KeywordHit | None:
    """Return the hit of one session, None when it doesn't match. Runs for every session at every keystroke."""
    session = entry.session
    title_hit = asked.whole in entry.title
    file_hits = [path for path in entry.paths if asked.whole in path] if asked.whole in entry.all_paths else []
    in_tools = _tool_matches(entry, asked.tools) if asked.tools else []
    said = found[0].counts if len(found) == 1 else _totals([match.counts for match in found], asked.word_count)
    pairs, used = sum(said), 0
    if in_tools:
        with_tools = _totals([said, *(match.counts for _number, match in in_tools)], asked.word_count)
        used = sum(with_tools) - pairs
        every_word = all(with_tools)
    else:
        every_word = pairs > 0 and all(said)
    if not (title_hit or file_hits or every_word):
        return None
    started = session.started_at
    fresh = recency(started, asked.now) if started is not None and started >= asked.recent_from else 0.0
    changed = min(len(entry.paths), CHANGES_COUNTED)
    score = match_points(title_hit, len(file_hits), pairs + used) + fresh + changed
    reasons = [Reason("title", TITLE_POINTS)] if title_hit else []
    if file_hits:
        reasons += [Reason("file", FILE_POINTS, path) for path in file_hits]
    if pairs:
        reasons.append(Reason("words", WORD_POINTS * pairs, str(pairs)))
    if used:
        reasons.append(Reason("tool", WORD_POINTS * used, str(used)))
    if fresh:
        reasons.append(Reason("recent", fresh))
    if changed:
        reasons.append(Reason("changes", float(changed)))
    if len(found) == 1 and not in_tools:
        return KeywordHit(entry, score, tuple(reasons), found[0].part, found[0].best)
    return KeywordHit(entry, score, tuple(reasons), *_best_place(entry, found, in_tools))


def _totals(counts: Sequence[Sequence[int]], word_count: int) -> Sequence[int]:
    """Return for each word the sum of its counts."""
    return [sum(column) for column in zip(*counts, strict=True)] if counts else [0] * word_count


def _tool_matches(entry: Entry, tools: Mapping[tuple[str, int], ToolMatch]) -> list[tuple[int, ToolMatch]]:
    """Return what was found in the session's tools, each with the number of its part."""
    return [
        (number, match)
        for number, part in zip(entry.numbers, entry.parts, strict=True)
        if number >= 0 and (match := tools.get((part.path, part.number))) is not None
    ]


def _best_place(entry: Entry, found: Sequence[PartMatch], in_tools: Sequence[tuple[int, ToolMatch]]) -> tuple[int, int]:
    """Return the (part, position) of the best exchange; part -1 when no text was found.

    A part whose messages hold the most of the words comes first, the main conversation's before a subagent's; tools
    only when one of their texts holds more of them.
    """
    order = {number: place for place, number in enumerate(entry.numbers)}
    places = [(sum(map(bool, one.counts)), True, -order.get(one.part, 0), one.part, one.best) for one in found]
    places += [(one.best_words, False, -order[number], number, one.best) for number, one in in_tools]
    best = max(places, key=lambda place: place[:3], default=None)
    return (-1, 0) if best is None else best[3:]


def _without_copies(
    hits: list[KeywordHit], table: MessageTable, tools: Mapping[tuple[str, int], ToolMatch], words: Sequence[str]
) -> list[KeywordHit]:
    """Drop hits that another hit doubles: a session that another one continues, a fork found only by what it copied."""
    found = {hit.entry.session.id: hit for hit in hits}
    kept = []
    for hit in hits:
        session = hit.entry.session
        if session.continued_by and session.continued_by in found:
            continue
        origin = found.get(session.copied_from) if session.copied_from else None
        if origin is not None and not _on_its_own(hit, origin.entry, table, tools, words):
            continue
        kept.append(hit)
    return kept


def _on_its_own(
    hit: KeywordHit,
    origin: Entry,
    table: MessageTable,
    tools: Mapping[tuple[str, int], ToolMatch],
    words: Sequence[str],
) -> bool:
    """Whether something beside what was copied was found: a title, a file, a message or a tool of its own."""
    for reason in hit.reasons:
        if reason.kind == "title" and hit.entry.title != origin.title:
            return True
        if reason.kind == "file" and reason.detail not in origin.paths:
            return True
    for part in hit.entry.parts:
        match = tools.get((part.path, part.number))
        if match is not None and match.positions - part.copied:
            return True
    return any(
        table.contains_outside(number, words, part.copied)
        for number, part in zip(hit.entry.numbers, hit.entry.parts, strict=True)
        if number >= 0
    )


def alike(library: Library, query: Query, cancel: Cancel | None = None) -> list[Session]:
    """Return sessions whose title or a changed path is like the query (over a floor), most alike first, at most 8."""
    text = fold(query.text)
    if len(text) < 3:
        return []
    likeness: dict[tuple[str, str], float] = {}
    entries = matching(library, query)
    choices = [(entry.title, entry) for entry in entries]
    choices += [(path.rsplit("/", 1)[-1], entry) for entry in entries for path in entry.paths]
    for first in range(0, len(choices), _SLICE):
        if cancel is not None:
            cancel.check()
        part = choices[first : first + _SLICE]
        for _text, score, place in process.extract(
            text, [choice[0] for choice in part], scorer=fuzz.WRatio, score_cutoff=_ALIKE_FLOOR, limit=None
        ):
            key = part[place][1].session.key
            likeness[key] = max(likeness.get(key, 0.0), score)
        time.sleep(0)
    best = sorted(likeness, key=lambda key: (likeness[key], newest_first(library.by_key[key].session)), reverse=True)
    return [library.by_key[key].session for key in best[:_ALIKE_MOST]]

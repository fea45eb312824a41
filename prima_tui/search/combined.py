"""One search in any mode: by word, by meaning, or both on one scale; and where each hit's best exchange is.

In combined mode keyword scores are rescaled to 0–100 by the best of this search, similarity stands on the same range,
and a session found by both gets the higher of the two plus 20 per cent. When the semantic half fails, the keyword
hits come alone, with a warning that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from prima_tui.errors import PrimaError
from prima_tui.index.exchange_store import Similar
from prima_tui.index.messages import MessageTable
from prima_tui.model.hits import Cancel, Hit, Mode, Reason
from prima_tui.model.query import Query
from prima_tui.model.scoring import combine
from prima_tui.model.session import Session
from prima_tui.model.text import fold
from prima_tui.search.keyword import KeywordHit, alike, find_words, search_keyword
from prima_tui.search.library import Entry, Library, newest_first
from prima_tui.search.semantic import SemanticHit
from prima_tui.search.tools import ToolTexts
from prima_tui.sources.assemble import place_in_conversation

__all__ = ["Found", "alike", "search"]


class Found(msgspec.Struct, frozen=True, gc=False):
    """A hit, and which stored exchange is its best: a message table's place, an index row, or neither."""

    hit: Hit
    part: int = -1
    position: int = 0
    stored: Similar | None = None

    def place(self, library: Library) -> tuple[str, int, int] | None:
        """Return (file path, transcript number, position) of the best exchange; None when only the index still has it.

        A session found by its title or files alone shows its first exchange.
        """
        entry = library.by_key.get(self.hit.session.key)
        if entry is None:
            return None
        if self.part >= 0 and self.part in entry.numbers:
            part = entry.parts[entry.numbers.index(self.part)]
            return (part.path, part.number, self.position)
        if self.stored is not None:
            known = (self.stored.path, self.stored.number) in library.by_place
            return (self.stored.path, self.stored.number, self.stored.position) if known else None
        first = next((part for part in entry.parts if part.length), None)
        return (first.path, first.number, 0) if first is not None else None


def search(
    library: Library,
    table: MessageTable,
    similar: Callable[[Query, Cancel], list[object]],
    query: Query,
    mode: Mode,
    now: datetime,
    cancel: Cancel,
    warnings: list[str],
    tool_texts: ToolTexts | None = None,
) -> list[Found]:
    """Return the hits, best first, ties newest first; what the semantic half can't do is added to ``warnings``.

    ``tool_texts`` gives what tools were given and gave back, for a query that asks for it.
    """
    by_word: list[KeywordHit] = []
    by_meaning: list[SemanticHit] = []
    failed = False
    if mode != "keyword" and query.text:
        try:
            by_meaning = similar(query, cancel)  # type: ignore[assignment]
        except PrimaError as error:
            failed = True
            warnings.insert(0, f"search by meaning is off, these are keyword results: {error}")
    if mode != "semantic" or failed or not query.text:
        by_word = search_keyword(library, table, query, now, cancel, tool_texts)
    elif query.phrases:
        by_meaning = _with_phrases(by_meaning, library, table, query)
    if not query.text:
        return [Found(Hit(hit.entry.session, 0.0)) for hit in by_word]
    if mode == "keyword" or failed:
        return [_found(hit.entry, hit.entry.session, hit.score, hit, None) for hit in by_word]
    words = {hit.entry.session.key: hit for hit in by_word}
    meanings = {hit.session.key: hit for hit in by_meaning}
    if mode == "semantic":
        scores = {key: hit.similarity * 100 for key, hit in meanings.items()}
    else:
        scores = combine(
            {key: hit.score for key, hit in words.items()}, {key: hit.similarity for key, hit in meanings.items()}
        )
    found = []
    for key, score in scores.items():
        entry = library.by_key.get(key)
        session = entry.session if entry is not None else meanings[key].session
        found.append(_found(entry, session, score, words.get(key), meanings.get(key)))
    found.sort(key=lambda one: (one.hit.score, newest_first(one.hit.session)), reverse=True)
    return found


def _with_phrases(
    hits: Sequence[SemanticHit], library: Library, table: MessageTable, query: Query
) -> list[SemanticHit]:
    """Keep the hits whose session has a message with each quoted phrase as it stands."""
    phrases = list(dict.fromkeys(map(fold, query.phrases)))
    held: dict[tuple[str, str], set[int]] = {}
    for match in find_words(phrases, "", library, lambda some, within: table.find(some, "", within=within)):
        entry = library.by_number.get(match.part)
        if entry is not None:
            found = held.setdefault(entry.session.key, set())
            found.update(place for place, count in enumerate(match.counts) if count)
    return [hit for hit in hits if len(held.get(hit.session.key, ())) == len(phrases)]


def _found(
    entry: Entry | None, session: Session, score: float, word: KeywordHit | None, meaning: SemanticHit | None
) -> Found:
    part, position = (word.part, word.position) if word else (-1, 0)
    stored = meaning.place if meaning else None
    index = None
    if entry is not None and part >= 0:
        index = place_in_conversation(entry.parts, entry.numbers.index(part), position)
    elif entry is not None and stored is not None:
        places = [(one.path, one.number) for one in entry.parts]
        if (stored.path, stored.number) in places:
            which = places.index((stored.path, stored.number))
            index = place_in_conversation(entry.parts, which, stored.position)
    reasons = word.reasons if word else ()
    if meaning:
        reasons = (*reasons, Reason("meaning", meaning.similarity))
    keyword_score, similarity = word.score if word else None, meaning.similarity if meaning else None
    return Found(Hit(session, score, keyword_score, similarity, index, None, reasons), part, position, stored)

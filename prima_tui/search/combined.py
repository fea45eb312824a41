"""One search in any mode: by word, by meaning, or both on one scale; and where each hit's best exchange is.

In combined mode keyword scores are rescaled to 0–100 by the best of this search, similarity stands on the same range,
and a session found by both gets the higher of the two plus 20 per cent. When the semantic half fails, the keyword
hits come alone, with a warning that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec
import numpy as np

from prima_tui.errors import PrimaError
from prima_tui.index.messages import MessageTable
from prima_tui.index.similar import Similar
from prima_tui.model.hits import Cancel, Hit, Mode, Reason
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.query import Query
from prima_tui.model.scoring import found_by_both, rescaled
from prima_tui.model.session import Session
from prima_tui.model.text import fold
from prima_tui.search.keyword import find_words, search_keyword
from prima_tui.search.keyword_hits import KeywordHit, KeywordHits
from prima_tui.search.library import Entry, Library
from prima_tui.search.semantic_hits import SemanticHit, SemanticHits
from prima_tui.search.tools import ToolTexts
from prima_tui.sources.assemble import place_in_conversation


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
    similar: Callable[[Query, Cancel], SemanticHits],
    query: Query,
    mode: Mode,
    now: datetime,
    cancel: Cancel,
    warnings: list[str],
    tool_texts: ToolTexts | None = None,
) -> Sequence[Found]:
    """Return the hits, best first, ties newest first; what the semantic half can't do is added to ``warnings``.

    ``tool_texts`` gives what tools were given and gave back, for a query that asks for it.
    """
    by_word = KeywordHits.listed(library, np.zeros(0, np.int64))
    by_meaning = SemanticHits.none()
    failed = False
    if mode != "keyword" and query.text:
        try:
            by_meaning = similar(query, cancel)
        except PrimaError as error:
            failed = True
            warnings.insert(0, f"search by meaning is off, these are keyword results: {error}")
    if mode != "semantic" or failed or not query.text:
        by_word = search_keyword(library, table, query, now, cancel, tool_texts)
    elif query.phrases:
        by_meaning = _with_phrases(by_meaning, library, table, query)
    if not query.text:
        return OnDemand(len(by_word), lambda place: Found(Hit(by_word[place].entry.session, 0.0)))
    if mode == "keyword" or failed:
        return OnDemand(len(by_word), lambda place: _found_by_word(by_word[place]))
    return _on_one_scale(library, by_word, by_meaning)


def _found_by_word(hit: KeywordHit) -> Found:
    return _found(hit.entry, hit.entry.session, hit.score, hit, None)


def _on_one_scale(library: Library, by_word: KeywordHits, by_meaning: SemanticHits) -> Sequence[Found]:
    """Return the hits of both halves in one order: best score first, ties newest first."""
    # one more than there are rows: row -1 is that of sessions in no library
    place_of_row = np.full(len(library.entries) + 1, -1, np.int64)
    place_of_row[by_word.rows] = np.arange(len(by_word))
    places = place_of_row[by_meaning.rows]
    both, alone = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
    by_likeness = rescaled(by_meaning.similarities, 1.0)
    of_words = rescaled(by_word.scores, float(by_word.scores.max(initial=0.0)))
    of_words[places[both]] = found_by_both(np.maximum(of_words[places[both]], by_likeness[both]))
    # the first hits are those found by word; for each hit the place of what was found of it by meaning
    meanings = np.concatenate((np.full(len(by_word), -1), alone))
    meanings[places[both]] = both
    scores = np.concatenate((of_words, by_likeness[alone]))
    order = np.lexsort((np.concatenate((by_word.rows, by_meaning.ages[alone])), -scores))

    def found(at: int) -> Found:
        place = int(order[at])
        number = int(meanings[place])
        word = by_word[place] if place < len(by_word) else None
        meaning = by_meaning[number] if number >= 0 else None
        session = word.entry.session if word else by_meaning[number].session
        return _found(library.by_key.get(session.key), session, float(scores[place]), word, meaning)

    return OnDemand(len(order), found)


def _with_phrases(hits: SemanticHits, library: Library, table: MessageTable, query: Query) -> SemanticHits:
    """Keep the hits whose session has a message with each quoted phrase as it stands."""
    phrases = list(dict.fromkeys(map(fold, query.phrases)))
    found = find_words(phrases, "", library, lambda some, within: table.find(some, "", within=within))
    # one more than there are rows: row -1 is that of sessions in no library
    held = np.zeros((len(library.entries) + 1, len(phrases)), np.bool_)
    rows = library.columns.entries_of(found.parts)
    np.logical_or.at(held, rows[rows >= 0], found.counts[rows >= 0] > 0)
    return hits.only(np.logical_and.reduce(held, axis=1)[hits.rows])


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

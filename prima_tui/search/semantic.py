"""Search by meaning: the query's vector against every stored exchange, the best exchange of each session."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from prima_tui.errors import StoreBusy
from prima_tui.index.exchange_store import Similar
from prima_tui.model.hits import Cancel
from prima_tui.model.query import Query, matches
from prima_tui.model.session import Session
from prima_tui.search.library import Library, newest_first

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector
    from prima_tui.index.vectors import SemanticIndex


_similarity = attrgetter("similarity")


class SemanticHit(msgspec.Struct, frozen=True, gc=False):
    """One session found by meaning, and where its best exchange is stored."""

    session: Session
    similarity: float
    place: Similar


def search_semantic(
    library: Library,
    index: SemanticIndex,
    query: Query,
    embed: Callable[[str], Vector],
    cancel: Cancel | None = None,
) -> list[SemanticHit]:
    """Return the sessions with an exchange alike (cosine of at least 0.3), most alike first, ties newest first.

    Sessions whose file is gone are among them, flagged ``deleted``. Raises ModelUnavailable from ``embed``, StoreBusy
    or StoreUnusable from the index, Cancelled when cancelled meanwhile.
    """
    cancel = cancel or Cancel()
    vector = embed(query.text)
    cancel.check()
    found = index.similar(vector, cancel)
    cancel.check()
    # many thousands may be alike, so nothing is done twice for one: the best of a session is the first of it here
    found.sort(key=_similarity, reverse=True)
    best: dict[tuple[str, str], Similar] = {}
    sessions: dict[tuple[str, str], Session] = {}
    for one in found:
        entry = library.by_place.get((one.path, one.number))
        if entry is None:
            best.setdefault((one.source, one.session_id), one)
            continue
        key = entry.session.key
        if key in sessions:
            continue
        sessions[key] = entry.session
        known = best.setdefault(key, one)
        # of two that are equally alike, the one whose file is there (the other is from before it was renamed)
        if known is not one and known.similarity == one.similarity:
            best[key] = one
    gone = [key for key in best if key not in sessions]
    sessions.update((key, library.by_key[key].session) for key in gone if key in library.by_key)
    with contextlib.suppress(StoreBusy):
        for stored in index.sessions(key for key in gone if key not in sessions):
            sessions[stored.key] = as_deleted(stored)
    hits = []
    for key, one in best.items():
        session = sessions.get(key)
        # without filters only a flag can keep a session out
        if session is not None and (not (query.filters or session.flags) or matches(query, session)):
            hits.append(SemanticHit(session, one.similarity, one))
    hits.sort(key=_similarity, reverse=True)
    _newest_first_of_equals(hits)
    return _without_copies(hits)


def _newest_first_of_equals(hits: list[SemanticHit]) -> None:
    """Order those that are equally alike, of hits that are in order otherwise."""
    place = 0
    while place < len(hits) - 1:
        end = place + 1
        while end < len(hits) and hits[end].similarity == hits[place].similarity:
            end += 1
        if end > place + 1:
            hits[place:end] = sorted(hits[place:end], key=lambda hit: newest_first(hit.session), reverse=True)
        place = end


def as_deleted(session: Session) -> Session:
    """Return the session marked as one whose file is gone: it can be read and searched, not resumed."""
    flags = tuple(dict.fromkeys((*session.flags, "deleted")))
    return msgspec.structs.replace(session, flags=flags, resume=None)


def _without_copies(hits: list[SemanticHit]) -> list[SemanticHit]:
    """Drop a hit whose very exchange another session's hit shows: the copy of a resumed or forked conversation."""
    if not any(hit.session.continued_by or hit.session.copied_from for hit in hits):
        return hits
    found = {hit.session.id: hit for hit in hits}
    kept = []
    for hit in hits:
        session = hit.session
        if session.continued_by and session.continued_by in found:
            continue
        origin = found.get(session.copied_from) if session.copied_from else None
        if origin is not None and origin.place.hash == hit.place.hash:
            continue
        kept.append(hit)
    return kept

"""Search in a project's documents, by the same rules and the same code as in sessions: a chunk is an exchange, a
document a session whose title are its headings and whose one file is itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from prima_tui.documents.collections import Collection, names_of
from prima_tui.errors import ModelUnavailable, PrimaError
from prima_tui.index.documents import DocumentIndex, Near, StoredDocument, documents_rebuild_due
from prima_tui.index.similar import Similar
from prima_tui.index.vector_file import FLOOR
from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import Cancel, Hit, Mode
from prima_tui.model.query import Query, matches
from prima_tui.model.session import FileChange, Session
from prima_tui.model.text import fold
from prima_tui.search import combined
from prima_tui.search.combined import Found
from prima_tui.search.keyword import query_words
from prima_tui.search.library import Entry, Library
from prima_tui.search.questions import content_words, shares
from prima_tui.search.semantic_hits import SemanticHit, SemanticHits
from prima_tui.sources.assemble import Part

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

Place = tuple[str, int]
"""A chunk: its document's path, its position in it."""

_SOURCE = "docs"
_SHARE_OF_WORDS = 0.3
_FLOOR_OF_ANSWERS = 0.2
"""A chunk that is less like a question says nothing about it."""
_WORDS_OF_QUESTION = 40


class DocumentSearch:
    """Searches one index; what it prepares for that is kept as long as the index stays as it is."""

    def __init__(self, index: DocumentIndex) -> None:
        self._index = index
        self.collections: tuple[Collection, ...] = ()
        """The names of those that a document is in are its tags."""
        self._prepared: tuple[int, tuple[Collection, ...], Library] | None = None

    def search(
        self,
        query: Query,
        mode: Mode,
        embed: Callable[[str], Vector],
        now: datetime,
        cancel: Cancel,
        warnings: list[str],
        limit: int | None = None,
    ) -> list[DocumentHit]:
        """Return the documents found, each with its best chunk, best first, ties newest first.

        Whether a file has changed meanwhile is not looked at. Raises Cancelled.
        """
        library = self._library()

        def similar(query: Query, cancel: Cancel) -> SemanticHits:
            return self._similar(library, query, embed, cancel)

        found = combined.search(library, self._index.table, similar, query, mode, now, cancel, warnings)
        words = query_words(query)
        hits = [self._hit(self._best_place(one, library, words), one.hit) for one in found[:limit]]
        return [hit for hit in hits if hit is not None]

    def chunks(
        self,
        query: Query,
        embed: Callable[[str], Vector],
        cancel: Cancel,
        warnings: list[str],
        limit: int | None = None,
    ) -> list[DocumentHit]:
        """Return the chunks that answer a question best, whatever document they are of. Raises Cancelled.

        A question has words that its answer needn't have, so a chunk counts by how near it is in meaning and by which
        of the words it holds, rare ones more: the cosine, plus 0.3 for all of them; both on the scale of 100. Of chunks
        with the same text the best placed stands for all.
        """
        library = self._library()
        table = self._index.table
        near: dict[Place, float] = {}
        try:
            near = {(one.path, one.position): one.similarity for one in self._near(query, embed, cancel, floor=-1.0)}
        except PrimaError as error:
            warnings.insert(0, f"search by meaning is off, these are keyword results: {error}")
        cursor = table.cursor()
        if cursor is not None:
            cancel.on_cancel(cursor.interrupt)
        words = content_words(query)[:_WORDS_OF_QUESTION]
        held = shares(table.find(words, "", cursor), sum(len(entry.numbers) for entry in library.entries))
        by_word: dict[Place, float] = {}
        for part, share in held.items():
            entry = library.by_number.get(part)
            if entry is not None:
                one = entry.parts[entry.numbers.index(part)]
                by_word[one.path, one.number] = share
        hits = []
        for place in near.keys() | by_word.keys():
            score = near.get(place, 0.0) + _SHARE_OF_WORDS * by_word.get(place, 0.0)
            entry = library.by_place.get(place)
            if score >= _FLOOR_OF_ANSWERS and entry is not None and matches(query, entry.session):
                keyword = by_word[place] * 100 if place in by_word else None
                found = Hit(entry.session, score * 100, keyword, near.get(place))
                hits.append((score, place, found))
        hits.sort(key=lambda one: (-one[0], one[1]))
        shown: dict[str, DocumentHit] = {}
        for _score, place, found in hits:
            if limit is not None and len(shown) >= limit:
                break
            hit = self._hit(place, found)
            if hit is not None:
                shown.setdefault(hit.text, hit)
        return list(shown.values())

    def _library(self) -> Library:
        state = (self._index.generation, self.collections)
        if self._prepared is not None and self._prepared[:2] == state:
            return self._prepared[2]
        documents = sorted(self._index.documents(), key=lambda one: (one.modified_at, one.path), reverse=True)
        library = Library(tuple(self._entry(one) for one in documents if one.headings))
        self._prepared = (*state, library)
        return library

    def _entry(self, one: StoredDocument) -> Entry:
        # a line feed stands in no query, so the whole query is found in one heading or not at all
        headings = dict.fromkeys((one.title, *one.headings))
        return Entry(
            _as_session(one, one.path, names_of(self.collections, one.path)),
            tuple(Part(one.path, position, 1) for position in range(len(one.headings))),
            tuple(self._number(one.path, position) for position in range(len(one.headings))),
            fold("\n".join(headings)),
            (fold(one.path),),
            fold(one.path),
        )

    def _number(self, path: str, position: int) -> int:
        number = self._index.table.part(path, position)
        return -1 if number is None else number

    def _near(self, query: Query, embed: Callable[[str], Vector], cancel: Cancel, floor: float = FLOOR) -> list[Near]:
        if self._index.other_model:
            raise ModelUnavailable(documents_rebuild_due(self._index.other_model, self._index.model))
        vector = embed(query.text)
        cancel.check()
        return self._index.near(vector, cancel, floor)

    def _similar(self, library: Library, query: Query, embed: Callable[[str], Vector], cancel: Cancel) -> SemanticHits:
        best: dict[str, SemanticHit] = {}
        for near in self._near(query, embed, cancel):
            entry = library.by_place.get((near.path, near.position))
            known = best.get(near.path)
            if entry is None or (known is not None and known.similarity >= near.similarity):
                continue
            place = Similar(near.path, near.position, _SOURCE, entry.session.id, 0, near.similarity, "")
            best[near.path] = SemanticHit(entry.session, near.similarity, place)
        return SemanticHits.listed(library, [hit for hit in best.values() if matches(query, hit.session)])

    def _best_place(self, found: Found, library: Library, words: Sequence[str]) -> Place | None:
        """Return the chunk to show: one with all words, else the nearest in meaning, else one with most words."""
        place = found.place(library)
        if place is None or found.stored is None:
            return place[:2] if place else None
        chunk = self._index.chunk(place[0], place[1])
        text = fold(f"{chunk.heading}\n{chunk.text}") if chunk is not None else ""
        if words and all(word in text for word in words):
            return place[:2]
        return found.stored.path, found.stored.number

    def _hit(self, place: Place | None, found: Hit) -> DocumentHit | None:
        document = self._index.document(place[0]) if place else None
        chunk = self._index.chunk(place[0], place[1]) if place else None
        if document is None or chunk is None:
            return None  # it went while it was searched
        return DocumentHit(
            path=document.path,
            title=document.title,
            heading=chunk.heading,
            first_line=chunk.first_line,
            last_line=chunk.last_line,
            text=chunk.text,
            score=found.score,
            keyword_score=found.keyword_score,
            similarity=found.similarity,
            modified_at=document.modified_at,
        )


def _as_session(one: StoredDocument, identifier: str, collections: tuple[str, ...]) -> Session:
    # a folder that no relative path begins with, so that the path is matched whole
    folder = "/" + one.path.rsplit("/", 1)[0] if "/" in one.path else "/"
    return Session(
        id=identifier,
        source=_SOURCE,
        label="[docs]",
        title=one.title,
        tags=collections,
        started_at=one.modified_at,
        ended_at=one.modified_at,
        workspace=folder,
        files_changed=(FileChange(one.path, "edit"),),
        paths=(one.path,),
    )


def unknown_collections(query: Query, names: Sequence[str]) -> list[str]:
    """Return a line for each filter of a query that asks for a collection which isn't set."""
    known = {fold(name) for name in names}
    there = f"there are {', '.join(names)}" if names else "none is set in .memory/config.toml"
    return [
        f"collection:{one.value} is no collection: {there}"
        for one in query.filters
        if one.name == "collection" and one.value not in known
    ]

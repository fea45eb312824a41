"""Search in a project's documents, by the same rules and the same code as in sessions: a chunk is an exchange, a
document a session whose title are its headings and whose one file is itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from prima_tui.errors import ModelUnavailable
from prima_tui.index.documents import DocumentIndex, StoredDocument
from prima_tui.index.vectors import Similar
from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import Cancel, Mode
from prima_tui.model.query import Query, matches
from prima_tui.model.session import FileChange, Session
from prima_tui.model.text import fold
from prima_tui.search import combined
from prima_tui.search.combined import Found
from prima_tui.search.library import Entry, Library
from prima_tui.search.semantic import SemanticHit
from prima_tui.sources.assemble import Part

_SOURCE = "docs"


class DocumentSearch:
    """Searches one index; what it prepares for that is kept as long as the index stays as it is."""

    def __init__(self, index: DocumentIndex) -> None:
        self._index = index
        self._prepared: dict[bool, tuple[int, Library]] = {}

    def search(
        self,
        query: Query,
        mode: Mode,
        embed: Callable[[str], object],
        now: datetime,
        cancel: Cancel,
        warnings: list[str],
        *,
        limit: int | None = None,
        every_chunk: bool = False,
    ) -> list[DocumentHit]:
        """Return hits, best first, ties newest first: each document once with its best chunk, or chunks of their own.

        Whether a file has changed meanwhile is not looked at. Raises Cancelled.
        """
        library = self._library(every_chunk)

        def similar(query: Query, cancel: Cancel) -> list[object]:
            return list(self._similar(library, query, embed, cancel, every_chunk))

        found = combined.search(library, self._index.table, similar, query, mode, now, cancel, warnings)
        documents = {one.path: one for one in self._index.documents()}
        hits = []
        for one in found[:limit]:
            hit = self._hit(one, library, documents)
            if hit is not None:
                hits.append(hit)
        return hits

    def _library(self, every_chunk: bool) -> Library:
        generation = self._index.generation
        known = self._prepared.get(every_chunk)
        if known is not None and known[0] == generation:
            return known[1]
        entries: list[Entry] = []
        for one in sorted(self._index.documents(), key=lambda one: (one.modified_at, one.path), reverse=True):
            if one.headings:
                entries += self._chunk_entries(one) if every_chunk else [self._entry(one)]
        library = Library(
            entries=tuple(entries),
            by_key={entry.session.key: entry for entry in entries},
            by_number={number: entry for entry in entries for number in entry.numbers if number >= 0},
            by_place={(part.path, part.number): entry for entry in entries for part in entry.parts},
        )
        self._prepared[every_chunk] = (generation, library)
        return library

    def _entry(self, one: StoredDocument) -> Entry:
        # a line feed stands in no query, so the whole query is found in one heading or not at all
        headings = dict.fromkeys((one.title, *one.headings))
        return Entry(
            _as_session(one, one.path),
            tuple(Part(one.path, position, 1) for position in range(len(one.headings))),
            tuple(self._number(one.path, position) for position in range(len(one.headings))),
            fold("\n".join(headings)),
            (fold(one.path),),
        )

    def _chunk_entries(self, one: StoredDocument) -> list[Entry]:
        return [
            Entry(
                _as_session(one, f"{one.path}#{position}"),
                (Part(one.path, position, 1),),
                (self._number(one.path, position),),
                fold(heading),
                (fold(one.path),),
            )
            for position, heading in enumerate(one.headings)
        ]

    def _number(self, path: str, position: int) -> int:
        number = self._index.table.part(path, position)
        return -1 if number is None else number

    def _similar(
        self, library: Library, query: Query, embed: Callable[[str], object], cancel: Cancel, every_chunk: bool
    ) -> list[SemanticHit]:
        if self._index.other_model:
            raise ModelUnavailable(
                f"the index was made with {self._index.other_model}, not {self._index.model}: a rebuild is due"
            )
        vector = embed(query.text)
        cancel.check()
        cursor = self._index.cursor()
        cancel.on_cancel(cursor.interrupt)
        hits = []
        for near in self._index.near(vector, cursor, every_chunk=every_chunk):  # type: ignore[arg-type]
            entry = library.by_place.get((near.path, near.position))
            if entry is not None and matches(query, entry.session):
                place = Similar(near.path, near.position, _SOURCE, entry.session.id, 0, near.similarity, "")
                hits.append(SemanticHit(entry.session, near.similarity, place))
        return hits

    def _hit(self, found: Found, library: Library, documents: Mapping[str, StoredDocument]) -> DocumentHit | None:
        place = found.place(library)
        document = documents.get(place[0]) if place else None
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
            score=found.hit.score,
            keyword_score=found.hit.keyword_score,
            similarity=found.hit.similarity,
            modified_at=document.modified_at,
        )


def _as_session(one: StoredDocument, identifier: str) -> Session:
    # a folder that no relative path begins with, so that the path is matched whole
    folder = "/" + one.path.rsplit("/", 1)[0] if "/" in one.path else "/"
    return Session(
        id=identifier,
        source=_SOURCE,
        label="[docs]",
        title=one.title,
        started_at=one.modified_at,
        ended_at=one.modified_at,
        workspace=folder,
        files_changed=(FileChange(one.path, "edit"),),
        paths=(one.path,),
    )

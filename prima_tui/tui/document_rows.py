"""Documents as rows of the list: they stand among the sessions, are looked at like them, and opened in an editor."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path

import msgspec

from prima_tui.documents.formats import CONVERTED, extension
from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import Hit, Reason
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.scoring import combined_beside
from prima_tui.model.session import Exchange, Session
from prima_tui.tui.extract_rows import is_extract

DOCUMENT = "docs"
"""Stands in the place of a source."""
_FULL_SCORE = 99.999
LETTER = "D "
"""Stands before a document's title, in the documents' colour."""


class DocumentRow(Hit, frozen=True, kw_only=True):
    """A document as a hit; the text of its best chunk is the exchange's reply."""

    document: DocumentHit

    @property
    def file(self) -> Path:
        """The document's file."""
        return Path(self.session.paths[0])

    @property
    def line(self) -> int:
        """The line at which an editor opens the file: the chunk's, where the file's lines are the text's."""
        return 1 if extension(self.document.path) in CONVERTED else self.document.first_line

    @property
    def place(self) -> str:
        """File and lines, relative to the project."""
        return f"{self.document.path}:{self.document.first_line}-{self.document.last_line}"


def document_row(found: DocumentHit, project: str, *, each_chunk: bool = False) -> DocumentRow:
    """Return a document's row. ``each_chunk``: a document may have several rows, which are told by their lines."""
    identifier = f"{found.path}:{found.first_line}" if each_chunk else found.path
    title = found.heading or found.title
    reasons = []
    if found.keyword_score is not None:
        reasons.append(Reason("words", found.keyword_score))
    if found.similarity is not None:
        reasons.append(Reason("meaning", found.similarity))
    return DocumentRow(
        session=Session(
            identifier,
            DOCUMENT,
            "[docs]",
            title,
            ended_at=found.modified_at,
            workspace=project,
            paths=(str(Path(project, found.path)),),
        ),
        score=found.score,
        keyword_score=found.keyword_score,
        similarity=found.similarity,
        exchange_index=found.first_line,
        exchange=Exchange("", found.text),
        reasons=tuple(reasons),
        document=found,
    )


def among_sessions(
    hits: Sequence[Hit],
    documents: Sequence[DocumentHit],
    project: str,
    *,
    combined: bool,
    each_chunk: bool = False,
) -> Sequence[Hit]:
    """Return sessions and documents in one list, best first; both must be so already.

    ``combined``: the scores were rescaled, each kind's by the best of its own; documents go on the sessions' scale.
    """
    if not documents:
        return hits
    rows = [document_row(found, project, each_chunk=each_chunk) for found in documents]
    raw = all(row.similarity is None and row.score == row.keyword_score for row in rows)
    if combined and hits and not raw:
        best = _best_keyword_score(hits)
        rows = [
            msgspec.structs.replace(row, score=combined_beside(row.keyword_score, row.similarity, best)) for row in rows
        ]
        rows.sort(key=_score_downwards)
    if not hits:
        return rows
    stands = [bisect_right(hits, -row.score, key=_score_downwards) + place for place, row in enumerate(rows)]

    def at(place: int) -> Hit:
        above = bisect_left(stands, place)
        return rows[above] if above < len(stands) and stands[above] == place else hits[place - above]

    return OnDemand(len(hits) + len(rows), at)


def _best_keyword_score(hits: Sequence[Hit]) -> float:
    """Return what combined scores were rescaled by: who has it stands among those with 100 points or more.

    Only these are looked at, since of ten thousand hits most are never made.
    """
    best = 0.0
    for hit in hits:
        if hit.score < _FULL_SCORE:
            break
        best = max(best, hit.keyword_score or 0.0)
    return best


def is_session(hit: Hit) -> bool:
    """Return whether a hit is a session: what stands in the list may be an extract or a document too."""
    return not isinstance(hit, DocumentRow) and not is_extract(hit)


def document_facts(row: DocumentRow) -> list[tuple[str, str]]:
    """Return where a document's chunk stands and how well it fits, each with its style in the list."""
    facts = [("[docs]", "source"), (row.place, "fact")]
    if row.score:
        facts.append((f"score {row.score:.0f}", "fact"))
    if row.document.stale:
        facts.append(("changed since it was indexed", "badge"))
    return facts


def _score_downwards(hit: Hit) -> float:
    return -hit.score

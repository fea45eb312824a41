"""A project's documents as they flow through the program: chunks, hits, an answer with its citations. No I/O."""

from __future__ import annotations

from datetime import datetime

import msgspec

HEADING_JOINT = " > "
"""Stands between the headings of a heading path."""


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """A stretch of a document, as it stands there."""

    headings: tuple[str, ...]
    """The headings it stands under, outermost first, as plain text; empty before the first one."""
    first_line: int
    """Counted from 1."""
    last_line: int
    """Inclusive."""
    text: str

    @property
    def heading(self) -> str:
        """The heading path in one line."""
        return HEADING_JOINT.join(self.headings)


class Document(msgspec.Struct, frozen=True, gc=False):
    """One document as it was when it was read."""

    path: str
    """Relative to the project's root, with ``/`` between folders."""
    sha256: str
    """Of its bytes, in hexadecimal."""
    title: str
    """Of its front matter, else its first heading, else its file name."""
    modified_at: datetime
    chunks: tuple[Chunk, ...] = ()
    """None for an empty file, and for one that is no text."""
    warning: str = ""
    """What was guessed or lost in reading it, or why it was left out."""
    left_out: bool = False
    """It is no text, whatever its name says, or could not be read."""
    given_up_after: float = 0.0
    """Seconds after which reading it was given up, with what there was; 0 when it came to its end."""


class DocumentHit(msgspec.Struct, frozen=True, gc=False):
    """One chunk that a search found: where it is, what it says, why it stands where it stands in the list."""

    path: str
    """Relative to the project's root, with ``/`` between folders."""
    title: str
    """The document's title: of its front matter, else its first heading, else its file name."""
    heading: str
    """The chunk's heading path, joined with `` > ``; "" before the first heading."""
    first_line: int
    last_line: int
    text: str
    score: float
    """What orders the list."""
    keyword_score: float | None = None
    similarity: float | None = None
    modified_at: datetime | None = None
    stale: bool = False
    """The file has changed, or is gone, since this chunk was stored."""


class DocumentsAnswer(msgspec.Struct, frozen=True):
    """The answer to one query, complete in itself."""

    query: str
    mode: str
    hits: tuple[DocumentHit, ...] = ()
    warnings: tuple[str, ...] = ()
    took_ms: float = 0.0
    words: tuple[str, ...] = ()
    """What to highlight."""
    project: str = ""
    """The root, which the hits' paths are relative to."""


class DocumentText(msgspec.Struct, frozen=True):
    """A document as it is now, for reading."""

    path: str
    text: str
    """What the chunks are parts of: of a file that is no plain text, what was read out of it."""
    outline: tuple[tuple[int, str, int], ...] = ()
    """Its headings: (level from 1, text, line from 1)."""
    problem: str = ""
    """Why it can't be read; "" mostly."""
    language: str = ""
    """Of source code; "" of a text."""


class DocumentsProgress(msgspec.Struct, frozen=True):
    """How far an update of the documents' index is, or what it did."""

    files_done: int = 0
    """Of those that were new or changed."""
    files_total: int = 0
    files_unchanged: int = 0
    files_removed: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    """Chunks of new or changed files whose text was known already."""
    seconds: float = 0.0
    finished: bool = False
    note: str = ""
    """Why it stopped early or did nothing; "" mostly."""
    warnings: tuple[str, ...] = ()
    """Files that were left out or read with a guess, one line each."""

    @property
    def said(self) -> list[str]:
        """What is to be said of it where documents are not the only subject."""
        return [f"documents: {line}" for line in (*self.warnings, self.note) if line]


class DocumentsStatus(msgspec.Struct, frozen=True):
    """The state of a project's documents."""

    project: str
    """The root: the folder that holds ``.memory``."""
    index_path: str
    files: int
    """Documents that are there now."""
    chunks: int
    """Chunks that are stored."""
    last_indexed: datetime | None
    stale_files: tuple[str, ...]
    """New, changed or gone since they were indexed; relative paths."""
    model: str
    answering_model: str = ""
    """The model that writes answers, "" when none is configured."""
    collections: tuple[tuple[str, int], ...] = ()
    """Name of each collection, and how many documents are in it now."""
    warnings: tuple[str, ...] = ()


class Citation(msgspec.Struct, frozen=True):
    """A file that an answer names."""

    path: str
    """As the answer names it."""
    number: int | None
    """Place, from 1, of the chunk among those given; None when only a file was named."""
    known: bool
    """Whether it was among the chunks given; what is not is the model's own invention."""


class Asked(msgspec.Struct, frozen=True):
    """A question with the chunks that answer it and, where a model is configured, what it wrote from them."""

    question: str
    hits: tuple[DocumentHit, ...] = ()
    answer: str = ""
    """Text of the model, "" when there is none. A citation of something that was not given is marked in it."""
    citations: tuple[Citation, ...] = ()
    model: str = ""
    complete: bool = False
    """Whether the model came to its end."""
    note: str = ""
    """One line: why there is no answer, or only a part of one."""
    warnings: tuple[str, ...] = ()
    took_ms: float = 0.0

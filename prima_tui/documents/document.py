"""One file's bytes as a document: its text decoded, its title, its chunks."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime

from prima_tui.documents.chunks import split_outlined, split_plain
from prima_tui.documents.formats import extension, read
from prima_tui.documents.readable import Unreadable
from prima_tui.documents.walk import DocumentFile
from prima_tui.model.documents import Document, DocumentText

_LONGEST_TITLE = 200
_TO_FINISH = 0.8
"""Of the time for a document, what its parser uses."""


def digest(data: bytes) -> str:
    """Return what identifies a document's content: the SHA-256 of its bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_document(file: DocumentFile, data: bytes, seconds: float | None = None) -> Document:
    """Return the document that the bytes of a file are. Never raises; what was guessed is its ``warning``.

    When there are only so many ``seconds``, a parser that can ends with what it has before they are over.
    """
    name = file.path.rsplit("/", 1)[-1]
    deadline = None if seconds is None else time.monotonic() + seconds * _TO_FINISH
    try:
        found = read(file.path, data, deadline)
        chunks = split_plain(found.text) if found.outline is None else split_outlined(found.text, found.outline)
    except Unreadable as error:
        return unread_document(file, digest(data), str(error))
    except Exception as error:  # no parser is sound enough for one file to cost all others
        return unread_document(file, digest(data), f"reading it failed: {_line(error)}")
    title = found.title
    if not title and found.outline is not None and not found.language and extension(file.path) != "pdf":
        title = next((chunk.headings[0] for chunk in chunks if chunk.headings), "")
    return Document(
        file.path,
        digest(data),
        title[:_LONGEST_TITLE] or name,
        _modified_at(file),
        tuple(chunks),
        found.warning,
        given_up_after=seconds if seconds and found.unfinished else 0.0,
    )


def unread_document(file: DocumentFile, sha256: str, reason: str, given_up_after: float = 0.0) -> Document:
    """Return what stands for a document that could not be read."""
    name = file.path.rsplit("/", 1)[-1]
    warning = f"left out: {reason}"
    return Document(file.path, sha256, name, _modified_at(file), (), warning, True, given_up_after)


def _modified_at(file: DocumentFile) -> datetime:
    return datetime.fromtimestamp(max(0, min(file.mtime_ns, 10**19)) / 1e9, UTC)


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def document_text(path: str, data: bytes) -> DocumentText:
    """Return the text of a document with its headings, as a reader sees it. Never raises."""
    try:
        found = read(path, data)
    except Unreadable as error:
        return DocumentText(path, "", problem=f"{path} can't be shown: {error}")
    except Exception as error:
        return DocumentText(path, "", problem=f"{path} can't be shown: reading it failed: {_line(error)}")
    headings = found.outline.headings if found.outline else ()
    outline = tuple((one.level, one.path[-1], one.first_line + 1) for one in headings if one.path)
    return DocumentText(path, found.text, outline, language=found.language)

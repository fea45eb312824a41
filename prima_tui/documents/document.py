"""One file's bytes as a document: its text decoded, its title, its chunks."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from prima_tui.documents.chunks import split_outlined, split_plain
from prima_tui.documents.formats import extension, read
from prima_tui.documents.readable import Unreadable
from prima_tui.documents.walk import DocumentFile
from prima_tui.model.documents import Document, DocumentText

_LONGEST_TITLE = 200


def digest(data: bytes) -> str:
    """Return what identifies a document's content: the SHA-256 of its bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_document(file: DocumentFile, data: bytes) -> Document:
    """Return the document that the bytes of a file are. Never raises; what was guessed is its ``warning``."""
    name = file.path.rsplit("/", 1)[-1]
    modified_at = datetime.fromtimestamp(max(0, min(file.mtime_ns, 10**19)) / 1e9, UTC)
    try:
        found = read(file.path, data)
    except Unreadable as error:
        return Document(file.path, digest(data), name, modified_at, warning=f"left out: {error}", left_out=True)
    title = found.title
    if found.outline is None:
        chunks = split_plain(found.text)
    else:
        chunks = split_outlined(found.text, found.outline)
        if not title and not found.language and extension(file.path) != "pdf":
            title = next((chunk.headings[0] for chunk in chunks if chunk.headings), "")
    title = title[:_LONGEST_TITLE] or name
    return Document(file.path, digest(data), title, modified_at, tuple(chunks), found.warning)


def document_text(path: str, data: bytes) -> DocumentText:
    """Return the text of a document with its headings, as a reader sees it. Never raises."""
    try:
        found = read(path, data)
    except Unreadable as error:
        return DocumentText(path, "", problem=f"{path} can't be shown: {error}")
    headings = found.outline.headings if found.outline else ()
    outline = tuple((one.level, one.path[-1], one.first_line + 1) for one in headings if one.path)
    return DocumentText(path, found.text, outline, language=found.language)

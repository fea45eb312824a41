"""One file's bytes as a document: its text decoded, its title, its chunks."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from prima_tui.documents.chunks import split_markdown, split_plain
from prima_tui.documents.markdown import front_matter_title, markdown_outline
from prima_tui.documents.reading import decode
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
    decoded = decode(data)
    if decoded is None:
        return Document(file.path, digest(data), name, modified_at, warning="left out: it is no text", left_out=True)
    if name.lower().endswith(".txt"):
        title, chunks = "", split_plain(decoded.text)
    else:
        chunks = split_markdown(decoded.text)
        title = front_matter_title(decoded.text)
        title = title or next((chunk.headings[0] for chunk in chunks if chunk.headings), "")
    title = title[:_LONGEST_TITLE] or name
    return Document(file.path, digest(data), title, modified_at, tuple(chunks), decoded.warning)


def document_text(path: str, data: bytes) -> DocumentText:
    """Return the text of a document with its headings, as a reader sees it. Never raises."""
    decoded = decode(data)
    if decoded is None:
        return DocumentText(path, "", problem=f"{path} is no text")
    if path.lower().endswith(".txt"):
        return DocumentText(path, decoded.text)
    headings = markdown_outline(decoded.text).headings
    outline = tuple((one.level, one.path[-1], one.first_line + 1) for one in headings if one.path)
    return DocumentText(path, decoded.text, outline)

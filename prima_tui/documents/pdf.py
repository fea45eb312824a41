"""The text of a PDF, page by page. Needs the package of the extra ``pdf``."""

from __future__ import annotations

import logging

from prima_tui.documents.markdown import Heading, Outline
from prima_tui.documents.readable import Readable, Unreadable

_MOST_PAGES = 2_000
_MOST_CHARACTERS = 5_000_000


def read_pdf(data: bytes) -> Readable:
    """Return the text of a PDF, each page a section of its own. Raises Unreadable."""
    import io

    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise Unreadable("reading .pdf needs an extra: pip install 'prima-tui[pdf]'") from error

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of each small fault; nothing would show that
    lines: list[str] = []
    headings: list[Heading] = []
    characters, unread = 0, 0
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it needs a password")
        title = (reader.metadata.title if reader.metadata else "") or ""
        count = len(reader.pages)
        for number in range(min(count, _MOST_PAGES)):
            try:
                text = reader.pages[number].extract_text()
            except Exception:  # one page that is damaged costs no other
                unread += 1
                continue
            page = [line.rstrip() for line in text.replace("\x00", "\ufffd").split("\n")]
            if any(page):
                headings.append(Heading((f"Page {number + 1}",), 1, len(lines), len(lines)))
                lines += [*page, ""]
            characters += len(text)
            if characters > _MOST_CHARACTERS:
                count = number + 1
                break
    except Unreadable:
        raise
    except Exception as error:  # a parser of such files can fail in any way
        raise Unreadable(f"it is no PDF that can be read: {type(error).__name__}") from error
    if not headings:
        raise Unreadable("its pages hold no text (pictures of text, perhaps)")
    warning = f"{unread} of {count} pages could not be read" if unread else ""
    return Readable("\n".join(lines), Outline(tuple(headings)), title.strip(), warning)

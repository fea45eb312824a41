"""The text of a PDF, page by page. Needs the package of the extra ``pdf``."""

from __future__ import annotations

import logging
import time

from prima_tui.documents.markdown import Heading, Outline
from prima_tui.documents.readable import Readable, Unreadable

_MOST_PAGES = 2_000
_MOST_CHARACTERS = 5_000_000


def read_pdf(data: bytes, deadline: float | None = None) -> Readable:
    """Return the text of a PDF, each page a section of its own. Raises Unreadable.

    Past ``deadline`` (monotonic) no further page is begun.
    """
    import io

    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise Unreadable("reading .pdf needs an extra: pip install 'prima-tui[pdf]'") from error

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of each small fault; nothing would show that
    lines: list[str] = []
    headings: list[Heading] = []
    characters, unread, begun = 0, 0, 0
    late = False
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it needs a password")
        title = (reader.metadata.title if reader.metadata else "") or ""
        count = len(reader.pages)
        while begun < min(count, _MOST_PAGES) and characters <= _MOST_CHARACTERS:
            late = deadline is not None and time.monotonic() > deadline
            if late:
                break
            begun += 1
            try:
                text = reader.pages[begun - 1].extract_text()
            except Exception:  # one page that is damaged costs no other
                unread += 1
                continue
            page = [line.rstrip() for line in text.replace("\x00", "\ufffd").split("\n")]
            if any(page):
                headings.append(Heading((f"Page {begun}",), 1, len(lines), len(lines)))
                lines += [*page, ""]
            characters += len(text)
    except Unreadable:
        raise
    except Exception as error:  # a parser of such files can fail in any way
        raise Unreadable(f"it is no PDF that can be read: {type(error).__name__}") from error
    if not headings and not late:
        raise Unreadable("its pages hold no text (pictures of text, perhaps)")
    warnings = [f"{unread} of {count} pages could not be read"] if unread else []
    if begun < count:
        why = "the others take too long" if late else "that is as much as is taken of one document"
        warnings.append(f"only the first {begun} of {count} pages are read: {why}")
    return Readable("\n".join(lines), Outline(tuple(headings)), title.strip(), "; ".join(warnings), unfinished=late)

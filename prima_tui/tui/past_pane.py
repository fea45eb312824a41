"""Summaries of the session history: the last thing that is searched, when the conversations hold nothing."""

from __future__ import annotations

from collections.abc import Sequence

from prima_tui.model.hits import PastEntry
from prima_tui.tui.document import Document, markdown_document
from prima_tui.tui.document_pane import DocumentPane


class PastPane(DocumentPane):
    """Stands in the panes' place while there are no hits."""

    BINDING_GROUP_TITLE = "Session history"
    HELP = """
    ## Session History Summaries

    No conversation holds what was searched, but these summaries do.
    """


def past_document(entries: Sequence[PastEntry], words: tuple[str, ...]) -> Document:
    """Return the summaries as a document, under a heading each."""
    parts = []
    for entry in entries:
        when = " ".join(part for part in (entry.date or entry.month, entry.time) if part)
        about = f" · {', '.join(entry.projects)}" if entry.projects else ""
        parts.append(f"## {when}{about}\n\n{entry.text.strip()}")
    return markdown_document("\n\n".join(parts), words)

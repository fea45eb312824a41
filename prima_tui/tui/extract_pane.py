"""The extract of the selected session: what it was, which files it changed and why, how it ended."""

from __future__ import annotations

from prima_tui.tui.document_pane import DocumentPane


class ExtractPane(DocumentPane):
    """The extract's markdown, with its table of files in columns."""

    OPENS_AT_MATCH = False
    BINDING_GROUP_TITLE = "Extract"
    HELP = """
    ## Extract

    The selected session in short: its facts, the files it changed with the reason for each, its last replies.
    """

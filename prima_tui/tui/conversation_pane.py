"""The conversation of the selected session, opened at the exchange that was found."""

from __future__ import annotations

from prima_tui.tui.document_pane import DocumentPane


class ConversationPane(DocumentPane):
    """User and agent told apart, matches marked, subagents and branches that were left set off by dividers."""

    BINDING_GROUP_TITLE = "Conversation"
    HELP = """
    ## Conversation

    All that was said in the selected session, opened at the exchange that fits the query best.
    """

"""What a session did to a file, as a document: each change with what the agent said of it, and its diff in colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from prima_tui.model.session import TextEdit, ToolUse
from prima_tui.search.changed_files import SessionChange, absolute_path
from prima_tui.tui.document import Block, Document, clock_text, document_of, plain_pieces, text_pieces
from prima_tui.tui.tool_blocks import diff_text

_EARLY = datetime.min.replace(tzinfo=UTC)
Edit = tuple[int, ToolUse, TextEdit]
"""Place of the exchange, the use of a tool, the edit."""


def edits_of_change(change: SessionChange, tools: Sequence[Sequence[ToolUse]]) -> list[Edit]:
    """Return the edits of a file by a session, latest first; ``tools`` are the session's uses for each exchange."""
    path = absolute_path(change.path, change.session)
    found = [
        (index, use, edit)
        for index, uses in enumerate(tools)
        for use in uses
        if not use.failed
        for edit in use.edits
        if absolute_path(edit.path, change.session) == path
    ]
    # turned round after sorting: of two at one time the later in the conversation comes first
    found.sort(key=lambda one: one[1].at or _EARLY)
    return found[::-1]


def change_document(change: SessionChange, tools: Sequence[Sequence[ToolUse]]) -> tuple[Document, int | None]:
    """Return the document, and the place of the exchange with the latest change (None where that is not recorded)."""
    edits = edits_of_change(change, tools)
    blocks = _with_diffs(change, edits) if edits else _without_diffs(change)
    return document_of(blocks), edits[0][0] if edits else None


def _with_diffs(change: SessionChange, edits: Sequence[Edit]) -> Iterator[Block]:
    said = {one.at: one.explanation for one in reversed(change.changes)}
    before = ""
    for index, use, edit in edits:
        text = said.get(use.at, "")
        yield Block(" · ".join(filter(None, (clock_text(use.at), edit.action, f"exchange #{index + 1}"))), "divider")
        if text and text != before:
            yield from _spoken(text, index)
        before = text
        yield from plain_pieces(diff_text(edit) or "(nothing but an empty file)", "diff", index)
        yield Block("", "plain", exchange=index)


def _without_diffs(change: SessionChange) -> Iterator[Block]:
    for one in change.changes:
        yield Block(" · ".join(filter(None, (clock_text(one.at), one.action))), "divider")
        if one.explanation:
            yield from _spoken(one.explanation, -1)
        yield Block("The text of this change is not recorded.", "aside", gap=True)


def _spoken(text: str, exchange: int) -> Iterator[Block]:
    *blocks, last = text_pieces(text, "agent", exchange)
    yield from blocks
    yield last._replace(gap=True)

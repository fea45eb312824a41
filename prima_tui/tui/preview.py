"""What the two panes show of a session: loaded and cut into blocks in a thread, kept for when one comes back."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import NamedTuple, Protocol

from textual.cache import LRUCache

from prima_tui.errors import PrimaError
from prima_tui.extracts import FILES_HEADING
from prima_tui.model.documents import DocumentText
from prima_tui.model.hits import Conversation, Hit
from prima_tui.model.session import Session, ToolUse
from prima_tui.tui.code_colours import load_languages
from prima_tui.tui.conversation_document import conversation_document
from prima_tui.tui.document import Document, markdown_document
from prima_tui.tui.document_rows import DocumentRow
from prima_tui.tui.extract_rows import is_extract
from prima_tui.tui.section_document import facts_document, lines_text, section_document
from prima_tui.tui.tool_blocks import Unfolded, aside_blocks

_KEPT = 12
_LONG = 400
"""Exchanges; of a longer conversation the part around the best one is shown first."""
_AROUND = 30
_SEEN_FIRST = 40
"""Blocks from the start of a document on that may be in view when it is shown."""
_MOST_LANGUAGES, _LOOKED_AT = 24, 4_000
"""Languages that are loaded for a document, and in how many of its blocks they are looked for."""


class Reads(Protocol):
    """Where conversations come from."""

    def conversation(self, session: Session) -> Conversation:
        """Return all exchanges of a session; may block, is called in a thread."""
        ...

    def tools(self, session: Session, *, thinking: bool) -> tuple[tuple[ToolUse, ...], ...]:
        """Return the uses of tools, and thinking, for each exchange; may block, is called in a thread."""
        ...

    def extract(self, session: Session, conversation: Conversation) -> str:
        """Return the extract of a session as markdown; may block, is called in a thread."""
        ...

    def document_text(self, path: str) -> DocumentText:
        """Return a document of the project as it is now; may block, is called in a thread."""
        ...


class Preview(NamedTuple):
    """A session ready to be shown in the panes."""

    session: Session
    conversation: Document
    extract: Document
    problem: str = ""
    """Why it can't be shown, for the user; "" mostly."""
    title: str = ""
    """What stands above the conversation when that is not the session's title."""
    has_asides: bool = False
    """Whether uses of tools or thinking are among what the conversation shows."""


class _Read(NamedTuple):
    conversation: Conversation
    extract: str
    tools: tuple[tuple[ToolUse, ...], ...] | None = None
    """None until they were asked for."""


def _state(session: Session) -> tuple[object, ...]:
    """What changes when a session's files change."""
    return (session.key, session.ended_at, session.message_count, session.exchange_count)


class Previews:
    """Makes previews; what was read lately is kept, so that going up and down a list reads nothing twice."""

    def __init__(self) -> None:
        self._kept: LRUCache[tuple[object, ...], _Read] = LRUCache(_KEPT)

    async def preview(
        self, memory: Reads, hit: Hit, words: tuple[str, ...], unfolded: Unfolded | None = None, *, near: bool = False
    ) -> Preview:
        """Return the preview of a hit, its best exchange the place to open at, ``words`` highlighted.

        Tools and thinking are left out without ``unfolded``, since they take longer.
        With ``near`` a long conversation is cut to the part around the best exchange, which takes no time to make; its
        document says so (:attr:`Document.whole`).
        """
        if isinstance(hit, DocumentRow):
            return await asyncio.to_thread(_document_preview, memory, hit, words)
        if is_extract(hit):
            text = hit.exchange.assistant if hit.exchange else ""
            document = await asyncio.to_thread(markdown_document, text, words)
            return Preview(hit.session, document, document)
        state = _state(hit.session)
        kept = self._kept.get(state)
        read, preview = await asyncio.to_thread(_make, memory, hit, words, unfolded, kept, near)
        if read is not None and read is not kept:
            self._kept.discard(state)  # else the cache keeps the value it was given first
            self._kept[state] = read
        # what is further down is made ready while one reads
        asyncio.get_running_loop().run_in_executor(None, _load_colours, preview.conversation)
        return preview

    def forget(self) -> None:
        """Read everything anew."""
        self._kept.clear()


def _document_preview(memory: Reads, row: DocumentRow, words: tuple[str, ...]) -> Preview:
    hit = row.document
    text = memory.document_text(hit.path)
    title = f"{hit.path} · {lines_text(hit.first_line, hit.last_line)}"
    document, facts = section_document(text, hit, words), facts_document(text, hit, words)
    return Preview(row.session, document, facts, title=title)


def _make(
    memory: Reads, hit: Hit, words: tuple[str, ...], unfolded: Unfolded | None, kept: _Read | None, near: bool
) -> tuple[_Read | None, Preview]:
    session = hit.session
    try:
        if kept is None:
            conversation = memory.conversation(session)
            kept = _Read(conversation, memory.extract(session, conversation))
        if unfolded is not None and kept.tools is None:
            kept = kept._replace(tools=memory.tools(session, thinking=True))
    except (PrimaError, OSError) as error:
        problem = f"This conversation can't be read: {error}"
        said = markdown_document(problem, ())
        return None, Preview(session, said, said, problem)
    asides = aside_blocks(kept.tools or (), session.workspace, unfolded) if unfolded is not None else {}
    around = _AROUND if near and len(kept.conversation.exchanges) > _LONG else None
    document = conversation_document(kept.conversation, words, hit.exchange_index, asides, around)
    # which files were changed is asked for more often than what stands above: the list says most of that
    extract = markdown_document(kept.extract, words, FILES_HEADING if session.files_changed else "")
    for shown, start in (
        (document, document.start),
        (document, next(iter(document.matches), 0)),
        (extract, extract.start),
    ):
        load_languages(shown.languages(max(0, start - _SEEN_FIRST // 2), start + _SEEN_FIRST))
    return kept, Preview(session, document, extract, has_asides=bool(asides))


def _load_colours(document: Document) -> None:
    load_languages(islice(document.languages(last=_LOOKED_AT), _MOST_LANGUAGES))

"""A long text in blocks: a conversation or an extract cut into pieces small enough to be laid out when they are seen.

A conversation of any length opens at once, since only blocks near the viewport are ever laid out; the others have an
estimated height. Building a document is one pass over the text, made in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Literal, NamedTuple

import msgspec

from prima_tui.model.hits import Cancel
from prima_tui.model.text import fold, shown, spans
from prima_tui.tui.code_colours import code_lines
from prima_tui.tui.inline_markdown import Marker
from prima_tui.tui.markdown_lines import FENCE, markdown_lines
from prima_tui.tui.styled_lines import Span, StyledLine, cut, joined, without_tabs, wrapped
from prima_tui.tui.table_lines import is_table_line, natural_widths

Voice = Literal["user", "agent", "plain", "aside", "divider", "tool", "tool-text"]
"""``tool`` is the one line of a use of a tool, ``tool-text`` what it was given or gave back."""
_TOOL_VOICES = frozenset({"tool", "tool-text"})
YOU = "You"

# Laying out a block of this many characters takes a few milliseconds: a frame is never late.
BLOCK_CHARACTERS = 3_000
# A line of a table is one row; it is cut only when it is longer than this.
_TABLE_LINE_CHARACTERS = 20_000


class Block(NamedTuple):
    """One piece of a document: a divider, or text with, where somebody begins to speak, who and when."""

    text: str = ""
    voice: Voice = "plain"
    fence: str | None = None
    """The language of the fenced code that the text begins inside of; None outside."""
    exchange: int = -1
    """Place of the exchange it belongs to; -1 for none."""
    speaker: str = ""
    """Who begins to speak here; "" for nobody."""
    at: datetime | None = None
    answers: bool = False
    """Whether the speaker answers what stands just above: time and number stand there."""
    best: bool = False
    """Whether this is the exchange that fits the query best."""
    gap: bool = False
    """Whether an empty line follows."""
    number: int = -1
    """Of the line of a use of a tool: which of its exchange's it is, from 0."""
    nested: bool = False
    """Whether it is a part of what a subagent was asked and said."""
    columns: tuple[int, ...] = ()
    """Of a part of a long table: how wide its columns want to be."""
    head: bool = True
    """Whether a table in the text begins with its heading."""

    @property
    def extent(self) -> tuple[int, int]:
        """How many lines the block takes for certain, and how many characters may wrap to more."""
        if self.voice == "divider":
            return 2, 0
        if self.voice == "tool":
            return 1 + self.gap, 0
        return self.text.count("\n") + 1 + bool(self.speaker) + self.gap, len(self.text)

    def lines(self, width: int, words: Sequence[str]) -> list[StyledLine]:
        """Return the block laid out to ``width`` cells, the words highlighted."""
        if self.nested and width > _NARROWEST_NESTED:
            lines = self._replace(nested=False).lines(width - len(_NESTED_MARGIN), words)
            return [line.prefixed(_NESTED_MARGIN, "bar-aside") for line in lines]
        if self.voice == "divider":
            return [_divider(self.text, width), StyledLine()]

        def mark(text: str) -> list[tuple[int, int]]:
            return spans(text, words) if words else []

        if self.voice == "tool":
            return [_tool_line(self.text, width), *([StyledLine()] if self.gap else [])]
        if self.voice == "tool-text":
            lines = _tool_text(self.text, self.fence or "", width, mark)
            return lines + ([StyledLine()] if self.gap else [])
        lines = markdown_lines(self.text, width - 3, mark, self.fence, self.columns, self.head) or [StyledLine()]
        if self.voice == "aside":
            lines = [line._replace(spans=(Span(0, len(line.text), "aside"), *line.spans)) for line in lines]
        prefix, bar, fill = _MARGINS[self.voice], f"bar-{self.voice}", "user" if self.voice == "user" else ""
        lines = [line.prefixed(prefix, bar)._replace(fill=line.fill or fill) for line in lines]
        head = [_speaker(self, width)] if self.speaker else []
        return head + lines + ([StyledLine()] if self.gap else [])


_TOOL_MARGIN = "    │ "
_NESTED_MARGIN = "  │ "
_NARROWEST_NESTED = 24
"""Cells; in a narrower view a margin more would cost too much."""


def _tool_line(text: str, width: int) -> StyledLine:
    return joined([("  ", ""), (cut(text, max(4, width - 3)), "faint")])


def _tool_text(text: str, language: str, width: int, mark: Marker) -> list[StyledLine]:
    """Text as it is, never read as markdown: coloured where its language is known."""
    room = max(8, width - len(_TOOL_MARGIN) - 1)
    return [
        part.prefixed(_TOOL_MARGIN, "faint")
        for line in code_lines(without_tabs(text), language)
        for part in wrapped(line.marked(mark(line.text), "match"), room)
    ]


_MARGINS: dict[Voice, str] = {"user": "▌ ", "agent": "  ", "plain": " ", "aside": "┊ "}


def _divider(text: str, width: int) -> StyledLine:
    label = cut(f" {text} ", max(4, width - 6))
    return joined([("── ", "divider"), (label, "divider-text"), ("─" * max(0, width - len(label) - 4), "divider")])


def _speaker(block: Block, width: int) -> StyledLine:
    lead = _MARGINS[block.voice]
    style = "speaker-user" if block.speaker == YOU else "speaker-agent"
    best = "  ◆ best match" if block.best else ""
    note = "" if block.answers else f"{clock_text(block.at)}  #{block.exchange + 1}".strip()
    name = cut(block.speaker, max(4, width - 3))
    room = width - len(lead) - len(name) - len(best) - len(note) - 1
    line = joined([(lead, f"bar-{block.voice}"), (name, style), (best, "best"), (" " * room, "")])
    line = line.followed_by(joined([(note, "faint")])) if room > 0 else line
    return line._replace(fill="user" if block.voice == "user" else "")


class Document(msgspec.Struct, frozen=True):
    """A text in blocks, ready to be shown."""

    blocks: tuple[Block, ...] = ()
    words: tuple[str, ...] = ()
    """What is highlighted."""
    matches: dict[int, int] = {}
    """Block to how many times the words occur in it, in reading order; blocks without are left out."""
    start: int = 0
    """The block to open at."""
    starts: dict[int, int] = {}
    """Exchange to its first block, in reading order."""
    extents: tuple[tuple[int, int], ...] = ()
    """:attr:`Block.extent` of every block, worked out beforehand, so that a new width costs next to nothing."""
    whole: bool = True
    """False when it is only the part of a conversation around the place it opens at."""

    def heights(self, width: int) -> list[int]:
        """Return about how many lines each block takes at ``width`` cells, without laying any out."""
        line = max(4, width) * 2
        return [lines + characters // line for lines, characters in self.extents]

    def place_of(self, block: int) -> tuple[int, int] | None:
        """Return what another document of the same conversation knows a block by; None for a block of a tool's.

        That is its exchange (-1 without one) and which text of that exchange it is.
        """
        if self.blocks[block].voice in _TOOL_VOICES:
            return None
        exchange, first = self._exchange_at(block)
        return exchange, sum(self.blocks[number].voice not in _TOOL_VOICES for number in range(first, block))

    def block_at(self, place: tuple[int, int]) -> int | None:
        """Return the block that :meth:`place_of` named so, None when it isn't here."""
        exchange, left = place
        first = self.starts.get(exchange) if exchange >= 0 else 0
        if first is None:
            return None
        for number in range(first, len(self.blocks)):
            if self.blocks[number].voice not in _TOOL_VOICES:
                if not left:
                    return number if self._exchange_at(number)[0] == exchange else None
                left -= 1
        return None

    def _exchange_at(self, block: int) -> tuple[int, int]:
        """The exchange a block belongs to (a divider belongs to the one below it) and that exchange's first block."""
        number = next(
            (self.blocks[n].exchange for n in range(block, len(self.blocks)) if self.blocks[n].exchange >= 0), -1
        )
        return (number, self.starts[number]) if number in self.starts else (-1, 0)

    def languages(self, first: int = 0, last: int | None = None) -> set[str]:
        """Return the languages of the code in the blocks from ``first`` on, up to before ``last``."""
        found: set[str] = set()
        for block in self.blocks[first:last]:
            if block.fence:
                found.add(block.fence)
            if "```" in block.text or "~~~" in block.text:
                found.update(fence[2] for line in block.text.split("\n") if (fence := FENCE.match(line)))
        return found - {""}

    @property
    def match_count(self) -> int:
        """How many times the words occur in all of it."""
        return sum(self.matches.values())


def text_pieces(text: str, voice: Voice, exchange: int, fence: str | None = None) -> Iterator[Block]:
    """Cut a text at line ends into blocks; each knows whether it begins inside fenced code, or inside a table.

    ``fence`` is the language of the fenced code that the text itself begins inside of; None outside.
    """
    text = without_tabs(shown(text.strip("\n")))
    if len(text) <= BLOCK_CHARACTERS:
        yield Block(text, voice, fence, exchange)
        return
    begun = fence
    piece: list[str] = []
    size = 0
    for is_table, run in _runs(text):
        if is_table and fence is None and sum(map(len, run)) > BLOCK_CHARACTERS:
            if piece:
                yield Block("\n".join(piece), voice, begun, exchange)
            yield from _table_pieces(run, voice, exchange)
            piece, size, begun = [], 0, None
            continue
        for line in run:
            if size >= BLOCK_CHARACTERS and (fence is not None or not is_table):
                yield Block("\n".join(piece), voice, begun, exchange)
                piece, size, begun = [], 0, fence
            if opening := FENCE.match(line):
                fence = opening[2] if fence is None else None
            piece.append(line)
            size += len(line) + 1
    if piece:
        yield Block("\n".join(piece), voice, begun, exchange)


def _runs(text: str) -> Iterator[tuple[bool, list[str]]]:
    """The lines of a text in runs: each a table, or lines that belong to none."""
    for is_table, lines in groupby(_short_lines(text), key=is_table_line):
        yield is_table, list(lines)


def _table_pieces(lines: list[str], voice: Voice, exchange: int) -> Iterator[Block]:
    """A long table in blocks whose columns agree."""
    columns = natural_widths(lines)
    piece: list[str] = []
    size = 0
    head = True
    for line in lines:
        if size >= BLOCK_CHARACTERS:
            yield Block("\n".join(piece), voice, None, exchange, columns=columns, head=head)
            piece, size, head = [], 0, False
        piece.append(line)
        size += len(line) + 1
    yield Block("\n".join(piece), voice, None, exchange, columns=columns, head=head)


def plain_pieces(text: str, language: str, exchange: int) -> Iterator[Block]:
    """Return text of a tool in blocks, its lines as they are."""
    piece: list[str] = []
    size = 0
    for line in _short_lines(text):
        if size >= BLOCK_CHARACTERS:
            yield Block("\n".join(piece), "tool-text", language, exchange)
            piece, size = [], 0
        piece.append(line)
        size += len(line) + 1
    if piece:
        yield Block("\n".join(piece), "tool-text", language, exchange)


def _short_lines(text: str) -> Iterator[str]:
    """The lines of a text; one longer than a block (minified code, base64) in several."""
    for line in text.split("\n"):
        if len(line) <= (_TABLE_LINE_CHARACTERS if is_table_line(line) else BLOCK_CHARACTERS):
            yield line
        else:
            for place in range(0, len(line), BLOCK_CHARACTERS):
                yield line[place : place + BLOCK_CHARACTERS]


def clock_text(at: datetime | None) -> str:
    """Return a time as people here read it (local time), "" for none."""
    return at.astimezone().strftime("%a %d %b %Y %H:%M") if at else ""


def markdown_document(text: str, words: tuple[str, ...], open_at: str = "") -> Document:
    """Return a markdown text as a document; it opens at the line ``open_at``, where there is one, else at its start."""
    before, found, after = text.partition(f"\n{open_at}\n") if open_at else (text, "", "")
    if not found:
        return document_of(text_pieces(text, "plain", -1), words)
    first = [*text_pieces(before.rstrip("\n"), "plain", -1)]
    first[-1] = first[-1]._replace(gap=True)
    return document_of((*first, *text_pieces(f"{open_at}\n{after}", "plain", -1)), words, start=len(first))


def document_of(blocks: Iterable[Block], words: tuple[str, ...] = (), **facts: Any) -> Document:
    """Return blocks as a document with these words highlighted; ``facts`` are other fields of it."""
    blocks = tuple(blocks)
    return with_words(Document(blocks=blocks, extents=tuple(block.extent for block in blocks), **facts), words)


def with_words(document: Document, words: tuple[str, ...], cancel: Cancel | None = None) -> Document:
    """Return the document with these words counted, for highlighting and for going from match to match.

    Raises Cancelled when cancelled meanwhile.
    """
    found: dict[int, int] = {}
    folded = [word for word in map(fold, words) if word]
    for number, block in enumerate(document.blocks if folded else ()):
        if cancel is not None:
            cancel.check()
        text = block.text
        if text.isascii():  # a look that costs little: most blocks hold none of the words
            lowered = text.lower()
            if not any(word in lowered for word in folded):
                continue
        if block.voice not in ("divider", "tool") and (count := len(spans(text, words))):
            found[number] = count
    return msgspec.structs.replace(document, words=words, matches=found)


__all__ = [
    "Block",
    "Document",
    "clock_text",
    "document_of",
    "markdown_document",
    "text_pieces",
    "with_words",
]

"""A project's document for the panes: the whole of it, open at the chunk that was found; and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator

from prima_tui.model.documents import DocumentHit, DocumentText
from prima_tui.model.text import shown
from prima_tui.tui.document import Block, Document, clock_text, document_of, plain_pieces, text_pieces
from prima_tui.tui.markdown_lines import FENCE
from prima_tui.tui.styled_lines import without_tabs

CHUNK = 0
"""The place that blocks of the chunk carry, as an exchange's do."""


def section_document(text: DocumentText, hit: DocumentHit, words: tuple[str, ...]) -> Document:
    """Return a document that opens at the chunk of a hit, which stands between two marks."""
    if text.problem:
        return document_of([Block(shown(text.problem), "aside")])
    start, end = chunk_place(text.text, hit)
    before, chunk, after = text.text[:start], text.text[start:end], text.text[end:]
    first = before.count("\n") + 1
    blocks = list(_blocks(before, -1, None, text.language))
    opens_at = len(blocks)
    mark = lines_text(first, first + chunk.rstrip("\n").count("\n"))
    blocks.append(Block(mark, "divider", exchange=CHUNK))
    blocks += _blocks(chunk, CHUNK, fence_after(before), text.language)
    if after.strip():
        blocks.append(Block("the document goes on", "divider"))
        blocks += _blocks(after, -1, fence_after(before + chunk), text.language)
    return document_of(blocks, words, start=opens_at, starts={CHUNK: opens_at})


def chunk_place(text: str, hit: DocumentHit) -> tuple[int, int]:
    """Return where a chunk begins and ends in a document, whole lines: as it stands there now, else by its lines.

    A file may have changed since it was indexed: the place nearest to the lines it had then is taken.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    last = len(starts) - 2
    expected = starts[min(hit.first_line - 1, last)]
    found = text.find(hit.text, max(0, expected - 1))
    earlier = text.rfind(hit.text, 0, expected + len(hit.text))
    places = [place for place in (found, earlier) if place >= 0]
    if places:
        begin = min(places, key=lambda place: abs(place - expected))
        end = begin + len(hit.text)
    else:
        begin, end = expected, starts[min(hit.last_line, last + 1)] - 1
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, begin) + 1, len(text) if line_end < 0 else line_end + 1


def fence_after(text: str) -> str | None:
    """Return the language of the fenced code that a text ends inside of, "" for one without; None outside."""
    fence: str | None = None
    closing = ""
    for line in text.split("\n"):
        if fence is not None:
            if line.strip() == closing:
                fence = None
        elif opening := FENCE.match(line):
            fence, closing = opening[2], opening[1]
    return fence


def lines_text(first: int, last: int) -> str:
    """Return ``line 3``, ``lines 3–9``."""
    return f"line {first}" if first == last else f"lines {first}–{last}"


def facts_document(text: DocumentText, hit: DocumentHit, words: tuple[str, ...]) -> Document:
    """Return what is known of a hit, and the headings of its document with their lines."""
    facts = [f"**{hit.title}**", "", f"- `{hit.path}`, {lines_text(hit.first_line, hit.last_line)}"]
    if hit.heading:
        facts.append(f"- under {hit.heading}")
    if hit.modified_at is not None:
        facts.append(f"- last changed {clock_text(hit.modified_at)}")
    if hit.keyword_score is not None:
        facts.append(f"- by word {hit.keyword_score:.0f}")
    if hit.similarity is not None:
        facts.append(f"- by meaning {hit.similarity:.2f}")
    if hit.stale:
        facts.append("- the file has changed, or is gone, since this was indexed")
    if text.outline:
        facts += ["", "**Headings**", ""]
        top = min(level for level, _heading, _line in text.outline)
        facts += [f"{'  ' * (level - top)}- {heading}  `{line}`" for level, heading, line in text.outline]
    return document_of(text_pieces("\n".join(facts), "plain", -1), words)


def _blocks(text: str, place: int, fence: str | None, language: str) -> Iterator[Block]:
    """Return a part of a document in blocks; source code as it is, any other as Markdown."""
    if not text.strip("\n"):
        return
    if language:
        yield from plain_pieces(without_tabs(shown(text.strip("\n"))), language, place)
    else:
        yield from text_pieces(text, "plain", place, fence)


__all__ = ["chunk_place", "facts_document", "fence_after", "lines_text", "section_document"]

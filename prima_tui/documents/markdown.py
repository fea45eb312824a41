"""The outline of a Markdown document (CommonMark with tables): headings with their paths, tables, front matter."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# The first line that is no comment must be a "key:", else the dashes are a rule above the first heading.
_FRONT_MATTER = re.compile(
    r"---[^\S\n]*\n(?:#.*\n)*(?:[\w\"'.-][^\n:]*:(?:[^\S\n].*)?\n(?:.*\n)*?)?(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)"
)
_TITLE = re.compile(r"^title:[^\S\n]*(['\"]?)(.+?)\1[^\S\n]*$", re.MULTILINE)


class Heading(msgspec.Struct, frozen=True):
    """A heading, ATX or setext; lines count from 0, ``end_line`` is the one after it."""

    path: tuple[str, ...]
    """The headings it stands under and its own text, outermost first; those without a text left out."""
    level: int
    first_line: int
    end_line: int


class Outline(msgspec.Struct, frozen=True):
    """What a document consists of. Lines count from 0."""

    headings: tuple[Heading, ...] = ()
    tables: tuple[tuple[int, int], ...] = ()
    """(first line, line after the last) of each."""
    body_starts: int = 0
    """The line after the front matter."""


def markdown_outline(text: str) -> Outline:
    """Return the outline of a document whose lines end in a line feed.

    Only headings of the document itself count: none inside a code fence, a list, a quotation or an HTML block.
    """
    front = front_matter(text)
    lines = front.count("\n") + bool(front and not front.endswith("\n"))
    # the lines stay, so that the parser's line numbers are the document's
    body = "\n" * lines + text[len(front) :]
    references: dict[str, Any] = {}
    tokens = _blocks().parse(body, references)
    headings = []
    above: list[tuple[int, str]] = []
    tables = []
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        if token.type == "heading_open" and token.level == 0:
            level = int(token.tag[1:])
            while above and above[-1][0] >= level:
                above.pop()
            above.append((level, _plain(tokens[place + 1].content, references)))
            path = tuple(title for _level, title in above if title)
            headings.append(Heading(path, level, token.map[0], token.map[1]))
        elif token.type == "table_open":
            tables.append((token.map[0], token.map[1]))
    return Outline(tuple(headings), tuple(tables), lines)


def front_matter(text: str) -> str:
    """Return the front matter with its fences, as it stands at the very beginning; "" when there is none."""
    found = _FRONT_MATTER.match(text) if text.startswith("---") else None
    return found.group() if found else ""


def front_matter_title(text: str) -> str:
    """Return the ``title`` that a document's front matter gives it, "" when there is none."""
    named = _TITLE.search(front_matter(text))
    return named[2].strip() if named else ""


def _plain(content: str, references: dict[str, Any]) -> str:
    """Return the text of a heading as a reader sees it, on one line."""
    shown = _text(_inlines().parseInline(content, references))
    return " ".join(shown.split())


def _text(tokens: Sequence[Token]) -> str:
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.children:
            parts.append(_text(token.children))
    return "".join(parts)


@cache
def _blocks() -> MarkdownIt:
    """Return a parser of blocks alone: what stands inside a paragraph costs most and says nothing here."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@cache
def _inlines() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")

"""Colouring source code: a fenced block and its language in, style names per line out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from prima_tui.tui.styled_lines import Span, StyledLine

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

# A lexer is pure Python and holds the interpreter lock: code beyond this is shown plain, so that no frame is late.
_LARGEST = 16_000
# Pygments' token families and the style of each; the first that contains a token counts.
_FAMILIES = (
    ("Token.Comment", "code-comment"),
    ("Token.Literal.String", "code-string"),
    ("Token.Literal.Number", "code-number"),
    ("Token.Keyword", "code-keyword"),
    ("Token.Operator.Word", "code-keyword"),
    ("Token.Name.Function", "code-name"),
    ("Token.Name.Class", "code-name"),
    ("Token.Name.Tag", "code-keyword"),
    ("Token.Name.Attribute", "code-name"),
    ("Token.Name.Builtin", "code-name"),
    ("Token.Name.Decorator", "code-name"),
    ("Token.Generic.Inserted", "code-added"),
    ("Token.Generic.Deleted", "code-removed"),
    ("Token.Generic.Heading", "code-keyword"),
    ("Token.Generic.Subheading", "code-keyword"),
)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer: Lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return lexer


def load_languages(languages: Iterable[str]) -> None:
    """Make ready to colour code in these languages: the first time that takes tens of milliseconds for each of them.

    For a thread, before what holds the code is shown.
    """
    for language in languages:
        _lexer(language.lower())


@lru_cache(maxsize=512)
def _style_of(kind: object) -> str:
    token = str(kind)
    return next((style for family, style in _FAMILIES if token == family or token.startswith(family + ".")), "")


def language_of(name: str) -> str:
    """Return the language of a file by its name, "" for none known."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer = find_lexer_class_for_filename(name)
    return str(lexer.aliases[0]) if lexer is not None and lexer.aliases else ""


def code_lines(code: str, language: str, largest: int = _LARGEST) -> list[StyledLine]:
    """Return the lines of ``code`` with its words coloured.

    Plain when the language is unknown, or the code has more than ``largest`` characters (more than the default is
    for threads only).
    """
    lexer = _lexer(language.lower()) if language and len(code) <= largest else None
    if lexer is None:
        return [StyledLine(line) for line in code.split("\n")]
    return _coloured(code, lexer) if len(code) > _LARGEST else list(_coloured_lately(code, language.lower()))


@lru_cache(maxsize=256)
def _coloured_lately(code: str, language: str) -> tuple[StyledLine, ...]:
    """Kept, since the same code is laid out again at every other width."""
    lexer = _lexer(language)
    return tuple(_coloured(code, lexer)) if lexer is not None else ()


def _coloured(code: str, lexer: Lexer) -> list[StyledLine]:
    lines: list[StyledLine] = []
    text, spans = "", list[Span]()
    # with the end of the last line: lexers of lines, a diff's among them, know none without
    for token, value in lexer.get_tokens(f"{code}\n"):
        style = _style_of(token)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append(StyledLine(text, tuple(spans)))
                text, spans = "", []
            if style and piece:
                spans.append(Span(len(text), len(text) + len(piece), style))
            text += piece
    return [*lines, StyledLine(text, tuple(spans))] if text else lines

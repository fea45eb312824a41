"""Terminals that can do less: no Unicode, few colours, movement not wanted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.app import App

_FEW_COLOURS = frozenset({"standard", "windows", None})
_SIGNS = {
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝╠╣", "+"),
    **dict.fromkeys("─━╌╍┄┅═▔–—−‐‑‒", "-"),
    **dict.fromkeys("│┃▌▎▊▏▐║╎┆┊", "|"),
    **dict.fromkeys("▁▂▃", "_"),
    **dict.fromkeys("▄▅▆▇█▓■▀", "#"),
    **dict.fromkeys("▒░", ":"),
    **dict.fromkeys("❯▸▶►→›»", ">"),
    **dict.fromkeys("←‹«◀⏎", "<"),
    **dict.fromkeys("▾▼↓", "v"),
    **dict.fromkeys("↑▲", "^"),
    **dict.fromkeys("✕×✗✖", "x"),
    **dict.fromkeys("•◆●★∙▪", "*"),
    **dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True)),
    "…": "~",
    "·": "-",
    "☐": "o",
    "☑": "x",
    "ß": "s",
    "¿": "?",
    "¡": "!",
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’‚", "'"),
    "⚠": "!",
    "✓": "+",
    "✔": "+",
    "\u00a0": " ",
}
_TURNING = "|/-\\"


# With a space left after them, three dots take two of the cells that nothing stands in.
_DOTS = re.compile(r"…(?:  (?= )| {2,}$)")


@lru_cache(maxsize=8192)
def ascii_text(text: str) -> str:
    """Return text in ASCII of the same width: signs as like ones, letters without accents, the rest as ``?``.

    An ellipsis that has the room becomes three dots; one at a cut, where the next thing stands, becomes ``~``.
    """
    if text.isascii():
        return text
    return "".join(map(_ascii_sign, _DOTS.sub(_dots, text)))


def _dots(found: re.Match[str]) -> str:
    return f"...{found[0][3:]}"


def ascii_line(texts: Sequence[str]) -> list[str]:
    """Return the pieces of a line in ASCII, each as wide as before; what an ellipsis has room for may be in another."""
    line = ascii_text("".join(texts))
    ascii_pieces, start = [], 0
    for text in texts:
        end = start + cell_len(text)
        ascii_pieces.append(line[start:end])
        start = end
    return ascii_pieces


@lru_cache(maxsize=4096)
def _ascii_sign(sign: str) -> str:
    if sign.isascii():
        return sign
    if (known := _SIGNS.get(sign)) is not None:
        return known
    width = cell_len(sign)
    if 0x2800 <= ord(sign) <= 0x28FF:
        return _TURNING[ord(sign) % len(_TURNING)]
    plain = unicodedata.normalize("NFKD", sign)[:1]
    return plain.ljust(width) if plain.isascii() and width else "?" * width


class AsciiFilter(LineFilter):
    """Draws everything in ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Textual's: return the segments with their text in ASCII."""
        if all(text.isascii() for text, _style, _control in segments):
            return segments
        shown = ascii_line(["" if control else text for text, _style, control in segments])
        return [
            segment if segment.control else Segment(text, segment.style)
            for segment, text in zip(segments, shown, strict=True)
        ]


def few_colours(app: App[Any]) -> bool:
    """Tell whether the terminal has sixteen colours or fewer, so that a shade of the background can't be told."""
    return app.no_color or (not app.is_headless and app.console.color_system in _FEW_COLOURS)


def moves_less(env: Mapping[str, str]) -> bool:
    """Tell whether the user wants no movement on the screen (``TEXTUAL_ANIMATIONS=none``)."""
    return env.get("TEXTUAL_ANIMATIONS", "").strip().lower() == "none"

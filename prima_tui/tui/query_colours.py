"""Colours in the search line, as one types: filters, wrong ones, phrases; and completion of filters from the data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text
from textual.suggester import Suggester

from prima_tui.model.query import parse
from prima_tui.model.session import Session
from prima_tui.model.text import fold

_LAST_WORD = re.compile(r"(?:^|\s)(-?)([\w:<>.*/@-]*)$")
_NAMES = ("agent:", "dir:", "branch:", "tag:", "file:", "author:", "date:", "is:", "in:", "collection:")
_FIXED: dict[str, tuple[str, ...]] = {
    "date": ("today", "yesterday", "week", "month", "<7d", ">2w"),
    "is": ("resumable", "docs"),
    "in": ("tools",),
}
# Values beyond this many of one kind are not learnt: the commonest are those one completes.
_VALUES = 500


class QueryHighlighter(Highlighter):
    """Colours the pieces of a query. ``styles`` are set by the widget, from the theme."""

    def __init__(self) -> None:
        self.styles: dict[str, Style] = {}

    def highlight(self, text: Text) -> None:
        """Rich's: style the text in place."""
        for piece in parse(text.plain).pieces:
            if style := self.styles.get(piece.kind):
                text.stylize(style, piece.start, piece.end)


class QuerySuggester(Suggester):
    """Completes the filter at the end of the query: its name, then its value from the sessions that are known."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values: dict[str, tuple[str, ...]] = dict(_FIXED)

    def learn(self, sessions: Iterable[Session]) -> None:
        """Take the values that occur, the commonest first."""
        counts: dict[str, Counter[str]] = {name: Counter() for name in ("agent", "branch", "tag", "author", "dir")}
        for session in sessions:
            counts["agent"][session.source] += 1
            counts["tag"].update(session.tags)
            if session.branch:
                counts["branch"][session.branch] += 1
            if session.author:
                counts["author"][session.author] += 1
            if session.workspace:
                folder = re.split(r"[/\\]", session.workspace.rstrip("/\\"))[-1]
                counts["dir"][folder] += 1
        learnt = {name: tuple(value for value, _ in counter.most_common(_VALUES)) for name, counter in counts.items()}
        self._values = {**_FIXED, **learnt}

    async def get_suggestion(self, value: str) -> str | None:
        """Textual's: return the whole query with its last filter completed, None for nothing to complete."""
        match = _LAST_WORD.search(value)
        word = match[2] if match else ""
        if not word:
            return None
        name, colon, part = word.partition(":")
        if not colon:
            found = next((known for known in _NAMES if known.startswith(word) and len(word) > 1), None)
        else:
            known = self._values.get("agent" if name == "source" else name, ())
            found = next((v for v in known if fold(v).startswith(fold(part)) and v != part and " " not in v), None)
            word = part
        return value[: len(value) - len(word)] + found if found else None

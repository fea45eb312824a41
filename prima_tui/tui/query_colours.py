"""Colours in the search line, as one types: filters, wrong ones, phrases; and completion of filters from the data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text
from textual.suggester import Suggester

from prima_tui.model.query import parse
from prima_tui.model.session import Session
from prima_tui.model.text import fold
from prima_tui.tui.query_choices import QueryChoice

_LAST_WORD = re.compile(r"(?:^|\s)(-?)([\w:<>.*/@-]*)$")
_LAST_FILTER = re.compile(r"(?:^|\s)-?(\w+):(\"[^\"]*|\S*)$")
FILTERS = {
    "agent:": "made by this agent",
    "date:": "of this time",
    "file:": "changed this file",
    "tag:": "about this",
    "branch:": "on this git branch",
    "dir:": "in a folder with this in its path",
    "author:": "of this author of the shared log",
    "is:": "resumable, deleted, a fork, …",
    "in:": "tools: what they were given and gave back",
    "collection:": "documents with this name",
}
"""The filters' names, and which sessions each keeps, those used most first."""
_NOTES: dict[str, dict[str, str]] = {
    "date": {
        "today": "",
        "yesterday": "",
        "week": "the last seven days",
        "month": "the last month",
        "<7d": "younger than seven days",
        ">2w": "older than two weeks",
    },
    "is": {
        "resumable": "can be taken up again",
        "deleted": "its file is gone, the index has it",
        "archived": "archived by its agent",
        "fork": "began as a copy of another",
        "continued": "another one goes on with it",
        "subagent": "has subagents",
        "remote": "of a folder on another computer",
        "background": "started by the agent for itself",
        "sdk": "started by a program",
        "warmup": "started to warm up",
        "docs": "documents",
    },
    "in": {"tools": "what tools were given and gave back"},
}
_FIXED: dict[str, tuple[str, ...]] = {name: tuple(values) for name, values in _NOTES.items()}
# Values beyond this many of one kind are not learnt: the commonest are those one completes.
_VALUES = 500
_CHOICES = 50


class QueryHighlighter(Highlighter):
    """Colours the pieces of a query. ``styles`` are set by the widget, from the theme.

    A filter at the end that ``completes`` to something is still being typed: that is no mistake yet.
    """

    def __init__(self, completes: Callable[[str], bool] = lambda _query: False) -> None:
        self.styles: dict[str, Style] = {}
        self._completes = completes

    def highlight(self, text: Text) -> None:
        """Rich's: style the text in place."""
        query = text.plain
        for piece in parse(query).pieces:
            typing = piece.kind == "bad" and piece.end == len(query) and self._completes(query)
            if style := self.styles.get("filter" if typing else piece.kind):
                text.stylize(style, piece.start, piece.end)


class QuerySuggester(Suggester):
    """Completes the filter at the end of the query: its name, then its value from the sessions that are known."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values: dict[str, tuple[str, ...]] = dict(_FIXED)
        self._counts: dict[str, Counter[str]] = {}

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
        self._values, self._counts = {**_FIXED, **learnt}, counts

    def choices(self, value: str) -> tuple[QueryChoice, ...]:
        """Return what the filter at the end of the query can be completed to, the commonest first; () for no filter.

        Values are found by any part of them; those that begin with what is typed come first.
        """
        match = _LAST_FILTER.search(value)
        if match is None:
            return ()
        name, typed = match[1].lower(), match[2]
        name = "agent" if name == "source" else name
        part = fold(typed.removeprefix('"'))
        known = self._values.get(name, ())
        found = [one for one in known if fold(one).startswith(part)]
        found += [one for one in known if part and part in fold(one)[1:] and one not in found]
        if found == [typed]:
            return ()
        before, counts, notes = value[: match.start(2)], self._counts.get(name, Counter()), _NOTES.get(name, {})
        return tuple(
            QueryChoice(
                before + (f'"{one}"' if " " in one else one),
                one,
                f"{counts[one]:,}" if counts[one] else notes.get(one, ""),
            )
            for one in found[:_CHOICES]
        )

    def completion(self, value: str) -> str:
        """Return the whole query with its last filter completed, "" for nothing to complete."""
        match = _LAST_WORD.search(value)
        word = match[2] if match else ""
        if not word:
            return ""
        name, colon, part = word.partition(":")
        if not colon:
            found = next((known for known in FILTERS if known.startswith(word) and len(word) > 1), None)
        else:
            known = self._values.get("agent" if name == "source" else name, ())
            found = next((v for v in known if fold(v).startswith(fold(part)) and v != part and " " not in v), None)
            word = part
        return value[: len(value) - len(word)] + found if found else ""

    @staticmethod
    def filters(value: str) -> tuple[QueryChoice, ...]:
        """Return every filter that can be added to a query, and what it is for."""
        before = f"{value.rstrip()} " if value.strip() else ""
        return tuple(QueryChoice(before + name, name, note) for name, note in FILTERS.items())

    async def get_suggestion(self, value: str) -> str | None:
        """Textual's: return the whole query with its last filter completed, None for nothing to complete."""
        return self.completion(value) or None

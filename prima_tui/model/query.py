"""The language of the search line: plain words, quoted phrases, and filters that may stand anywhere among them.

``agent:codex -tag:python date:<7d "exact words" and plain ones``. Filters of one name are alternatives, different ones
must all hold, and each one negated with a leading ``-`` must not hold. Whatever is no filter is a word: nothing that
can be typed is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Literal

import msgspec

from prima_tui.model.dates import Period, local_now, period
from prima_tui.model.session import Session, shown_path
from prima_tui.model.text import fold

FilterName = Literal["agent", "dir", "branch", "tag", "file", "author", "date", "is", "in", "collection"]

SOURCE_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "claude-code": ("claude-code",),
        "claude": ("claude-code",),
        "codex": ("codex",),
        "vscode": ("vscode",),
        "vs-code": ("vscode",),
        "copilot": ("vscode", "copilot-cli"),
        "copilot-chat": ("vscode",),
        "copilot-cli": ("copilot-cli",),
        "shared-log": ("shared-log",),
        "log": ("shared-log",),
        "docs": ("docs",),
    }
)
"""What ``agent:`` and ``source:`` understand, and the ids of the sources each stands for."""

STATES = (
    *("resumable", "deleted", "archived", "sdk", "docs"),
    *("subagent", "remote", "background", "warmup", "fork", "continued"),
)
"""What ``is:`` understands."""

_HIDDEN = frozenset({"sdk", "warmup"})
_BY_PROGRAMS = frozenset({"sdk", "warmup", "exec"})
"""Flags of sessions that no person typed in, or only a command of theirs; ``is:sdk`` asks for them all."""
_REVEALING = frozenset({"sdk", "warmup", "background"})

_NAMES: Mapping[str, FilterName] = {
    "agent": "agent",
    "source": "agent",
    "dir": "dir",
    "branch": "branch",
    "tag": "tag",
    "file": "file",
    "author": "author",
    "date": "date",
    "is": "is",
    "in": "in",
    "collection": "collection",
}
_EXAMPLES: Mapping[FilterName, str] = {
    "agent": "agent:claude, agent:codex, agent:vscode, agent:copilot-cli, agent:log",
    "dir": "dir:backend",
    "branch": "branch:main",
    "tag": "tag:python",
    "file": "file:app.py",
    "author": "author:ana",
    "date": "date:<7d, date:>2w, date:today, date:week, date:2026-11-03, date:2026-10..2026-11",
    "is": ", ".join(f"is:{state}" for state in STATES[:4]),
    "in": "in:tools",
    "collection": "collection:handbook, a name set in .memory/config.toml",
}
# A filter's value ends at a space unless it is quoted; a quote that is not closed reaches to the end, so that nothing
# jumps while one is being typed. The address file://… and the path file::open are no filters.
_TOKEN = re.compile(
    rf"(?P<negated>-?)(?P<name>{'|'.join(_NAMES)}):(?!//|:)(?:\"(?P<quoted>[^\"]*)(?:\"|\Z)|(?P<value>\S*))"
    r"|\"(?P<phrase>[^\"]*)(?:\"|\Z)"
    r"|(?P<word>\S+)",
    re.IGNORECASE,
)
_VALUE_SHOWN = 40


class Filter(msgspec.Struct, frozen=True):
    """One filter that counts."""

    name: FilterName
    value: str
    """Folded; with ``/`` for every path separator in ``dir`` and ``file``."""
    negated: bool = False
    sources: tuple[str, ...] = ()
    """The source ids that an ``agent`` filter asks for."""
    period: Period | None = None
    """The time that a ``date`` filter asks for."""


class Piece(msgspec.Struct, frozen=True):
    """What a stretch of the typed text was understood as; between two pieces is white space only."""

    start: int
    end: int
    kind: Literal["word", "phrase", "filter", "bad"]


class Query(msgspec.Struct, frozen=True):
    """A query as it was understood."""

    raw: str = ""
    words: tuple[str, ...] = ()
    """The plain words as typed, in order."""
    phrases: tuple[str, ...] = ()
    """What stood in quotes, as typed; it must stand in one message as it is."""
    text: str = ""
    """The whole query: words and phrases in order, filters and quotes left out, white space as single spaces."""
    filters: tuple[Filter, ...] = ()
    problems: tuple[str, ...] = ()
    """What was wrong with filters that are ignored, for people."""
    pieces: tuple[Piece, ...] = ()
    in_tools: bool = False
    """Whether what tools were given and gave back is searched too."""


def parse(raw: str, now: datetime | None = None, sources: Collection[str] = ()) -> Query:
    """Return what a typed query means. Never raises.

    ``now`` (default: the present) gives the time and the time zone that dates are meant in; ``sources`` are ids that
    ``agent:`` understands beside the known ones. A filter with a bad value is ignored and told in ``problems``; a bare
    name such as ``agent:`` is such a filter at the end of the query, where it is still being typed, else a plain word.
    """
    if now is None or now.tzinfo is None:
        now = local_now() if now is None else now.astimezone()
    words: list[str] = []
    phrases: list[str] = []
    texts: list[str] = []
    filters: list[Filter] = []
    problems: list[str] = []
    pieces: list[Piece] = []
    for token in _TOKEN.finditer(raw):
        kind: Literal["word", "phrase", "filter", "bad"] = "word"
        if token["name"] and not (token["value"] == "" and raw[token.end() :].strip()):
            found = _filter(token, now, sources)
            kind = "bad" if isinstance(found, str) else "filter"
            if isinstance(found, str):
                problems.append(found)
            else:
                filters.append(found)
        elif token["phrase"] is not None:
            kind = "phrase"
            if token["phrase"].strip():
                phrases.append(token["phrase"])
                texts.append(token["phrase"])
        else:
            words.append(token.group())
            texts.append(token.group())
        pieces.append(Piece(token.start(), token.end(), kind))
    return Query(
        raw=raw,
        words=tuple(words),
        phrases=tuple(phrases),
        text=" ".join(" ".join(texts).split()),
        filters=tuple(filters),
        problems=tuple(dict.fromkeys(problems)),
        pieces=tuple(pieces),
        in_tools=any(one.name == "in" and not one.negated for one in filters),
    )


def asks_for_documents(query: Query) -> bool:
    """Tell whether a query's filters keep nothing but documents: ``is:docs``, ``agent:docs``, ``collection:…``."""
    return any(
        not one.negated
        and (one.name == "collection" or (one.name == "is" and one.value == "docs") or one.sources == ("docs",))
        for one in query.filters
    )


def is_hidden(session: Session) -> bool:
    """Tell whether nobody typed in a session: a program's, or a warm-up. Lists leave it out unless asked for it."""
    return not _HIDDEN.isdisjoint(session.flags)


def asks_for_hidden(query: Query) -> bool:
    """Tell whether a filter asks for a kind of sessions that lists leave out."""
    return any(one.name == "is" and not one.negated and one.value in _REVEALING for one in query.filters)


def looked_at_by(name: FilterName, session: Session) -> Hashable:
    """Return all that a filter of this name looks at in a session: where it is equal, the answer is the same."""
    match name:
        case "agent":
            return session.source
        case "dir":
            return session.workspace
        case "branch":
            return session.branch
        case "author":
            return session.author
        case "tag":
            return session.tags
        case "is":
            copies = (bool(session.copied_from), bool(session.continued_by))
            return (session.source, session.resume is not None, session.flags, *copies)
        case _:
            return session.key


def matches(query: Query, session: Session) -> bool:
    """Tell whether a session passes all filters of a query (its words are not looked at).

    A session that is hidden passes only when a filter asks for its kind: ``is:sdk``, ``is:warmup``, ``is:background``.

    ``dir``, ``branch``, ``file`` and ``author`` ask for a part of the text, ``tag`` for a whole tag, all without regard
    to capitals; a changed file's path counts as it is shown, relative to the session's own folder. A date asks for any
    time between the session's start and end.
    """
    if is_hidden(session) and not asks_for_hidden(query):
        return False
    wanted: dict[str, bool] = {}
    for one in query.filters:
        if one.name == "in":
            continue
        if one.negated:
            if passes(one, session):
                return False
        elif not wanted.get(one.name):
            wanted[one.name] = passes(one, session)
    return all(wanted.values())


def _filter(token: re.Match[str], now: datetime, sources: Collection[str]) -> Filter | str:
    """Return the filter, or what is wrong with it."""
    name = _NAMES[token["name"].lower()]
    typed = token["quoted"] if token["quoted"] is not None else token["value"]
    value = fold(typed.strip())
    negated = bool(token["negated"])
    written = f"{token['name'].lower()}:{typed if len(typed) <= _VALUE_SHOWN else typed[:_VALUE_SHOWN] + '…'}"
    if not value:
        return f"{written} needs a value: try {_EXAMPLES[name]}"
    match name:
        case "agent":
            ids = SOURCE_NAMES.get(value) or tuple(one for one in sources if fold(one) == value)
            return Filter(name, value, negated, ids) if ids else f"{written} is no agent: try {_EXAMPLES[name]}"
        case "date":
            named = period(value, now)
            if named is None:
                return f"{written} is no date: try {_EXAMPLES[name]}"
            return Filter(name, value, negated, period=named)
        case "is" if value not in STATES:
            return f"{written} is no state of a session: try {_EXAMPLES[name]}"
        case "in" if value != "tools":
            return f"{written} is no place to search: try {_EXAMPLES[name]}"
        case "dir" | "file":
            return Filter(name, value.replace("\\", "/"), negated)
        case _:
            return Filter(name, value, negated)


def passes(one: Filter, session: Session) -> bool:
    """Tell whether what one filter asks for holds of a session, whether the filter is negated or not."""
    match one.name:
        case "agent":
            return session.source in one.sources
        case "dir":
            # A folder named with its separator ("app/") is also found where it ends the path.
            return one.value in fold(session.workspace or "").replace("\\", "/") + "/" * bool(session.workspace)
        case "branch":
            return one.value in fold(session.branch or "")
        case "author":
            return one.value in fold(session.author or "")
        case "collection":
            return session.source == "docs" and any(fold(tag) == one.value for tag in session.tags)
        case "tag":
            return any(fold(tag) == one.value for tag in session.tags)
        case "file":
            shown = (shown_path(change.path, session.workspace) for change in session.files_changed)
            return any(one.value in fold(path).replace("\\", "/") for path in shown)
        case "date":
            return one.period is not None and one.period.holds(session.started_at, session.ended_at)
        case "is":
            return _is(one.value, session)
        case _:
            return True


def _is(state: str, session: Session) -> bool:
    match state:
        case "resumable":
            return session.resume is not None
        case "docs":
            return session.source == "docs"
        case "fork":
            return bool(session.copied_from)
        case "continued":
            return bool(session.continued_by)
        case "sdk":
            return not _BY_PROGRAMS.isdisjoint(session.flags)
        case _:
            return state in session.flags

"""The sessions of the scope, prepared for searching: folded titles and paths, newest first."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import msgspec

from prima_tui.model.ordering import in_order, moment
from prima_tui.model.query import Query, matches
from prima_tui.model.session import Session, shown_path
from prima_tui.model.text import fold
from prima_tui.search.entry import Entry
from prima_tui.sources.assemble import Assembled

if TYPE_CHECKING:
    from prima_tui.search.columns import Columns

__all__ = [
    "Entry",
    "Library",
    "ages_among",
    "build_library",
    "folded_paths",
    "listed",
    "merged",
    "newest_first",
    "numbered",
]

_EARLY = datetime.min.replace(tzinfo=UTC)
_OfSession = TypeVar("_OfSession", Assembled, Entry)


class Library(msgspec.Struct, frozen=True, dict=True):
    """All sessions of the scope as one frozen value, so that a search sees one state from start to end."""

    entries: Sequence[Entry] = ()

    @cached_property
    def by_key(self) -> Mapping[tuple[str, str], Entry]:
        """A session's key to its entry."""
        return {entry.session.key: entry for entry in self.entries}

    @cached_property
    def by_number(self) -> dict[int, Entry]:
        """Message table's part number to the session it belongs to."""
        return {one: entry for entry in self.entries for one in entry.numbers if one >= 0}

    @cached_property
    def by_place(self) -> dict[tuple[str, int], Entry]:
        """(file path, transcript number) to the session it belongs to."""
        return {(part.path, part.number): entry for entry in self.entries for part in entry.parts}

    @cached_property
    def columns(self) -> Columns:
        """The entries as columns, for searching."""
        # lists need no numpy, which takes a tenth of a second to load
        from prima_tui.search.columns import Columns

        return Columns(self.entries)

    def changing(self, part: str) -> list[Entry]:
        """Return the sessions that changed a file whose path, as it is shown, contains ``part`` (folded)."""
        return [entry for entry in self.entries if any(part in path for path in entry.paths)]


def listed(library: Library, query: Query) -> list[Session]:
    """Return the sessions that satisfy the query's filters, newest first."""
    if not query.filters:
        return [entry.session for entry in library.entries if matches(query, entry.session)]
    return [
        entry.session
        for entry, chosen in zip(library.entries, library.columns.selected(query).tolist(), strict=True)
        if chosen
    ]


def newest_first(session: Session) -> tuple[datetime, datetime, str]:
    """Return a sort key (to be reversed): last activity, then start, then id for a stable order."""
    return (session.ended_at or _EARLY, session.started_at or _EARLY, session.id)


def _newest_first(found: Iterable[_OfSession]) -> list[_OfSession]:
    """Return what is of sessions in the order that :func:`newest_first` is the key of."""
    return in_order(
        found,
        lambda one: moment(one.session.ended_at),
        lambda one: moment(one.session.started_at),
        tie=lambda one: one.session.id,
    )


def ages_among(entries: Sequence[Entry], sessions: Iterable[Session]) -> list[float]:
    """Return for sessions that are not among the entries where they would stand between them, newest first.

    The number lies between those of two entries (the first one's is 0), and is another one for each session.
    """
    several = list(sessions)
    ages = [0.0] * len(several)
    order = sorted(range(len(several)), key=lambda place: newest_first(several[place]), reverse=True)
    for rank, place in enumerate(order, 1):
        mine = newest_first(several[place])
        before = bisect_left(entries, True, key=lambda entry, mine=mine: newest_first(entry.session) < mine)  # type: ignore[misc]
        ages[place] = before - 1 + rank / (len(several) + 1)
    return ages


def build_library(
    assembled: Iterable[Assembled], number: Callable[[str, int], int | None], known: Library | None = None
) -> Library:
    """Return the library of the assembled sessions; entries of ``known`` that did not change are taken over."""
    entries = []
    for item in _newest_first(assembled):
        numbers = tuple(_or_none(number(part.path, part.number)) for part in item.parts)
        old = known.by_key.get(item.session.key) if known else None
        if old is not None and old.session == item.session and old.numbers == numbers and old.parts == item.parts:
            entries.append(old)
        else:
            paths = folded_paths(item.session)
            title = fold(item.session.title)
            entries.append(Entry(item.session, item.parts, numbers, title, paths, "\n".join(paths)))
    return Library(tuple(entries))


def merged(library: Library, made: Library, paths: Set[str]) -> Library:
    """Return the library with those of its entries that were read from any of these files replaced by ``made``.

    What was made of the library's columns is taken over, so that the next search needn't make them again.
    """
    kept = [one for one in library.entries if paths.isdisjoint(one.session.paths)]
    new = Library(tuple(_newest_first((*kept, *made.entries))))
    if "columns" in vars(library):
        rows = {id(one): row for row, one in enumerate((*library.entries, *made.entries))}
        order = [rows[id(one)] for one in new.entries]
        vars(new)["columns"] = library.columns.replaced(made.columns, new.entries, order)
    return new


def numbered(library: Library, number: Callable[[str, int], int | None]) -> Library:
    """Return the library with each part's number in the message table as it is now."""
    new = Library(
        tuple(
            Entry(
                one.session,
                one.parts,
                tuple(_or_none(number(part.path, part.number)) for part in one.parts),
                one.title,
                one.paths,
                one.all_paths,
            )
            for one in library.entries
        )
    )
    if "columns" in vars(library):
        vars(new)["columns"] = library.columns.renumbered(new.entries)
    return new


def folded_paths(session: Session) -> tuple[str, ...]:
    """Return the session's changed files as they are matched: relative to its own folder, folded, each once."""
    shown = (shown_path(change.path, session.workspace) for change in session.files_changed)
    return tuple(dict.fromkeys(fold(path) for path in shown))


def _or_none(number: int | None) -> int:
    return -1 if number is None else number

"""From an answer to the rows of the list: in which order, under which headings, which copies folded into which row.

Pure, and made in a thread: for many thousand hits it takes longer than a frame of the screen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from prima_tui.model.hits import Answer, Hit
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.ordering import in_order, moment
from prima_tui.model.text import count_text, one_line
from prima_tui.tui.document_rows import among_sessions
from prima_tui.tui.extract_rows import extract_hit
from prima_tui.tui.session_rows import day_headings, session_time

Key = tuple[str, str]
Sort = Literal["best", "newest", "longest", "most files"]
SORTS: tuple[Sort, ...] = ("best", "newest", "longest", "most files")
Group = Literal["auto", "day", "workspace", "none"]
"""``auto``: by day while nothing is searched, else not at all."""
GROUPS: tuple[Group, ...] = ("auto", "day", "workspace", "none")

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class View(NamedTuple):
    """How the list is to look."""

    sort: Sort = "best"
    group: Group = "auto"
    opened: frozenset[Key] = frozenset()
    """Sessions whose older copies are listed below them."""
    home: str = ""
    """The home folder, shown as ``~``; "" for none."""
    each_chunk: bool = False
    """Whether a document may have several rows, one for each chunk."""


class Heading(NamedTuple):
    """A heading, and the place of the hit that it stands above."""

    place: int
    text: str


class Arrangement(NamedTuple):
    """The rows of the list, and what stands above and in them."""

    answer: Answer
    view: View = View()
    hits: Sequence[Hit] = ()
    headings: tuple[Heading, ...] = ()
    copies: Mapping[Key, tuple[Hit, ...]] = {}
    """For a session, the copies of it that are folded into its row, or listed below it."""
    nested: frozenset[Key] = frozenset()
    """The copies that are listed below their session."""
    now: datetime = _LONG_AGO
    kept: tuple[Key, int] | None = None
    """A session that was asked for, and its place: -1 when it is not among the rows."""


def arrange(answer: Answer, view: View, now: datetime, keep: Key | None = None, near: int = 0) -> Arrangement:
    """Return the rows for an answer; ``keep`` is a session whose place is wanted, likely ``near`` the one it had."""
    hits: Sequence[Hit] = answer.hits
    copies: dict[Key, tuple[Hit, ...]] = {}
    headings: list[Heading] = []
    blank = not answer.query.strip()
    if blank:
        hits, copies = families(hits, answer.kin)
    combined = answer.mode == "combined"
    hits = among_sessions(hits, answer.documents, answer.project, combined=combined, each_chunk=view.each_chunk)
    if not hits and answer.similar:
        hits = tuple(Hit(session, 0.0) for session in answer.similar)
        headings = [Heading(0, f"{no_match_text(answer)}. Similar sessions:")]
    else:
        if view.sort != "best":
            hits = in_order(hits, *_ORDER[view.sort])
        group = shown_group(view, answer)
        if group == "day":
            if not (blank and view.sort in ("best", "newest")):
                hits = _by_day(hits, now)
            found = day_headings(len(hits), lambda place: session_time(hits[place].session), now)
            headings = [Heading(place, text) for place, text in found]
        elif group == "workspace":
            hits, headings = _by_workspace(hits, view.home)
    hits, headings, nested = _opened(hits, headings, copies, view.opened)
    if answer.extracts:
        headings.append(Heading(len(hits), "Extracts"))
        hits = (*hits, *map(extract_hit, answer.extracts))
    kept = None if keep is None else (keep, place_of(hits, keep, near))
    return Arrangement(answer, view, hits, tuple(headings), copies, nested, now, kept)


def no_match_text(answer: Answer) -> str:
    """Return what is said of an answer without hits, as far as it is known by now."""
    if answer.mode == "keyword":
        return "No match by word"
    return "No match yet" if answer.pending_files else "No match"


def shown_group(view: View, answer: Answer | None) -> Group:
    """Return by what the list is grouped for this answer: ``day``, ``workspace`` or ``none``."""
    if view.group != "auto":
        return view.group
    blank = answer is None or not answer.query.strip()
    return "day" if blank and view.sort in ("best", "newest") else "none"


def next_group(view: View, answer: Answer | None) -> Group:
    """Return the next way to group that looks different from the present one."""
    now = shown_group(view, answer)
    first = GROUPS.index(view.group)
    following = [GROUPS[(first + step) % len(GROUPS)] for step in range(1, len(GROUPS))]
    return next((group for group in following if shown_group(view._replace(group=group), answer) != now), view.group)


def place_of(hits: Sequence[Hit], key: Key, near: int = 0) -> int:
    """Return the place of a session among the hits; -1 when it is not there.

    It is looked for from ``near`` on upwards and downwards, since hits may be made only when they are looked at.
    """
    source, identifier = key
    near = max(0, min(near, len(hits) - 1))
    for distance in range(len(hits)):
        for place in (near + distance, near - distance) if distance else (near,):
            if 0 <= place < len(hits):
                session = hits[place].session
                if session.id == identifier and session.source == source:
                    return place
    return -1


def families(hits: Sequence[Hit], kin: Sequence[int] | None = None) -> tuple[Sequence[Hit], dict[Key, tuple[Hit, ...]]]:
    """Return the hits with one of each family of copies, and the others of its family for each of these.

    A session that is resumed is copied by some agents and goes on in the copy; a fork begins as a copy. The one that
    stands for all is the first of the hits (the newest) that no other continues. Where ``kin`` tells the places of all
    that can be concerned, no other hit is looked at.
    """
    among = hits if kin is None else [hits[place] for place in kin]
    related = [hit for hit in among if hit.session.continued_by or hit.session.copied_from]
    if not related:
        return hits, {}
    root: dict[Key, Key] = {}

    def top(key: Key) -> Key:
        while (above := root.get(key, key)) != key:
            key = above
        return key

    for hit in related:
        session = hit.session
        for other in (session.continued_by, session.copied_from):
            if other:
                root[top(session.key)] = top((session.source, other))
    members: dict[Key, list[Hit]] = defaultdict(list)
    concerned = {*root, *root.values()}
    for hit in among:
        if hit.session.key in concerned:
            members[top(hit.session.key)].append(hit)
    copies: dict[Key, tuple[Hit, ...]] = {}
    folded: set[Key] = set()
    for family in members.values():
        present = {hit.session.id for hit in family}
        first = next((hit for hit in family if hit.session.continued_by not in present), family[0])
        others = tuple(hit for hit in family if hit is not first)
        if others:
            copies[first.session.key] = others
            folded.update(hit.session.key for hit in others)
    if kin is None:
        return [hit for hit in hits if hit.session.key not in folded], copies
    gone = {place for place, hit in zip(kin, among, strict=True) if hit.session.key in folded}
    places = [place for place in range(len(hits)) if place not in gone]
    return OnDemand(len(places), lambda place: hits[places[place]]), copies


def copies_text(copies: Sequence[Hit]) -> str:
    """Return how a row tells of the copies folded into it: ``+1 continued``, ``+2 forks``, ``+3 copies``, or ""."""
    if not copies:
        return ""
    continued = sum(1 for hit in copies if hit.session.continued_by)
    if continued == len(copies):
        return f"+{continued} continued"
    return f"+{len(copies)} copies" if continued else f"+{count_text(len(copies), 'fork')}"


def _opened(
    hits: Sequence[Hit], headings: list[Heading], copies: Mapping[Key, tuple[Hit, ...]], opened: frozenset[Key]
) -> tuple[Sequence[Hit], list[Heading], frozenset[Key]]:
    """Return the rows with the copies of the opened sessions below them, the headings moved down with the rows."""
    wanted = opened & copies.keys()
    if not wanted:
        return hits, headings, frozenset()
    rows: list[Hit] = []
    starts: list[tuple[int, int]] = []
    for place, hit in enumerate(hits):
        rows.append(hit)
        if hit.session.key in wanted:
            below = copies[hit.session.key]
            rows += below
            starts.append((place, len(below)))
    moved = [
        heading._replace(place=heading.place + sum(count for place, count in starts if place < heading.place))
        for heading in headings
    ]
    return rows, moved, frozenset(hit.session.key for key in wanted for hit in copies[key])


def _by_day(hits: Sequence[Hit], now: datetime) -> list[Hit]:
    """Return the hits day by day (as the headings have them), newest first, within each in the order they were in."""
    newest = in_order((hit for hit in hits if session_time(hit.session)), _newest)
    starts = [place for place, _text in day_headings(len(newest), lambda n: session_time(newest[n].session), now)]
    order = {id(hit): place for place, hit in enumerate(hits)}
    ordered: list[Hit] = []
    for start, end in zip(starts, [*starts[1:], len(newest)], strict=True):
        ordered += in_order(newest[start:end], lambda hit: -order[id(hit)])
    return ordered + [hit for hit in hits if not session_time(hit.session)]


def _by_workspace(hits: Sequence[Hit], home: str) -> tuple[list[Hit], list[Heading]]:
    """Return the hits folder by folder, in the order of the first of each, and the folders as headings."""
    groups: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[hit.session.workspace or ""].append(hit)
    ordered: list[Hit] = []
    headings = []
    for folder, group in groups.items():
        headings.append(Heading(len(ordered), f"{folder_text(folder, home)} · {count_text(len(group), 'session')}"))
        ordered += group
    return ordered, headings


def folder_text(folder: str, home: str) -> str:
    """Return a folder's path for people, the home folder as ``~``."""
    if not folder:
        return "No folder recorded"
    base = home.rstrip("/\\")
    if base and (folder == base or folder.startswith((base + "/", base + "\\"))):
        folder = "~" + folder[len(base) :]
    return one_line(folder)


def _newest(hit: Hit) -> int:
    return moment(session_time(hit.session))


def _most_messages(hit: Hit) -> int:
    return hit.session.message_count


def _most_files(hit: Hit) -> int:
    return len({change.path for change in hit.session.files_changed})


_ORDER: dict[Sort, tuple[Callable[[Hit], int], ...]] = {
    "newest": (_newest,),
    "longest": (_most_messages, _newest),
    "most files": (_most_files, _newest),
}

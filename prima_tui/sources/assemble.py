"""Transcripts of many files put together into sessions: subagents under their session, copies told, titles chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from prima_tui.model.session import KEY_BYTES, FileChange, Session, Transcript, holds_key, key64, split_keys
from prima_tui.model.tags import language_tags
from prima_tui.model.titles import UNTITLED, shorten
from prima_tui.sources.base import Expires, Scope, Source, SourceFile

if TYPE_CHECKING:
    from prima_tui.sources.reading import FileReading

CARRIER = "carrier"
"""Flag of a transcript that only carries facts about other sessions and is none itself."""
_OF_ALL_FILES = frozenset({"sdk", "warmup"})
_EARLY = datetime.min.replace(tzinfo=UTC)


class Part(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One transcript's share of a session's conversation."""

    path: str
    number: int
    """Which of the file's transcripts."""
    length: int
    """Exchanges in the transcript."""
    agent: str = ""
    left_out: frozenset[int] = frozenset()
    """Exchanges (by position in the transcript) that another part of the same session already holds."""
    copied: frozenset[int] = frozenset()
    """In a fork: exchanges that are copies from the session it was forked from."""


def place_in_conversation(parts: Sequence[Part], which: int, position: int) -> int | None:
    """Return the place, from 0, that an exchange of the part ``parts[which]`` has in the whole conversation.

    None when it isn't shown there (another part holds it, or the part is shorter by now).
    """
    part = parts[which]
    if position in part.left_out or position >= part.length:
        return None
    if which == 0 and not part.left_out:
        return position
    before = sum(one.length - len(one.left_out) for one in parts[:which])
    return before + position - sum(place < position for place in part.left_out)


class Assembled(msgspec.Struct, frozen=True, gc=False):
    """A session and where its exchanges are: the parts in the order they are shown."""

    session: Session
    parts: tuple[Part, ...]


class Assembler:
    """Puts transcripts together, again and again; a session whose transcripts are those of before is taken over.

    A summary is given to the session whose file holds its leaf record; a subagent's transcript goes to the session
    that started it; two files of one session id are one session, and text that both hold counts once. A file in which
    nobody said or changed anything is no session.
    """

    def __init__(self, scope: Scope, sources: Mapping[str, Source]) -> None:
        self._scope = scope
        self._sources = sources
        self._made: dict[tuple[str, str], tuple[object, Assembled]] = {}
        """By source and session id: what a session was made of, and the session."""

    def assemble(self, readings: Iterable[FileReading]) -> list[Assembled]:
        """Return the sessions of all these files, in no particular order."""
        by_source: dict[str, list[FileReading]] = defaultdict(list)
        for reading in readings:
            by_source[reading.file.source].append(reading)
        made, self._made = self._made, {}
        assembled: list[Assembled] = []
        for source_id, group in by_source.items():
            source = self._sources.get(source_id)
            if source is not None:
                assembled += self._of_source(source, group, made)
        return assembled

    def _of_source(
        self, source: Source, readings: Sequence[FileReading], made: Mapping[tuple[str, str], tuple[object, Assembled]]
    ) -> list[Assembled]:
        names: dict[str, str] = {}
        folders: dict[str, str] = {}
        numbers: dict[tuple[str, str, str], int] = {}
        transcripts: list[Transcript] = []
        files = {reading.file.path: reading.file for reading in readings}
        for reading in readings:
            names.update(reading.names)
            folders.update(reading.folders)
            for number, transcript in enumerate(reading.transcripts):
                numbers[transcript.path, transcript.session_id, transcript.agent] = number
                transcripts.append(transcript)
        summaries = _summaries_by_owner(transcripts)
        mains: dict[str, list[Transcript]] = defaultdict(list)
        children: dict[str, list[Transcript]] = defaultdict(list)
        for transcript in source.finish(transcripts, names, folders):
            if CARRIER in transcript.flags:
                continue
            if transcript.parent_id:
                children[transcript.parent_id].append(transcript)
            elif source.contains(transcript, self._scope):
                mains[transcript.session_id].append(transcript)
        _adopt_grandchildren(mains, children)
        expires = source if isinstance(source, Expires) else None
        leading_only = bool(getattr(source, "leading_only", False))
        assembled: list[Assembled] = []
        for session_id, group in mains.items():
            family = [*group, *children.get(session_id, ())]
            if not any(one.exchange_keys or one.files_changed for one in family):
                continue
            places = [numbers[one.path, one.session_id, one.agent] for one in family]
            expires_at = _expiry(expires, group, files) if expires else None
            made_of = (family, len(group), places, [summaries.get(one.path) for one in group], expires_at)
            known = made.get((source.id, session_id))
            if known is not None and known[0] == made_of:
                session = known[1]
            else:
                session = _session(group, family[len(group) :], summaries, numbers, leading_only, expires_at)
            self._made[source.id, session_id] = (made_of, session)
            assembled.append(session)
        return _with_copies_told(assembled, mains)


def _adopt_grandchildren(mains: Mapping[str, object], children: dict[str, list[Transcript]]) -> None:
    """Move what a subagent's own subagents said to the session at the top."""
    parents = {child.session_id: parent for parent, group in children.items() for child in group}
    for parent in [parent for parent in children if parent not in mains]:
        top, seen = parent, {parent}
        while top not in mains and top in parents and parents[top] not in seen:
            top = parents[top]
            seen.add(top)
        if top in mains:
            children[top] = children[top] + children.pop(parent)


def _summaries_by_owner(transcripts: Sequence[Transcript]) -> dict[str, str]:
    """Return file path to the last summary line whose leaf record is in that file, wherever the line itself stands."""
    leaves: dict[bytes, str] = {}
    for transcript in sorted(transcripts, key=lambda one: (one.ended_at or _EARLY, one.path)):
        for leaf, text in transcript.summaries:
            if leaf and text:
                leaves[key64(leaf)] = text
    owners: dict[str, str] = {}
    if not leaves:
        return owners
    # a session's own lines are later than what other files say of it, and of its own the last one counts
    mains = [one for one in transcripts if one.record_keys and not one.parent_id]
    own: dict[str, str] = {}
    for transcript in mains:
        for leaf, text in transcript.summaries:
            if holds_key(transcript.record_keys, key64(leaf)):
                own[transcript.path] = text
                leaves.pop(key64(leaf), None)
    for transcript in mains if leaves else ():
        foreign = leaves.keys() & set(split_keys(transcript.record_keys))
        for key in [key for key in leaves if key in foreign]:
            owners[transcript.path] = leaves[key]
    return owners | own


def _session(
    group: Sequence[Transcript],
    children: Sequence[Transcript],
    summaries: Mapping[str, str],
    numbers: Mapping[tuple[str, str, str], int],
    leading_only: bool,
    expires_at: datetime | None,
) -> Assembled:
    ordered = sorted(group, key=lambda one: (one.rank, one.ended_at or _EARLY, one.path), reverse=True)
    first = ordered[0]
    counted = ordered[:1] if leading_only else ordered
    subagents = sorted(children, key=lambda one: (one.started_at or _EARLY, one.path, one.agent))
    parts: list[Part] = []
    seen: set[bytes] = set()
    exchange_count = 0
    message_count = first.message_count
    for transcript in [*counted, *subagents]:
        keys = split_keys(transcript.exchange_keys)
        left_out = frozenset(position for position, key in enumerate(keys) if key in seen)
        seen.update(keys)
        if transcript.parent_id == "":
            exchange_count += max(0, transcript.reply_count - len(left_out))
            if transcript is not first:
                message_count += transcript.message_count if not left_out else len(keys) - len(left_out)
        number = numbers[transcript.path, transcript.session_id, transcript.agent]
        parts.append(Part(transcript.path, number, len(keys), transcript.agent, left_out))
    changes = _changes([*counted, *subagents])
    topics = {topic for transcript in [*counted, *subagents] for topic in transcript.topics}
    own_tags = [tag for transcript in counted for tag in transcript.own_tags]
    tags = dict.fromkeys([*own_tags, *language_tags([change.path for change in changes]), *sorted(topics)])
    starts = [one.started_at for one in counted if one.started_at]
    ends = [one.ended_at for one in counted if one.ended_at]
    return Assembled(
        Session(
            id=first.session_id,
            source=first.source,
            label=first.label,
            title=_title(counted, summaries),
            tags=tuple(tags),
            started_at=min(starts, default=None),
            ended_at=max(ends, default=None),
            workspace=_first(one.workspace for one in counted),
            branch=_first(one.branch for one in counted),
            message_count=message_count,
            exchange_count=exchange_count,
            author=first.author,
            model=_first(one.model for one in counted),
            files_changed=changes,
            paths=tuple(dict.fromkeys(one.path for one in [*ordered, *subagents])),
            resume=first.resume,
            flags=_flags(counted, subagents),
            expires_at=expires_at,
        ),
        tuple(parts),
    )


def _expiry(source: Expires, group: Sequence[Transcript], files: Mapping[str, SourceFile]) -> datetime | None:
    """Return when the last of a session's own files will be deleted by its agent; None: never."""
    ends = [source.expires_at(files[one.path]) for one in group if one.path in files]
    return None if None in ends else max((end for end in ends if end is not None), default=None)


def _flags(counted: Sequence[Transcript], subagents: Sequence[Transcript]) -> tuple[str, ...]:
    """Return the facts that a filter can ask for; what says that nobody typed must hold of every file."""
    flags = dict.fromkeys(flag for one in counted for flag in one.flags)
    everywhere = [flag for flag in flags if flag not in _OF_ALL_FILES or all(flag in one.flags for one in counted)]
    return (*everywhere, "subagent") if subagents else tuple(everywhere)


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _title(transcripts: Sequence[Transcript], summaries: Mapping[str, str]) -> str:
    for value in (
        _first(one.given_title for one in transcripts),
        _first(summaries.get(one.path) for one in transcripts),
        _first(one.generated_title for one in transcripts),
        _first(one.prompt_title for one in transcripts),
    ):
        if value and (title := shorten(value)):
            return title
    return UNTITLED


def _changes(transcripts: Sequence[Transcript]) -> tuple[FileChange, ...]:
    """Return the file changes of all transcripts, each once (copies of one change are equal), oldest first."""
    if len(transcripts) == 1:
        return transcripts[0].files_changed
    unique = dict.fromkeys(
        (change.path, change.action, change.at, change.explanation)
        for one in transcripts
        for change in one.files_changed
    )
    return tuple(sorted((FileChange(*values) for values in unique), key=lambda change: change.at or _EARLY))


def _with_copies_told(assembled: list[Assembled], mains: Mapping[str, Sequence[Transcript]]) -> list[Assembled]:
    """Mark sessions that hold copies of each other: one that is continued, one that began as a copy (a fork).

    Copies made by a resume or a fork stand at the start, so sessions with the same first exchange are compared.
    """
    starts: dict[bytes, list[int]] = defaultdict(list)
    keys = [b"".join(one.exchange_keys for one in mains[item.session.id]) for item in assembled]
    for place, packed in enumerate(keys):
        if packed:
            starts[packed[:KEY_BYTES]].append(place)
    for places in starts.values():
        if len(places) < 2:
            continue
        sets = {place: set(split_keys(keys[place])) for place in places}
        places.sort(key=lambda place: (len(sets[place]), _age(assembled[place].session)))
        for rank, place in enumerate(places):
            later = [other for other in places[rank + 1 :] if sets[place] <= sets[other]]
            session = assembled[place].session
            if later:
                changed = msgspec.structs.replace(session, continued_by=assembled[later[-1]].session.id)
            else:
                origin = min(
                    (other for other in places if other != place and not sets[other] <= sets[place]),
                    key=lambda other: _age(assembled[other].session),
                    default=None,
                )
                if origin is None or _age(assembled[origin].session) > _age(session):
                    continue
                changed = msgspec.structs.replace(session, copied_from=assembled[origin].session.id)
                assembled[place] = _with_copied_parts(assembled[place], mains[session.id], sets[origin])
            assembled[place] = Assembled(changed, assembled[place].parts)
    return assembled


def _with_copied_parts(item: Assembled, transcripts: Sequence[Transcript], origin: set[bytes]) -> Assembled:
    keys = {one.path: split_keys(one.exchange_keys) for one in transcripts}
    parts = tuple(
        part
        if part.agent
        else msgspec.structs.replace(
            part, copied=frozenset(place for place, key in enumerate(keys.get(part.path, ())) if key in origin)
        )
        for part in item.parts
    )
    return Assembled(item.session, parts)


def _age(session: Session) -> tuple[datetime, datetime, str]:
    return (session.started_at or _EARLY, session.ended_at or _EARLY, session.id)

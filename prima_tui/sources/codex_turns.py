"""Turns of a Codex conversation: what was recorded twice or three times brought back to one, then made exchanges."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

from prima_tui.model.session import Exchange
from prima_tui.sources.jsonl import instant

UserKind = Literal["item", "event", "response"]
ReplyKind = Literal["response", "item", "event", "review", "last"]
_USER_KINDS: tuple[UserKind, ...] = ("item", "event", "response")
_REPLY_KINDS: tuple[ReplyKind, ...] = ("response", "item", "event", "review", "last")
"""Which record of a message counts in a turn, the best first."""


class Typed(NamedTuple):
    """One record of a typed message; ``place`` is the number of the record in the file."""

    place: int
    kind: UserKind
    text: str
    stamp: object
    """The recorded time, not yet read."""


class Reply(NamedTuple):
    """One record of a reply; ``place`` is the number of the record in the file."""

    place: int
    kind: ReplyKind
    text: str
    stamp: object
    """The recorded time, not yet read."""


_Message = TypeVar("_Message", Typed, Reply)


class Turn:
    """What was recorded between two marks of a turn's beginning."""

    def __init__(self, number: int, turn_id: str = "", *, marked: bool = False) -> None:
        self.number = number
        self.turn_id = turn_id
        self.marked = marked
        """The program itself marked its beginning; else it begins with a typed message."""
        self.closed = False
        self.active = False
        """The assistant has done something in it."""
        self.has_user = False
        self.users: list[Typed] = []
        self.replies: list[Reply] = []
        self.summaries: set[str] = set()
        self.compactions: list[int] = []
        self.outputs = 0
        self.latest_reply = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was recorded that the conversation or its counts need."""
        return not (self.has_user or self.replies or self.compactions or self.outputs)

    def lacks(self, kind: UserKind, text: str) -> bool:
        """Tell whether this typed message is here by another kind of record, and not yet by this one."""
        found = False
        for user in self.users:
            if _alike(user.text, text):
                if user.kind == kind:
                    return False
                found = True
        return found

    def typed(self) -> list[Typed]:
        """Return the typed messages, by the best kind of record that has any; equal texts once."""
        for kind in _USER_KINDS:
            if chosen := [user for user in self.users if user.kind == kind]:
                return _once(chosen)
        return []

    def answered(self) -> list[Reply]:
        """Return the replies, by the best kind of record that has any; equal texts once, no compaction summary."""
        for kind in _REPLY_KINDS:
            replies = [reply for reply in self.replies if reply.kind == kind]
            if self.summaries:
                replies = [reply for reply in replies if same(reply.text) not in self.summaries]
            if replies:
                return _once(replies)
        return []

    def compact(self, place: int, message: str) -> None:
        """Note a compaction; the summary that the model wrote for it is no reply.

        It is the last reply that the screen was not told of, in a turn without a user or found in the ``message``.
        """
        self.compactions.append(place)
        last = next((reply for reply in reversed(self.replies) if reply.kind == "response"), None)
        if last is None:
            return
        text = same(last.text)
        if any(reply.kind != "response" and same(reply.text) == text for reply in self.replies):
            return
        if not self.has_user or same(message).endswith(text):
            self.summaries.add(text)


def same(text: str) -> str:
    """Return what all records of one message have in common: its text without regard to white space."""
    return " ".join(text.split())


def _alike(one: str, other: str) -> bool:
    """Tell whether two stripped texts are the same, asking the cheap questions first."""
    return one == other or (one[:1] == other[:1] and one[-1:] == other[-1:] and same(one) == same(other))


def _once(messages: list[_Message]) -> list[_Message]:
    if len(messages) < 2:
        return messages
    found: dict[str, _Message] = {}
    for message in messages:
        found.setdefault(message.text, message)
    return list(found.values())


class Exchanges:
    """Puts messages together: the first reply after a typed message stands with it, further ones on their own."""

    def __init__(self, origin: str, *, keys_by_user: bool = False) -> None:
        self.found: list[Exchange] = []
        self.places: list[int] = []
        """For each exchange: the number of the record it begins with."""
        self._origin = origin
        self._keys_by_user = keys_by_user
        self._running: Counter[str] = Counter()
        self._pending: tuple[Typed, str] | None = None
        self._compacted = False

    def take(self, turn: Turn) -> None:
        """Take in the messages of one turn."""
        marks: list[tuple[int, Typed | Reply | None]] = [(place, None) for place in turn.compactions]
        marks += [(user.place, user) for user in turn.typed()]
        marks += [(reply.place, reply) for reply in turn.answered()]
        marks.sort(key=lambda mark: mark[0])
        for _, mark in marks:
            if mark is None:
                self._compacted = True
            elif isinstance(mark, Typed):
                self.end()
                self._pending = (mark, turn.turn_id)
            elif self._pending is not None:
                user, turn_id = self._pending
                self._pending = None
                self._add(user, mark, turn_id)
            else:
                self._add(None, mark, turn.turn_id)

    def end(self) -> None:
        """Add a typed message that got no reply."""
        if self._pending is not None:
            user, turn_id = self._pending
            self._pending = None
            self._add(user, None, turn_id)

    def _add(self, user: Typed | None, reply: Reply | None, turn_id: str) -> None:
        said = user.text if user else ""
        answer = reply.text if reply else ""
        at = (instant(user.stamp) if user else None) or (instant(reply.stamp) if reply else None)
        # a fork copies the turn's id with the turn; without one the id of the conversation copied from stands in, so
        # that a copy has the key of its original, and two conversations with equal words have not
        words = f"{turn_id or self._origin}\0{said}\0{'' if said and self._keys_by_user else answer}"
        self._running[words] += 1
        key = digest(f"{words}\0{self._running[words]}")
        self.found.append(Exchange(said, answer, at, key, compacted=self._compacted))
        first = min(message.place for message in (user, reply) if message is not None)
        self.places.append(max(first, self.places[-1]) if self.places else first)
        self._compacted = False


def exchanges_of(turns: Sequence[Turn], origin: str, *, keys_by_user: bool = False) -> tuple[list[Exchange], list[int]]:
    """Return the conversation of these turns, and the number of the record that each of its exchanges begins with.

    ``origin`` identifies it, or the one that its copied beginning is from. With ``keys_by_user`` the key of an
    exchange that begins with a typed message does not depend on the reply.
    """
    exchanges = Exchanges(origin, keys_by_user=keys_by_user)
    for turn in turns:
        exchanges.take(turn)
    exchanges.end()
    return exchanges.found, exchanges.places


def digest(text: str) -> str:
    """Return a short hexadecimal hash of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()

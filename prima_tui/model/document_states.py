"""States of a documents' index that are kept, and how the answer to a question changed between two. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from prima_tui.model.documents import DocumentHit


class IndexState(msgspec.Struct, frozen=True):
    """A copy of the index as it was at some time."""

    name: str
    """As it was named, else its time."""
    at: datetime
    content: str
    """Tells documents that are the same, byte for byte, from others."""
    size: int = 0
    """Bytes on the disk."""
    named: bool = False
    """A state that was named is kept until it is removed."""


Kind = Literal["same", "moved", "changed", "new", "gone"]


class ChunkChange(msgspec.Struct, frozen=True):
    """What became of one of the best chunks."""

    kind: Kind
    """``moved``: the same text at another rank; ``changed``: the same place with another text."""
    before: DocumentHit | None = None
    after: DocumentHit | None = None
    rank_before: int | None = None
    """From 1; None when it was not among the best."""
    rank_after: int | None = None
    still_there: bool = False
    """Of a chunk that is gone from the best: its text stands in the documents as before."""


class AnswerChange(msgspec.Struct, frozen=True):
    """How the answer to a question changed."""

    question: str
    before: IndexState
    after: IndexState
    changes: tuple[ChunkChange, ...]
    """In the order of the later ranks; what is gone at the end."""
    answer_before: str = ""
    """What the language model wrote, where one is configured."""
    answer_after: str = ""
    warnings: tuple[str, ...] = ()


def chunk_changes(before: Sequence[DocumentHit], after: Sequence[DocumentHit]) -> list[ChunkChange]:
    """Return what became of each of the best chunks, each taken once.

    A chunk is the same when its text is (in its own document rather than in another); else one at the same place, told
    by document and headings, has changed.
    """
    partner: dict[int, int] = {}
    """Place in ``after`` to place in ``before``."""
    same: set[int] = set()
    free = list(range(len(before)))

    def pair(identity: Callable[[DocumentHit], object], exact: bool) -> None:
        for place, hit in enumerate(after):
            if place in partner:
                continue
            found = next((other for other in free if identity(before[other]) == identity(hit)), None)
            if found is not None:
                partner[place] = found
                free.remove(found)
                if exact:
                    same.add(place)

    pair(lambda hit: (hit.path, hit.heading, hit.text), True)
    pair(lambda hit: hit.text, True)
    pair(lambda hit: (hit.path, hit.heading), False)
    changes = []
    for place, hit in enumerate(after):
        other = partner.get(place)
        if other is None:
            changes.append(ChunkChange("new", None, hit, None, place + 1))
            continue
        kind: Kind = "changed" if place not in same else "same" if other == place else "moved"
        changes.append(ChunkChange(kind, before[other], hit, other + 1, place + 1))
    changes += [ChunkChange("gone", before[other], None, other + 1) for other in free]
    return changes

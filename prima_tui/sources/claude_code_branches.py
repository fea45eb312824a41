"""Which part of a Claude Code conversation the user left by going back to an earlier message and typing another one.

Records form a tree through ``parentUuid``. Going back gives a record a second typed child, and the newest leaf tells
which of the children the conversation went on from. Everything else that makes the chain branch or break (tools in
parallel, compaction, copies, missing records) is no going back.
"""

from __future__ import annotations

from collections.abc import Iterator

from prima_tui.sources.claude_code_records import Record


class Branches:
    """Collects the tree of the main conversation; afterwards tells which records lie on a branch that was left."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._previous: dict[str, str] = {}
        """For records that begin a chain, or whose parent is unknown then: where the conversation goes on before."""
        self._kept_heads: dict[str, str] = {}
        self._typed: dict[str, list[str]] = {}
        self._last = ""
        self._leaf = ""
        self._abandoned: set[str] | None = None
        self._current: set[str] = set()

    def add(self, record: Record) -> None:
        """Take in a record of the main conversation, of any type: chains run through all of them."""
        uuid = record.uuid
        if not uuid or uuid in self._parents:
            return
        parent = record.parentUuid or record.logicalParentUuid or ""
        self._parents[uuid] = parent
        if self._last and parent not in self._parents:
            self._previous[uuid] = self._last
        if record.compactMetadata is not None and record.compactMetadata.preservedSegment is not None:
            self._kept_heads[uuid] = record.compactMetadata.preservedSegment.headUuid or ""
        self._last = uuid
        if record.type in ("user", "assistant"):
            self._leaf = uuid

    def add_typed(self, record: Record) -> None:
        """Take in that a record holds a typed message ; without a parent there is nothing to go back to."""
        if record.uuid and record.parentUuid:
            self._typed.setdefault(record.parentUuid, []).append(record.uuid)

    def is_left(self, uuid: str) -> bool:
        """Tell whether the record lies on a branch that was left. Nothing may be added afterwards."""
        if self._abandoned is None:
            self._abandoned = self._find_abandoned()
        if not self._abandoned or uuid in self._current:
            return False
        seen: set[str] = set()
        while uuid and uuid not in self._current and uuid not in seen:
            if uuid in self._abandoned:
                self._abandoned |= seen
                return True
            seen.add(uuid)
            uuid = self._parents.get(uuid, "")
        self._current |= seen
        return False

    def _find_abandoned(self) -> set[str]:
        """Return the typed messages that have a later sibling on the current chain and are not on it themselves."""
        forks = [siblings for siblings in self._typed.values() if len(siblings) > 1]
        if not forks:
            return set()
        self._current = set(self._walk_back())
        abandoned: set[str] = set()
        for siblings in forks:
            later_is_current = False
            for uuid in reversed(siblings):
                if uuid in self._current:
                    later_is_current = True
                elif later_is_current:
                    abandoned.add(uuid)
        return abandoned

    def _walk_back(self) -> Iterator[str]:
        """Yield the current chain from its newest leaf to the start.

        Where a compaction kept messages these hang behind its boundary, so that the chain runs in a circle: it goes on
        before the first of the kept messages. A broken chain goes on with the record before it in the file.
        """
        uuid, seen, boundaries = self._leaf, set[str](), list[str]()
        while uuid:
            seen.add(uuid)
            yield uuid
            if uuid in self._kept_heads:
                boundaries.append(uuid)
            step = self._parents.get(uuid, "")
            if step in self._parents and step not in seen:
                uuid = step
                continue
            if not boundaries:
                ways = [self._previous.get(uuid, "")]
            else:
                ways = [self._kept_heads[boundaries[-1]], self._previous.get(boundaries.pop(), "")]
            uuid = next((way for way in ways if way in self._parents and way not in seen), "")

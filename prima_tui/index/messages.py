"""The folded messages of the scope in an in-memory table, and the keyword query over them.

Query words hold their white space only when quoted, and text is folded the same way on both sides, so "a message
contains the word" is plain substring search.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import duckdb

from prima_tui.index.database import fetched_columns, in_memory
from prima_tui.sources.reading import Messages

if TYPE_CHECKING:
    from prima_tui.index.part_matches import PartMatches


class MessageTable:
    """The messages of every transcript that is known, each transcript under a number of its own (its part).

    Safe to use from several threads: every call works on a cursor of its own.
    """

    def __init__(self) -> None:
        self.connection = in_memory()
        self.connection.execute(
            "CREATE TABLE messages (part INTEGER, position INTEGER, by_user BOOLEAN, folded VARCHAR)"
        )
        self.connection.execute("CREATE TABLE left_out (part INTEGER, position INTEGER)")
        self._left_out: list[tuple[int, int]] = []
        self._lock = threading.Lock()
        self._parts: dict[str, tuple[int, int]] = {}
        """For each path the number of its first transcript, and how many there are."""
        self._next = 0

    def part(self, path: str, number: int) -> int | None:
        """Return the number of a file's transcript, None when its messages aren't here."""
        first, count = self._parts.get(path, (0, 0))
        return first + number if number < count else None

    def reserve(self, files: Iterable[tuple[str, int]]) -> None:
        """Give the transcripts of (path, how many) their numbers now; their messages come later."""
        with self._lock:
            files = list(files)
            self._remove(path for path, _count in files)
            for path, count in files:
                self._numbers(path, count)

    def _numbers(self, path: str, count: int) -> range:
        """Return the numbers of a file's transcripts: those it has, else new ones."""
        if path not in self._parts:
            self._parts[path] = (self._next, count)
            self._next += count
        first, count = self._parts[path]
        return range(first, first + count)

    def take(self, store: duckdb.DuckDBPyConnection, files: Sequence[tuple[int, str, int]]) -> None:
        """Copy the messages of (catalog's file id, path, transcripts) from an attached catalog, for files with none."""
        with self._lock:
            rows = [
                (file_id, number, part)
                for file_id, path, count in files
                for number, part in enumerate(self._numbers(path, count))
            ]
            if not rows:
                return
            file_ids, numbers, parts = zip(*rows, strict=True)
            store.execute(
                "INSERT INTO memory.messages SELECT p.part, m.position, m.by_user, m.folded FROM store.messages m"
                " JOIN (SELECT unnest($a) AS file_id, unnest($b) AS number, unnest($c) AS part) p"
                " ON m.file_id = p.file_id AND m.number = p.number",
                {"a": list(file_ids), "b": list(numbers), "c": list(parts)},
            )

    def add(self, files: Iterable[tuple[str, Sequence[Messages]]], *, reserved: bool = False) -> None:
        """Add the messages of (path, one ``Messages`` for each transcript), in place of what was known of the path.

        ``reserved``: under the numbers that were reserved for them, if there are as many.
        """
        files = list(files)
        columns: dict[str, list[object]] = {"a": [], "b": [], "c": [], "d": []}
        with self._lock:
            kept = {path for path, transcripts in files if reserved and self._count(path) == len(transcripts)}
            self._remove([path for path, _transcripts in files if path not in kept])
            for path, transcripts in files:
                for part, messages in zip(self._numbers(path, len(transcripts)), transcripts, strict=True):
                    columns["a"] += [part] * len(messages.texts)
                    columns["b"] += messages.positions
                    columns["c"] += messages.by_user
                    columns["d"] += messages.texts
            if columns["a"]:
                self.connection.cursor().execute(
                    "INSERT INTO messages SELECT unnest($a), unnest($b), unnest($c), unnest($d)", columns
                )

    def _count(self, path: str) -> int:
        return self._parts.get(path, (0, 0))[1]

    def remove(self, paths: Iterable[str]) -> None:
        """Remove the messages of files."""
        with self._lock:
            self._remove(paths)

    def _remove(self, paths: Iterable[str]) -> None:
        known = [self._parts.pop(path) for path in paths if path in self._parts]
        parts = [number for first, count in known for number in range(first, first + count)]
        if parts:
            self.connection.cursor().execute(
                "DELETE FROM messages WHERE part IN (SELECT unnest($parts))", {"parts": parts}
            )

    def leave_out(self, left_out: Iterable[tuple[int, frozenset[int]]]) -> None:
        """Set which exchanges (by part and position) don't count, since another part of the session holds them too."""
        rows = sorted((part, position) for part, positions in left_out for position in positions)
        if rows == self._left_out:
            return
        cursor = self.connection.cursor()
        with self._lock:
            cursor.execute("BEGIN")
            cursor.execute("DELETE FROM left_out")
            if rows:
                parts, positions = zip(*rows, strict=True)
                cursor.execute(
                    "INSERT INTO left_out SELECT unnest($a), unnest($b)", {"a": list(parts), "b": list(positions)}
                )
            cursor.execute("COMMIT")
            self._left_out = rows

    def find(
        self,
        words: Sequence[str],
        whole: str,
        cursor: duckdb.DuckDBPyConnection | None = None,
        within: Collection[int] | None = None,
    ) -> PartMatches:
        """Return every part in which at least one message contains at least one of the folded words.

        ``whole`` is the folded query: among messages with equally many words the one that holds it as it stands is
        the better. ``within`` are the only parts to look at. Not for more than some hundred words at once. Raises
        Cancelled when the cursor was interrupted.
        """
        # lists need no numpy, which takes a tenth of a second to load
        from prima_tui.index.part_matches import PartMatches, no_matches

        if not words:
            return no_matches(0)
        cursor = cursor or self.connection.cursor()
        names = [f"w{place}" for place in range(len(words))]
        contains = ", ".join(f"contains(folded, ${name}) AS {name}" for name in names)
        counts = ", ".join(f"count(*) FILTER ({name}) AS count_{name}" for name in names)
        found = " + ".join(f"{name}::INTEGER" for name in names)
        parameters: dict[str, object] = dict(zip(names, words, strict=True))
        bonus = "0"
        if len(words) > 1:
            bonus = f"(CASE WHEN {' AND '.join(names)} THEN contains(folded, $whole)::INTEGER ELSE 0 END)"
            parameters["whole"] = whole
        counted = " AND (part, position) NOT IN (SELECT (part, position) FROM left_out)" if self._left_out else ""
        looked_at = ""
        if within is not None:
            looked_at = " WHERE part IN (SELECT unnest($within::INTEGER[]))"
            parameters["within"] = list(within)
        columns = fetched_columns(
            cursor,
            f"SELECT part, min_by(position, (-({found}) * 2 - {bonus}, position)) AS best, {counts}"
            f" FROM (SELECT part, position, folded, {contains} FROM messages{looked_at})"
            f" WHERE ({' OR '.join(names)}){counted} GROUP BY part",
            parameters,
        )
        return PartMatches.of_columns(columns)

    def contains_outside(self, part: int, words: Sequence[str], positions: frozenset[int]) -> bool:
        """Tell whether a message of the part, outside the given exchanges, contains one of the folded words."""
        row = (
            self.connection.cursor()
            .execute(
                "SELECT 1 FROM messages, (SELECT unnest($words::VARCHAR[]) AS word) WHERE part = $part"
                " AND contains(folded, word) AND position NOT IN (SELECT unnest($positions::INTEGER[])) LIMIT 1",
                {"words": list(words), "part": part, "positions": sorted(positions)},
            )
            .fetchone()
        )
        return row is not None

    def close(self) -> None:
        """Let the memory go."""
        self.connection.close()

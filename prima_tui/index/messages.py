"""The folded messages of the scope, in an in-memory table or in word indexes on the disk, and the query over them.

Query words hold their white space only when quoted, and text is folded the same way on both sides, so "a message
contains the word" is plain substring search.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from prima_tui.sources.reading import Messages

if TYPE_CHECKING:
    import duckdb

    from prima_tui.index.part_matches import PartMatches
    from prima_tui.index.word_index import WordIndex
    from prima_tui.index.word_view import WordView


_ROWS_AT_ONCE = 4_000
"""Rows of one statement: while its values are handed over no other thread runs."""


class _Files(msgspec.Struct):
    """Which files are known to a table."""

    parts: dict[str, tuple[int, int]]
    """For each path the number of its first transcript, and how many there are."""
    indexed: set[str]
    """The files whose messages word indexes hold."""
    next: int
    """The number that the next transcript gets."""


class MessageTable:
    """The messages of every transcript that is known, each transcript under a number of its own (its part).

    Safe to use from several threads: every call works on a cursor of its own.
    """

    def __init__(
        self, views: Iterable[WordView] = (), parts: Callable[[], dict[str, tuple[int, int]]] | None = None
    ) -> None:
        """``views`` are word indexes that hold every message of the files of ``parts``, under the numbers it returns.

        It is asked for when somebody wants to know of a file: a search of words alone doesn't.
        """
        self._first_parts = parts
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._left_out: list[tuple[int, int]] = []
        self._lock = threading.RLock()
        self._plain: set[str] = set()
        """The files whose messages are in the table itself."""
        self._views: tuple[WordView, ...] = tuple(views)
        """The word indexes in which the messages of all others are looked for."""
        self._swapping = threading.Lock()
        self._swaps = 0
        self._plain_size: int | None = None

    @cached_property
    def _files(self) -> _Files:
        parts = self._first_parts() if self._first_parts else {}
        return _Files(parts, set(parts), max((first + count for first, count in parts.values()), default=0))

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database of the messages that no word index holds; loaded when it is first asked for."""
        with self._lock:
            if self._connection is None:
                from prima_tui.index.connections import in_memory

                connection = in_memory()
                connection.execute(
                    "CREATE TABLE messages (part INTEGER, position INTEGER, by_user BOOLEAN, folded VARCHAR)"
                )
                connection.execute("CREATE TABLE left_out (part INTEGER, position INTEGER)")
                _insert_left_out(connection, self._left_out)
                self._connection = connection
            return self._connection

    def cursor(self) -> duckdb.DuckDBPyConnection | None:
        """Return a cursor for :meth:`find`, None while every message is in a word index and it needs none."""
        return self.connection.cursor() if self._plain else None

    def part(self, path: str, number: int) -> int | None:
        """Return the number of a file's transcript, None when its messages aren't here."""
        first, count = self._files.parts.get(path, (0, 0))
        return first + number if number < count else None

    def reserve(self, files: Iterable[tuple[str, int]]) -> None:
        """Give the transcripts of (path, how many) their numbers now; their messages come later."""
        with self._lock:
            files = list(files)
            self._remove(path for path, _count in files)
            for path, count in files:
                self._numbers(path, count)

    def parts(self) -> dict[str, tuple[int, int]]:
        """Return for each path the number of its first transcript, and how many there are."""
        with self._lock:
            return dict(self._files.parts)

    def _numbers(self, path: str, count: int) -> range:
        """Return the numbers of a file's transcripts: those it has, else new ones."""
        if path not in self._files.parts:
            self._files.parts[path] = (self._files.next, count)
            self._files.next += count
        first, count = self._files.parts[path]
        return range(first, first + count)

    def take(self, store: duckdb.DuckDBPyConnection, files: Sequence[tuple[int, str, int]]) -> None:
        """Copy the messages of (catalog's file id, path, transcripts) from an attached catalog, for files with none."""
        with self._lock:
            rows = [
                (file_id, number, part)
                for file_id, path, count in files
                for number, part in enumerate(self._numbers(path, count))
            ]
            self._plain_holds(path for _file_id, path, _count in files)
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
        columns: tuple[list[object], ...] = ([], [], [], [])
        with self._lock:
            kept = {path for path, transcripts in files if reserved and self._count(path) == len(transcripts)}
            self._remove([path for path, _transcripts in files if path not in kept])
            self._plain_holds(path for path, _transcripts in files)
            for path, transcripts in files:
                for part, messages in zip(self._numbers(path, len(transcripts)), transcripts, strict=True):
                    parts, positions, by_user, folded = columns
                    parts += [part] * len(messages.texts)
                    positions += messages.positions
                    by_user += messages.by_user
                    folded += messages.texts
            if columns[0]:
                cursor = self.connection.cursor()
                # a search that finds everything in word indexes doesn't load the database
                from prima_tui.index.rows import insert_columns

                cursor.execute("BEGIN")
                for first in range(0, len(columns[0]), _ROWS_AT_ONCE):
                    some = [column[first : first + _ROWS_AT_ONCE] for column in columns]
                    insert_columns(cursor, "messages", some)
                cursor.execute("COMMIT")

    def _count(self, path: str) -> int:
        return self._files.parts.get(path, (0, 0))[1]

    def remove(self, paths: Iterable[str]) -> None:
        """Remove the messages of files."""
        with self._lock:
            self._remove(paths)

    def _plain_holds(self, paths: Iterable[str]) -> None:
        self._plain.update(paths)
        self._plain_size = None

    def _remove(self, paths: Iterable[str]) -> None:
        known = {path: self._files.parts.pop(path) for path in paths if path in self._files.parts}
        self._remove_plain(known)
        self._files.indexed.difference_update(known)
        self._views = tuple(view.without(known) if known else view for view in self._views)

    def _remove_plain(self, files: Mapping[str, tuple[int, int]]) -> None:
        plain = self._plain & files.keys()
        parts = [number for path in plain for number in range(files[path][0], sum(files[path]))]
        self._plain -= plain
        self._plain_size = None
        if parts:
            self.connection.cursor().execute(
                "DELETE FROM messages WHERE part IN (SELECT unnest($parts))", {"parts": parts}
            )

    def use(self, indexes: Sequence[WordIndex], states: Mapping[str, bytes]) -> set[str]:
        """Look for messages in these word indexes, as far as they hold files in the given states (by path).

        What the table itself holds of those files goes. Returns the files that no index holds any more.
        """
        # lists need no numpy, which takes a tenth of a second to load
        from prima_tui.index.word_view import view_of

        with self._lock, self._swapping:
            before = self._files.indexed
            firsts = {path: first for path, (first, _count) in self._files.parts.items()}
            views: list[WordView] = []
            for index in indexes:
                view, held = view_of(index, firsts, states, self._left_out)
                for path in held:
                    del firsts[path]
                views += [view] if held else []
            self._swaps += 1
            self._views = tuple(views)
            self._files.indexed = self._files.parts.keys() - firsts.keys()
            moved = self._plain & self._files.indexed
            if moved == self._plain:
                # what is deleted from a table keeps its memory; a search that is under way keeps the database
                self._plain, self._plain_size, self._connection = set(), 0, None
            else:
                self._remove_plain({path: self._files.parts[path] for path in moved})
            return before - self._files.indexed

    def look_beside(self, index: WordIndex, states: Mapping[str, bytes]) -> None:
        """Look for messages in one more word index, as far as it holds files in the given states that none holds."""
        from prima_tui.index.word_view import view_of

        with self._lock, self._swapping:
            files = self._files
            firsts = {path: files.parts[path][0] for path in states if path in files.parts.keys() - files.indexed}
            view, held = view_of(index, firsts, states, self._left_out)
            self._swaps += 1
            self._views = (*self._views, view)
            files.indexed.update(held)

    def is_indexed(self, path: str) -> bool:
        """Tell whether a file's messages are looked for in a word index."""
        return path in self._files.indexed

    def is_all_indexed(self) -> bool:
        """Tell whether the messages of every file are looked for in a word index."""
        return len(self._files.indexed) == len(self._files.parts)

    def plain_bytes(self) -> int:
        """Return the size of the text that every search looks through, since no word index holds it."""
        if not self._plain:
            return 0
        if self._plain_size is None:
            row = self.connection.cursor().execute("SELECT coalesce(sum(strlen(folded)), 0) FROM messages").fetchone()
            self._plain_size = int(row[0]) if row else 0
        return self._plain_size

    def exchanges(self, path: str, number: int) -> bytes:
        """Return the packed exchanges of a file's transcript, b"" when no word index in use has them."""
        return next((packed for view in self._views if (packed := view.exchanges(path, number))), b"")

    def plain(self) -> list[str]:
        """Return the files whose messages are in the table itself."""
        with self._lock:
            return sorted(self._plain)

    def plain_messages(self, path: str) -> dict[int, list[tuple[int, str]]]:
        """Return the messages (position, folded text) of such a file, by the number of the transcript."""
        with self._lock:
            first, count = self._files.parts.get(path, (0, 0))
            rows = (
                self.connection.cursor()
                .execute(
                    "SELECT part, position, folded FROM messages WHERE part >= $first AND part < $end"
                    " ORDER BY part, position, NOT by_user",
                    {"first": first, "end": first + count},
                )
                .fetchall()
            )
        found: dict[int, list[tuple[int, str]]] = {}
        for part, position, folded in rows:
            found.setdefault(part - first, []).append((position, folded))
        return found

    def leave_out(self, left_out: Iterable[tuple[int, frozenset[int]]]) -> None:
        """Set which exchanges (by part and position) don't count, since another part of the session holds them too."""
        rows = sorted((part, position) for part, positions in left_out for position in positions)
        if rows == self._left_out:
            return
        with self._lock:
            if self._connection is not None:
                cursor = self._connection.cursor()
                cursor.execute("BEGIN")
                cursor.execute("DELETE FROM left_out")
                _insert_left_out(cursor, rows)
                cursor.execute("COMMIT")
            self._left_out = rows
            self._views = tuple(view.leaving_out(rows) for view in self._views)

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
        from prima_tui.index.part_matches import no_matches, of_different_parts

        if not words:
            return no_matches(0)
        while True:
            with self._swapping:
                swaps, views, plain = self._swaps, self._views, bool(self._plain)
            found = [view.find(words, whole, within) for view in views]
            if plain:
                found.append(self._find_plain(words, whole, cursor, within))
            # when messages moved from the table to an index meanwhile, they may have been in neither
            if swaps == self._swaps:
                return of_different_parts(found, len(words))

    def _find_plain(
        self,
        words: Sequence[str],
        whole: str,
        cursor: duckdb.DuckDBPyConnection | None,
        within: Collection[int] | None,
    ) -> PartMatches:
        from prima_tui.index.connections import fetched_columns
        from prima_tui.index.part_matches import PartMatches

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
        for view in self._views:
            if (contained := view.contains_outside(part, words, positions)) is not None:
                return contained
        if not self._plain:
            return False
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
        if self._connection is not None:
            from prima_tui.index.connections import let_go

            let_go(self._connection)


def _insert_left_out(connection: duckdb.DuckDBPyConnection, rows: Sequence[tuple[int, int]]) -> None:
    if rows:
        parts, positions = zip(*rows, strict=True)
        connection.execute(
            "INSERT INTO left_out SELECT unnest($a), unnest($b)", {"a": list(parts), "b": list(positions)}
        )

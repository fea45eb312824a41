"""What the user had forgotten: a small private list that keeps it from coming back while the agent's own file exists.

It holds no words: sessions and files stand in it as hashes, with an id to show only where that is a plain UUID.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from prima_tui.config import private_folder
from prima_tui.errors import PrimaError
from prima_tui.model.session import Session, Transcript, key64

if TYPE_CHECKING:
    from prima_tui.sources.reading import FileReading, FileTexts

_PLAIN_ID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")


class ForgottenSession(msgspec.Struct, frozen=True):
    """One session on the list."""

    key: str
    """Hash of its source and id."""
    at: datetime
    id: str = ""
    """Its id where that is a plain UUID, else ""."""
    files: tuple[str, ...] = ()
    """Hashes of the paths of files in which nothing but this session is."""
    leaves: tuple[str, ...] = ()
    """Keys of its records that summaries in other files are about."""

    @property
    def shown(self) -> str:
        """What it is called by: its id, else the start of its key."""
        return self.id or self.key[:12]


class Forgotten:
    """The list in the user's data folder. It is looked at again whenever its file has changed."""

    def __init__(self, data: Path) -> None:
        self.path = data / "forgotten.json"
        self.version = 0
        """Counts the changes that were seen."""
        self._state: tuple[int, int, int] | None = None
        self._sessions: tuple[ForgottenSession, ...] = ()
        self._keys: frozenset[str] = frozenset()
        self._files: frozenset[str] = frozenset()
        self._leaves: frozenset[bytes] = frozenset()

    def look(self) -> int:
        """Take over what is in the file; return :attr:`version`."""
        try:
            found = self.path.stat()
            state = (found.st_ino, found.st_size, found.st_mtime_ns)
        except OSError:
            state = None
        if state == self._state:
            return self.version
        try:
            sessions = msgspec.json.decode(self.path.read_bytes(), type=tuple[ForgottenSession, ...]) if state else ()
        except (OSError, msgspec.MsgspecError):
            return self.version  # what was known goes on to count; a change of the list says what is wrong
        self._state = state
        self._sessions = sessions
        self._keys = frozenset(one.key for one in sessions)
        self._files = frozenset(name for one in sessions for name in one.files)
        self._leaves = frozenset(bytes.fromhex(leaf) for one in sessions for leaf in one.leaves)
        self.version += 1
        return self.version

    def fingerprint(self) -> str:
        """Return what changes with the list: the keys on it."""
        self.look()
        return ",".join(sorted(self._keys))

    def sessions(self) -> tuple[ForgottenSession, ...]:
        """Return what is on the list, in the order in which it was forgotten."""
        self.look()
        return self._sessions

    def holds(self, source: str, session_id: str) -> bool:
        """Tell whether a session is on the list."""
        return bool(self._keys) and _key(source, session_id) in self._keys

    def holds_id(self, session_id: str) -> bool:
        """Tell whether a session is on the list, where only its id is known."""
        return any(one.id == session_id for one in self._sessions)

    @property
    def any_files(self) -> bool:
        """Whether there is any file that :meth:`holds_file`."""
        return bool(self._files)

    def holds_file(self, path: str) -> bool:
        """Tell whether a file holds nothing but a session on the list, so that it need not be read."""
        return bool(self._files) and _hash(path) in self._files

    def touches(self, reading: FileReading) -> bool:
        """Tell whether something of a session on the list is in what was read of a file."""
        if not self._keys:
            return False
        source = reading.file.source
        return (
            any(self._drops(one) or self._summarised(one) for one in reading.transcripts)
            or any(self.holds(source, one) for one in reading.names)
            or self.holds_file(reading.file.path)
        )

    def without(self, texts: FileTexts) -> FileTexts:
        """Return what was read of a file, less everything of the sessions on the list."""
        reading = texts.reading
        if not self.touches(reading):
            return texts
        kept = [place for place, one in enumerate(reading.transcripts) if not self._drops(one)]
        transcripts = [
            msgspec.structs.replace(one, summaries=tuple(pair for pair in one.summaries if not self._is_leaf(pair[0])))
            for one in (reading.transcripts[place] for place in kept)
        ]
        names = {one: name for one, name in reading.names.items() if not self.holds(reading.file.source, one)}
        return msgspec.structs.replace(
            texts,
            reading=msgspec.structs.replace(reading, transcripts=tuple(transcripts), names=names),
            exchanges=tuple(texts.exchanges[place] for place in kept),
            messages=tuple(texts.messages[place] for place in kept),
        )

    def _drops(self, one: Transcript) -> bool:
        return self.holds(one.source, one.session_id) or (
            bool(one.parent_id) and self.holds(one.source, one.parent_id or "")
        )

    def _summarised(self, one: Transcript) -> bool:
        return bool(self._leaves) and any(self._is_leaf(leaf) for leaf, _text in one.summaries)

    def _is_leaf(self, leaf: str) -> bool:
        return bool(leaf) and key64(leaf) in self._leaves

    def add(self, sessions: Iterable[Session], readings: Iterable[FileReading]) -> None:
        """Put sessions on the list; ``readings`` are of all files known, to tell what else there is of them.

        Raises PrimaError when the list can't be kept.
        """
        wanted = {session.key: session for session in sessions}
        by_path = {reading.file.path: reading for reading in readings}
        own: dict[tuple[str, str], set[str]] = {key: set() for key in wanted}
        records: dict[tuple[str, str], set[bytes]] = {key: set() for key in wanted}
        for key, session in wanted.items():
            for transcripts in (by_path[path].transcripts for path in session.paths if path in by_path):
                if all(one.parent_id or (one.source, one.session_id) == key for one in transcripts):
                    own[key].update(one.path for one in transcripts)
                for keys in (one.record_keys for one in transcripts):
                    records[key].update(keys[place : place + 8] for place in range(0, len(keys), 8))
        every = [one for reading in by_path.values() for one in reading.transcripts]
        leaves = {key64(leaf) for one in every for leaf, _text in one.summaries if leaf}
        now = datetime.now(UTC).replace(microsecond=0)
        new = [
            ForgottenSession(
                _key(*key),
                now,
                session.id if _PLAIN_ID.fullmatch(session.id) else "",
                tuple(sorted(map(_hash, own[key]))),
                tuple(sorted(leaf.hex() for leaf in leaves & records[key])),
            )
            for key, session in wanted.items()
        ]
        keys_now = {one.key for one in new}
        self._change(lambda known: (*(one for one in known if one.key not in keys_now), *new))

    def find(self, name: str) -> list[ForgottenSession]:
        """Return what is on the list under an id or key, or the start of one."""
        return [one for one in self.sessions() if name and (one.id.startswith(name) or one.key.startswith(name))]

    def remove(self, keys: Iterable[str]) -> None:
        """Take sessions off the list: they are read again where their files still exist. Raises PrimaError."""
        gone = set(keys)
        self._change(lambda known: tuple(one for one in known if one.key not in gone))

    def _change(self, change: Callable[[tuple[ForgottenSession, ...]], tuple[ForgottenSession, ...]]) -> None:
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            private_folder(self.path.parent)
            import filelock

            with filelock.FileLock(self.path.with_name("forgotten.lock"), timeout=5, mode=0o600):
                known = self.path.read_bytes() if self.path.exists() else b"[]"
                sessions = msgspec.json.decode(known, type=tuple[ForgottenSession, ...])
                descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(msgspec.json.format(msgspec.json.encode(change(sessions))))
                new.replace(self.path)
        except (OSError, msgspec.MsgspecError) as error:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise PrimaError(f"{self.path} can't be changed: {error}") from error
        self.look()


def _key(source: str, session_id: str) -> str:
    return _hash(f"{source}\0{session_id}")


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


class IndexPlaces:
    """The folders in which an index was ever made, so that nothing stays behind in one when a session is forgotten."""

    def __init__(self, data: Path) -> None:
        self._path = data / "indexes.txt"
        self._added: set[Path] = set()

    def all(self) -> list[Path]:
        """Return the folders that still exist."""
        try:
            lines = self._path.read_text("utf-8", "surrogateescape").splitlines()
        except OSError:
            return []
        return [folder for line in dict.fromkeys(lines) if line and (folder := Path(line)).is_dir()]

    def add(self, folder: Path) -> None:
        """Remember a folder; a disk that doesn't take it costs nothing else."""
        if folder in self._added:
            return
        self._added.add(folder)
        with contextlib.suppress(OSError):
            if "\n" in str(folder) or folder in self.all():
                return
            private_folder(self._path.parent)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"{folder}\n")

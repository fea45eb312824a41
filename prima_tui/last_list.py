"""The list as it was when last complete: the screen shows it at once, while the files are looked at again."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from prima_tui.config import private_folder
from prima_tui.model.session import Session


class LastList:
    """One scope's list in a small file of the cache. It is only ever a first picture: losing it costs nothing."""

    def __init__(self, cache: Path, workspace: Path, everywhere: bool) -> None:
        name = hashlib.blake2b(f"{int(everywhere)}:{workspace}".encode("utf-8", "surrogateescape"), digest_size=12)
        self.path = cache / "lists" / f"{name.hexdigest()}.msgpack"
        self._kept: tuple[Session, ...] | None = None

    def forget(self) -> None:
        """Remove the lists of every scope. Raises OSError."""
        self._kept = None
        for path in self.path.parent.glob("*"):
            path.unlink(missing_ok=True)

    def load(self) -> tuple[Session, ...]:
        """Return the sessions, newest first; none when there is no file that can be read."""
        try:
            return msgspec.msgpack.decode(self.path.read_bytes(), type=tuple[Session, ...])
        except (OSError, ValueError, msgspec.MsgspecError):
            return ()

    def keep(self, sessions: tuple[Session, ...]) -> None:
        """Keep the sessions for the next start, where the disk allows it."""
        if sessions == self._kept:
            return
        self._kept = sessions
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            private_folder(self.path.parent.parent)
            private_folder(self.path.parent)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.msgpack.encode(sessions))
            new.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)

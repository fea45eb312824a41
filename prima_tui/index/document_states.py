"""States of a documents' index, each a file of its own beside the index: a copy that can be searched as the index is.

A state's file name says all that is known of it, so that listing them opens none. Those that were not named are few and
small together: the oldest go first.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path

from prima_tui.config import private_folder
from prima_tui.errors import PrimaError, UsageError
from prima_tui.index.documents import DocumentIndex
from prima_tui.model.document_states import IndexState

MOST_UNNAMED = 8
MOST_NAMED = 20
MOST_BYTES = 200_000_000
"""Of the states that were not named, together; the newest is kept whatever its size."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_FILE = re.compile(r"(?P<at>\d{8}T\d{12})-(?P<content>[0-9a-f]{16})(?:-(?P<name>[A-Za-z0-9_.-]{1,40}))?\.duckdb")
_AT = "%Y%m%dT%H%M%S%f"


def content_of(index: DocumentIndex) -> str:
    """Return what tells the documents in an index from others: a hash over their paths and contents."""
    lines = sorted(f"{path}\0{one.sha256}" for path, one in index.stored().items())
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class DocumentStates:
    """The states that are kept in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[IndexState]:
        """Return the states, newest first."""
        return [state for state, _path in self._found()]

    def find(self, name: str) -> tuple[IndexState, Path]:
        """Return the newest state with this name, or whose time begins so, and its file. Raises UsageError."""
        found = self._found()
        exact = [one for one in found if one[0].name == name]
        like = exact or [one for one in found if not one[0].named and name and one[0].name.startswith(name)]
        if not like:
            raise UsageError(f"there is no state {name!r}; `prima-tui docs snapshot --list` shows them")
        return like[0]

    def keep(self, index: DocumentIndex, name: str = "", now: datetime | None = None) -> IndexState | None:
        """Keep the index as it is; without a name only when the newest state is of other documents.

        Returns the new state, None when none was needed or there is no index. Raises PrimaError.
        """
        if name and not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name for a state: letters, digits, dot, dash and underscore, at most 40")
        content = content_of(index)
        states = self.all()
        if not name and states and states[0].content == content:
            return None
        if name and sum(state.named for state in states) >= MOST_NAMED:
            raise UsageError(f"there are {MOST_NAMED} named states already; `docs snapshot --remove NAME` makes room")
        at = (now or datetime.now(UTC)).astimezone(UTC)
        path = self._folder / f"{at.strftime(_AT)}-{content}{f'-{name}' if name else ''}.duckdb"
        try:
            private_folder(self._folder)
        except OSError as error:
            raise PrimaError(f"{self._folder} can't be made: {error.strerror or error}") from error
        if not index.copy_to(path):
            return None
        self._drop_oldest()
        return next((state for state, other in self._found() if other == path), None)

    def remove(self, name: str) -> None:
        """Remove a state. Raises UsageError when there is none, PrimaError."""
        _state, path = self.find(name)
        try:
            path.unlink()
        except OSError as error:
            raise PrimaError(f"{path} can't be removed: {error.strerror or error}") from error

    def _found(self) -> list[tuple[IndexState, Path]]:
        found = []
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                match = _FILE.fullmatch(path.name)
                if match is None:
                    continue
                with contextlib.suppress(OSError, ValueError):
                    at = datetime.strptime(match["at"], _AT).replace(tzinfo=UTC)
                    shown = match["name"] or at.astimezone().replace(tzinfo=None).isoformat(timespec="milliseconds")
                    found.append(
                        (IndexState(shown, at, match["content"], path.stat().st_size, bool(match["name"])), path)
                    )
        return sorted(found, key=lambda one: one[0].at, reverse=True)

    def _drop_oldest(self) -> None:
        size = 0
        for place, (state, path) in enumerate(one for one in self._found() if not one[0].named):
            size += state.size
            if place and (place >= MOST_UNNAMED or size > MOST_BYTES):
                with contextlib.suppress(OSError):
                    path.unlink()

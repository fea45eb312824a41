"""Time and ids for the demo: believable, and the same for one script whenever it is expanded."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta

_NAMESPACE = uuid.UUID("6a0f2c1e-6f0b-4f0d-9a55-2f7d5a3f9c11")


class Pace:
    """The clock and the ids of one conversation. Each record takes the next of both, so their order is the file's."""

    def __init__(self, name: str, start: datetime) -> None:
        self.now = start
        self._name = name
        self._count = 0
        self._random = random.Random(name)

    def wait(self, shortest: float, longest: float) -> None:
        """Let between ``shortest`` and ``longest`` seconds go by."""
        self.now += timedelta(seconds=self._random.uniform(shortest, longest))

    def read_and_type(self, text: str) -> None:
        """Let the time go by in which a person reads the last reply and types ``text``."""
        self.wait(45, 280)
        self.now += timedelta(seconds=min(len(text) / 4, 150))

    def write(self, text: str) -> None:
        """Let the time go by in which an agent writes ``text``."""
        self.wait(4, 25)
        self.now += timedelta(seconds=min(len(text) / 40, 60))

    def new_id(self) -> str:
        """Return the conversation's next id, a UUID."""
        self._count += 1
        return str(uuid.uuid5(_NAMESPACE, f"{self._name}/{self._count}"))

    def token(self, prefix: str, length: int) -> str:
        """Return an id of another shape: the prefix and ``length`` hexadecimal digits."""
        return prefix + self.new_id().replace("-", "")[:length]

    @property
    def stamp(self) -> str:
        """The time as records have it: ISO 8601 in UTC with milliseconds and ``Z``."""
        return self.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03}Z"

    @property
    def milliseconds(self) -> int:
        """The time as milliseconds since 1970."""
        return int(self.now.timestamp() * 1000)


def session_id(name: str) -> str:
    """Return the session id of the script of that name, a UUID."""
    return str(uuid.uuid5(_NAMESPACE, name))

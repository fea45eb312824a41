"""The stored exchanges that are alike to a query, each put into words only when somebody looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prima_tui.model.on_demand import OnDemand

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Transcript = tuple[str, int, str, str]
"""Where exchanges come from and whose they are: path, number in the file, source, session id."""


class Similar(msgspec.Struct, frozen=True, gc=False):
    """The best exchange of one transcript for a query vector."""

    path: str
    number: int
    source: str
    session_id: str
    position: int
    similarity: float
    hash: str


class SimilarExchanges(OnDemand[Similar]):
    """The best exchange of each transcript that has one alike, in no order; columns of one length."""

    def __init__(
        self,
        transcripts: Sequence[Transcript],
        owners: NDArray[np.int32],
        positions: NDArray[np.int32],
        hashes: NDArray[np.bytes_],
        cosines: NDArray[np.float32],
    ) -> None:
        super().__init__(len(owners), self._similar)
        self.transcripts = transcripts
        """All that the index has, found or not. It only grows; another one is another list."""
        self.owners = owners
        """Of each of those found its transcript's place among them all."""
        self.positions = positions
        self.hashes = hashes
        self.cosines = cosines

    def _similar(self, place: int) -> Similar:
        return Similar(
            *self.transcripts[int(self.owners[place])],
            int(self.positions[place]),
            float(self.cosines[place]),
            self.hashes[place].decode(),
        )

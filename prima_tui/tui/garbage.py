"""Looking for garbage in rounds too short to be felt.

Python looks for objects that only hold one another among those made lately, now and then among all there are, and no
thread runs meanwhile. Among the sessions of a large history such a look takes a tenth of a second and more, in which no
key is answered. So here only few new objects are looked at in one go, and those that are still needed then are taken
for what stays; all of them are looked at when nobody has been at the keys for a while.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from typing import Any

_MADE = 4_000
"""New objects after which those are looked at: a few milliseconds."""
_ROUNDS = 1
"""More rounds than so many, and what they left is looked at once more, and then taken for what stays."""
_REST_SECONDS = 30.0
_GROWN = 10
"""How many times something came to what stays, from which a look at everything is worth its while."""


class ShortRounds:
    """Has Python look for garbage in short rounds, from :meth:`begin` to :meth:`end`."""

    def __init__(self) -> None:
        self._touched = time.monotonic()
        self._grown = 0
        self._threshold = gc.get_threshold()

    def begin(self) -> None:
        """Begin: what there is by now stays."""
        self._threshold = gc.get_threshold()
        gc.freeze()
        self._grown = 0
        gc.set_threshold(_MADE, _ROUNDS, self._threshold[2])
        if self._after not in gc.callbacks:
            gc.callbacks.append(self._after)

    def end(self) -> None:
        """Have Python do again as it did before."""
        if self._after in gc.callbacks:
            gc.callbacks.remove(self._after)
            gc.unfreeze()
            gc.set_threshold(*self._threshold)

    def touched(self) -> None:
        """The user did something: this is no time for a long look."""
        self._touched = time.monotonic()

    def rest(self) -> bool:
        """Look at everything, if nobody is at the keys and enough has come to it; return whether that was done."""
        if time.monotonic() - self._touched < _REST_SECONDS or self._grown < _GROWN:
            return False
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._grown = 0
        _give_back()
        return True

    def _after(self, phase: str, facts: dict[str, Any]) -> None:
        if phase == "stop" and facts["generation"] >= 1:
            self._grown += 1
            gc.freeze()


def _give_back() -> None:
    """Have the C library give back to the system what it holds for later: it does so on its own only at its end."""
    if sys.platform == "linux":
        import ctypes

        # another library than glibc may not know it
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)

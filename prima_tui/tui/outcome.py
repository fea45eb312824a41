"""What one screen gives another: the results it is of, and what it ends with."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from prima_tui.model.hits import Mode
from prima_tui.model.session import Session


class PickResult(msgspec.Struct, frozen=True):
    """A session was picked, or the demo history is to be opened. No result (None) means: left, or cancelled."""

    session: Session | None = None
    demo: bool = False


class SessionPlace(NamedTuple):
    """A session to be shown in the main screen, and where it is to be opened."""

    session: Session
    exchange: int | None
    """Place of the exchange, from 0; None for where the conversation opens by itself."""


class Asked(NamedTuple):
    """The search whose results a view is of."""

    query: str
    mode: Mode
    deep: bool = False

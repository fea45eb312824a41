"""What the screen gives back to who started it."""

from __future__ import annotations

import msgspec

from prima_tui.model.session import Session


class PickResult(msgspec.Struct, frozen=True):
    """A session was picked, or the demo history is to be opened. No result (None) means: left, or cancelled."""

    session: Session | None = None
    demo: bool = False

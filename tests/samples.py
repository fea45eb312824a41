"""Where the sample conversations of the agents are, for the tests that check the readers against them."""

from __future__ import annotations

from pathlib import Path


def _find() -> Path | None:
    for parent in Path(__file__).resolve().parents:
        found = parent / "shared" / "samples"
        if (found / "INDEX.md").is_file():
            return found
    return None


SAMPLES: Path | None = _find()
"""The folder with ``INDEX.md``, beside the checkout; None where it is not there."""

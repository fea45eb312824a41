"""How far a search reaches: from one workspace to everything on the computer."""

from __future__ import annotations

from typing import Literal

Reach = Literal["workspace", "repository", "everywhere"]
"""``workspace``: sessions recorded in it. ``repository``: those of its sub-folders and of every worktree of the same
git repository too. ``everywhere``: all there are."""

REACHES: tuple[Reach, ...] = ("workspace", "repository", "everywhere")
"""In the order in which the key goes through them."""

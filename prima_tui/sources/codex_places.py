"""Where Codex keeps its files, and what is told of one by where it is."""

from __future__ import annotations

SOURCE = "codex"
LABEL = "[Codex]"
FOLDERS = {"sessions": "rollout", "archived_sessions": "archived"}
"""Folder in Codex's own, and the kind of the files in it."""
ELSEWHERE = "+"
"""End of the kind of a file whose root is not the home folder's own, so that resuming needs the variable set."""
OPEN = "-open"
"""Ending of the session id of a save made before the first answer, which has no id in common with later ones yet."""

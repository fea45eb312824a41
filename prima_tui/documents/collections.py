"""Named collections: a project's documents under a name, chosen by patterns of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec
from pathspec import GitIgnoreSpec


class Collection(msgspec.Struct, frozen=True):
    """The ``[collections.NAME]`` table. A document may be in several."""

    name: str
    include: tuple[str, ...]
    """Which files are in it; gitignore syntax, relative to ``root``."""
    exclude: tuple[str, ...] = ()
    """Which of them are not, in the same syntax."""
    root: str = ""
    """The folder that it is below, relative to the project's root; "" for all of the project."""

    def holds(self, path: str) -> bool:
        """Tell whether a file (its path relative to the project's root) is in the collection."""
        if self.root:
            if not path.startswith(f"{self.root}/"):
                return False
            path = path[len(self.root) + 1 :]
        return _patterns(self.include).match_file(path) and not _patterns(self.exclude).match_file(path)


def names_of(collections: Sequence[Collection], path: str) -> tuple[str, ...]:
    """Return the names of the collections that a document is in."""
    return tuple(one.name for one in collections if one.holds(path))


@cache
def _patterns(lines: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(lines)

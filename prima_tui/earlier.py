"""Which folders may be what a workspace was before it moved. They are only offered: a person says whether it is so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from prima_tui.model.session import Session
from prima_tui.sources.base import KnowsFolders, Scope
from prima_tui.sources.places import inside, is_vanished_namesake
from prima_tui.sources.registry import all_sources
from prima_tui.sources.repository import repository_of

if TYPE_CHECKING:
    from prima_tui.sources.reading import FileReading


def earlier_folders(
    scope: Scope, sessions: Iterable[Session], readings: Callable[[], Sequence[FileReading]]
) -> tuple[str, ...]:
    """Return the folders that may have become the workspace; none when sessions were recorded in it itself.

    They are gone, have its name, and sessions were recorded in them; a folder whose sessions record the address of
    another repository is left out. ``readings`` gives what was read of the scope's files, and is seldom asked.
    """
    own = scope.own_folders
    if scope.everywhere or any(inside(one.workspace, place) for one in sessions if one.workspace for place in own):
        return ()
    sources = [source for source in all_sources() if isinstance(source, KnowsFolders)]
    recorded = [(folder, "") for source in sources for folder in source.recorded_folders(scope)]
    recorded += [(one.workspace or "", one.repository) for reading in readings() for one in reading.transcripts]
    here = repository_of(str(scope.workspace))
    found: dict[str, bool] = {}
    for folder, address in recorded:
        if folder and is_vanished_namesake(folder, own[0]):
            foreign = bool(address) and here is not None and bool(here.remotes) and not here.is_remote(address)
            found[folder] = found.get(folder, True) and not foreign
    return tuple(folder for folder, fits in found.items() if fits)

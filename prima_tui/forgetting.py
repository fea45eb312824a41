"""Removing what was forgotten from every store that the program keeps, down to the last byte.

The list of what is forgotten says what goes; this only carries it out, and can be done again at any time. The agents'
own files are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import filelock

from prima_tui.errors import PrimaError, StoreBusy
from prima_tui.extracts import forget_extracts
from prima_tui.forgotten import Forgotten
from prima_tui.index.exchange_store import ExchangeStore
from prima_tui.index.rebuild import REBUILD_NAME
from prima_tui.last_list import LastList
from prima_tui.model.session import Session
from prima_tui.startup_log import StartupLog

_WAIT_SECONDS = 30.0
"""How long an update in another process is waited for."""


def purge_everywhere(
    forgotten: Forgotten,
    sessions: Sequence[Session],
    folders: Iterable[Path],
    purge_catalog: Callable[[], None],
    last: LastList,
    log: StartupLog,
) -> list[str]:
    """Remove what is on the list from the catalog, each folder's index and extracts, the lists and the log.

    ``sessions`` are those whose titles and paths the log may mention. Returns one line for each place that could not be
    reached.
    """
    names = [name for session in sessions for name in (session.id, session.title, *session.paths)]
    left: list[str] = []
    places = [partial(purge_index, folder, forgotten) for folder in dict.fromkeys(folders)]
    purges: list[Callable[[], None]] = [purge_catalog, last.forget, *places, partial(log.forget, names)]
    for purge in purges:
        try:
            purge()
        except (OSError, PrimaError) as error:
            left.append(str(error))
    return left


def purge_index(folder: Path, forgotten: Forgotten) -> None:
    """Remove what is on the list from the index, an unfinished rebuild and the extracts in a folder.

    Raises StoreBusy, StoreUnusable, OSError.
    """
    if not folder.is_dir():
        return
    files = [path for name in ("index.duckdb", REBUILD_NAME) if (path := folder / name).exists()]
    extracts = folder / "extracts"
    if not files and not extracts.is_dir():
        return
    try:
        with filelock.FileLock(folder / "update.lock", timeout=_WAIT_SECONDS, mode=0o600):
            for path in files:
                ExchangeStore(path, "", lambda: None, lambda _line: None).purge(forgotten.holds)
            forget_extracts(extracts, forgotten.holds_id)
    except filelock.Timeout as error:
        raise StoreBusy(f"{folder} is being updated or rebuilt by another prima-tui") from error

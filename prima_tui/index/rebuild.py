"""The rebuild: the index made anew beside the old one, which answers until the new one takes its place.

The new file's existence is the state of the rebuild, and the update lock, which the system frees when its holder dies,
says whether someone is at it. So a rebuild that was killed goes on from its last unit, and no update runs beside one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import filelock
import msgspec

from prima_tui.errors import ModelUnavailable, PrimaError, StoreBusy, StoreUnusable
from prima_tui.index.embedder import EmbeddingModel
from prima_tui.index.update import Exchanges, FileShare, Updater
from prima_tui.index.vectors import SemanticIndex
from prima_tui.model.hits import Cancel, IndexProgress

REBUILD_NAME = "index.rebuild.duckdb"
"""Of the unfinished file, beside the index."""
RebuildState = Literal["running", "interrupted"]


class Rebuild:
    """Makes the index of one folder anew. ``update_lock`` is the one that updates take."""

    def __init__(
        self,
        index: SemanticIndex,
        embedder: EmbeddingModel,
        exchanges: Exchanges,
        update_lock: Path,
        make_folder: Callable[[], object],
        notice: Callable[[str], None],
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._exchanges = exchanges
        self._lock = update_lock
        self._make_folder = make_folder
        self._notice = notice
        self.path = index.path.with_name(REBUILD_NAME)

    def state(self) -> RebuildState | None:
        """Return whether a rebuild is running, was interrupted, or neither."""
        if not self.path.exists():
            return None
        try:
            with filelock.FileLock(self._lock, timeout=0, mode=0o600):
                return "interrupted"
        except filelock.Timeout:
            return "running"
        except OSError:
            return "interrupted"

    def lost(self, present: Iterable[str]) -> int:
        """Return how many stored exchanges a rebuild would lose, since their files are not among ``present``.

        Raises StoreBusy, StoreUnusable.
        """
        return self._index.count_outside(set(present))

    def run(
        self, shares: Sequence[FileShare], report: Callable[[IndexProgress], None], cancel: Cancel
    ) -> IndexProgress:
        """Embed everything into a new file, going on where an interrupted rebuild stopped, and put it in place.

        Cancelled, it leaves the new file for the next time. Raises nothing: ``note`` says what stopped it.
        """
        started = time.monotonic()
        try:
            self._make_folder()
            with filelock.FileLock(self._lock, timeout=0, mode=0o600):
                new = SemanticIndex(self.path, self._embedder.name, self._make_folder, self._notice)
                try:
                    new.load()
                    if new.other_model:
                        # begun with a model that is not the configured one any more
                        new.close()
                        self._remove()
                    new.create()
                    updater = Updater(new, self._embedder, self._exchanges, self._lock, self._make_folder)
                    progress = updater.run_locked(shares, None, report, cancel)
                finally:
                    new.close()
                if not progress.finished:
                    return msgspec.structs.replace(progress, note=progress.note or "the rebuild is not complete")
                self._index.give_way_to(self.path)
                return progress
        except filelock.Timeout:
            return IndexProgress(note="another prima-tui is updating or rebuilding the index")
        except (OSError, StoreBusy, StoreUnusable, ModelUnavailable, PrimaError) as error:
            return IndexProgress(seconds=time.monotonic() - started, note=f"the index was not rebuilt: {error}")

    def discard(self) -> bool:
        """Give up an interrupted rebuild: remove its unfinished file. False when one is running."""
        try:
            with filelock.FileLock(self._lock, timeout=0, mode=0o600):
                self._remove()
                return True
        except filelock.Timeout:
            return False

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.path.with_name(self.path.name + ".wal").unlink(missing_ok=True)

"""Waiting for a project's documents to change: one call back for each burst of changes, until it is told to stop.

The system's notifications only say that it is time to look; what changed is told from a listing of the documents
(path, size, time), so that swap files, renamed folders, lost notifications and branch switches need no care of their
own. Where notifications can't be had the listing alone is compared now and then.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec

from prima_tui.documents.project import MEMORY_FOLDER
from prima_tui.documents.settings import DocumentSettings, load_document_settings
from prima_tui.documents.walk import LEFT_OUT, DocumentFile, walk
from prima_tui.errors import PrimaError
from prima_tui.model.hits import Cancel

QUIET_SECONDS = 0.2
"""How long nothing must happen before a burst of changes counts as over."""
LONGEST_BURST_SECONDS = 3.0
"""A burst that goes on for longer is looked at in between."""
TICK_SECONDS = 1.0
"""How often it is asked whether the project is still there."""
POLL_SECONDS = 2.0
"""How often documents are compared where notifications can't be had."""
LOOK_AGAIN_SECONDS = 60.0
"""How often they are compared where notifications work: some file systems lose some."""
TRY_AGAIN_SECONDS = 5.0
"""When a refresh that failed is tried again though nothing changed."""
_REST = 10
"""While polling, the pause after a look is at least so many times as long as the look took."""


class Watcher:
    """Calls ``refresh`` when documents changed, and once at the beginning.

    ``user_file`` is the user's configuration, over which the project's own says what a document is. ``refresh`` gets a
    token that is cancelled when watching ends; a PrimaError it raises is reported and it is tried again later.
    ``report`` gets lines for people.
    """

    def __init__(
        self,
        root: Path,
        user_file: Path,
        refresh: Callable[[Cancel], None],
        report: Callable[[str], None],
        cancel: Cancel,
        *,
        polling: bool = False,
    ) -> None:
        self.root = root
        self.polling = polling
        self._user_file = user_file
        self._refresh = refresh
        self._report = report
        self._cancel = cancel
        self._stop = threading.Event()
        cancel.on_cancel(self._stop.set)
        self._known: frozenset[DocumentFile] | None = None
        self._paths: frozenset[str] = frozenset()
        self._documents = GitIgnoreSpec.from_lines(DocumentSettings().include)
        self._in_a_collection: Callable[[str], bool] = DocumentSettings().in_a_collection
        self._next_look = 0.0
        self._failed = ""

    def run(self) -> None:
        """Watch until the token is cancelled. A project that is gone is waited for; it is never made anew."""
        while not self._stop.is_set():
            identity = self._identity()
            if identity is None:
                self._wait_for_project()
                continue
            self._known = None
            if self.polling:
                self._poll(identity)
            else:
                self._follow(identity)

    # -- the two ways of noticing -------------------------------------------------------------------------------

    def _follow(self, identity: tuple[int, int]) -> None:
        """Look when the system says that something changed, until the project's folder is another one or gone."""
        from watchfiles import watch

        try:
            batches = watch(
                self.root,
                watch_filter=None,
                debounce=int(LONGEST_BURST_SECONDS * 1000),
                step=int(QUIET_SECONDS * 1000),
                rust_timeout=int(TICK_SECONDS * 1000),
                yield_on_timeout=True,
                stop_event=self._stop,
                force_polling=False,
                recursive=True,
                ignore_permission_denied=True,
            )
            self._look()
            self._next_look = 0.0  # again once the watch stands
            for changes in batches:
                if self._identity() != identity:
                    return
                told = self._concerns_documents(path for _kind, path in changes)
                if told or time.monotonic() >= self._next_look:
                    self._look()
                    # what was written into a folder in the moment of its making is not always told
                    pause = TICK_SECONDS if told else TRY_AGAIN_SECONDS if self._failed else LOOK_AGAIN_SECONDS
                    self._next_look = time.monotonic() + pause
        except FileNotFoundError:
            self._stop.wait(TICK_SECONDS)
        except OSError as error:
            self.polling = True
            self._report(f"no notifications here ({error}); looking every {POLL_SECONDS:g} s instead")

    def _poll(self, identity: tuple[int, int]) -> None:
        """Look at regular intervals, until the project's folder is another one or gone."""
        while self._identity() == identity:
            started = time.monotonic()
            self._look()
            if self._stop.wait(max(POLL_SECONDS, (time.monotonic() - started) * _REST)):
                return

    # -- looking ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Compare the documents with those of the last time; have them refreshed when they differ."""
        settings = load_document_settings(self.root, self._user_file)
        self._documents = GitIgnoreSpec.from_lines(settings.include)
        self._in_a_collection = settings.in_a_collection
        walked = walk(self.root, settings.include, settings.exclude, self._stop.is_set, settings.in_a_collection)
        found = frozenset(walked.files)
        if self._stop.is_set() or (found == self._known and not self._failed):
            return
        try:
            self._refresh(self._cancel)
        except PrimaError as error:
            if str(error) != self._failed:
                self._report(f"not refreshed: {error}; it is tried again")
            self._failed = str(error)
        else:
            self._failed = ""
        self._known = found
        self._paths = frozenset(file.path for file in found)

    def _concerns_documents(self, paths: Iterable[str]) -> bool:
        """Tell whether one of the changed paths can make the documents differ from what was last seen."""
        root = os.path.realpath(self.root)
        for path in paths:
            inside = _relative(path, root)
            if not inside:
                return True
            parts = inside.split("/")
            if LEFT_OUT.intersection(parts):
                if inside == f"{MEMORY_FOLDER}/config.toml":
                    return True
                continue
            if parts[-1] == ".gitignore" or inside in self._paths or Path(path).is_dir():
                return True
            if any(known.startswith(inside + "/") for known in self._paths):
                return True  # a folder that is gone
            if self._documents.match_file(inside) or self._in_a_collection(inside):
                return True
        return False

    # -- the project itself -------------------------------------------------------------------------------------

    def _identity(self) -> tuple[int, int] | None:
        """Return what tells this folder from another of the same name; None when it is no project any more."""
        try:
            if not (self.root / MEMORY_FOLDER).is_dir():
                return None
            state = self.root.stat()
        except OSError:
            return None
        return state.st_dev, state.st_ino

    def _wait_for_project(self) -> None:
        self._report(f"{self.root} is gone, or holds no {MEMORY_FOLDER} folder any more; waiting for it to come back")
        while self._identity() is None:
            if self._stop.wait(TICK_SECONDS):
                return
        self._report(f"{self.root} is back")


def _relative(path: str, root: str) -> str | None:
    """Return the path relative to the root with ``/``, "" for the root itself, None when it is elsewhere."""
    if path == root:
        return ""
    if not path.startswith(root.rstrip(os.sep) + os.sep):
        return None
    return path[len(root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")

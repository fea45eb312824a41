"""The one service over a project's documents, behind every door: find the root, index, search, ask.

It does nothing until it is asked, and loads the database and the model only when a question needs them. All methods
block; a screen calls them in threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from prima_tui.config import Settings
from prima_tui.documents import project
from prima_tui.model.documents import Asked, DocumentHit, DocumentsAnswer, DocumentsProgress, DocumentsStatus
from prima_tui.model.hits import Cancel, Mode

if TYPE_CHECKING:
    from prima_tui.index.embedder import EmbeddingModel


class Documents:
    """Everything a person or an agent can ask of the documents below one project root."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        env: Mapping[str, str] | None = None,
        model: EmbeddingModel | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        """``root`` holds ``.memory``; ``model`` may be loaded already; ``notice`` is told of files moved aside."""
        self.root = root
        self.settings = settings
        self._env = os.environ if env is None else env
        self._embedder = model
        self._notice = notice or (lambda _line: None)

    @staticmethod
    def find_root(start: Path) -> Path | None:
        """Return the nearest folder, from ``start`` upwards, that holds a ``.memory`` folder, or None."""
        return project.find_root(start)

    @staticmethod
    def init(folder: Path) -> Path:
        """Make ``folder`` a project root by making its ``.memory`` folder; return the root. Raises PrimaError."""
        return project.make_root(folder)

    def index(
        self,
        report: Callable[[DocumentsProgress], None] | None = None,
        cancel: Cancel | None = None,
        budget: float | None = None,
        *,
        rebuild: bool = False,
    ) -> DocumentsProgress:
        """Bring the index up to date with the files, for at most ``budget`` seconds (None: until done).

        ``rebuild``: embed everything anew, as another model asks for. Raises nothing that a user can meet: what
        stopped it is the result's ``note``.
        """
        raise NotImplementedError

    def search(
        self,
        query: str,
        mode: Mode = "combined",
        limit: int | None = 10,
        *,
        cancel: Cancel | None = None,
        now: datetime | None = None,
    ) -> list[DocumentHit]:
        """Return the documents found, best first, each with its best chunk (:meth:`find` has the warnings too)."""
        return list(self.find(query, mode, limit, cancel=cancel, now=now).hits)

    def find(
        self,
        query: str,
        mode: Mode = "combined",
        limit: int | None = 10,
        *,
        cancel: Cancel | None = None,
        now: datetime | None = None,
        every_chunk: bool = False,
    ) -> DocumentsAnswer:
        """Answer a query from the index as it stands, and from files too new to be in it by word.

        Each document stands there once with its best chunk; with ``every_chunk`` the best chunks, whatever document
        they are of. When the semantic half fails, keyword hits come with a warning. Raises Cancelled.
        """
        raise NotImplementedError

    def status(self) -> DocumentsStatus:
        """Return how many documents and chunks there are and which files are stale; every file is looked at."""
        raise NotImplementedError

    def ask(
        self,
        question: str,
        limit: int = 6,
        on_text: Callable[[str], None] | None = None,
        *,
        on_hits: Callable[[tuple[DocumentHit, ...]], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Asked:
        """Return the best chunks for a question and, where a model is configured, an answer written from them.

        ``on_hits`` gets the chunks before the model is asked, ``on_text`` each piece of the answer as it comes.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let the memory of the database go."""

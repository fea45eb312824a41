"""What widgets tell the screen above them. Data goes down through methods and attributes, never sideways."""

from __future__ import annotations

from textual.message import Message

from prima_tui.model.documents import DocumentsProgress
from prima_tui.model.hits import Hit, IndexProgress, Snapshot


class QueryChanged(Message):
    """Another text stands in the search line."""

    def __init__(self, query: str) -> None:
        super().__init__()
        self.query = query


class ModeWanted(Message):
    """The next search mode was asked for."""


class DeepWanted(Message):
    """A search through the extracts too was asked for, or not any more."""


class KindsWanted(Message):
    """Another choice of sessions, documents or both was asked for."""


class ScopeWanted(Message):
    """The next scope was asked for: this workspace, its repository, everywhere."""


class SearchesWanted(Message):
    """Earlier searches were asked for."""


class ClearWanted(Message):
    """What is typed in the search line is to be taken out."""


class CopiesWanted(Message):
    """The older copies of the selected session are to be listed, or folded again."""


class LogWanted(Message):
    """The startup log was asked for."""


class StopWanted(Message):
    """Work in the background is to stop."""


class SessionHighlighted(Message):
    """Another session of the list is the selected one; None when the list is empty."""

    def __init__(self, hit: Hit | None) -> None:
        super().__init__()
        self.hit = hit


class SessionChosen(Message):
    """A session was chosen (a double click): what Enter does is to be done with it."""

    def __init__(self, hit: Hit) -> None:
        super().__init__()
        self.hit = hit


class SnapshotArrived(Message):
    """The catalog is (further) up to date."""

    def __init__(self, snapshot: Snapshot, changed: bool, done: bool) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.changed = changed
        """Whether other sessions are known than before."""
        self.done = done
        """Whether this pass over the files is over."""


class IndexMoved(Message):
    """The update of the semantic index, or its rebuild, is at another point."""

    def __init__(self, progress: IndexProgress, done: bool, rebuild: bool = False) -> None:
        super().__init__()
        self.rebuild = rebuild
        self.progress = progress
        self.done = done


class DocumentsMoved(Message):
    """The update of the documents' index is at another point."""

    def __init__(self, progress: DocumentsProgress) -> None:
        super().__init__()
        self.progress = progress


class WorkFailed(Message):
    """Work in the background failed; searching goes on with what there is."""

    def __init__(self, what: str, error: Exception) -> None:
        super().__init__()
        self.what = what
        self.error = error

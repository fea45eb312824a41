"""What is asked of files: which sessions changed them, and from which edit a line comes.

All methods block; a screen calls them in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prima_tui.model.hits import Cancel
from prima_tui.searching import Searching

if TYPE_CHECKING:
    from prima_tui.search.blame import Blame
    from prima_tui.search.changed_files import SessionChange
    from prima_tui.search.lines import EditFound


class FileHistory(Searching):
    """Answers from the edits that conversations recorded; their files are read for that."""

    def find_edit(self, part: str, line: str, cancel: Cancel | None = None) -> EditFound | None:
        """Return the edit that a line comes from, in a file whose path contains ``part``; None when there is none.

        While the line stands in that file it is the one that :meth:`blame` names for it. Raises Cancelled.
        """
        from prima_tui.search.lines import find_edit

        history = self._open()
        return find_edit(history.library.entries, history.tools, self.scope.workspace, part, line, cancel)

    def line_origin(self, path: str, number: int, line: str) -> EditFound | None:
        """Return the edit that wrote line ``number`` (from 0) of a file, the same that :meth:`blame` names for it."""
        from prima_tui.search.lines import line_origin

        history = self._open()
        return line_origin(history.library.entries, history.tools, path, number, line)

    def edited_file(self, part: str, text: str, cancel: Cancel | None = None) -> str:
        """Return the path of the file, with ``part`` in its path, into which a text was written last; "" for none.

        Raises Cancelled.
        """
        from prima_tui.search.lines import newest_edit

        history = self._open()
        found = newest_edit(history.library.entries, history.tools, part, text, cancel)
        return found.path if found else ""

    def file_changes(self, part: str, cancel: Cancel | None = None) -> list[SessionChange]:
        """Return what each session did to each file whose path contains ``part``, newest first. Raises Cancelled."""
        from prima_tui.search.changed_files import session_changes

        return session_changes(self._open().library.entries, part, cancel)

    def blame(self, path: str, report: Callable[[int, int], None] | None = None, cancel: Cancel | None = None) -> Blame:
        """Return for each line of the file with this absolute path the conversation that wrote it.

        ``report`` is told how many conversations of how many were read. A file that is gone is shown as its edits left
        it. Raises Cancelled.
        """
        from prima_tui.search.blame import blamed_file

        history = self._open()
        return blamed_file(history.library.entries, history.tools, path, report, cancel)

"""The extract of the selected session: what it was, which files it changed and why, how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from prima_tui.tui.document_pane import DocumentPane

_SHORTEST_PART = 6


class ExtractPane(DocumentPane):
    """The extract's markdown, with its table of files in columns. A click on a file asks for its history."""

    OPENS_AT_MATCH = False
    BINDING_GROUP_TITLE = "Extract"
    HELP = """
    ## Extract

    The selected session in short: its facts, the files it changed with the reason for each, its last replies.
    A click on a file shows its history.
    """

    class FileClicked(Message):
        """A file that the session changed was clicked."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    files: Sequence[str] = ()
    """The paths that the session changed, as the extract shows them; set with what is shown."""

    def on_click(self, event: events.Click) -> None:
        """Textual's: a file's name was clicked."""
        line = event.y - self.content_offset.y + self.scroll_offset.y
        text = self._line_at(line)[0].text if 0 <= line < self.line_count else ""
        if found := clicked_file(text, event.x - self.content_offset.x, self.files):
            event.stop()
            self.post_message(self.FileClicked(found))


def clicked_file(line: str, column: int, files: Sequence[str]) -> str:
    """Return the file that stands under a column of a line; "" for none.

    A path may be broken over lines: then the part that stands there says which, if it is part of one path only.
    """
    for path in files:
        place = line.find(path)
        if place >= 0 and place <= column < place + len(path):
            return path
    start, end = column, column
    while start > 0 and line[start - 1 : start].strip():
        start -= 1
    while line[end : end + 1].strip():
        end += 1
    part = line[start:end].strip("`│|")
    fits = [path for path in files if part in path] if len(part) >= _SHORTEST_PART else []
    return fits[0] if len(fits) == 1 else ""

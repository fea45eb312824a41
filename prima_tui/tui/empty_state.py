"""What stands in the list's place when it is empty: what is the matter, and what to do next."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from prima_tui.model.hits import Mode, Snapshot, Status
from prima_tui.model.text import shown
from prima_tui.tui.session_rows import one_line
from prima_tui.tui.status_line import bar_text

_Line = tuple[str, str, str]


def _keys(lines: list[tuple[str, str]]) -> Content:
    parts: list[Content] = []
    for key, text in lines:
        parts.append(Content.assemble((f"{key:>7}", "bold $accent"), f"  {text}"))
    return Content("\n").join(parts)


def reading_text(snapshot: Snapshot) -> Content:
    """The history is being read for the first time."""
    done, total = snapshot.files_done, snapshot.files_total
    return Content.assemble(
        ("Reading your history", "bold"),
        "\n\n",
        (bar_text(done, total, 24), "$accent"),
        f"\n{done:,} of {total:,} files\n\n" if total else "\n\n",
        ("Sessions appear as they are read. Nothing is sent anywhere.", "$foreground 70%"),
    )


def no_history_text(status: Status | None, everywhere: bool, demo: bool) -> Content:
    """No conversation was found; says where was looked."""
    where = "on this computer" if everywhere else "for this workspace"
    parts = [Content.assemble((f"No conversations found {where}", "bold"), "\n")]
    if status is not None:
        if not everywhere:
            parts.append(Content(f"{shown(status.workspace)}\n"))
        found = []
        for source in status.sources:
            state = "not installed" if not source.installed else f"{source.files:,} files, {source.sessions:,} sessions"
            found.append(Content.assemble((f"{source.source:>12}", "bold"), (f"  {state}", "$foreground 70%")))
        parts.append(Content("\n").join(found))
    keys = [] if everywhere else [("Ctrl+G", "look everywhere on this computer")]
    keys += [("F5", "look again"), ("F9", "see what could not be read")]
    if not demo:
        keys.insert(0, ("F8", "open a demo history and try everything"))
    parts += [Content(""), _keys(keys)]
    return Content("\n").join(parts)


def no_hits_text(query: str, mode: Mode, everywhere: bool, filters: bool) -> Content:
    """Nothing fits the query."""
    keys = []
    if mode == "keyword":
        keys.append(("F2", "search by meaning too"))
    if not everywhere:
        keys.append(("Ctrl+G", "search everywhere on this computer"))
    if filters:
        keys.append(("Ctrl+U", "start again without the filters"))
    keys.append(("Esc", "clear the search and see all sessions"))
    line = one_line(query)
    return Content.assemble(
        ("Nothing found", "bold"),
        "\n",
        (line if len(line) <= 60 else line[:59] + "…", "italic $foreground 70%"),
        "\n\nEvery word must occur somewhere in a conversation,\nits title or the files it changed.\n\n",
        _keys(keys),
    )


class EmptyState(Static):
    """Shows one of the texts above, in the middle of the list's place."""

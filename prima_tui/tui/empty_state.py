"""What stands in the list's place when it is empty: what is the matter, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from prima_tui.model.hits import Answer, Mode, Snapshot, SourceStatus, Status
from prima_tui.model.query import parse
from prima_tui.model.reach import Reach
from prima_tui.model.text import count_text, one_line, shown
from prima_tui.tui.status_line import bar_text
from prima_tui.tui.styled_lines import cut

_WHERE: dict[Reach, str] = {
    "workspace": "for this workspace",
    "repository": "for this workspace's repository",
    "everywhere": "on this computer",
}


def _keys(lines: list[tuple[str, str]]) -> Content:
    parts: list[Content] = []
    for key, text in lines:
        parts.append(Content.assemble((f"{key:>8}", "bold $accent"), f"  {text}"))
    return Content("\n").join(parts)


def _further(reach: Reach, verb: str) -> list[tuple[str, str]]:
    """Return the key that goes on to the next scope, and what it does; none where there is no further one."""
    if reach == "everywhere":
        return []
    where = "in this workspace's repository" if reach == "workspace" else "everywhere on this computer"
    return [("Ctrl+G", f"{verb} {where}")]


def reading_text(snapshot: Snapshot) -> Content:
    """The history is being read for the first time."""
    done, total = snapshot.files_done, snapshot.files_total
    return Content.assemble(
        ("Reading your history", "bold"),
        "\n\n",
        (bar_text(done, total, 24), "$accent"),
        f"\n{done:,} of {total:,} files\n\n" if total else "\n\n",
        (
            "Sessions appear as they are read, the newest first, and can be searched at once.\n"
            "The next start is quick: only what is new is read. You can leave at any time.\n"
            "Nothing is sent anywhere, and no file of an agent is changed.",
            "$foreground 70%",
        ),
    )


def _looked_at(sources: Sequence[SourceStatus]) -> list[Content]:
    """A line for each source: what is there of it, and in which folders it was looked for."""
    lines = []
    for source in sources:
        state = (
            "not installed"
            if not source.installed
            else f"{count_text(source.files, 'file')}, {count_text(source.sessions, 'session')}"
        )
        where = shown(short_folder(source.roots[0])) if source.roots else ""
        more = " and others" if len(source.roots) > 1 else ""
        lines.append(
            Content.assemble(
                (f"{source.source:>15}", "bold"),
                (f"  {state}", "$foreground 70%"),
                (f" · {cut(where, 38 - len(more))}{more}" if where else "", "$foreground 50%"),
            )
        )
    return lines


def short_folder(path: str) -> str:
    """Return a folder's path with ``~`` for one's own home."""
    home = os.path.expanduser("~")  # noqa: PTH111  (of text, whatever stands there)
    return "~" + path[len(home) :] if home != "/" and (path + "/").startswith(home + "/") else path


def no_history_text(status: Status | None, reach: Reach, demo: bool, earlier: Sequence[str] = ()) -> Content:
    """No conversation was found; says where was looked, and which folders may be what this workspace was before."""
    where = _WHERE[reach]
    parts = [Content.assemble((f"No conversations found {where}", "bold"), "\n")]
    if status is not None:
        if reach != "everywhere":
            parts.append(Content(f"{shown(status.workspace)}\n"))
        parts.append(Content("\n").join(_looked_at(status.sources)))
    keys = _further(reach, "look")
    keys += [("F5", "look again"), ("F9", "see what could not be read")]
    if earlier:
        keys.insert(0, ("Alt+W", f"take in the sessions of {one_line(earlier[0])}, if that was moved here"))
    if not demo:
        keys.insert(0, ("F8", "open a demo history and try everything"))
    parts += [Content(""), _keys(keys)]
    return Content("\n").join(parts)


def _why_nothing(mode: Mode, unread: int, searching: bool) -> tuple[str, str]:
    """Return a headline and what was looked for; with words only found so far, that more is to come."""
    words = "No conversation has all of these words in it,\nin its title or in the files it changed"
    if searching:
        return "Nothing found by word", f"{words}.\nThe search by meaning goes on."
    if mode == "keyword":
        return "Nothing found", f"{words}."
    alike = "and none is close in meaning." if mode == "combined" else "No conversation is close in meaning."
    if unread:
        verb = "is" if unread == 1 else "are"
        files = count_text(unread, "file")
        alike = f"{files} {verb} not searchable by meaning yet;\nwhat fits appears here as they are read."
    headline = "Nothing found yet" if unread else "Nothing found"
    if mode == "semantic":
        return headline, alike
    return headline, f"{words}.\n{alike}" if unread else f"{words},\n{alike}"


def no_hits_text(answer: Answer, mode: Mode, reach: Reach) -> Content:
    """Nothing fits the query, as far as it is answered: by word alone where the mode is another than the answer's."""
    query = answer.query
    searching = answer.mode != mode
    unread = answer.pending_files if mode != "keyword" else 0
    keys = []
    if mode == "keyword":
        keys.append(("F2", "search by meaning too"))
    if unread and not searching:
        keys.append(("F5", "go on making files searchable, when that has stopped"))
    keys += _further(reach, "search")
    if parse(query).filters:
        keys.append(("Ctrl+U", "start again without the filters"))
    if " in:tools" not in f" {query}":
        keys.append(("in:tools", "typed too: search what tools were given and gave back"))
    keys.append(("Alt+D", "search the extracts too"))
    keys.append(("Alt+V", "look for a file that was changed"))
    keys.append(("Esc", "clear the search and see all sessions"))
    line = one_line(query)
    headline, why = _why_nothing(mode, unread, searching)
    return Content.assemble(
        (headline, "bold"),
        "\n",
        (line if len(line) <= 60 else line[:59] + "…", "italic $foreground 70%"),
        f"\n\n{why}\n\n",
        _keys(keys),
    )


class EmptyState(Static):
    """Shows one of the texts above, in the middle of the list's place."""

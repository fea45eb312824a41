"""One conversation as text for a terminal. Pure: prints nothing."""

from __future__ import annotations

from prima_tui.extracts import local_time
from prima_tui.model.hits import Conversation
from prima_tui.model.session import ToolUse, shown_path
from prima_tui.model.text import one_line, shown
from prima_tui.output import Tools
from prima_tui.output_text import session_text


def show_text(conversation: Conversation, tools: Tools | None = None) -> str:
    """Return what ``show`` prints for people: header, files, conversation; each use of a tool on one line."""
    session = conversation.session
    lines = [session_text(session)]
    if session.workspace:
        lines.append(f"{'':18}{one_line(session.workspace)}")
    files: dict[str, str] = {}
    for change in session.files_changed:
        files[shown_path(change.path, session.workspace)] = change.action
    if files:
        lines += ["", "Files changed:"]
        lines += [f"  {one_line(path)} ({action})" for path, action in files.items()]
    for place, one in enumerate(conversation.exchanges):
        note = "".join(
            text
            for text, holds in (
                (f" · subagent {one.agent}", one.agent),
                (" · taken back", one.rewound),
                (" · after compaction", one.compacted),
            )
            if holds
        )
        lines += ["", shown(f"── {place}  {local_time(one.at)}{note}")]
        if one.user:
            lines += ["", "You:", shown(one.user)]
        if one.assistant:
            lines += ["", "Assistant:", shown(one.assistant)]
        if tools and place < len(tools) and tools[place]:
            lines += ["", *(f"  {tool_line(use)}" for use in tools[place])]
    return "\n".join(lines)


def tool_line(use: ToolUse) -> str:
    """Return one use of a tool folded to one line."""
    size = len(use.gave)
    gave = f"{size:,} characters back" if size else "nothing back"
    return one_line(f"▸ {use.name or 'tool'}  {use.summary} · {'failed · ' if use.failed else ''}{gave}")

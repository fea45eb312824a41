"""A whole conversation as a document of its own: Markdown, or an HTML page; its file name, and writing it.

Nothing is ever overwritten unless that is said.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Literal, get_args

from prima_tui.errors import PrimaError
from prima_tui.export_html import conversation_html
from prima_tui.extracts import extract_markdown, local_time
from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, Session, ToolUse, shown_path
from prima_tui.model.text import one_line, shown
from prima_tui.output import Tools, tool_head

Format = Literal["markdown", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
_SUFFIXES: dict[Format, str] = {"markdown": ".md", "html": ".html"}
_NAME_LENGTH = 60
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


class FileThere(PrimaError):
    """A file of that name exists, and was not to be replaced."""


def exported(conversation: Conversation, form: Format, tools: Tools = ()) -> str:
    """Return the conversation as a document; ``tools`` are uses of tools and thoughts for each exchange, folded."""
    if form == "html":
        return conversation_html(conversation, tools)
    return conversation_markdown(conversation, tools)


def conversation_markdown(conversation: Conversation, tools: Tools = ()) -> str:
    """Return the session as Markdown: its facts and files, then the whole conversation, tools folded in ``details``."""
    parts = [extract_markdown(conversation.session, ()).rstrip(), "## Conversation"]
    for place, one in enumerate(conversation.exchanges):
        marks = [f"subagent {one.agent}"] if one.agent else []
        marks += ["taken back"] if one.rewound else []
        marks += ["after compaction"] if one.compacted else []
        note = f" ({one_line(', '.join(marks))})" if marks else ""
        parts.append(f"### #{place + 1} {local_time(one.at)}".rstrip() + note)
        if one.user:
            parts.append(f"**User:**\n\n{_closed(one.user.strip())}")
        if one.assistant:
            parts.append(f"**Assistant:**\n\n{_closed(one.assistant.strip())}")
        if place < len(tools):
            parts += [_tool_markdown(use, conversation.session) for use in tools[place]]
    return shown("\n\n".join(parts)) + "\n"


def exchange_markdown(exchange: Exchange) -> str:
    """Return one exchange as Markdown, its two voices under headings."""
    voices = (("User", exchange.user), ("Assistant", exchange.assistant))
    return "\n\n".join(f"## {name}\n\n{text.strip()}" for name, text in voices if text) + "\n"


def _closed(text: str) -> str:
    """The text with a code fence that it leaves open closed, so that what follows is no code."""
    opened = ""
    for line in text.split("\n"):
        found = re.match(r"\s{0,3}(`{3,}|~{3,})(.*)", line)
        if not found:
            continue
        if not opened:
            opened = found[1]
        elif found[1].startswith(opened) and not found[2].strip():
            opened = ""
    return f"{text}\n{opened}" if opened else text


def _tool_markdown(use: ToolUse, session: Session) -> str:
    head = html.escape(tool_head(use, session))
    bodies = [_fenced(text) for text in tool_texts(use, session) if text.strip()]
    return "\n\n".join([f"<details><summary>{head}</summary>", *bodies, "</details>"])


def _fenced(text: str) -> str:
    """A text in a fence that nothing in it can close."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def tool_texts(use: ToolUse, session: Session) -> list[str]:
    """Return what was replaced or given, and what came back."""
    texts = []
    for edit in use.edits:
        lines = [f"{edit.action} {shown_path(edit.path, session.workspace)}"]
        lines += [f"-{line}" for line in edit.old.split("\n")] if edit.old else []
        lines += [f"+{line}" for line in edit.new.split("\n")] if edit.new else []
        texts.append("\n".join(lines))
    return [*(texts or [use.given]), use.gave]


# -- files ----------------------------------------------------------------------------------------------------------


def file_name(session: Session, form: Format) -> str:
    """Return a file name made of the session's day (local) and title: ``2026-11-30-fix-the-login-test.md``."""
    day = local_time(session.started_at)[:10]
    words = re.sub(r"[^\w]+", "-", session.title.lower()).strip("-_")[:_NAME_LENGTH].strip("-_")
    return "-".join(part for part in (day, words or "session") if part) + _SUFFIXES[form]


def free_path(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder that isn't there yet: the name itself, else ``NAME-2``, ``NAME-3`` …"""
    path = folder / name
    number = 2
    while path.exists():
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
        number += 1
    return path


def format_of(path: Path) -> Format:
    """Return the format that a file's name asks for."""
    return "html" if path.suffix.lower() in (".html", ".htm") else "markdown"


def write_export(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a document, readable by its owner only. Raises FileThere when it exists, PrimaError when it can't be."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replace else os.O_EXCL)
    try:
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise FileThere(f"{path} exists already") from error
    except OSError as error:
        raise PrimaError(f"{path} can't be written: {error.strerror or error}") from error

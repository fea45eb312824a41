"""Records as Claude Code writes them, and a file of them read: for the tests of its source."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prima_tui.sources.base import ReadResult, ReadTranscript, source_file
from prima_tui.sources.claude_code import ClaudeCode

CWD = "/home/mara/Projekte/café menu"
FOLDER = "-home-mara-Projekte-caf--menu"
SESSION = "0d3f7b8e-9a51-4d0a-b7a0-6b1d0c5e3f33"
Line = dict[str, Any]


class Lines:
    """Makes the records of one conversation, each the child of the one before, a second later."""

    def __init__(self, **fields: Any) -> None:
        self.number = 0
        self.last: str | None = None
        self.fields: Line = {"cwd": CWD, "sessionId": SESSION, "gitBranch": "main", "isSidechain": False} | fields

    def record(self, kind: str, **fields: Any) -> Line:
        """Return a record of any type with the fields of a conversation record."""
        self.number += 1
        line = self.fields | {
            "type": kind,
            "uuid": f"uuid-{self.number}",
            "parentUuid": self.last,
            "timestamp": f"2026-08-03T07:{self.number // 60:02}:{self.number % 60:02}.000Z",
        }
        line |= fields
        self.last = line["uuid"]
        return line

    def user(self, content: Any, **fields: Any) -> Line:
        """Return a user record."""
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def reply(self, *blocks: Any, of: str | None = None, model: str = "claude-x", **fields: Any) -> Line:
        """Return an assistant record; strings among the blocks are text blocks; ``of`` is the message id."""
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        message = {"role": "assistant", "id": of or f"msg-{self.number + 1}", "model": model, "content": content}
        return self.record("assistant", message=message, **fields)

    def result(self, tool_use: str, *, error: bool = False, **fields: Any) -> Line:
        """Return the user record with a tool's result."""
        block = {"type": "tool_result", "tool_use_id": tool_use, "content": "output", "is_error": error}
        return self.user([block], **fields)

    def queued(self, prompt: Any, **fields: Any) -> Line:
        """Return the attachment that a delivered queued message becomes."""
        return self.record("attachment", attachment={"type": "queued_command", "prompt": prompt} | fields)


def tool(name: str, use: str, **tool_input: Any) -> Line:
    """Return a tool_use block."""
    return {"type": "tool_use", "id": use, "name": name, "input": tool_input}


def queue(operation: str, content: Any = None) -> Line:
    """Return a queue operation."""
    line = {"type": "queue-operation", "operation": operation, "timestamp": "2026-08-03T07:00:30.000Z"}
    return line if content is None else line | {"content": content}


def write(folder: Path, lines: Iterable[Line | bytes | str], name: str = f"{SESSION}.jsonl") -> Path:
    """Write a transcript; bytes and strings are lines as they are."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join(
            (line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode())
            + b"\n"
            for line in lines
        )
    )
    return path


def read(path: Path, kind: str = "session") -> ReadResult:
    """Read a file as the source does."""
    file = source_file(str(path), "claude-code", kind, [])
    assert file is not None
    return ClaudeCode().read(file)


def main_of(folder: Path, lines: Iterable[Line | bytes | str]) -> ReadTranscript:
    """Write a session into a project folder below ``folder``, read it and return its main transcript."""
    return read(write(folder / "projects" / FOLDER, lines)).transcripts[0]


def pairs(found: ReadTranscript) -> list[tuple[str, str]]:
    """Return the exchanges as (user, assistant)."""
    return [(each.user, each.assistant) for each in found.exchanges]

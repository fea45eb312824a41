"""The demo's conversations as people write them: a small text format, read into plain data.

A script starts with ``key: value`` lines and a blank line. After that:

- ``>> words`` is what the user typed (following ``>>`` lines belong to the same message);
- ``::name argument`` is something that happened: a tool use (``read``, ``grep``, ``run``, ``edit``, ``write``), a
  thought (``think``), a branch left by going back (``rewind``), a compaction (``compact``), time going by
  (``pause 2h``), words typed while the agent worked (``steer``), a slash command (``command``), a subagent
  (``agent NAME: PROMPT`` up to ``::end``). A ``!`` after the name means that it failed;
- lines right below a tool use: ``| `` its output, ``-| `` the old text, ``+| `` the new text;
- everything else is the agent's reply, in Markdown.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Literal

import msgspec

ToolName = Literal["read", "grep", "run", "edit", "write"]


class Typed(msgspec.Struct, frozen=True):
    """A message of the user; ``steering`` when it was typed while the agent worked."""

    text: str
    steering: bool = False


class Reply(msgspec.Struct, frozen=True):
    """Text of the agent."""

    text: str


class Thought(msgspec.Struct, frozen=True):
    """What the agent thought before its reply."""

    text: str


class ToolUse(msgspec.Struct, frozen=True):
    """One use of a tool: its argument (path, pattern or command), texts before and after, output, whether it failed."""

    tool: ToolName
    argument: str
    old: str = ""
    new: str = ""
    output: str = ""
    failed: bool = False


class Rewind(msgspec.Struct, frozen=True):
    """The user goes back to before the last typed message and says something else."""


class Compaction(msgspec.Struct, frozen=True):
    """The agent replaces its context by a summary."""

    summary: str


class Command(msgspec.Struct, frozen=True):
    """A slash command of the agent's own program."""

    text: str


class Pause(msgspec.Struct, frozen=True):
    """Time goes by without a record."""

    length: timedelta


class Subagent(msgspec.Struct, frozen=True):
    """A helper that the agent starts: its kind, its prompt and its own conversation."""

    name: str
    prompt: str
    steps: tuple[Reply | Thought | ToolUse, ...]


Step = Typed | Reply | Thought | ToolUse | Rewind | Compaction | Command | Pause | Subagent


class Script(msgspec.Struct, frozen=True):
    """One conversation: its name (the file's), its header, its steps in order."""

    name: str
    header: dict[str, str]
    steps: tuple[Step, ...]
    body: str
    """The text below the header as it stands (a shared-log entry is just that)."""

    @property
    def source(self) -> str:
        """The agent it is from: ``claude-code``, ``codex``, ``vscode`` or ``shared-log``."""
        return self.header["source"]

    @property
    def age(self) -> timedelta:
        """How long before now its last record was written: what the header says, and some minutes of its own."""
        return length_of_time(self.header["age"]) + timedelta(minutes=random.Random(self.name).randrange(2, 55))


_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def length_of_time(text: str) -> timedelta:
    """Return the time that a text like ``2d 3h`` or ``45m`` stands for; raises ValueError for anything else."""
    parts = re.findall(r"(\d+)([dhms])", text)
    if not parts or re.sub(r"(\d+)([dhms])|\s", "", text):
        raise ValueError(f"not a length of time: {text!r}")
    return timedelta(**{_UNITS[unit]: int(number) for number, unit in parts})


def read_script(name: str, text: str) -> Script:
    """Read one script; raises ValueError, with the script's name, for a line that means nothing."""
    head, _, body = text.partition("\n\n")
    header = dict(re.split(r":\s*", line, maxsplit=1) for line in head.splitlines())
    steps = () if header.get("source") == "shared-log" else tuple(_steps(name, body.splitlines()))
    return Script(name, header, steps, body)


def _steps(name: str, lines: list[str]) -> Iterator[Step]:
    """Yield the steps that the lines stand for."""
    place = 0
    while place < len(lines):
        line = lines[place]
        if line.startswith(">>"):
            end = _run_of(lines, place, ">>")
            yield Typed("\n".join(part[2:].removeprefix(" ") for part in lines[place:end]))
        elif line.startswith("::agent "):
            end = lines.index("::end", place)
            kind, _, prompt = line.removeprefix("::agent ").partition(": ")
            inner = [
                step for step in _steps(name, lines[place + 1 : end]) if isinstance(step, Reply | Thought | ToolUse)
            ]
            yield Subagent(kind, prompt, tuple(inner))
            end += 1
        elif line.startswith("::"):
            end = place + 1
            while end < len(lines) and re.match(r"[-+]?\|", lines[end]):
                end += 1
            yield _happening(name, line, lines[place + 1 : end])
        else:
            end = place + 1
            while end < len(lines) and not lines[end].startswith((">>", "::")):
                end += 1
            if reply := "\n".join(lines[place:end]).strip():
                yield Reply(reply)
        place = end


def _run_of(lines: list[str], place: int, mark: str) -> int:
    """Return the place after the lines from ``place`` on that begin with the mark."""
    while place < len(lines) and lines[place].startswith(mark):
        place += 1
    return place


def _happening(name: str, line: str, below: list[str]) -> Step:
    """Return what one ``::`` line, with the marked lines below it, stands for."""
    verb, _, argument = line.removeprefix("::").partition(" ")
    failed = verb.endswith("!")
    verb = verb.removesuffix("!")
    output, old, new = (
        "\n".join(part.removeprefix(mark).removeprefix(" ") for part in below if part.startswith(mark))
        for mark in ("|", "-|", "+|")
    )
    match verb:
        case "read" | "grep" | "run" | "edit" | "write":
            tool: ToolName = verb
            return ToolUse(tool, argument, old, new, output, failed)
        case "think":
            return Thought(argument)
        case "steer":
            return Typed(argument, steering=True)
        case "rewind":
            return Rewind()
        case "compact":
            return Compaction(argument)
        case "command":
            return Command(argument)
        case "pause":
            return Pause(length_of_time(argument))
    raise ValueError(f"{name}: what is {line!r}?")

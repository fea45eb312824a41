"""The MCP server's entry in an agent's settings: one member put in or taken out, everything else left byte for byte.

The files belong to people and to the agents, so they are edited as text. The result is read back and compared before
it replaces the file; a file that isn't understood is refused, never repaired.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, Literal

import msgspec

from prima_tui.config import replace_file
from prima_tui.errors import PrimaError

NAME = "prima-tui"
_SERVERS = "mcpServers"
_SPACE = " \t\r\n"
_TOML_ENTRY = re.compile(r"(?:\r?\n)?\[mcp_servers\.prima-tui\][^\S\n]*\r?\n(?:[^\[\n][^\n]*(?:\r?\n|\Z))*")

Outcome = Literal["written", "unchanged", "differs", "removed", "absent"]


class Change(msgspec.Struct, frozen=True):
    """What registering or removing would do to one file."""

    path: Path
    outcome: Outcome
    """``written`` or ``removed``: the text differs from the file's; ``differs``: an entry of that name stands there
    already and says something else."""
    text: str = ""
    """The whole file as it will be."""


def server_command() -> list[str]:
    """Return the words that start the MCP server on this computer: the program's name where the PATH finds it."""
    if shutil.which("prima-tui"):
        return ["prima-tui", "mcp"]
    script = Path(sys.executable).with_name("prima-tui.exe" if sys.platform == "win32" else "prima-tui")
    if script.exists():
        return [str(script), "mcp"]
    return [sys.executable, "-m", "prima_tui", "mcp"]


def project_file(workspace: Path) -> Path:
    """Return the file in which Claude Code looks for the servers of a project."""
    return workspace / ".mcp.json"


def user_file(agent: str, home: Path, env: Mapping[str, str]) -> Path:
    """Return the agent's own settings file that names the user's servers."""
    if agent == "codex":
        return Path(env.get("CODEX_HOME") or home / ".codex") / "config.toml"
    return Path(env.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"


def plan_entry(path: Path, command: Sequence[str], force: bool = False) -> Change:
    """Return the file with the server's entry in it. An entry that says something else stays, unless ``force``.

    Raises PrimaError when the file can't be read or isn't valid.
    """
    text = _read(path)
    if path.suffix == ".toml":
        return _plan_toml(path, text, command, force)
    entry = {"type": "stdio", "command": command[0], "args": list(command[1:])}
    document = _parsed(path, text or "{}")
    servers = document.get(_SERVERS, {})
    if not isinstance(servers, dict):
        raise PrimaError(f'{path} is left as it is: "{_SERVERS}" in it is no object')
    if NAME in servers and servers[NAME] == entry:
        return Change(path, "unchanged", text)
    if NAME in servers and not force:
        return Change(path, "differs", text)
    if not text.strip(_SPACE):
        return Change(path, "written", json.dumps({_SERVERS: {NAME: entry}}, indent=2, ensure_ascii=False) + "\n")
    outer = _members(text, _start(text))
    place = next((member for member in reversed(outer) if member.key == _SERVERS), None)
    if place is None:
        new = _inserted(text, _start(text), outer, _SERVERS, {NAME: entry})
    else:
        inner = _members(text, place.value)
        old = next((member for member in reversed(inner) if member.key == NAME), None)
        if old is not None:
            new = text[: old.value] + _rendered(entry, text, old.start) + text[old.end :]
        else:
            new = _inserted(text, place.value, inner, NAME, entry)
    expected = {**document, _SERVERS: {**servers, NAME: entry}}
    return Change(path, "written", _checked(path, new, expected))


def plan_removal(path: Path, force: bool = False) -> Change:
    """Return the file without the server's entry. An entry that this program never writes stays, unless ``force``.

    Raises PrimaError when the file can't be read or isn't valid.
    """
    text = _read(path)
    if path.suffix == ".toml":
        servers = _parsed_toml(path, text).get("mcp_servers", {})
        if not isinstance(servers, dict) or NAME not in servers:
            return Change(path, "absent", text)
        if not force and not _is_ours(servers[NAME]):
            return Change(path, "differs", text)
        return Change(path, "removed", _checked_toml(path, _TOML_ENTRY.sub("", text, count=1), text, None))
    document = _parsed(path, text or "{}")
    servers = document.get(_SERVERS)
    if not isinstance(servers, dict) or NAME not in servers:
        return Change(path, "absent", text)
    if not force and not _is_ours(servers[NAME]):
        return Change(path, "differs", text)
    place = next(member for member in reversed(_members(text, _start(text))) if member.key == _SERVERS)
    inner = _members(text, place.value)
    which = max(number for number, member in enumerate(inner) if member.key == NAME)
    if which > 0:
        new = text[: inner[which - 1].end] + text[inner[which].end :]
    elif len(inner) > 1:
        new = text[: inner[0].start] + text[inner[1].start :]
    else:
        new = text[: place.value] + "{}" + text[place.end :]
    expected = {**document, _SERVERS: {key: value for key, value in servers.items() if key != NAME}}
    return Change(path, "removed", _checked(path, new, expected))


def _is_ours(entry: object) -> bool:
    """Tell whether an entry is as this program writes it, wherever the program was then."""
    if (
        not isinstance(entry, dict)
        or entry.get("type", "stdio") != "stdio"
        or entry.keys() - {"type", "command", "args"}
    ):
        return False
    command, arguments = entry.get("command"), entry.get("args")
    if not isinstance(command, str):
        return False
    program = PureWindowsPath(command).stem  # which knows both kinds of slashes
    return (program == NAME and arguments == ["mcp"]) or arguments == ["-m", "prima_tui", "mcp"]


def carry_out(change: Change) -> None:
    """Write what was planned. Raises PrimaError when it can't be written."""
    if change.outcome not in ("written", "removed"):
        return
    try:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(change.path, change.text.encode())
    except OSError as error:
        raise PrimaError(f"{change.path} can't be written: {error.strerror or error}") from error


# -- JSON as text ---------------------------------------------------------------------------------------------------


class _Member(msgspec.Struct, frozen=True):
    """Where one member of an object stands: its key's quote, its value, the first character after it."""

    key: str
    start: int
    value: int
    end: int


def _start(text: str) -> int:
    """Return the place of the document's opening brace (a byte order mark may stand before it)."""
    return text.index("{")


def _members(text: str, start: int) -> list[_Member]:
    """Return the members of the object that begins at ``start``, in a text known to be valid JSON."""
    decoder = json.JSONDecoder()
    members = []
    place = _after_space(text, start + 1)
    while text[place] != "}":
        key, after = decoder.raw_decode(text, place)
        value = _after_space(text, _after_space(text, after) + 1)
        _, end = decoder.raw_decode(text, value)
        members.append(_Member(key, place, value, end))
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return members


def _after_space(text: str, place: int) -> int:
    while text[place] in _SPACE:
        place += 1
    return place


def _inserted(text: str, start: int, members: Sequence[_Member], key: str, value: object) -> str:
    """Return the text with one more member at the end of the object that begins at ``start``, laid out as its own."""
    if members:
        head, separator = members[-1].end, ","
        indent = _indent(text, members[-1].start)
    else:
        head, separator = start + 1, ""
        outer = _indent(text, start)
        indent = None if outer is None else outer + _unit(text)
    if indent is None:
        line = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[:head]}{separator}{' ' * bool(separator)}{line}{text[head:]}"
    end = _line_end(text)
    body = json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", end + indent)
    tail = ""
    if not members and "\n" not in text[head : _after_space(text, head)]:
        tail = end + (_indent(text, start) or "")
    return f"{text[:head]}{separator}{end}{indent}{json.dumps(key)}: {body}{tail}{text[head:]}"


def _rendered(value: object, text: str, member: int) -> str:
    indent = _indent(text, member)
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", _line_end(text) + indent)


def _indent(text: str, place: int) -> str | None:
    """Return the white space that begins the line of ``place``; None when more than white space and a key stand
    before it on its line, as in an object written on one line.
    """
    line = text[text.rfind("\n", 0, place) + 1 : place]
    white = line[: len(line) - len(line.lstrip(" \t"))]
    if line == white:
        return white
    return white if re.fullmatch(r'[ \t]*"(?:[^"\\]|\\.)*"[ \t]*:[ \t]*', line) else None


def _unit(text: str) -> str:
    """Return one step of the file's indentation: that of its first indented line, else two spaces."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# -- reading and checking -------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise PrimaError(f"{path} is left as it is: it is not UTF-8") from error
    except OSError as error:
        raise PrimaError(f"{path} can't be read: {error.strerror or error}") from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        document = json.loads(text.removeprefix("\ufeff").strip(_SPACE) or "{}")
    except (ValueError, RecursionError) as error:
        raise PrimaError(f"{path} is left as it is: it is not valid JSON ({error})") from error
    if not isinstance(document, dict):
        raise PrimaError(f"{path} is left as it is: it holds no JSON object")
    return document


def _checked(path: Path, text: str, expected: dict[str, Any]) -> str:
    if _parsed(path, text) != expected:
        raise PrimaError(f"{path} is left as it is: it can't be edited without changing something else in it")
    return text


def _plan_toml(path: Path, text: str, command: Sequence[str], force: bool) -> Change:
    entry = {"command": command[0], "args": list(command[1:])}
    servers = _parsed_toml(path, text).get("mcp_servers", {})
    if not isinstance(servers, dict):
        raise PrimaError(f"{path} is left as it is: mcp_servers in it is no table")
    if servers.get(NAME) == entry:
        return Change(path, "unchanged", text)
    base = text
    if NAME in servers:
        if not force:
            return Change(path, "differs", text)
        base = _TOML_ENTRY.sub("", text, count=1)
    end = _line_end(text)
    gap = "" if not base else end if base.endswith("\n") else end * 2
    arguments = ", ".join(json.dumps(word) for word in command[1:])  # a JSON string is a TOML string too
    lines = (f"[mcp_servers.{NAME}]", f"command = {json.dumps(command[0])}", f"args = [{arguments}]")
    return Change(path, "written", _checked_toml(path, base + gap + "".join(line + end for line in lines), text, entry))


def _parsed_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PrimaError(f"{path} is left as it is: it is not valid TOML ({error})") from error


def _checked_toml(path: Path, new: str, old: str, entry: object) -> str:
    """Return the new text if it says what the old one says, with the entry (None: without it)."""
    expected, found = _parsed_toml(path, old), _parsed_toml(path, new)
    servers = {key: value for key, value in expected.pop("mcp_servers", {}).items() if key != NAME}
    if entry is not None:
        servers[NAME] = entry
    if found.pop("mcp_servers", {}) != servers or found != expected:
        raise PrimaError(f"{path} is left as it is: it can't be edited without changing something else in it")
    return new

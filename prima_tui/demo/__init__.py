"""The bundled demo: a small invented history, expanded into a temporary home in the agents' own file formats.

Nothing of the user's is read or written. The conversations are scripts (see :mod:`prima_tui.demo.script`) in
``assets/demo`` of a source checkout, and in the package's data once installed. Times are counted back from now.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from prima_tui.demo.claude_code import Conversation, project_folder, write_conversation
from prima_tui.demo.codex import Rollout, write_rollout
from prima_tui.demo.pace import Pace, session_id
from prima_tui.demo.script import Script, read_script
from prima_tui.demo.vscode import ChatSession, CopilotTranscript, write_chat, write_transcript

WORKSPACE = "tidewater"
"""Name of the invented project's folder in the temporary home."""
_STORAGE = "5c1f0d7a9e3b4c62a8d4f1b7e0936a2d"
_ROOTS = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "CODEX_SQLITE_HOME",
    "VSCODE_PORTABLE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)


class DemoHistory(NamedTuple):
    """Where the demo stands: its home, its workspace, and the environment that points every program there."""

    home: Path
    workspace: Path
    env: Mapping[str, str]


@contextmanager
def demo_history(now: datetime | None = None) -> Iterator[DemoHistory]:
    """Make the demo's home in the temporary folder, and remove it afterwards with all that came into being in it.

    ``now`` is the time that the sessions' ages are counted back from. Raises FileNotFoundError if the installation
    lacks the scripts, OSError if the temporary folder can't be written.
    """
    root = Path(tempfile.mkdtemp(prefix="prima-tui-demo-")).resolve()
    try:
        yield write_history(root, now or datetime.now(UTC))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def write_history(home: Path, now: datetime) -> DemoHistory:
    """Write the whole demo below the folder ``home``, which must exist, and return where everything is."""
    assets = assets_folder()
    workspace = home / WORKSPACE
    _copy(assets / "workspace", workspace)
    user = _vscode_user(home)
    storage = user / "workspaceStorage" / _STORAGE
    storage.mkdir(parents=True)
    (storage / "workspace.json").write_text(f'{{\n  "folder": "{workspace.as_uri()}"\n}}\n', encoding="utf-8")
    for script in scripts(assets):
        folder = home / script.header.get("workspace", WORKSPACE)
        folder.mkdir(exist_ok=True)
        end = now - script.age
        match script.source:
            case "claude-code":
                _write_claude_code(script, folder, home / ".claude", assets, now)
            case "codex":
                start = _start(end, Rollout(script, folder, end).pace)
                rollout = Rollout(script, folder, start)
                write_rollout(rollout, home / ".codex", script.name, start, script.header.get("title", ""))
            case "vscode" if script.header.get("store") == "chat":
                start = _start(end, ChatSession(script, folder, end).pace)
                write_chat(ChatSession(script, folder, start), storage, script.name)
            case "vscode":
                start = _start(end, CopilotTranscript(script, folder, end).pace)
                write_transcript(CopilotTranscript(script, folder, start), storage, script.name)
            case "shared-log":
                _write_log_entry(script, workspace, end)
            case other:
                raise ValueError(f"{script.name}: no source {other!r}")
    return DemoHistory(home, workspace, _environment(home))


def assets_folder() -> Traversable:
    """Return the folder with the scripts: the package's own data, else the checkout's; raises FileNotFoundError."""
    installed = resources.files("prima_tui") / "data" / "demo"
    checkout = Path(__file__).parents[2] / "assets" / "demo"
    for folder in (installed, checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError("The bundled demo is missing from this installation.")


def scripts(assets: Traversable) -> list[Script]:
    """Read every script, in the order of their names."""
    files = sorted((entry for entry in assets.iterdir() if entry.name.endswith(".txt")), key=lambda entry: entry.name)
    return [read_script(entry.name.removesuffix(".txt"), entry.read_text(encoding="utf-8")) for entry in files]


def _start(end: datetime, trial: Pace) -> datetime:
    """Return when a conversation must start to end at ``end``, after one that was tried from ``end`` on."""
    return end - (trial.now - end)


def _conversation(script: Script, folder: Path, end: datetime) -> Conversation:
    """Return an empty conversation that starts early enough for the script's last record to be at ``end``."""
    trial = Conversation(script, folder, end)
    trial.play(script.steps)
    return Conversation(script, folder, _start(end, trial.pace))


def _write_claude_code(script: Script, folder: Path, root: Path, assets: Traversable, now: datetime) -> None:
    """Write a Claude Code session; one that continues another begins with a copy of that one's records."""
    conversation = _conversation(script, folder, now - script.age)
    if origin := script.header.get("continues"):
        first = read_script(origin, (assets / f"{origin}.txt").read_text(encoding="utf-8"))
        copied = _conversation(first, folder, now - first.age)
        copied.play(first.steps)
        conversation.copy(copied.records)
    conversation.play(script.steps)
    conversation.finish()
    write_conversation(conversation, project_folder(root, folder), session_id(script.name))


def _write_log_entry(script: Script, workspace: Path, end: datetime) -> None:
    """Write one entry of the project's shared log: a Markdown file with a small header."""
    author, project = script.header["author"], script.header["project"]
    folder = workspace / ".claude" / "state" / "sessions" / project
    folder.mkdir(parents=True, exist_ok=True)
    head = f"---\nproject: {project}\nauthor: {author}\ntime: {end.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z\n---\n\n"
    path = folder / f"{end.astimezone(UTC):%Y-%m-%d-%H%M%S}-{author.lower()}.md"
    path.write_text(head + script.body, encoding="utf-8")


def _vscode_user(home: Path) -> Path:
    """Return where VS Code keeps its user's data on this system."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    if sys.platform == "win32":
        return home / "AppData" / "Roaming" / "Code" / "User"
    return home / ".config" / "Code" / "User"


def _environment(home: Path) -> dict[str, str]:
    """Return this process's environment without what would lead a program out of the demo's home."""
    env = {name: value for name, value in os.environ.items() if name not in _ROOTS}
    env |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "XDG_CONFIG_HOME": str(home / ".config")}
    env |= {"XDG_DATA_HOME": str(home / ".local" / "share"), "XDG_STATE_HOME": str(home / ".local" / "state")}
    if sys.platform == "win32":
        env |= {"USERPROFILE": str(home), "APPDATA": str(home / "AppData" / "Roaming")}
        env |= {"LOCALAPPDATA": str(home / "AppData" / "Local")}
    return env


def _copy(source: Traversable, target: Path) -> None:
    """Copy a folder out of the assets."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())

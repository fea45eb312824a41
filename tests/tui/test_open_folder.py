"""Opening a session's folder, forking a session: the keys, and what they say where it can't be done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prima_tui.tui.app import PrimaApp
from prima_tui.tui.open_folder import folder_command, open_folder

from .test_browse_screen import answered, settled

MakeApp = Callable[..., PrimaApp]


def test_each_system_has_its_file_manager_and_none_over_ssh(tmp_path: Path) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text("#!/bin/sh\n")
    opener.chmod(0o755)
    env = {"PATH": str(tmp_path), "DISPLAY": ":0"}
    assert folder_command("/f", {}, "darwin") == ("open", "/f")
    assert folder_command("C:\\f", {}, "win32") == ("explorer", "C:\\f")
    assert folder_command("/f", env, "linux") == (str(opener), "/f")
    assert folder_command("/f", {"PATH": str(tmp_path)}, "linux") is None
    assert folder_command("/f", env | {"SSH_TTY": "/dev/pts/1"}, "darwin") is None


async def test_the_folder_is_opened_or_its_path_copied(memory: Any, make_app: MakeApp, tmp_path: Path) -> None:
    memory.sessions = (msgspec.structs.replace(memory.sessions[0], workspace=str(tmp_path)), *memory.sessions[1:])
    app = make_app(memory)
    started: list[Sequence[str]] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("alt+o")
        await settled(pilot, lambda: app.clipboard == str(tmp_path))
        env = {"DISPLAY": ":0", "PATH": str(tmp_path)}
        (tmp_path / "xdg-open").write_text("#!/bin/sh\n")
        (tmp_path / "xdg-open").chmod(0o755)
        await open_folder(app, memory.sessions[0], env, started.append)
    assert started in ([(str(tmp_path / "xdg-open"), str(tmp_path))], [("open", str(tmp_path))])


async def test_a_key_forks_the_session(memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(PrimaApp, "suspend", lambda _self: contextlib.nullcontext())
    app = make_app(memory, run=lambda command: ran.append(command) or 0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.press("alt+r")
        await settled(pilot, lambda: bool(ran))
    assert ran[0].argv[-1] == "--fork-session"

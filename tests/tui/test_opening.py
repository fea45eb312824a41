"""Opening a file in the user's editor from the screen."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.app import App

from prima_tui.tui.notice_screen import NoticeScreen
from prima_tui.tui.opening import open_in_editor
from tests.tui.test_terminal import run_on_a_terminal


class Opener(App[None]):
    """Opens one file when asked."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path, self.line = path, line
        self.ran: list[Sequence[str]] = []
        self.opened: bool | None = None

    def edit(self, argv: Sequence[str]) -> int:
        self.ran.append(argv)
        return 0

    def start(self) -> None:
        self.run_worker(self._open())

    async def _open(self) -> None:
        self.opened = await open_in_editor(self, self.path, self.line, self.edit)


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "plan.md"
    path.write_text("# Plan\n\nfirst\n")
    return path


async def test_where_the_terminal_cannot_be_handed_over_the_place_is_copied(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", str(program(tmp_path, "vim", "exit 0")))
    app = Opener(document, 3)
    async with app.run_test() as pilot:
        app.start()
        await pilot.app.workers.wait_for_complete()
        assert app.opened is False
        assert app.clipboard == f"{document}:3"
        assert app.ran == []


async def test_an_editor_with_its_own_window_runs_beside_the_screen(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", str(program(tmp_path, "code", f'echo "$@" > "{tmp_path}/got"')))
    app = Opener(document, 3)
    async with app.run_test() as pilot:
        app.start()
        await pilot.app.workers.wait_for_complete()
        assert app.opened is True
    assert (tmp_path / "got").read_text().strip() == f"--goto {document}:3"


async def test_an_editor_that_fails_at_once_is_told(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", str(program(tmp_path, "code", "exit 7")))
    app = Opener(document, 3)
    async with app.run_test(notifications=True) as pilot:
        app.start()
        await pilot.app.workers.wait_for_complete()
        assert any("exit code 7" in one.message for one in app._notifications)


async def test_without_an_editor_it_says_how_and_offers_the_place(
    document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    app = Opener(document, 3)
    async with app.run_test() as pilot:
        app.start()
        until = time.monotonic() + 20
        while not isinstance(app.screen, NoticeScreen) and time.monotonic() < until:
            await pilot.pause(0.01)
        await pilot.press("c")
        await pilot.app.workers.wait_for_complete()
        assert app.opened is False
        assert app.clipboard == f"{document}:3"


async def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    app = Opener(tmp_path / "gone.md", 1)
    async with app.run_test(notifications=True) as pilot:
        app.start()
        await pilot.app.workers.wait_for_complete()
        assert app.opened is False
        assert any("isn't there" in one.message for one in app._notifications)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own")
def test_an_editor_in_the_terminal_gets_it_and_gives_it_back(tmp_path: Path) -> None:
    document = tmp_path / "plan.md"
    document.write_text("first\nsecond\n")
    editor = program(tmp_path, "vim", f'echo "editing $@"; echo "$@" > "{tmp_path}/got"; test -t 0 && test -t 1')
    seen, result = run_on_a_terminal(
        f"""
import os
os.environ["VISUAL"] = {str(editor)!r}
from pathlib import Path
from textual.app import App
from prima_tui.tui.opening import open_in_editor
class Opener(App):
    def on_mount(self):
        self.run_worker(self.open())
    async def open(self):
        opened = await open_in_editor(self, Path({str(document)!r}), 2)
        open("result", "w").write(str(opened))
        self.exit()
Opener().run()
""",
        tmp_path,
    )
    assert (tmp_path / "got").read_text().strip() == f"+2 {document}"
    assert b"editing +2" in seen
    assert result == "True"

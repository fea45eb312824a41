"""The real program in a real terminal (tmux), from the first key to the resumed session and back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.world import World, session_id

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
PACKAGE = Path(__file__).parents[1]
REDIRECT = [("Why does the login redirect loop?", "The cookie was never sent back: SameSite was Strict.")]
PRICES = [("Totals are a cent off", "Prices were floats. They are whole cents now, and rounded once.")]


class Tmux:
    """One tmux server of the test's own, with one session in it."""

    def __init__(self, world: World, folder: Path) -> None:
        self._socket = str(folder / "socket")
        self._cwd = world.workspace
        self.agent_ran = folder / "agent-ran"
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        agent = bin_folder / "claude"
        agent.write_text(
            f'#!/bin/sh\necho "$PWD $*" > {shlex.quote(str(self.agent_ran))}\necho agent is here\nread -r _\n'
        )
        agent.chmod(0o755)
        self.env = {
            **os.environ,
            "HOME": str(world.home),
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(PACKAGE),
            "TERM": "xterm-256color",
        }

    def start(self, line: str, width: int = 120, height: int = 32) -> None:
        """Run a line in the session's shell; ``prima`` in it stands for the program."""
        program = f"{shlex.quote(sys.executable)} -m prima_tui"
        self._run("new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(self._cwd), "sh")
        self.keys(f'prima() {{ {program} "$@"; }}', "Enter", line, "Enter")

    def _run(self, *argv: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", os.devnull, "-S", self._socket, *argv],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Send keys, as tmux names them."""
        self._run("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        """Return what stands on the screen."""
        return self._run("capture-pane", "-p")

    def until(self, holds: Callable[[str], bool], seconds: float = 120) -> str:
        """Wait until the screen is as wanted; return it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if holds(screen := self.screen()):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"not seen within {seconds} s:\n{self.screen()}")

    def kill_what_runs(self) -> None:
        """Kill the shell's children, as the system would when memory runs out."""
        shell = self._run("display-message", "-p", "#{pane_pid}").strip()
        subprocess.run(["pkill", "-9", "-P", shell], check=False)

    def end(self) -> None:
        """End the server and all that runs in it."""
        self._run("kill-server")


@pytest.fixture
def tmux(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tmux]:
    world.claude("redirect", REDIRECT, title="Login redirect")
    world.claude("prices", PRICES, title="Prices as whole cents")
    terminal = Tmux(world, tmp_path_factory.mktemp("tmux"))
    yield terminal
    terminal.end()


def test_type_read_resume_and_come_back(tmux: Tmux, world: World) -> None:
    tmux.start("prima; echo left with $?")
    tmux.until(lambda screen: "Login redirect" in screen and "Prices as whole cents" in screen)
    tmux.keys("-l", "samesite")
    tmux.until(lambda screen: "Login redirect" in screen and "Prices as whole cents" not in screen)
    tmux.until(lambda screen: "The cookie was never sent back" in screen)
    tmux.resize(80, 24)
    tmux.until(lambda screen: "Login redirect" in screen and len(screen.splitlines()) == 24)
    tmux.keys("Enter")
    tmux.until(lambda screen: "agent is here" in screen)
    assert tmux.agent_ran.read_text().strip() == f"{world.workspace} --resume {session_id('redirect')}"
    tmux.keys("Enter")
    tmux.until(lambda screen: "agent is here" not in screen and "samesite" in screen and "Login redirect" in screen)
    tmux.keys("C-q")
    tmux.until(lambda screen: "left with 0" in screen)


def test_the_picker_prints_the_chosen_session_and_nothing_else(tmux: Tmux) -> None:
    tmux.start('x=$(prima --pick); echo "got <$x> $?"')
    tmux.until(lambda screen: "Prices as whole cents" in screen)
    tmux.keys("-l", "floats")
    tmux.until(lambda screen: "Prices as whole cents" in screen and "Login redirect" not in screen)
    tmux.keys("Enter")
    tmux.until(lambda screen: f"got <{session_id('prices')}" in screen and "> 0" in screen)


def test_the_picker_left_without_a_choice_ends_with_130(tmux: Tmux) -> None:
    tmux.start('x=$(prima --pick); echo "got <$x> $?"')
    tmux.until(lambda screen: "Prices as whole cents" in screen)
    tmux.keys("C-c")
    tmux.until(lambda screen: "got <> 130" in screen)


def test_leaving_waits_for_nothing_that_is_being_indexed(tmux: Tmux, tmp_path: Path) -> None:
    began = tmp_path / "began"
    endless = tmp_path / "endless.py"
    endless.write_text(
        "import sys, threading\n"
        "from pathlib import Path\n"
        "from prima_tui.index.embedder import Embedder\n"
        "def embed(self, texts):\n"
        f"    Path({str(began)!r}).touch()\n"
        "    threading.Event().wait()\n"
        "Embedder.embed = embed\n"
        "from prima_tui.__main__ import main\n"
        "main()\n"
    )
    tmux.start(f"{shlex.quote(sys.executable)} {shlex.quote(str(endless))} --pick; echo left with $?")
    tmux.until(lambda screen: "Login redirect" in screen)
    tmux.keys("-l", "cookie")
    tmux.until(lambda _screen: began.exists())
    tmux.keys("C-q")
    tmux.until(lambda screen: "left with 130" in screen)


def test_killed_half_way_it_starts_again_with_everything(tmux: Tmux) -> None:
    tmux.start("prima; reset; echo killed with $?; read x; prima")
    tmux.until(lambda screen: "Login redirect" in screen)
    tmux.keys("-l", "cookie")
    tmux.kill_what_runs()
    tmux.until(lambda screen: "killed with" in screen)
    tmux.keys("Enter")
    tmux.until(lambda screen: "Login redirect" in screen and "Prices as whole cents" in screen)

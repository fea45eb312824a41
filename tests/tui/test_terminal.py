"""The terminal itself: drawing on it while output is a pipe, handing it over, taking it back whatever happens."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from prima_tui.tui.terminal import not_started, start_beside

pty = pytest.importorskip("pty")


def run_on_a_terminal(code: str, tmp_path: Path, keys: bytes = b"", wait_for: bytes = b"") -> tuple[bytes, str]:
    """Run Python code on a terminal of its own; return what the terminal got and what the code wrote to ``result``."""
    script = tmp_path / "script.py"
    script.write_text(code, encoding="utf-8")
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ["TERM"] = "xterm-256color"
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
        os.execv(sys.executable, [sys.executable, str(script)])
    seen = b""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            data = os.read(master, 65_536)
        except OSError:
            break
        if not data:
            break
        seen += data
        if keys and wait_for in seen:
            time.sleep(0.3)
            os.write(master, keys)
            keys = b""
    os.waitpid(pid, 0)
    os.close(master)
    result = tmp_path / "result"
    return seen, result.read_text(encoding="utf-8") if result.exists() else ""


@pytest.mark.parametrize(("code", "watched", "expected"), [(7, 20.0, 7), (0, 20.0, 0), (7, 0.0, 0)])
def test_a_program_beside_us_tells_how_it_ended_only_while_it_is_watched(
    code: int, watched: float, expected: int
) -> None:
    assert start_beside([sys.executable, "-c", f"import sys; sys.exit({code})"], watched) == expected


def test_a_program_that_is_not_there_is_named_with_the_reason() -> None:
    with pytest.raises(OSError) as raised:
        start_beside(["/no/such/program"])
    assert not_started("program", raised.value) == "program could not be started: No such file or directory"


def test_the_screen_is_drawn_on_the_terminal_and_the_answer_goes_down_the_pipe(tmp_path: Path) -> None:
    seen, result = run_on_a_terminal(
        """
import os, sys
from prima_tui.tui.terminal import screen_on_terminal
reader, writer = os.pipe()
os.dup2(writer, 1)
os.dup2(os.open(os.devnull, os.O_RDWR), 0)
with screen_on_terminal():
    assert os.isatty(0) and os.isatty(1) and os.isatty(2)
    print("drawn on the screen", flush=True)
print("the answer", flush=True)
assert not os.isatty(0)
os.dup2(2, 1); os.close(writer)
open("result", "w").write(os.read(reader, 1000).decode())
""",
        tmp_path,
    )
    assert b"drawn on the screen" in seen
    assert result == "the answer\n"


def test_a_program_that_leaves_the_terminal_in_a_mess_does_no_harm(tmp_path: Path) -> None:
    seen, result = run_on_a_terminal(
        """
import os, sys, termios
from prima_tui.tui.terminal import run_in_terminal
before = termios.tcgetattr(0)
mess = "import tty,sys; tty.setraw(0); sys.stdout.write(chr(27)+'[?1049h'+chr(27)+'[?25l'); sys.exit(7)"
code = run_in_terminal([sys.executable, "-c", mess], None, {})
open("result", "w").write(f"{code} {termios.tcgetattr(0) == before}")
""",
        tmp_path,
    )
    assert result == "7 True"
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")


def test_ctrl_c_reaches_the_program_that_runs_and_not_us(tmp_path: Path) -> None:
    _seen, result = run_on_a_terminal(
        """
import sys
from prima_tui.tui.terminal import run_in_terminal
child = '''
import time
try:
    print("ready", flush=True)
    time.sleep(20)
except KeyboardInterrupt:
    raise SystemExit(5)
'''
code = run_in_terminal([sys.executable, "-c", child], None, {})
open("result", "w").write(str(code))
""",
        tmp_path,
        keys=b"\x03",
        wait_for=b"ready",
    )
    assert result == "5"


def test_a_program_runs_in_the_folder_and_with_the_variables_asked_for(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    _seen, result = run_on_a_terminal(
        """
import os, sys
from prima_tui.tui.terminal import run_in_terminal
child = "import os; open('../result', 'w').write(os.path.basename(os.getcwd()) + os.environ['NEW'])"
run_in_terminal([sys.executable, "-c", child], os.path.abspath("inside"), {"NEW": "!"})
""",
        tmp_path,
    )
    assert result == "inside!"


def test_without_a_terminal_the_user_is_told(tmp_path: Path) -> None:
    import subprocess

    code = """
import os
from prima_tui.errors import PrimaError
from prima_tui.tui.terminal import screen_on_terminal
os.setsid()
try:
    with screen_on_terminal():
        print("never")
except PrimaError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert found.stdout.startswith("There is no terminal to draw on")


# A shell in little: the program in a process group of its own in the foreground, stopped, and taken up again.
SHELL = """
import os, signal, subprocess, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
program = subprocess.Popen([sys.executable, "program.py"], process_group=0)
os.tcsetpgrp(0, program.pid)
_, status = os.waitpid(program.pid, os.WUNTRACED)
stopped = os.WIFSTOPPED(status)
cooked = bool(termios.tcgetattr(0)[3] & termios.ICANON)
os.write(1, b"back in the shell")
os.tcsetpgrp(0, program.pid)
os.kill(program.pid, signal.SIGCONT)
_, status = os.waitpid(program.pid, 0)
open("result", "w").write(f"{stopped} {cooked} {os.WIFEXITED(status)}")
"""
PROGRAM = """
from tests.tui.conftest import FakeMemory
from prima_tui.tui.app import PrimaApp
PrimaApp(FakeMemory()).run()
"""
CONTROL = {"ctrl+z": b"\x1a", "ctrl+q": b"\x11", "nothing": b""}


def test_the_key_to_the_shell_gives_the_terminal_back_and_the_screen_comes_again(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    script = tmp_path / "shell.py"
    script.write_text(SHELL, encoding="utf-8")
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(Path(__file__).parents[2])}
        os.execv(sys.executable, [sys.executable, str(script)])
    # the count and a row: all of the screen is there again, not only what changed meanwhile
    whole = re.compile(rb"39 sessions.*Last seven days", re.DOTALL)
    steps = [(whole, "ctrl+z"), (re.compile(b"back in the shell"), "nothing"), (whole, "ctrl+q")]
    seen, mark, until = b"", 0, time.monotonic() + 60
    while time.monotonic() < until:
        if not select.select([master], [], [], 0.5)[0]:
            continue
        try:
            seen += os.read(master, 65_536)
        except OSError:
            break
        if steps and steps[0][0].search(seen, mark):
            mark = len(seen)
            time.sleep(0.5)
            os.write(master, CONTROL[steps.pop(0)[1]])
    if steps:
        os.killpg(os.tcgetpgrp(master), signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(master)
    assert (tmp_path / "result").read_text(encoding="utf-8") == "True True True"
    assert b"\x1b[?1049l" in seen[: seen.index(b"back in the shell")]

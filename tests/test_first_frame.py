"""The first thing a start draws: the frame, before anything is loaded; and the terminal given back whatever happens."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from prima_tui import first_frame
from prima_tui.cli import program
from prima_tui.config import EXPECTED_HOST, default_paths
from tests.test_whole_run import PACKAGE, Tmux
from tests.world import World

pty = pytest.importorskip("pty")
PICTURE = b"\x1b[1;1Hthe frame\xe2\x80\xa6"
SLEEPS = "import time; print('loading', flush=True); time.sleep(30)"


class Ended(NamedTuple):
    """How a start ended."""

    seen: bytes
    status: int
    modes_kept: bool


class Start:
    """A program started on a terminal of its own, with words as keys before and after it draws."""

    def __init__(self, folder: Path, argv: list[str], env: Mapping[str, str], typed: bytes = b"") -> None:
        self._modes = folder / "modes"
        # the shell in little: it looks at the terminal's modes before and after
        shell = folder / "shell.py"
        shell.write_text(
            "import os, subprocess, sys, termios\n"
            "before = termios.tcgetattr(0)\n"
            "child = subprocess.Popen(sys.argv[2:], process_group=0)\n"
            "import signal; signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
            "os.tcsetpgrp(0, child.pid)\n"
            "open(sys.argv[1] + '.pid', 'w').write(str(child.pid))\n"
            "code = child.wait()\n"
            "open(sys.argv[1], 'w').write(f'{code} {termios.tcgetattr(0) == before}')\n"
        )
        self._pid, self._master = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            for number in (signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)  # as in a terminal, also where the tests ignore it
            os.execve(sys.executable, [sys.executable, str(shell), str(self._modes), *argv], dict(env))
        if typed:
            os.write(self._master, typed)
        self.seen = b""

    def until(self, condition: Callable[[bytes], bool], seconds: float = 40) -> bytes:
        """Read until what was written is as wanted; return it."""
        deadline = time.monotonic() + seconds
        while not condition(self.seen):
            assert time.monotonic() < deadline, self.seen[-3000:]
            if not select.select([self._master], [], [], 0.5)[0]:
                continue
            try:
                self.seen += os.read(self._master, 65_536)
            except OSError as error:
                raise AssertionError(f"it ended: {self.seen[-3000:]!r}") from error
        return self.seen

    def type(self, keys: bytes) -> None:
        """Send keys."""
        os.write(self._master, keys)

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        os.kill(int(self._modes.with_suffix(".pid").read_text()), number)

    def end(self) -> Ended:
        """Wait until it ended."""
        while True:
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                break
            self.seen += data
        os.waitpid(self._pid, 0)
        os.close(self._master)
        status, kept = self._modes.read_text().split()
        return Ended(self.seen, int(status), kept == "True")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with a terminal of its own kind and a home of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "LC_", "LINES", "COLUMNS"))}
    home = tmp_path / "home"
    home.mkdir()
    return {**kept, "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(PACKAGE)}


def keep_frame(
    env: Mapping[str, str],
    look: tuple[object, ...] = ("workspace", "combined", False),
    size: tuple[int, int] = (80, 24),
) -> None:
    """Have a frame, for the size that a new terminal has here."""
    folder = Path(first_frame.cache_folder(env)) / "frames"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / first_frame.frame_name(size, look, env)
    path.write_bytes(first_frame.packed(PICTURE, b"\x1b[2;5H\x1b[1m", 20))


def sized(code: str) -> str:
    """Code after which the terminal has 80 columns and 24 rows."""
    return (
        f"import fcntl, struct, termios; fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0)); {code}"
    )


def main_with(cli: str, *words: str) -> list[str]:
    """The program with another command line in its place: what stands for loading it."""
    return [
        sys.executable,
        "-c",
        sized(
            f"import sys, types; sys.argv[1:] = {list(words)!r}\n"
            "from prima_tui import __main__ as start\n"
            "cli = types.ModuleType('prima_tui.cli')\n"
            f"def main():\n    exec({cli!r})\n"
            "cli.main = main; sys.modules['prima_tui.cli'] = cli\n"
            "start.main()"
        ),
    ]


def test_the_names_of_commands_are_those_of_the_command_line() -> None:
    assert set(program.commands) == first_frame.COMMANDS


def test_the_screens_options_are_all_known() -> None:
    for option in program.commands["browse"].params:
        for word in (word for word in option.opts if word.startswith("-")):
            assert first_frame.call_of([word, "value"]) is not None, word


def test_a_frame_is_looked_for_where_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("/elsewhere", "", None):
        if value is None:
            monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert first_frame.cache_folder(os.environ) == str(default_paths().cache)
    assert first_frame.HOSTS == ("", EXPECTED_HOST)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ("", "workspace", "combined", False, True)),
        ("login bug", ("login bug", "workspace", "combined", False, True)),
        ("-w /somewhere --all search", None),
        ("--pick --mode keyword --repository x", ("x", "repository", "keyword", True, True)),
        ("x search", ("x search", "workspace", "combined", False, True)),
        ("-- --odd", ("--odd", "workspace", "combined", False, True)),
        ("--open abc#3", ("", "workspace", "combined", False, False)),
        ("--demo", ("", "workspace", "combined", False, False)),
        ("sessions --json", None),
        ("--help", None),
        ("word --help", None),
        ("-h", None),
        ("--version", None),
        ("--no-such-option", None),
    ],
)
def test_what_a_call_asks_of_the_screen(words: str, expected: tuple[object, ...] | None) -> None:
    call = first_frame.call_of(words.split())
    found = None if call is None else (call.query, call.reach, call.mode, call.pick, call.kept)
    assert found == expected


def test_a_damaged_frame_is_none() -> None:
    whole = first_frame.packed(PICTURE, b"\x1b[2;5H", 20)
    assert first_frame.unpacked(whole) == (PICTURE, b"\x1b[2;5H", 20)
    for damaged in (b"", whole[:-1], whole.replace(b"frame\xe2", b"fRame\xe2"), b"\x1b[2J" + whole, b"a\nb\0c"):
        assert first_frame.unpacked(damaged) is None


def test_nothing_that_takes_time_is_loaded_for_it() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from prima_tui import __main__; import termios, signal\n"
        "slow = {'typing', 'pathlib', 're', 'json', 'click', 'textual', 'prima_tui.cli', 'prima_tui.config'}\n"
        "sys.exit(','.join(sorted(slow & (set(sys.modules) - before))) or 0)"
    )
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr


def test_the_frame_stands_before_anything_is_loaded_and_an_error_is_seen_after_it(
    tmp_path: Path, env: dict[str, str]
) -> None:
    keep_frame(env)
    started = Start(tmp_path, main_with("raise ImportError('no such part')"), env)
    seen, status, kept = started.end()
    assert status == 1 and kept
    enter, frame, leave, said = map(seen.index, (b"\x1b[?1049h", PICTURE, b"\x1b[?1049l", b"no such part"))
    assert enter < frame < leave < said
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")


def test_without_a_frame_the_prompt_is_there_and_what_was_asked(tmp_path: Path, env: dict[str, str]) -> None:
    seen, _, kept = Start(tmp_path, main_with("pass", "login", "loop"), env).end()
    assert kept
    assert "❯".encode() in seen and b"login loop" in seen and "Opening…".encode() in seen
    seen, _, _ = Start(tmp_path, main_with("pass"), {**env, "LANG": "C", "LC_ALL": "C"}).end()
    assert b"\x1b[1m>\x1b[0m " in seen and b"Opening..." in seen


def test_the_query_stands_in_the_frame(tmp_path: Path, env: dict[str, str]) -> None:
    keep_frame(env)
    seen, _, _ = Start(tmp_path, main_with("pass", "login loop that is much longer"), env).end()
    assert b"\x1b[2;5H\x1b[1mlogin loop that is  \x1b[0m" in seen
    seen, _, _ = Start(tmp_path, main_with("pass", "\x1b]0;owned\x07"), env).end()
    assert b"owned" not in seen


def test_an_interrupt_ends_with_130_and_the_terminal_as_it_was(tmp_path: Path, env: dict[str, str]) -> None:
    started = Start(tmp_path, main_with(SLEEPS), env)
    started.until(lambda seen: b"loading" in seen)
    started.type(b"\x03")
    seen, status, kept = started.end()
    assert (status, kept) == (130, True)
    assert seen.endswith(b"\x1b[?1049l\x1b[?25h")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_gives_the_terminal_back(tmp_path: Path, env: dict[str, str], number: int) -> None:
    started = Start(tmp_path, main_with(SLEEPS), env)
    started.until(lambda seen: b"loading" in seen)
    started.signal(number)
    seen, status, kept = started.end()
    assert (status, kept) == (-number, True)
    assert seen.endswith(b"\x1b[?1049l\x1b[?25h")


def test_keys_typed_meanwhile_are_not_echoed(tmp_path: Path, env: dict[str, str]) -> None:
    reads = "print('loading', flush=True); import os; got = os.read(0, 20); print(got, flush=True)"
    started = Start(tmp_path, main_with(reads), env)
    started.until(lambda seen: b"loading" in seen)
    started.type(b"word\r")
    seen, _, kept = started.end()
    assert kept
    assert b"b'word\\r'" in seen and seen.count(b"word") == 1


def test_the_frame_is_drawn_anew_in_another_size(tmp_path: Path, env: dict[str, str]) -> None:
    resized = (
        "import fcntl, os, signal, struct, termios, time\n"
        "fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 100, 0, 0)); time.sleep(0.5)"
    )
    keep_frame(env)
    seen, _, kept = Start(tmp_path, main_with(resized), env).end()
    assert kept
    assert seen.count(PICTURE) == 1 and b"Opening" not in seen
    keep_frame(env, size=(100, 30))
    seen, _, kept = Start(tmp_path, main_with(resized), env).end()
    assert kept
    assert seen.count(PICTURE) == 2


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["sessions"], {}),
        (["--help"], {}),
        ([], {"TERM": "dumb"}),
        ([], {"TEXTUAL_DRIVER": "a:B"}),
        ([], {"PRIMA_EXPECTED_HOST": "other"}),
    ],
)
def test_where_no_screen_opens_nothing_is_drawn(
    tmp_path: Path, env: dict[str, str], words: list[str], changed: dict[str, str]
) -> None:
    seen, status, kept = Start(tmp_path, main_with("print('done')", *words), {**env, **changed}).end()
    assert (status, kept, seen.strip()) == (0, True, b"done")


def test_into_a_pipe_only_a_picker_draws_and_on_the_terminal(tmp_path: Path, env: dict[str, str]) -> None:
    keep_frame(env, ("workspace", "combined", True))
    for words, drawn in (((), False), (("--pick",), True)):
        code = main_with("print('chosen')", *words)
        shell = f"import subprocess, sys; sys.stdout.write(repr(subprocess.check_output({code!r})))"
        seen, _, kept = Start(tmp_path, [sys.executable, "-c", shell], env).end()
        assert kept
        assert (PICTURE in seen) is drawn
        assert b"b'chosen\\n'" in seen


def test_a_wrong_call_says_so_on_the_terminal_that_was(tmp_path: Path, env: dict[str, str]) -> None:
    argv = [sys.executable, "-m", "prima_tui", "--workspace", "/no/such/folder"]
    seen, status, kept = Start(tmp_path, argv, env).end()
    assert (status, kept) == (2, True)
    assert seen.index(b"\x1b[?1049l") < seen.index(b"is no folder")


def test_what_is_typed_at_once_stands_in_the_search_line_and_the_terminal_is_entered_once(
    tmp_path: Path, env: dict[str, str], world: World
) -> None:
    world.claude("one", [("Why does the login loop?", "The cookie.")], title="Login loop")
    env = {**env, "HOME": str(world.home)}
    argv = [sys.executable, "-m", "prima_tui", "--workspace", str(world.workspace)]
    started = Start(tmp_path, argv, env, typed=b"zyx")
    started.until(lambda seen: b"zyx" in seen.partition(b"\x1b[?2004h")[2])
    started.type(b"\x11")
    seen, status, kept = started.end()
    assert (status, kept) == (0, True)
    assert seen.count(b"\x1b[?1049h") == 1


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
def test_from_the_frame_to_the_screen_nothing_is_ever_blank(
    tmp_path: Path, world: World, size: tuple[int, int]
) -> None:
    world.claude("one", [("Why does the login loop?", "The cookie.")], title="Login loop")
    terminal = Tmux(world, tmp_path)
    try:
        frames = Path(first_frame.cache_folder(terminal.env)) / "frames"
        terminal.start("prima", *size)
        terminal.until(lambda screen: "Login loop" in screen and any(frames.glob("*")))
        # once with a frame kept, once resized while it starts
        for resized in (False, True):
            terminal.keys("C-q")
            terminal.until(lambda screen: "Login loop" not in screen)
            terminal.keys("clear; prima", "Enter")
            terminal.until(lambda screen: "❯" in screen)
            if resized:
                terminal.resize(size[0] + 20, size[1] + 5)
            seen = [terminal.screen()]
            while "Login loop" not in seen[-1] and len(seen) < 2000:
                seen.append(terminal.screen())
            assert "Login loop" in seen[-1]
            assert all("❯" in screen for screen in seen), seen
            assert "╰" in seen[0] and "Login loop" not in seen[0] and "Opening" not in seen[0]
    finally:
        terminal.end()

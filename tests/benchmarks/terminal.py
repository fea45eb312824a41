"""A program in a real pseudo-terminal, and what stands on its screen (needs the package ``pyte``)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte


class Terminal:
    """Runs a program in a terminal of the given size; times are seconds of ``time.perf_counter``."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], columns: int = 160, rows: int = 45):
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.started = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], list(argv), {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"})
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> float:
        """Send keys; return when."""
        os.write(self._master, text.encode())
        return time.perf_counter()

    def lines(self) -> list[str]:
        """Return the screen's lines as they are."""
        return list(self._screen.display)

    def until(self, holds: Callable[[list[str]], bool], timeout: float = 60.0) -> float:
        """Read until the screen satisfies ``holds``; return when its last bytes came. Raises TimeoutError."""
        deadline = time.perf_counter() + timeout
        while time.perf_counter() < deadline:
            ready, _, _ = select.select([self._master], [], [], 0.5)
            if not ready:
                continue
            try:
                data = os.read(self._master, 1 << 16)
            except OSError as error:
                raise TimeoutError("the program ended:\n" + "\n".join(self.lines())) from error
            came = time.perf_counter()
            self._stream.feed(data)
            if holds(self.lines()):
                return came
        raise TimeoutError("not seen:\n" + "\n".join(self.lines()))

    def settle(self, quiet: float = 0.3, timeout: float = 30.0) -> None:
        """Read until nothing comes for ``quiet`` seconds."""
        deadline = time.perf_counter() + timeout
        while time.perf_counter() < deadline:
            ready, _, _ = select.select([self._master], [], [], quiet)
            if not ready:
                return
            with contextlib.suppress(OSError):
                self._stream.feed(os.read(self._master, 1 << 16))

    def resident_mb(self) -> float:
        """Return the program's resident memory in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1000

    def close(self) -> None:
        """End the program."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        os.close(self._master)

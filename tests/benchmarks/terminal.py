"""A program in a real pseudo-terminal, and the text that it writes there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_CODES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[@-Z\\-_=>])", re.DOTALL
)
_QUERIES = ((b"\x1b[?2026$p", b"\x1b[?2026;2$y"), (b"\x1b[?2048$p", b"\x1b[?2048;0$y"))
"""What a program asks of a terminal, and what one answers."""


_LOOKED_AT = 1 << 18
"""Bytes: more of what was written is not looked through again and again while something takes minutes."""


class Terminal:
    """Runs a program in a terminal of the given size; times are seconds of ``time.perf_counter``.

    What is written is looked at with its control codes taken out. There is no emulator between, since one written in
    Python would take longer than what is measured.
    """

    def __init__(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], columns: int = 160, rows: int = 45
    ) -> None:
        self._since = b""
        self.started = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.chdir(cwd)
            os.execvpe(argv[0], list(argv), {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"})

    def type(self, text: str) -> float:
        """Send keys and forget what was written before; return when."""
        self._since = b""
        os.write(self._master, text.encode())
        return time.perf_counter()

    def text(self) -> str:
        """Return what was written since the last key."""
        return _CODES.sub(b"", self._since).decode("utf-8", "replace")

    def until(self, pattern: str, timeout: float = 60.0) -> tuple[float, re.Match[str]]:
        """Read until what was written since the last key matches; return (when its last bytes came, the match).

        Raises TimeoutError.
        """
        deadline = time.perf_counter() + timeout
        wanted = re.compile(pattern)
        came = time.perf_counter()
        while (match := wanted.search(self.text())) is None:
            if time.perf_counter() > deadline or not self._read(0.5):
                if time.perf_counter() > deadline:
                    raise TimeoutError(f"{pattern} not seen in:\n{self.text()[-4000:]}")
                continue
            came = time.perf_counter()
        return came, match

    def settle(self, quiet: float = 0.3, timeout: float = 30.0) -> None:
        """Read until nothing comes for ``quiet`` seconds."""
        deadline = time.perf_counter() + timeout
        while time.perf_counter() < deadline and self._read(quiet):
            pass

    def read_until(self, when: float) -> None:
        """Read what comes until a time."""
        while (left := when - time.perf_counter()) > 0:
            self._read(left)

    def _read(self, wait: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], wait)
        if not ready:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError as error:
            raise TimeoutError(f"the program ended:\n{self.text()[-2000:]}") from error
        for query, answer in _QUERIES:
            if query in data:
                os.write(self._master, answer)
        self._since = (self._since + data)[-_LOOKED_AT:]
        return True

    def resident_mb(self, *, most: bool = False) -> float:
        """Return the program's resident memory in MB: now, or the most that it ever was."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmHWM:" if most else "VmRSS:")[1].split()[0]) / 1000

    def ended(self, timeout: float = 10.0) -> None:
        """Read until the program has ended by itself, or the time is up."""
        deadline = time.perf_counter() + timeout
        with contextlib.suppress(TimeoutError):
            while time.perf_counter() < deadline:
                self._read(0.5)

    def close(self) -> None:
        """End the program."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        os.close(self._master)

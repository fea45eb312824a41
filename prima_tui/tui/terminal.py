"""The terminal itself: drawing on it when standard output is a pipe, giving it to a program and taking it back.

And programs beside it, and what is said of one that did not run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence

from prima_tui.errors import PrimaError

# Out of the alternate screen, cursor shown, no mouse reports, no bracketed paste, no focus reports, keyboard protocol
# popped, whole scroll region, plain colours: what a program that died may have left behind.
_RESTORE = "\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[?1049l\x1b[r\x1b[?25h\x1b[0m"


@contextlib.contextmanager
def screen_on_terminal() -> Iterator[None]:
    """Make the program draw on the terminal while standard output (or another stream) goes elsewhere.

    For ``x=$(prima-tui --pick)``: the terminal takes the place of standard input, output and error for the time of
    the ``with`` block, and everything is as before after it; so what is printed then goes where the caller wants it.
    Nothing happens when all three are the terminal already, or when the program draws for a browser. Raises PrimaError
    when there is no terminal.
    """
    if os.environ.get("TEXTUAL_DRIVER"):
        yield
        return
    if os.name != "posix" or all(os.isatty(number) for number in (0, 1, 2) if _is_open(number)):
        yield
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        raise PrimaError(f"There is no terminal to draw on ({error.strerror}).") from error
    _flush()
    saved = {number: os.dup(number) if _is_open(number) else None for number in (0, 1, 2)}
    try:
        for number in saved:
            os.dup2(terminal, number)
        yield
    finally:
        _flush()
        for number, copy in saved.items():
            if copy is None:
                os.close(number)
            else:
                os.dup2(copy, number)
                os.close(copy)
        os.close(terminal)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]


def copy_by_tmux(text: str) -> None:
    """Put text into tmux's buffer and, where tmux may, on the clipboard of the terminal that it runs in."""
    for options in (["-w"], []):  # -w since version 3.2
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(
                ["tmux", "load-buffer", *options, "-"], input=text.encode(), capture_output=True, timeout=3, check=False
            )
            if done.returncode == 0:
                return


def run_in_terminal(argv: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> int:
    """Run a program in the foreground with the whole terminal; return its exit code.

    Ctrl+C and Ctrl+Z act on that program, not on us. Whatever it leaves behind, the terminal's modes are afterwards
    as they were. Raises OSError when it can't be started.
    """
    attributes = _terminal_attributes()
    # A handler of our own, not SIG_IGN: a handler is reset in the child, being ignored would be inherited.
    interrupt = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(list(argv), cwd=cwd, env={**os.environ, **env}, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, interrupt)
        _take_back(attributes)


def start_beside(argv: Sequence[str], watched: float = 0.0) -> int:
    """Start a program that has a window of its own, or needs no terminal.

    Returns its exit code when it ends within ``watched`` seconds, else 0. Raises OSError when it can't be started.
    """
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(watched)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, name=f"waits for {argv[0]}", daemon=True).start()
        return 0


def not_started(program: str, error: OSError) -> str:
    """Return what is said of a program that could not be started."""
    return f"{program} could not be started: {error.strerror or error}"


def ended_badly(program: str, code: int) -> str:
    """Return what is said of a program that ended with an exit code other than 0."""
    return f"{program} ended with exit code {code}."


def _terminal_attributes() -> list[object] | None:
    try:
        import termios

        return termios.tcgetattr(0)
    except (ImportError, OSError, ValueError):
        return None
    except Exception as error:  # termios.error is no OSError
        if type(error).__name__ == "error":
            return None
        raise


def _take_back(attributes: list[object] | None) -> None:
    """Make our process group the terminal's foreground one again and restore the terminal's modes."""
    if attributes is None:
        return
    import termios

    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(0, os.getpgrp())
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSADRAIN, attributes)  # type: ignore[arg-type]
        stream = sys.__stderr__
        if stream is not None and stream.isatty():
            stream.write(_RESTORE)
            stream.flush()
    finally:
        signal.signal(signal.SIGTTOU, before)

"""The first thing a start puts on the terminal: the frame of the screen as it was last time, with nothing in it.

Loading the screen takes Python some hundred milliseconds. Until then its frame stands there, drawn by this module
alone, which loads next to nothing. The frame is a picture that the screen itself took of its empty parts, one for each
size of the terminal and look of the screen; where there is none yet, the prompt and a line that says what happens.

Keys typed meanwhile are not echoed and wait in the terminal until the screen reads them. Until the screen takes over,
:func:`leave` gives the terminal back exactly as it was, whatever happens.
"""

from __future__ import annotations

import os
import sys
import zlib

from prima_tui import __version__
from prima_tui.terminal_unicode import speaks_unicode

TYPE_CHECKING = False
if TYPE_CHECKING:  # by hand: the first thing a start does can't wait for the modules of types
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

COMMANDS = frozenset(
    {"browse", "docs", "extracts", "files", "forget", "index", "install-skills", "keys", "mcp", "moved-from"}
    | {"rebuild", "search", "serve", "sessions", "show", "stats", "status"}
)
"""The names of commands: with one of them no screen opens."""
HOSTS = ("", "claude-code")
"""Values of ``PRIMA_EXPECTED_HOST`` with which the program runs."""
ALTERNATE = "\x1b[?1049h"
"""Enters the terminal's other screen; terminals clear it then, also when they are there already."""
_ENTER = f"{ALTERNATE}\x1b[?25l\x1b[?7l\x1b[H"
_LEAVE = "\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h"
_DUMB = ("", "dumb", "unknown")
_COLOURS = ("NO_COLOR", "COLORTERM", "TERM", "TERM_PROGRAM", "FORCE_COLOR", "TEXTUAL_COLOR_SYSTEM", "TEXTUAL_FILTERS")
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
_MARK = b"prima-tui frame 1 "
_LOW = 12
"""Rows below which the search line has no border."""


class Call:
    """What the words after the program's name ask of the screen."""

    __slots__ = ("kept", "mode", "pick", "query", "reach")

    def __init__(self, query: str, reach: str, mode: str, pick: bool, kept: bool) -> None:
        self.query = query
        self.reach = reach
        self.mode = mode
        self.pick = pick
        self.kept = kept
        """Whether the screen opens as it was last time: not with a demo's history, not at a citation."""


class Frame:
    """A frame that stands on a terminal, and all that is needed to give the terminal back."""

    def __init__(self, terminal: int, attributes: list[Any], handlers: dict[int, Any], own: bool) -> None:
        self.terminal = terminal
        self.attributes = attributes
        """The terminal's modes as they were."""
        self.handlers = handlers
        """What signals did before."""
        self.own = own
        """Whether the terminal was opened for this."""


_standing: Frame | None = None


def call_of(words: Sequence[str]) -> Call | None:
    """Return what a call asks of the screen; None when no screen opens, or it isn't sure that one does."""
    query: list[str] = []
    reach, mode, pick, kept = "workspace", "combined", False, True
    rest = iter(words)
    for word in rest:
        if word == "--":
            query += rest
        elif not word.startswith("-") or word == "-":
            if not query and word in COMMANDS:
                return None
            query.append(word)
        elif word in ("--all", "--repository"):
            reach = "everywhere" if word == "--all" else "repository"
        elif word == "--pick":
            pick = True
        elif word in ("--demo", "--open"):
            kept = False
            if word == "--open":
                next(rest, "")
        elif word in ("--mode", "-m"):
            mode = next(rest, "")
        elif word in ("--workspace", "-w"):
            next(rest, "")
        elif word != "--json":
            return None
    return Call(" ".join(query), reach, mode, pick, kept)


def cache_folder(env: Mapping[str, str]) -> str:
    """Return the program's cache folder, by the rules of the system that the configuration follows too."""
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - that module takes longer than all of this
    if sys.platform == "darwin":
        return f"{home}/Library/Caches/prima-tui"
    named = env.get("XDG_CACHE_HOME", "")
    return f"{named if named.strip() else home + '/.cache'}/prima-tui"


def frame_name(size: tuple[int, int], look: Sequence[object], env: Mapping[str, str]) -> str:
    """Return the name of the file of a frame.

    ``size`` is columns and rows, ``look`` what the search line shows: reach, mode, whether it picks. The terminal's
    colours and signs count too, and the program's version.
    """
    facts = repr((__version__, *look, *(env.get(name) for name in (*_COLOURS, *_LOCALE))))
    return f"{size[0]}x{size[1]}-{zlib.crc32(facts.encode('utf-8', 'surrogateescape')):08x}"


def packed(picture: bytes, place: bytes, width: int) -> bytes:
    """Return the content of a frame's file.

    ``picture`` draws it all; ``place`` goes to where the query stands, which has ``width`` cells, and sets its colours.
    """
    body = picture + b"\0" + place
    return _MARK + f"{zlib.crc32(body)} {width}\n".encode() + body


def unpacked(content: bytes) -> tuple[bytes, bytes, int] | None:
    """Return picture, place and width of a frame's file; None when it is damaged."""
    head, _, body = content.partition(b"\n")
    picture, _, place = body.partition(b"\0")
    try:
        checked, width = map(int, head.removeprefix(_MARK).split())
    except ValueError:
        return None
    return (picture, place, width) if head.startswith(_MARK) and checked == zlib.crc32(body) else None


def show(words: Sequence[str], env: Mapping[str, str]) -> None:
    """Draw the frame on the terminal if the screen is going to open there; any trouble with that draws nothing."""
    global _standing  # noqa: PLW0603 - there is one terminal
    call = call_of(words)
    if call is None or os.name != "posix" or env.get("TERM", "") in _DUMB or env.get("TEXTUAL_DRIVER"):
        return
    if env.get("PRIMA_EXPECTED_HOST", "") not in HOSTS or env.get("COLUMNS") or env.get("LINES"):
        return
    import termios

    own = False
    terminal = 2
    try:
        if not all(map(os.isatty, (0, 1, 2))):
            if not call.pick:
                return
            terminal, own = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY), True
        if os.tcgetpgrp(terminal) != os.getpgrp():
            raise OSError("started in the background")
        attributes = termios.tcgetattr(terminal)
        _standing = Frame(terminal, attributes, _handled(lambda: _draw(terminal, call, env)), own)
        _silence(termios, terminal)
        _write(terminal, _ENTER.encode())
        if not _draw(terminal, call, env):
            _write(terminal, _plain(os.get_terminal_size(terminal).lines, call, env))
    except (OSError, termios.error):
        if own and _standing is None:
            _close(terminal)
        leave()


def leave() -> None:
    """Give the terminal back as it was, if the frame still stands there."""
    frame = _standing
    if frame is None:
        return
    import termios

    try:
        _write(frame.terminal, _LEAVE.encode())
        termios.tcsetattr(frame.terminal, termios.TCSANOW, frame.attributes)
    except (OSError, termios.error):
        pass  # the terminal is gone
    taken_over()


def taken_over() -> list[Any] | None:
    """Leave the terminal to the screen; return its modes as they were before, None when no frame stands."""
    global _standing
    frame, _standing = _standing, None
    if frame is None:
        return None
    import signal

    for number, handler in frame.handlers.items():
        signal.signal(number, handler)
    if frame.own:
        _close(frame.terminal)
    return frame.attributes


def _handled(draw: Callable[[], object]) -> dict[int, Any]:
    """Have the terminal given back when the process is ended, the frame drawn anew in another size."""
    import signal

    def end(number: int, _frame: object) -> None:
        leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def resized(_number: int, _frame: object) -> None:
        try:
            draw()
        except OSError:
            leave()

    wanted = {signal.SIGTERM: end, signal.SIGHUP: end, signal.SIGWINCH: resized}
    return {
        number: signal.signal(number, handler)
        for number, handler in wanted.items()
        if signal.getsignal(number) is signal.SIG_DFL
    }


def _silence(termios: Any, terminal: int) -> None:
    """No echo, keys as they are typed, of the keys that are signals only Ctrl+C: as the screen will want them."""
    modes = termios.tcgetattr(terminal)
    modes[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    off = os.fpathconf(terminal, "PC_VDISABLE").to_bytes(1, "little")
    modes[6][termios.VSUSP] = modes[6][termios.VQUIT] = off
    modes[6][termios.VMIN] = 1
    termios.tcsetattr(terminal, termios.TCSANOW, modes)


def _draw(terminal: int, call: Call, env: Mapping[str, str]) -> bool:
    """Draw the frame that is kept for the terminal's size; False when there is none."""
    if not call.kept:
        return False
    size = os.get_terminal_size(terminal)
    name = frame_name((size.columns, size.lines), (call.reach, call.mode, call.pick), env)
    try:
        with open(f"{cache_folder(env)}/frames/{name}", "rb", buffering=0) as file:
            frame = unpacked(file.readall())
    except OSError:
        return False
    if frame is None:
        return False
    picture, place, width = frame
    if call.query:
        picture += place + _shown(call.query)[: max(0, width - 1)].ljust(width).encode() + b"\x1b[0m"
    _write(terminal, picture)
    return True


def _plain(rows: int, call: Call, env: Mapping[str, str]) -> bytes:
    """Draw the prompt where it will stand, and a line that says what happens."""
    unicode = speaks_unicode(env, sys.stdout.encoding if sys.stdout else None)
    sign, dots = ("❯", "…") if unicode else (">", "...")
    row = 2 if rows >= _LOW else 1
    said = _shown(call.query) if call.query else "\x1b[2mSearch everything you and your agents said"
    text = f"\x1b[2J\x1b[{row};3H\x1b[1m{sign}\x1b[0m {said}\x1b[0m"
    return f"{text}\x1b[{row + 3};3H\x1b[2mOpening{dots}\x1b[0m".encode()


def _shown(query: str) -> str:
    """Return the query; one beyond ASCII is left to the screen, which knows how wide its signs are."""
    return query if query.isascii() and query.isprintable() else ""


def _write(terminal: int, data: bytes) -> None:
    while data:
        data = data[os.write(terminal, data) :]


def _close(terminal: int) -> None:
    try:
        os.close(terminal)
    except OSError:
        return

"""A first session while everything is still being made: how late the echo of a key is, and what made it late.

    python -m tests.benchmarks.first_session HOME WORKSPACE [--kept FOLDER] [--seconds 40] [--causes 5]

Starts the program in a terminal with nothing kept, and types from the first picture on: while files are read, the
words' index is built, the model is loaded and texts are embedded. The program's own event loop is watched
(:mod:`tests.benchmarks.loop_watch`); for each late echo the delays of the loop that fall into it are told.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.__main__ import WORDS, environment, say
from tests.benchmarks.loop_watch import FRAME, Delay, told
from tests.benchmarks.terminal import Terminal
from tests.benchmarks.watched import read_report

_PAUSE = 0.12
"""Seconds between two keys: a quick typist's."""


def typed(terminal: Terminal, seconds: float) -> list[tuple[float, float]]:
    """Type words again and again; return when each key was struck and when it was seen, of those that can be told."""
    echoes = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for words in WORDS:
            for place, key in enumerate(words):
                pressed = terminal.type(key)
                if place >= 2:  # shorter beginnings stand elsewhere on the screen too
                    echoes.append((pressed, terminal.until(re.escape(words[: place + 1].rstrip()))[0]))
                terminal.settle(_PAUSE, max(0.0, pressed + _PAUSE - time.perf_counter()))
            terminal.type("\x7f" * len(words))  # not Escape: read together with the next key it would be another
            terminal.settle(0.4, 0.4)
    return echoes


def within(delays: list[Delay], began: float, ended: float) -> list[Delay]:
    """Return the delays that fall into a time, the worst first."""
    return sorted((one for one in delays if one.at > began and one.at - one.late < ended), key=lambda one: -one.late)


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--kept", type=Path, help="a folder with what was kept before; then it is no first session")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--causes", type=int, default=5)
    given = parser.parse_args()
    kept = given.kept or Path(tempfile.mkdtemp(prefix="prima-tui-bench-"))
    report = kept / "delays.json"
    program = [sys.executable, "-m", "tests.benchmarks.watched", str(report)]
    print(f"load {os.getloadavg()[0]:.1f}")
    terminal = Terminal(program, given.workspace, environment(given.home.resolve(), kept))
    try:
        terminal.until("❯")
        terminal.settle(0.2, 0.5)
        echoes = typed(terminal, given.seconds)
        terminal.type("\x11")
        terminal.ended()
        delays = read_report(report)
    finally:
        terminal.close()
        if given.kept is None:
            shutil.rmtree(kept, ignore_errors=True)
    say("echo of a key", [seen - pressed for pressed, seen in echoes])
    print(f"echoes over 16 ms: {sum(1 for pressed, seen in echoes if seen - pressed > FRAME)} of {len(echoes)}")
    print(told("event loop", delays, given.causes))
    for pressed, seen in sorted(echoes, key=lambda one: one[0] - one[1])[: given.causes]:
        print(f"echo after {(seen - pressed) * 1000:.1f} ms, {pressed - terminal.started:.1f} s after the start")
        for delay in within(delays, pressed, seen)[:2]:
            print("    " + delay.told().replace("\n", "\n    "))


if __name__ == "__main__":
    main()

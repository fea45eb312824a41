"""Measure the program on a made history: start, typing, commands. ``tests.benchmarks.report`` runs this and all else.

    python -m tests.benchmarks HOME WORKSPACE [--only start,typing,commands]

HOME and WORKSPACE are folders with history (made by a generator, or real ones: they are only read). What the program
keeps goes to a temporary folder. Figures are medians and worst cases of this run, on this machine, as it was loaded.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

import filelock

from tests.benchmarks.baselines import WORD
from tests.benchmarks.terminal import Terminal

PROGRAM = [sys.executable, "-m", "prima_tui"]
BARE = [
    sys.executable,
    "-c",
    "from textual.app import App\nfrom textual.widgets import Static\n"
    "class Bare(App):\n    def compose(self):\n        yield Static('\u276f')\nBare().run()",
]
"""What Python and Textual alone take to their first paint: nothing made with them is there sooner."""
WORDS = ("session cookie", "login", "vector store", "zzyzx", "the retry policy", "a", "rate limiter", "qui_mu")


SEARCH = ["search", WORD, "--mode", "keyword", "--json"]
_INDEX_SECONDS = 300.0
"""How long the index of words may take."""
FRAME = 0.016
"""Seconds: so long a screen shows one picture."""
BETWEEN_KEYS = 0.125
"""Seconds: eight keys a second."""


def say(name: str, values: list[float], unit: str = "ms") -> None:
    """Print one figure: median, worst, how many."""
    scale = 1000 if unit == "ms" else 1
    ordered = sorted(value * scale for value in values)
    print(
        f"{name:48} median {statistics.median(ordered):8.1f}  worst {ordered[-1]:8.1f} {unit}  n={len(ordered)}",
        flush=True,
    )


def environment(home: Path, kept: Path) -> dict[str, str]:
    """Return an environment in which the history is HOME's and all that is kept goes below ``kept``."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    places = {f"XDG_{name}_HOME": str(kept / name.lower()) for name in ("CACHE", "DATA", "CONFIG", "STATE")}
    return {**env, **places, "HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])}


def timed(argv: list[str], cwd: Path, env: Mapping[str, str]) -> tuple[float, float, bytes]:
    """Run a command; return (seconds, seconds of processor time, what it printed)."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run([*PROGRAM, *argv], cwd=cwd, env=dict(env), capture_output=True, check=True)
    seconds, after = time.perf_counter() - started, os.times()
    worked = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, worked, done.stdout


_FIRST_SECONDS = 900.0
"""A first start with the largest history is done well before."""
COUNT = r"([\d,]+) sessions"
ROW = r"\[(?:transcript|Codex|VS Code|shared)"
SEARCH_LINE = r"❯\s*Search"
"""The search line, with what it says while it is empty: the first paint is there once it is."""


def measure_start(workspace: Path, env: Mapping[str, str], kept: Path) -> int:
    """First start with nothing kept, then later starts; return the number of sessions."""
    total = len(json.loads(timed(["sessions", "--json"], workspace, env)[2])["sessions"])
    shutil.rmtree(kept / "cache", ignore_errors=True)
    complete = rf"\b{total:,} sessions"
    bare = []
    for _ in range(5):
        terminal = Terminal(BARE, workspace, env)
        bare.append(terminal.until("❯")[0] - terminal.started)
        terminal.close()
    say("Python and Textual alone: first paint", bare)
    terminal = Terminal(PROGRAM, workspace, env)
    say("first start: first paint", [terminal.until(SEARCH_LINE)[0] - terminal.started])
    say("first start: newest sessions in the list", [terminal.until(ROW)[0] - terminal.started])
    say("first start: list complete", [terminal.until(complete, _FIRST_SECONDS)[0] - terminal.started])
    terminal.settle(3.0)
    say("first start: most resident memory", [terminal.resident_mb(most=True)], "MB")
    terminal.close()
    paints, rows, completes, memory = [], [], [], []
    for _ in range(5):
        terminal = Terminal(PROGRAM, workspace, env)
        paints.append(terminal.until(SEARCH_LINE)[0] - terminal.started)
        rows.append(terminal.until(ROW)[0] - terminal.started)
        completes.append(terminal.until(complete)[0] - terminal.started)
        terminal.settle(1.0, 5.0)
        memory.append(terminal.resident_mb())
        terminal.close()
    say("later start: first paint", paints)
    say("later start: newest sessions in the list", rows)
    say("later start: complete list on screen", completes)
    say("later start: resident memory", memory, "MB")
    return total


def make_words(workspace: Path, env: Mapping[str, str], kept: Path) -> tuple[float, float, bytes]:
    """Return what a search took before there was an index of words, and wait until there is one.

    A search of a long history has it made; for a short one there is none.
    """
    first = timed(SEARCH, workspace, env)
    time.sleep(3.0)  # the process that makes it starts, and holds the lock from then on
    lock = kept / "cache" / "prima-tui" / "words" / "lock"
    if lock.exists():
        with filelock.FileLock(lock, timeout=_INDEX_SECONDS):
            pass
    timed(SEARCH, workspace, env)  # the first one with the index keeps what the later ones begin with
    return first


def measure_typing(workspace: Path, env: Mapping[str, str], mode: str) -> None:
    """Type words at eight keys a second; time the echo of each key and its first results on screen.

    A key whose results take longer holds up the next, so that no answer is taken for that to another key. What is
    waited for is the count with its time: it is written after the rows of the list.
    """
    terminal = Terminal([*PROGRAM, "--mode", mode], workspace, env)
    terminal.until(COUNT)
    terminal.settle(3.0)
    echoes, results = [], []
    for words in WORDS:
        pressed = 0.0
        for place, key in enumerate(words):
            terminal.read_until(pressed + BETWEEN_KEYS)
            pressed = terminal.type(key)
            if place >= 2:  # shorter beginnings stand elsewhere on the screen too
                echoes.append(terminal.until(re.escape(words[: place + 1].rstrip()))[0] - pressed)
            if key != " ":
                # an answer that took as long as the one before changes nothing on the screen
                with contextlib.suppress(TimeoutError):
                    results.append(terminal.until(r"found.{0,3}· [\d.]+ m?s", 1.0)[0] - pressed)
        terminal.type("\x1b")
        terminal.settle(0.6, 3.0)
    say(f"typing, {mode}: echo of the key", echoes)
    within = sum(echo <= FRAME for echo in echoes) / len(echoes)
    print(f"typing, {mode}: echoes within a frame {within:.0%}")
    say(f"typing, {mode}: results on screen", results)
    almost = sorted(results)[int(len(results) * 0.99)]
    print(f"typing, {mode}: results on screen, 99 of 100 within {almost * 1000:.1f} ms")
    terminal.close()


def measure_commands(workspace: Path, env: Mapping[str, str], kept: Path) -> None:
    """Whole commands: all files to read, then none, then one that changed each time."""
    shutil.rmtree(kept / "cache", ignore_errors=True)
    say_command("sessions, nothing cached", [timed(["sessions"], workspace, env)])
    say_command("search, no index of words", [make_words(workspace, env, kept)])
    for argv in (["sessions", "--json"], SEARCH, ["files", "app", "--json"]):
        say_command(" ".join(argv), [timed(argv, workspace, env) for _ in range(5)])
    own = kept / "claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(workspace)) / f"{uuid.uuid4()}.jsonl"
    own.parent.mkdir(parents=True)
    record = {"type": "user", "cwd": str(workspace), "sessionId": own.stem, "message": {"content": "One line more"}}
    with_own = {**env, "CLAUDE_CONFIG_DIR": f"{env['HOME']}/.claude,{kept / 'claude'}"}
    timed(["sessions"], workspace, with_own)
    runs = []
    for number in range(5):
        with own.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record | {"uuid": f"u{number}", "timestamp": f"2026-01-01T00:00:0{number}Z"}) + "\n")
        runs.append(timed(["sessions"], workspace, with_own))
    say_command("sessions, one file changed", runs)
    say_command("sessions, no file changed", [timed(["sessions"], workspace, with_own) for _ in range(5)])


def say_command(name: str, runs: list[tuple[float, float, bytes]]) -> None:
    """Print what runs of a command took, by the clock and of the processors."""
    say(name, [seconds for seconds, _worked, _printed in runs])
    say(f"{name}: processor time", [worked for _seconds, worked, _printed in runs])


def main() -> None:
    """Run the measurements asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--only", default="start,commands,typing")
    given = parser.parse_args()
    wanted = given.only.split(",")
    kept = Path(tempfile.mkdtemp(prefix="prima-tui-bench-"))
    env = environment(given.home.resolve(), kept)
    print(json.dumps({"python": sys.version.split()[0], "cores": os.cpu_count(), "load": os.getloadavg()[0]}))
    try:
        if "start" in wanted:
            print(measure_start(given.workspace, env, kept), "sessions")
        if "commands" in wanted:
            measure_commands(given.workspace, env, kept)
        if "typing" in wanted:
            make_words(given.workspace, env, kept)
            measure_typing(given.workspace, env, "keyword")
            measure_typing(given.workspace, env, "combined")
    finally:
        shutil.rmtree(kept, ignore_errors=True)


if __name__ == "__main__":
    main()

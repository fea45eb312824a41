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
from collections.abc import Mapping
from pathlib import Path

from tests.benchmarks.terminal import Terminal

PROGRAM = [sys.executable, "-m", "prima_tui"]
WORDS = ("session cookie", "login", "vector store", "zzyzx", "the retry policy", "a", "rate limiter", "qui_mu")


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


def timed(argv: list[str], cwd: Path, env: Mapping[str, str]) -> tuple[float, bytes]:
    """Run a command; return (seconds, what it printed)."""
    started = time.perf_counter()
    done = subprocess.run([*PROGRAM, *argv], cwd=cwd, env=dict(env), capture_output=True, check=True)
    return time.perf_counter() - started, done.stdout


COUNT = r"([\d,]+) sessions"
ROW = r"\[(?:transcript|Codex|VS Code|shared)"


def measure_start(workspace: Path, env: Mapping[str, str], kept: Path) -> int:
    """First start with nothing kept, then later starts; return the number of sessions."""
    total = len(json.loads(timed(["sessions", "--json"], workspace, env)[1])["sessions"])
    shutil.rmtree(kept / "cache", ignore_errors=True)
    complete = rf"\b{total:,} sessions"
    terminal = Terminal(PROGRAM, workspace, env)
    say("first start: first paint", [terminal.until("❯")[0] - terminal.started])
    say("first start: newest sessions in the list", [terminal.until(ROW)[0] - terminal.started])
    say("first start: list complete", [terminal.until(complete)[0] - terminal.started])
    terminal.settle(3.0)
    terminal.close()
    paints, completes, memory = [], [], []
    for _ in range(5):
        terminal = Terminal(PROGRAM, workspace, env)
        paints.append(terminal.until("❯")[0] - terminal.started)
        completes.append(terminal.until(complete)[0] - terminal.started)
        terminal.settle(1.0, 5.0)
        memory.append(terminal.resident_mb())
        terminal.close()
    say("later start: first paint", paints)
    say("later start: complete list on screen", completes)
    say("later start: resident memory", memory, "MB")
    return total


def measure_typing(workspace: Path, env: Mapping[str, str], mode: str) -> None:
    """Type words key by key, eight keys a second; time the echo of each key and its results on screen."""
    terminal = Terminal([*PROGRAM, "--mode", mode], workspace, env)
    terminal.until(COUNT)
    terminal.settle(3.0)
    echoes, results = [], []
    for words in WORDS:
        for place, key in enumerate(words):
            pressed = terminal.type(key)
            if place >= 3:  # shorter beginnings stand elsewhere on the screen too
                echoes.append(terminal.until(re.escape(words[: place + 1].rstrip()))[0] - pressed)
            if key != " ":
                # an answer that took as long as the one before changes nothing on the screen
                with contextlib.suppress(TimeoutError):
                    results.append(terminal.until(r"found.{0,3}· [\d.]+ m?s", 1.0)[0] - pressed)
            time.sleep(max(0.0, 0.125 - (time.perf_counter() - pressed)))
        terminal.type("\x1b")
        terminal.settle(0.4, 3.0)
    say(f"typing, {mode}: echo of the key", echoes)
    say(f"typing, {mode}: results on screen", results)
    terminal.close()


def measure_commands(workspace: Path, env: Mapping[str, str]) -> None:
    """Whole commands, with the catalog warm."""
    for argv in (
        ["sessions", "--json"],
        ["search", "login", "--mode", "keyword", "--json"],
        ["files", "app", "--json"],
    ):
        say(" ".join(argv), [timed(argv, workspace, env)[0] for _ in range(5)])


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
            timed(["sessions"], given.workspace, env)
            measure_commands(given.workspace, env)
        if "typing" in wanted:
            timed(["sessions"], given.workspace, env)
            measure_typing(given.workspace, env, "keyword")
            measure_typing(given.workspace, env, "combined")
    finally:
        shutil.rmtree(kept, ignore_errors=True)


if __name__ == "__main__":
    main()

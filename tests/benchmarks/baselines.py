"""What the program is compared with over the same history: another tool, a scan of the files, what the machine can do.

A baseline whose program is not there is left out, and said so.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson

from tests.benchmarks.figures import Figure, figure
from tests.benchmarks.processes import run

WORD = "login"


def history_files(home: Path, workspace: Path) -> list[Path]:
    """Return the conversation files of a made history."""
    roots = [home / ".claude", home / ".codex", home / ".config", workspace / ".claude"]
    return [path for root in roots for kind in ("*.jsonl", "*.md") for path in root.rglob(kind) if path.is_file()]


def measure_limits(files: list[Path], runs: int) -> Iterator[Figure]:
    """Yield what the machine can do: the plain read of all bytes, orjson over all lines."""

    def read() -> None:
        for path in files:
            path.read_bytes()

    def parse() -> None:
        for path in files:
            if path.suffix == ".jsonl":
                for line in path.read_bytes().split(b"\n"):
                    if line:
                        orjson.loads(line)

    yield figure("cold", "plain read of all bytes", _times(read, runs), "s", "baseline")
    yield figure("cold", "orjson over all lines, one process", _times(parse, runs), "s", "baseline")


def measure_tools(
    venv: Path | None, home: Path, workspace: Path, env: Mapping[str, str], runs: int, say: Callable[[str], None]
) -> Iterator[Figure]:
    """Yield the times of fast-resume and ripgrep, where they are in the virtual environment or on the PATH."""
    fast_resume = program("fr", venv)
    if fast_resume is None:
        say("fast-resume is not there: left out")
    else:
        run([fast_resume, "--json", "--limit", "1"], workspace, env)  # it has its index from here on
        warm = [run([fast_resume, "--json", "--limit", "50"], workspace, env).seconds for _ in range(max(3, runs))]
        yield figure("warm", "fr --json", warm, "s", "baseline")
        word = [run([fast_resume, "--json", "--limit", "50", WORD], workspace, env) for _ in range(max(3, runs))]
        yield figure("search command", f"fr --json {WORD}", [one.seconds for one in word], "s", "baseline")
    ripgrep = program("rg", venv)
    if ripgrep is None:
        say("ripgrep is not there: left out")
    else:
        folders = [path for path in (home / ".claude", home / ".codex", home / ".config") if path.is_dir()]
        argv = [ripgrep, "--files-with-matches", "--no-ignore", "--hidden", "--ignore-case", WORD, *folders]
        found = [run(argv, workspace, env).seconds for _ in range(max(3, runs))]
        yield figure("search command", f"rg -il {WORD}", found, "s", "baseline")


def tool_versions(venv: Path | None) -> list[str]:
    """Return name and version of each of the other tools that is there."""
    found = [path for name in ("fr", "rg") if (path := program(name, venv)) is not None]
    asked = [subprocess.run([path, "--version"], capture_output=True, text=True, check=False) for path in found]
    return [one.stdout.splitlines()[0] for one in asked if one.stdout.strip()]


def program(name: str, venv: Path | None) -> Path | None:
    """Return where a program is: in the virtual environment, else on the PATH; None when it isn't there."""
    own = venv / "bin" / name if venv is not None else None
    if own is not None and own.is_file():
        return own.absolute()
    found = shutil.which(name)
    return Path(found) if found else None


def _times(work: Callable[[], None], runs: int) -> list[float]:
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return taken

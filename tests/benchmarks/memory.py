"""Resident memory of the service over a history: at rest, after many searches, at its peak.

    python -m tests.benchmarks.memory WORKSPACE [--searches 10000]

HOME and the XDG folders are those of the environment.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
from pathlib import Path

from prima_tui.config import load_settings
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope
from tests.benchmarks.figures import figure

QUERIES = ("login", "session cookie", "retry", "the", "a", "vector store", "zzyzx", "qui_mu", "agent:codex test")


def status(name: str) -> float:
    """Return a value of this process's status in MB."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0]) / 1000


def main() -> None:
    """Open, search, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--searches", type=int, default=10_000)
    given = parser.parse_args()
    workspace = given.workspace.absolute()
    scope = Scope(workspace=workspace, everywhere=False, home=Path.home(), env=dict(os.environ))
    memory = Memory(scope, load_settings(workspace))
    memory.refresh()
    memory.search("login", "keyword")
    gc.collect()
    rest = status("VmRSS")
    chance = random.Random(3)
    for _ in range(given.searches):
        query = chance.choice(QUERIES)
        memory.search(query[: chance.randint(1, len(query))], "keyword", limit=20)
    gc.collect()
    for name, value in (
        ("memory: at rest, all text loaded", rest),
        (f"memory: after {given.searches:,} searches", status("VmRSS")),
        ("memory: at its peak", status("VmHWM")),
    ):
        shown = figure("memory", name, [value], "MB")
        print(f"{name:48} median {shown.median:8.1f}  worst {shown.worst:8.1f} MB  n=1", flush=True)


if __name__ == "__main__":
    main()

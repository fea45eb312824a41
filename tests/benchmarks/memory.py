"""Resident memory of the service over a history: at rest, in the course of many searches, at its peak.

    python -m tests.benchmarks.memory WORKSPACE [--all] [--searches 10000] [--modes keyword] [--index SECONDS]

HOME and the XDG folders are those of the environment. With ``--index`` the index of meanings grows for so long before
anything is measured; the searches take the modes in turn. Pages of mapped files (the index of words, libraries) are
memory that the system takes back when somebody needs it, so what is left without them is told too.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
from pathlib import Path

import duckdb

from prima_tui.config import load_settings
from prima_tui.memory import Memory
from prima_tui.model.hits import MODES
from prima_tui.sources.base import Scope
from tests.benchmarks.figures import figure

QUERIES = ("login", "session cookie", "retry", "the", "a", "vector store", "zzyzx", "qui_mu", "agent:codex test")
LOOKS = (0.1, 0.5, 1.0)
"""After such parts of the searches the memory is looked at."""


def status(name: str) -> float:
    """Return a value of this process's status in MB."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0]) / 1000


def message_text(catalog: Path) -> float:
    """Return how much text the messages of the scope are, in MB as they are searched; the catalog has just them."""
    with duckdb.connect(str(catalog), read_only=True) as connection:
        row = connection.execute("SELECT sum(strlen(folded)) FROM messages").fetchone()
    return float(row[0] or 0) / 1e6 if row else 0.0


def show(name: str, megabytes: float) -> None:
    """Print a figure."""
    shown = figure("memory", f"memory: {name}", [megabytes], "MB")
    print(f"{shown.name:48} median {shown.median:10.3f}  worst {shown.worst:10.3f} MB  n=1", flush=True)


def main() -> None:
    """Open, search, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--all", action="store_true", help="every workspace; the index is in the user's data folder")
    parser.add_argument("--searches", type=int, default=10_000)
    parser.add_argument("--modes", default="keyword", help="keyword, semantic, combined: some of them, with commas")
    parser.add_argument("--index", type=float, default=0.0, metavar="SECONDS")
    given = parser.parse_args()
    modes = [mode for mode in MODES if mode in given.modes.split(",")]
    workspace = given.workspace.absolute()
    scope = Scope(workspace=workspace, everywhere=given.all, home=Path.home(), env=dict(os.environ))
    memory = Memory(scope, load_settings(workspace))
    memory.refresh()
    if given.index:
        memory.update_index(given.index)
    memory.search("login", "keyword")
    gc.collect()
    show("at rest, all text loaded", status("VmRSS"))
    chance = random.Random(3)
    looks = {max(1, round(part * given.searches)) for part in LOOKS}
    for number in range(1, given.searches + 1):
        query = chance.choice(QUERIES)
        memory.search(query[: chance.randint(1, len(query))], modes[number % len(modes)], limit=20)
        if number in looks:
            gc.collect()
            show(f"after {number:,} searches", status("VmRSS"))
            show(f"after {number:,} searches, less files' pages", status("RssAnon"))
    show("at its peak", status("VmHWM"))
    memory.close()
    show("message text", message_text(memory.settings.paths.catalog))


if __name__ == "__main__":
    main()

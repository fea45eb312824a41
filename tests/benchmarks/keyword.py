"""Measure keyword search key by key on a history, with and without the index of words.

    python -m tests.benchmarks.keyword HOME WORKSPACE [--kept FOLDER] [--searches N]

HOME and WORKSPACE are only read. What the program keeps goes to a temporary folder, or to FOLDER, in which a catalog
may be from an earlier run. Every beginning of every query is one keystroke, searched once, as the screen does it.
Times are of the processor, so that they hold on a busy machine; the clock's stand beside them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from prima_tui.config import load_settings, paths_below
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope
from tests.benchmarks.__main__ import say

KINDS: Mapping[str, tuple[str, ...]] = {
    "first letters": tuple("abcdefghijklmnopqrstuvwxyz0(._-"),
    "common words": ("the", "session", "returns", "database", "webhook", "notification"),
    "rare words": ("qui_mu", "gukipelo", "hadije", "foha_", "bagufo", "3fa9c1"),
    "no such word": ("zzyzx", "xylophone", "qqq"),
    "several words": ("session cookie", "the retry policy", "fix the flaky test"),
    "phrases": ('"the suite again"', '"breaks because"', '"rows in"'),
    "filters": ("agent:codex login", "date:<30d token", "tag:python -is:fork cache", "file:api retry"),
    "punctuation": ("api/", "lib/ba", "`foha_", "):", "= ", "_f"),
    "CJK": ("東京", "会话搜索", "안녕"),
}


_BUILD = "import sys; from prima_tui.index.catalog import build_words; build_words(sys.argv[1])"


def keystrokes(queries: tuple[str, ...]) -> Iterator[str]:
    """Yield what the search line holds after each key."""
    for query in queries:
        for end in range(1, len(query) + 1):
            if query[:end].strip():
                yield query[:end]


def resident_mb() -> float:
    """Return this process's resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000


def measure_kinds(memory: Memory, name: str) -> None:
    """Search every keystroke of every kind once."""
    every: list[float] = []
    clock: list[float] = []
    for kind, queries in KINDS.items():
        times = []
        for typed in keystrokes(queries):
            started, wall = time.process_time(), time.perf_counter()
            answer = memory.search(typed, "keyword")
            # a screen draws the first dozens
            _shown = [hit.reasons for hit in answer.hits[:50]]
            times.append(time.process_time() - started)
            clock.append(time.perf_counter() - wall)
        say_spread(f"{name}: {kind}", times)
        every += times
    say_spread(f"{name}: all", every)
    say_spread(f"{name}: all, by the clock", clock)


def seconds_of_building(catalog: Path) -> float:
    """Make the index in a process of its own, as the program does; return the time it took of a processor."""
    before = os.times().children_user + os.times().children_system
    subprocess.run(
        [sys.executable, "-c", _BUILD, str(catalog)],
        check=True,
    )
    return os.times().children_user + os.times().children_system - before


def say_spread(name: str, seconds: list[float]) -> None:
    """Print median, 99th percentile and worst in milliseconds."""
    ordered = sorted(second * 1000 for second in seconds)
    almost = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    median = statistics.median(ordered)
    print(
        f"{name:40} median {median:7.1f}  p99 {almost:7.1f}  worst {ordered[-1]:7.1f} ms  n={len(ordered)}", flush=True
    )


def main() -> None:
    """Run the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--searches", type=int, default=0, help="so many more searches, to see whether memory grows")
    parser.add_argument("--without", action="store_true", help="measure the search without an index first")
    given = parser.parse_args()
    kept = given.kept or Path(tempfile.mkdtemp(prefix="prima-tui-bench-"))
    try:
        measure(given.home.resolve(), given.workspace.resolve(), kept.resolve(), given.searches, given.without)
    finally:
        if given.kept is None:
            shutil.rmtree(kept, ignore_errors=True)


def measure(home: Path, workspace: Path, kept: Path, searches: int, without: bool) -> None:
    """Measure one history."""
    scope = Scope(workspace=workspace, everywhere=False, home=home, env={})
    memory = Memory(scope, load_settings(workspace, paths_below(kept)))
    sessions = len(memory.refresh().sessions)
    print(f"{sessions} sessions, {resident_mb():.0f} MB resident with the list")
    words = memory.settings.paths.catalog.with_name("words")
    if without:
        shutil.rmtree(words, ignore_errors=True)
        memory.search("a", "keyword")
        print(f"{resident_mb():.0f} MB resident with the text")
        measure_kinds(memory, "without index")
    if not list(words.glob("*.words")):
        print(f"index made in {seconds_of_building(memory.settings.paths.catalog):.1f} s")
    memory.close()
    memory = Memory(scope, load_settings(workspace, paths_below(kept)))
    memory.refresh()
    started = time.process_time()
    memory.search("a", "keyword")
    say("first search", [time.process_time() - started])
    measure_kinds(memory, "with index")
    before = resident_mb()
    print(f"{before:.0f} MB resident after these")
    queries = [typed for kind in KINDS.values() for typed in keystrokes(kind)]
    for number in range(searches):
        memory.search(queries[number % len(queries)], "keyword")
    if searches:
        print(f"{resident_mb():.0f} MB resident after {searches} more")
    memory.close()


if __name__ == "__main__":
    main()

"""Search by meaning over made indexes: written by the program's own code, loaded, searched, against what limits it.

    python -m tests.benchmarks.meaning [SIZES] [--json]

SIZES are numbers of exchanges, 20000,200000,1000000 if none are given. Vectors lie as those of real conversations do:
each is one of some hundred real vectors of the built-in model with noise on it, so a query finds as many sessions as
in a real history. Times are medians (and worst) of this run, and processor time beside them, which other programs
disturb less; a search ends with its best twenty hits put into words. The baselines are in the same run: a plain product
of one NumPy matrix with the query, and DuckDB's array_cosine_similarity over a table in memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from prima_tui.index.connections import in_memory
from prima_tui.index.embedder import Embedder
from prima_tui.index.exchange_store import FileState, Row
from prima_tui.index.vectors import SemanticIndex
from prima_tui.model.query import parse
from prima_tui.model.session import Exchange, Session
from prima_tui.search.library import Library, build_library
from prima_tui.search.semantic import search_semantic
from prima_tui.sources.assemble import Assembled, Part
from tests.benchmarks.embedding import texts

EXCHANGES = 15
"""Of each session."""
_UNIT = 6_000
QUERIES = ("session cookie", "why does login redirect", "retry policy", "vector store", "how did we fix the deploy")


def vectors(count: int, embedder: Embedder) -> Iterator[np.ndarray]:
    """Yield normalised vectors, some thousands at once, around real ones."""
    chance = np.random.default_rng(5)
    real = np.stack(embedder.embed([f"User: {text}" for text in texts(120)]))
    for first in range(0, count, _UNIT):
        some = min(_UNIT, count - first)
        made = real[chance.integers(0, len(real), some)] + chance.normal(0, 0.06, (some, 384))
        yield (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def fill(index: SemanticIndex, count: int, embedder: Embedder) -> list[Session]:
    """Write exchanges through the index's own code; return the sessions."""
    sessions: list[Session] = []
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for block in vectors(count, embedder):
        rows: list[Row] = []
        whole: list[FileState] = []
        known = {}
        for first in range(0, len(block), EXCHANGES):
            number = len(sessions)
            at = start + timedelta(minutes=number)
            session = Session(
                f"s{number}", "claude-code", "[transcript]", f"S {number}", at, at, paths=(f"/h/s{number}.jsonl",)
            )
            sessions.append(session)
            mine = []
            for position, vector in enumerate(block[first : first + EXCHANGES]):
                key = f"{number:08x}{position:024x}"
                known[key] = vector
                exchange = Exchange(f"A question about part {position}", "An answer of some words. " * 8)
                mine.append(Row(session.paths[0], 0, position, session, "", exchange, key))
            rows += mine
            stored = frozenset((row.number, row.position, row.hash) for row in mine)
            whole.append(FileState(session.paths[0], session.source, "1:1:1", stored))
        index.write(rows, known, whole)
    return sessions


def library_of(sessions: list[Session]) -> Library:
    """Return the library that a search needs beside the index."""
    parts = [Assembled(session, (Part(session.paths[0], 0, EXCHANGES),)) for session in sessions]
    return build_library(parts, lambda _path, _number: None)


def times(work: Callable[[int], object], count: int) -> dict[str, float]:
    """Return median, worst and least of some runs and the processor's median, in ms; the first run is left out."""
    work(0)
    taken, worked = [], []
    for number in range(count):
        started, before = time.perf_counter(), time.process_time()
        work(number)
        taken.append((time.perf_counter() - started) * 1000)
        worked.append((time.process_time() - before) * 1000)
    spread = {"worst": max(taken), "least": min(taken)}
    return {"median": statistics.median(taken), "processor": statistics.median(worked), "runs": count, **spread}


def resident() -> float:
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def measure(count: int, folder: Path, embedder: Embedder, runs: int = 15) -> dict[str, Any]:
    """Make an index of ``count`` exchanges and measure all about it; the file is removed again."""
    path = folder / f"index-{count}.duckdb"
    index = SemanticIndex(path, Embedder.name, lambda: folder, print)
    started = time.perf_counter()
    sessions = fill(index, count, embedder)
    written = time.perf_counter() - started
    index.close()
    library = library_of(sessions)
    before = resident()
    index = SemanticIndex(path, Embedder.name, lambda: folder, print)
    started = time.perf_counter()
    index.load()
    loaded = time.perf_counter() - started
    memory = resident() - before
    queries = [embedder.query(text) for text in QUERIES]
    now = datetime.now(UTC)
    asked = parse("what was it", now, frozenset({"claude-code"}))
    sizes: list[int] = []

    def search(number: int) -> None:
        hits = search_semantic(library, index, asked, lambda _text: queries[number % len(queries)])
        list(hits[:20])
        sizes.append(len(hits))

    result: dict[str, Any] = {
        "exchanges": count,
        "write_s": written,
        "load_s": loaded,
        "file_mb": path.stat().st_size / 1e6,
        "memory_mb": memory,
        "compare": times(lambda number: index.similar(queries[number % len(queries)]), runs),
        "search": times(search, runs),
        "found": statistics.mean(sizes),
    }
    index.close()
    result |= baselines(path, count, queries, runs)
    path.unlink()
    return result


def baselines(path: Path, count: int, queries: list[np.ndarray], runs: int) -> dict[str, Any]:
    """Return the times of a plain matrix product, and of the database, over the same vectors."""
    memory = in_memory()
    memory.execute(f"ATTACH '{path}' AS store (READ_ONLY)")
    started = time.perf_counter()
    memory.execute("CREATE TABLE vectors AS SELECT path, number, vector FROM store.exchanges")
    copied = time.perf_counter() - started
    memory.execute("DETACH store")
    sql = (
        "SELECT path, number, max(c) FROM (SELECT path, number, array_cosine_similarity(vector, ?::FLOAT[384]) AS c"
        " FROM vectors) WHERE c >= 0.3::FLOAT GROUP BY path, number"
    )
    in_sql = times(lambda number: memory.execute(sql, [queries[number % len(queries)].tolist()]).fetchall(), 5)
    memory.close()
    matrix = np.random.default_rng(1).random((count, 384), np.float32)
    plain = times(lambda number: matrix @ queries[number % len(queries)], runs)
    return {"sql": in_sql, "sql_copy_s": copied, "numpy": plain}


def main() -> None:
    """Measure each size and print a line, or a JSON document, of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="?", default="20000,200000,1000000")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prima-tui-bench-") as folder:
        embedder = Embedder(Path(folder, "cache"))
        for size in map(int, given.sizes.split(",")):
            found = measure(size, Path(folder), embedder)
            if given.json:
                print(json.dumps(found), flush=True)
                continue
            print(
                f"{size:>9,} exchanges: written in {found['write_s']:.1f} s, {found['file_mb']:.0f} MB,"
                f" loaded in {found['load_s']:.2f} s, {found['memory_mb']:.0f} MB of memory;"
                f" {found['found']:.0f} sessions found",
                flush=True,
            )
            for name in ("compare", "search", "numpy", "sql"):
                one = found[name]
                print(
                    f"{name:>20}: median {one['median']:7.1f} ms  least {one['least']:7.1f}  worst {one['worst']:7.1f}"
                    f"  processor {one['processor']:7.1f}"
                )


if __name__ == "__main__":
    main()

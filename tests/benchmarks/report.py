"""The one command for all measurements: histories made, everything measured beside its baselines, table and plots.

    python -m tests.benchmarks.report OUT --make make_history.py [--sizes 2000,20000,100000]
        [--exchanges 20000,200000,1000000] [--baselines VENV] [--histories FOLDER] [--only GROUPS] [--add] [--smoke]

OUT gets ``README.md`` with a table of all figures, ``results.json`` with the same, and an SVG plot of each group over
size. With ``--add`` a long report is made in pieces: the figures that OUT has already stay, as far as they are not
measured again. The script makes the histories (``make_history.py HOME --workspace DIR --sessions N --scale S``); those
of 100,000 sessions and more with a scale of 0.3. With ``--histories`` they are kept there and taken from there the
next time.
``--smoke`` goes through all of it once with some sixty sessions, to see that it works.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from tests.benchmarks import baselines, embedding, meaning
from tests.benchmarks.__main__ import SEARCH, environment, make_words
from tests.benchmarks.cold import CONDITION, measure_cold
from tests.benchmarks.figures import Figure, Measured, added, figure, printed
from tests.benchmarks.plots import plot
from tests.benchmarks.processes import PROGRAM, run, run_measured

GROUPS = (
    "cold",
    "warm",
    "changed",
    "commands",
    "limits",
    "tools",
    "memory",
    "screen",
    "keyword",
    "meaning",
    "embedding",
)
_PACKAGES = ("duckdb", "numpy", "onnxruntime", "orjson", "textual")
_SCALE_OF_MANY = 0.3
_MANY = 100_000
_LONGEST_SECONDS = 3600.0
"""No benchmark of one history takes longer."""
ROOT = Path(__file__).parents[2]


class Plan(msgspec.Struct, frozen=True):
    """What is to be measured, and how often."""

    wanted: frozenset[str]
    runs: int
    searches: int
    venv: Path | None = None


def say(line: str) -> None:
    """Tell how far it is."""
    print(f"[{datetime.now():%H:%M:%S}] {line}", file=sys.stderr, flush=True)


# -- histories --------------------------------------------------------------------------------------------------------


def made_history(script: Path | None, folder: Path, sessions: int) -> tuple[Path, Path]:
    """Return (home, workspace) of a history of so many sessions, made unless it is there.

    Without a script it is one of the tests' own histories, which is good for seeing that all works.
    """
    home, workspace = folder / f"home-{sessions}", folder / f"workspace-{sessions}"
    whole = folder / f"whole-{sessions}"
    if whole.exists():
        return home, workspace
    say(f"making {sessions:,} sessions")
    if script is None:
        return _small_history(folder, sessions)
    scale = _SCALE_OF_MANY if sessions >= _MANY else 1.0
    argv = [sys.executable, script, home, "--workspace", workspace, "--sessions", str(sessions), "--scale", str(scale)]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    whole.touch()
    return home, workspace


def _small_history(folder: Path, sessions: int) -> tuple[Path, Path]:
    from tests.world import World

    world = World(folder / f"small-{sessions}")
    for number in range(sessions):
        turns = [(f"Why does login fail in part {number}?", f"The session cookie of step {n}.") for n in range(4)]
        if number % 5:
            world.claude(f"session {number}", turns)
        else:
            world.codex(f"session {number}", turns)
    return world.home, world.workspace


# -- measurements of one history --------------------------------------------------------------------------------------


def measure_history(home: Path, workspace: Path, plan: Plan, kept: Path) -> Iterator[Figure]:
    """Yield all figures of one history; what the program keeps goes below ``kept``."""
    env = environment(home.resolve(), kept)
    for group, measure in (("cold", _cold), ("warm", _warm), ("changed", _changed), ("commands", _commands)):
        if group in plan.wanted:
            say(group)
            yield from measure(home, workspace, env, kept, plan)
    if "memory" in plan.wanted:
        say("memory")
        argv = ["tests.benchmarks.memory", str(workspace), "--searches", str(plan.searches)]
        yield from _from_benchmark("memory", argv, env)
    if "screen" in plan.wanted:
        say("the screen, in a terminal")
        argv = ["tests.benchmarks", str(home), str(workspace), "--only", "start,typing"]
        yield from _from_benchmark("screen", argv, env)
    if "keyword" in plan.wanted and (ROOT / "tests" / "benchmarks" / "keyword.py").is_file():
        say("search by word")
        yield from _from_benchmark("keyword", ["tests.benchmarks.keyword", str(home), str(workspace)], env)
    if "limits" in plan.wanted:
        say("limits of the machine")
        yield from baselines.measure_limits(baselines.history_files(home, workspace), plan.runs)
    if "tools" in plan.wanted:
        say("other tools")
        theirs = environment(home.resolve(), kept / "others")
        yield from baselines.measure_tools(plan.venv, home, workspace, theirs, plan.runs, say)


def _cold(home: Path, workspace: Path, env: Mapping[str, str], kept: Path, plan: Plan) -> Iterator[Figure]:
    envs = (env, environment(home.resolve(), kept / "others"))
    yield from measure_cold(home, workspace, kept, envs, plan.venv, plan.runs, say)


def _warm(_home: Path, workspace: Path, env: Mapping[str, str], _kept: Path, plan: Plan) -> Iterator[Figure]:
    run([*PROGRAM, "sessions", "--json"], workspace, env)
    runs = [run_measured([*PROGRAM, "sessions", "--json"], workspace, env) for _ in range(max(3, plan.runs))]
    yield figure("warm", "complete list", [one.seconds for one in runs], "s")
    yield figure("peak memory", "complete list", [one.peak_mb for one in runs], "MB")


def _changed(home: Path, workspace: Path, env: Mapping[str, str], kept: Path, plan: Plan) -> Iterator[Figure]:
    files = [path for path in (home / ".claude" / "projects").rglob("*.jsonl") if path.parent.parent.name == "projects"]
    changed = max(files, key=lambda path: path.stat().st_mtime)
    before = changed.read_bytes()
    last = next(line for line in reversed(before.splitlines()) if b'"sessionId"' in line)
    seconds = []
    try:
        run([*PROGRAM, "sessions", "--json"], workspace, env)
        for number in range(max(3, plan.runs)):
            text = {"role": "user", "content": f"One more question, number {number}"}
            record = json.loads(last) | {"type": "user", "uuid": f"added-{number}", "message": text}
            with changed.open("ab") as file:
                file.write(json.dumps(record).encode() + b"\n")
            seconds.append(run([*PROGRAM, "sessions", "--json"], workspace, env).seconds)
    finally:
        changed.write_bytes(before)
    yield figure("warm", "complete list, one file grown", seconds, "s")


def _commands(_home: Path, workspace: Path, env: Mapping[str, str], kept: Path, plan: Plan) -> Iterator[Figure]:
    yield figure("search command", "search, no index of words", [make_words(workspace, env, kept)[0]], "s")
    for argv in (SEARCH, ["files", "app", "--json"]):
        seconds = [run([*PROGRAM, *argv], workspace, env).seconds for _ in range(max(3, plan.runs))]
        yield figure("search command", " ".join(argv), seconds, "s")


def _from_benchmark(group: str, argv: list[str], env: Mapping[str, str]) -> list[Figure]:
    """Return what another benchmark prints; one that fails, or never ends, is said and costs its own figures only."""
    command = [sys.executable, "-m", *argv]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=dict(env), capture_output=True, text=True, timeout=_LONGEST_SECONDS
        )
    except subprocess.TimeoutExpired:
        say(f"{argv[0]} was ended after {_LONGEST_SECONDS / 60:.0f} minutes")
        return []
    if done.returncode:
        say(f"{argv[0]} failed: {done.stderr.strip().splitlines()[-1:]}")
    return printed(group, done.stdout.splitlines())


# -- measurements beside histories ------------------------------------------------------------------------------------


def measure_meaning(count: int, runs: int, embedder: embedding.Embedder) -> Measured:
    """Return the figures of search by meaning over so many exchanges."""
    with tempfile.TemporaryDirectory(prefix="prima-tui-bench-") as folder:
        found = meaning.measure(count, Path(folder), embedder, runs)

    def timed(name: str, key: str, whose: str = "prima-tui") -> Figure:
        one = found[key]
        return Figure("meaning", name, "ms", one["median"], one["least"], one["worst"], one["runs"], whose)  # type: ignore[arg-type]

    figures = (
        timed("search, after the query's vector", "search"),
        timed("comparison alone", "compare"),
        timed("NumPy matrix product", "numpy", "baseline"),
        timed("SQL, array_cosine_similarity", "sql", "baseline"),
        figure("meaning, load", "from the file to ready", [found["load_s"]], "s"),
        figure("meaning, size", "file", [found["file_mb"]], "MB"),
        figure("meaning, size", "memory", [max(found["memory_mb"], 0.1)], "MB"),
    )
    return Measured(count, "exchanges", figures, f"{found['found']:.0f} sessions found by a query")


def measure_embedding(rounds: int) -> list[Figure]:
    """Return the throughput of embedding beside that of plain onnxruntime."""
    found = embedding.measure(rounds)
    return [
        figure("embedding", "tokens a second", found.ours, "/s"),
        figure("embedding", "plain onnxruntime", found.plain, "/s", "baseline"),
        figure("embedding", "ours to plain", found.ratios, ""),
        figure("embedding", "share of an update outside the model", [found.outside], ""),
    ]


# -- the report -------------------------------------------------------------------------------------------------------


def machine(venv: Path | None) -> str:
    """Return what the figures were measured on."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        models = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        processor = models[0] if models else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    packages = ", ".join([*(f"{name} {number}" for name, number in found.items()), *baselines.tool_versions(venv)])
    return (
        f"{processor}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}; {packages}"
    )


def table(measured: list[Measured]) -> list[str]:
    """Return the lines of a markdown table: a row for each figure, a column for each size."""
    lines = []
    for of in dict.fromkeys(one.of for one in measured):
        some = [one for one in measured if one.of == of]
        heads = [f"{one.size:,} {of}" if one.size else "" for one in some]
        lines += ["", f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(some)}"]
        rows: dict[tuple[str, str, str], dict[int, str]] = {}
        for one in some:
            for found in one.figures:
                rows.setdefault((found.group, found.name, found.whose), {})[one.size] = found.shown
        for group in dict.fromkeys(key[0] for key in rows):
            lines.append(f"| **{group}** |{' |' * len(some)}")
            for (of_group, name, whose), cells in rows.items():
                if of_group == group:
                    shown = f"*{name}*" if whose == "baseline" else name
                    lines.append(f"| {shown} | {' | '.join(cells.get(one.size, '') for one in some)} |")
    return lines


def plots(measured: list[Measured], out: Path) -> list[str]:
    """Write a plot of each group over size; return their names."""
    names = []
    for of in dict.fromkeys(one.of for one in measured if one.size):
        some = [one for one in measured if one.of == of]
        for group, unit in dict.fromkeys((found.group, found.unit) for one in some for found in one.figures):
            lines: dict[str, list[tuple[float, float]]] = {}
            theirs = set()
            for one in sorted(some, key=lambda one: one.size):
                for found in one.figures:
                    if (found.group, found.unit) == (group, unit) and found.median > 0 and unit:
                        lines.setdefault(found.name, []).append((one.size, found.median))
                        if found.whose == "baseline":
                            theirs.add(found.name)
            if lines:
                title = f"{group}, memory" if unit == "MB" and "memory" not in group else group
                name = f"{re.sub('[^a-z0-9]+', '-', title.lower())}.svg"
                svg = plot(title[0].upper() + title[1:], of, unit, lines, frozenset(theirs))
                (out / name).write_text(svg, encoding="utf-8")
                names.append(name)
    return names


def earlier_figures(out: Path) -> list[Measured]:
    """Return the figures of the report that is there already, nothing when there is none."""
    results = out / "results.json"
    return msgspec.json.decode(results.read_bytes(), type=list[Measured]) if results.is_file() else []


def write_report(
    out: Path, measured: list[Measured], on: str, seconds: float, earlier: Sequence[Measured] = ()
) -> None:
    """Write the table, the plots, and all figures as JSON; ``on`` says what they were measured on.

    ``earlier`` are figures that stay, as far as they were not measured again.
    """
    out.mkdir(parents=True, exist_ok=True)
    measured = added(earlier, measured)
    (out / "results.json").write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
    which = "Made in several runs, the last of which took" if earlier else "The whole run took"
    took = f"{which} {seconds / 60:.0f} minutes."
    about = [
        "# Benchmarks",
        "",
        "Medians of several runs, with the least and the worst in brackets; *baselines* in italics, in the same run.",
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {on}. {took}",
        CONDITION,
    ]
    about += [f"{one.size:,} {one.of}: {one.described}." for one in measured if one.described]
    pictures = [f"![{name.removesuffix('.svg')}]({name})" for name in plots(measured, out)]
    again = ["", "Made with `python -m tests.benchmarks.report`.", ""]
    text = [*about, *table(measured), "", *pictures, *again]
    (out / "README.md").write_text("\n".join(text), encoding="utf-8")


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--make", type=Path, help="the script that makes a history")
    parser.add_argument("--sizes", default="2000,20000,100000", help="numbers of sessions")
    parser.add_argument("--exchanges", default="20000,200000,1000000", help="for search by meaning")
    parser.add_argument("--baselines", type=Path, help="a virtual environment with fast-resume, ripgrep")
    parser.add_argument("--histories", type=Path, help="where made histories are kept")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--runs", type=int, default=3, help="of what takes long")
    parser.add_argument("--searches", type=int, default=10_000, help="over which memory must not grow")
    parser.add_argument(
        "--add", action="store_true", help="keep what OUT has already, as far as it's not measured again"
    )
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args(argv)
    if given.smoke:
        given.sizes, given.exchanges, given.runs, given.searches = "60", "300", 1, 20
    elif given.make is None:
        parser.error("--make is needed: the script that makes a history")
    return given


def main(argv: list[str] | None = None) -> None:
    """Measure all that is asked for and write the report."""
    given = arguments(argv)
    started = time.monotonic()
    on = f"{machine(given.baselines)}; load {os.getloadavg()[0]:.1f} at the start"
    plan = Plan(frozenset(given.only.split(",")), given.runs, given.searches, given.baselines)
    measured: list[Measured] = []
    earlier = earlier_figures(given.out) if given.add else []
    with tempfile.TemporaryDirectory(prefix="prima-tui-bench-") as temporary:
        histories = given.histories or Path(temporary, "histories")
        histories.mkdir(parents=True, exist_ok=True)
        needs_history = plan.wanted - {"meaning", "embedding"}
        for size in map(int, given.sizes.split(",")) if needs_history else ():
            home, workspace = made_history(given.make, histories.resolve(), size)
            files = baselines.history_files(home, workspace)
            described = f"{len(files):,} files, {sum(path.stat().st_size for path in files) / 1e6:,.0f} MB"
            kept = Path(temporary, f"kept-{size}")
            measured.append(Measured(size, "sessions", (), described))
            for found in measure_history(home, workspace, plan, kept):
                # written at once: what took an hour is there whatever becomes of the rest
                measured[-1] = msgspec.structs.replace(measured[-1], figures=(*measured[-1].figures, found))
                write_report(given.out, measured, on, time.monotonic() - started, earlier)
            shutil.rmtree(kept, ignore_errors=True)
        embedder = embedding.Embedder(Path(temporary, "model"))
        for count in map(int, given.exchanges.split(",")) if "meaning" in plan.wanted else ():
            say(f"search by meaning, {count:,} exchanges")
            measured.append(measure_meaning(count, max(5, given.runs), embedder))
            write_report(given.out, measured, on, time.monotonic() - started, earlier)
        if "embedding" in plan.wanted:
            say("embedding")
            measured.append(Measured(0, "embedding", tuple(measure_embedding(given.runs))))
        write_report(given.out, measured, on, time.monotonic() - started, earlier)
    say(f"written: {given.out / 'README.md'}")


if __name__ == "__main__":
    main()

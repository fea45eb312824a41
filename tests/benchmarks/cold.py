"""From bytes to a complete list with nothing kept, by turns with the other tool and under the same condition.

What a first start takes depends on whether the system holds the files in memory already: whoever runs first would pay
for the disk, and the other would not. So every byte of the history is read once just before each run of either.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.benchmarks import baselines
from tests.benchmarks.figures import Figure, figure
from tests.benchmarks.processes import PROGRAM, Run, run_measured

CONDITION = (
    "*Cold*: nothing is kept, and every byte of the history was read once just before each run of either program;"
    " they take turns."
)
_CHUNK = 1 << 20


def measure_cold(
    home: Path,
    workspace: Path,
    kept: Path,
    envs: tuple[Mapping[str, str], Mapping[str, str]],
    venv: Path | None,
    runs: int,
    say: Callable[[str], None],
) -> Iterator[Figure]:
    """Yield time and memory of first starts: ours (what it keeps is below ``kept``) and, where it is there, theirs.

    ``envs`` are our environment and theirs.
    """
    files = baselines.history_files(home, workspace)
    fast_resume = baselines.program("fr", venv)
    if fast_resume is None:
        say("fast-resume is not there: left out")
    ours: list[Run] = []
    theirs: list[Run] = []
    for _ in range(runs):
        shutil.rmtree(kept / "cache", ignore_errors=True)
        ours.append(_after_reading(files, [*PROGRAM, "sessions", "--json"], workspace, envs[0]))
        if fast_resume is not None:
            argv = [fast_resume, "--rebuild", "--json", "--limit", "1"]
            theirs.append(_after_reading(files, argv, workspace, envs[1]))
    yield figure("cold", "nothing kept: complete list", [one.seconds for one in ours], "s")
    yield figure("peak memory", "nothing kept: complete list", [one.peak_mb for one in ours], "MB")
    if theirs:
        yield figure("cold", "fr --rebuild", [one.seconds for one in theirs], "s", "baseline")
        yield figure("peak memory", "fr --rebuild", [one.peak_mb for one in theirs], "MB", "baseline")
        ratios = [mine.seconds / other.seconds for mine, other in zip(ours, theirs, strict=True)]
        yield figure("cold", "times fr --rebuild", ratios, "")


def _after_reading(files: Iterable[Path], argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> Run:
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.read(_CHUNK):
                pass
    return run_measured(argv, cwd, env)

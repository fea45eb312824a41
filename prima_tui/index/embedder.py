"""What an embedding model is, and the one that comes along: all-MiniLM-L6-v2 (int8) through fastembed, with no network.

The built-in model's files are put together in the cache folder (``model_file``) as fastembed expects them. Vectors are
normalised, so a dot product is the cosine.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from prima_tui.errors import ModelUnavailable
from prima_tui.index.model_file import model_folder
from prima_tui.model.session import Exchange

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

DIMENSIONS = 384
READ_CHARACTERS = 2_000
"""Of each exchange this much is read."""
DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
# Between two keys of a word less time passes, and soon after the last of them the panes are drawn, too.
REST_SECONDS = 0.8
# While it waits, so often it is looked whether it still must.
_LOOK_SECONDS = 0.05
_WORKERS = max(1, min(4, os.cpu_count() or 1))
_TOKENS_AT_ONCE = 192
"""Of the texts that the model reads in one run; with more it no longer works within the processor's caches."""
_COUNTED_CHARACTERS = 600
"""Longer texts are read alone, whatever their tokens."""
_PADDING_WORTH_A_RUN = 8
"""Tokens by which a text may be shorter than the longest it is read with: a run of its own costs more than those."""


def embedded_text(exchange: Exchange) -> str:
    """Return what the model reads of an exchange: both sides together, the first 2,000 characters."""
    sides = [f"User: {exchange.user}"] if exchange.user else []
    if exchange.assistant:
        sides.append(f"Assistant: {exchange.assistant}")
    return "\n".join(sides)[:READ_CHARACTERS]


def query_text(query: str) -> str:
    """Return what the model reads of a query: the same form, as if the user had said it."""
    return f"User: {query}"[:READ_CHARACTERS]


def text_hash(text: str) -> str:
    """Return the key under which a text's vector is known: equal texts are embedded once."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


class EmbeddingModel(Protocol):
    """An embedding model. Implementations are safe to use from several threads and load, or connect, at first use."""

    name: str
    """What an index remembers: vectors of two names are never compared."""

    def query(self, query: str) -> Vector:
        """Return the vector, of length one, of what is looked for in conversations. Raises ModelUnavailable."""
        ...

    def question(self, text: str) -> Vector:
        """Return the vector of what is looked for in texts that nobody said to anybody. Raises ModelUnavailable."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in order, all of one size. Raises ModelUnavailable."""
        ...

    def give_way(self, seconds: float = REST_SECONDS) -> None:
        """Someone is typing: leave the processor to the screen for so long, 0 to go on. Queries never wait."""
        ...


class Embedder:
    """Loads the built-in model at its first use and keeps it. Safe to use from several threads.

    Several threads that each run the model on texts of their own embed more than one run with several threads does.
    Short texts of nearly one length are read in one run: the vectors stay what they are, since the weights are plain
    numbers once they are loaded, and what padding would cost is told beforehand.
    """

    name = DEFAULT_MODEL
    dimensions = DIMENSIONS
    workers = _WORKERS

    def __init__(self, cache: Path) -> None:
        self._folder = cache / "model"
        self._lock = threading.Lock()
        self._model_loaded: TextEmbedding | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._failed: ModelUnavailable | None = None
        self._rested_at = 0.0

    def query(self, query: str) -> Vector:
        """Return the query's vector, shape (384,) for the built-in model. Raises ModelUnavailable."""
        return self._vectors(self._loaded(), [query_text(query)])[0]

    def question(self, text: str) -> Vector:
        """Return the vector of a text as it stands, shape as of a query. Raises ModelUnavailable."""
        return self._vectors(self._loaded(), [text[:READ_CHARACTERS]])[0]

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in order. Raises ModelUnavailable."""
        if not texts:
            return []
        model = self._loaded()
        if len(texts) == 1 or self.workers == 1:
            vectors = []
            for text in texts:
                self._wait_for_rest()
                vectors += self._vectors(model, [text])
            return vectors
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="embed")
            pool = self._pool
        # each worker takes one run after the other, longest texts first, so that none ends long after the others
        runs = iter(self._runs(model, texts, pool))
        found: dict[int, Vector] = {}
        turn = threading.Lock()

        def work() -> None:
            _lower_priority()
            while True:
                self._wait_for_rest()
                with turn:
                    run = next(runs, None)
                if run is None:
                    return
                found.update(zip(run, self._vectors(model, [texts[place] for place in run]), strict=True))

        for future in [pool.submit(work) for _ in range(self.workers)]:
            future.result()
        return [found[place] for place in range(len(texts))]

    def give_way(self, seconds: float = REST_SECONDS) -> None:
        """Begin no further text of an :meth:`embed` for so long, 0 to go on at once; queries never wait."""
        self._rested_at = time.monotonic() + seconds

    def _wait_for_rest(self) -> None:
        while (left := self._rested_at - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_SECONDS))

    def _runs(self, model: TextEmbedding, texts: Sequence[str], pool: Executor) -> list[list[int]]:
        """Return the places of the texts that are read together, the longest texts first."""
        places = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        runs = [[place] for place in places if len(texts[place]) > _COUNTED_CHARACTERS]
        short = places[len(runs) :]
        counted = zip(pool.map(lambda place: _tokens(model, texts[place]), short), short, strict=True)
        longest = 0
        for tokens, place in sorted(counted, reverse=True):
            if longest and longest - tokens < _PADDING_WORTH_A_RUN and (len(runs[-1]) + 1) * longest <= _TOKENS_AT_ONCE:
                runs[-1].append(place)
            else:
                runs.append([place])
                longest = tokens
        # runs are of nearly one size: with one too few in the last round a worker would have nothing to do meanwhile
        while len(runs) % self.workers and (largest := max(runs[::-1], key=len))[1:]:
            runs.remove(largest)
            half = len(largest) // 2
            runs += [largest[:half], largest[half:]]
        return runs

    def _vectors(self, model: TextEmbedding, texts: list[str]) -> list[Vector]:
        try:
            return list(model.embed(texts, batch_size=len(texts)))  # type: ignore[arg-type]
        except Exception as error:
            raise ModelUnavailable(f"the embedding model failed: {error}") from error

    def _loaded(self) -> TextEmbedding:
        with self._lock:
            if self._failed is not None:
                raise self._failed
            if self._model_loaded is None:
                try:
                    self._model_loaded = self._load()
                except Exception as error:
                    self._failed = ModelUnavailable(f"the embedding model can't be loaded: {_line(error)}")
                    raise self._failed from error
            return self._model_loaded

    def _load(self) -> TextEmbedding:
        return _load(self._folder)


def _tokens(model: TextEmbedding, text: str) -> int:
    try:
        return model.token_count([text])
    except Exception as error:
        raise ModelUnavailable(f"the embedding model failed: {error}") from error


def _load(folder: Path) -> TextEmbedding:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from fastembed import TextEmbedding

    with model_folder(folder) as assembled:
        return TextEmbedding(DEFAULT_MODEL, specific_model_path=str(assembled), threads=1)


def _lower_priority() -> None:
    """Let this thread yield to the screen's where the system can do that for single threads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


def _line(error: Exception) -> str:
    return (str(error).strip().split("\n")[0] or type(error).__name__)[:300]

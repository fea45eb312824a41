"""An embedding model that needs no file: texts that share words are alike. Counts what it is given."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class WordModel:
    """Each word is a direction, so the cosine of two texts tells how many words they share."""

    def __init__(self, name: str = "words", size: int = 384) -> None:
        self.name = name
        self.size = size
        self.embedded: list[str] = []
        self.before_each = lambda: None

    def query(self, query: str) -> NDArray[np.float32]:
        return self._vector(query)

    def question(self, text: str) -> NDArray[np.float32]:
        return self._vector(text)

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        self.before_each()
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def give_way(self, seconds: float = 0.0) -> None:
        pass

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.size, np.float32)
        vector[0] = 0.01
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % self.size] += 1
        return vector / np.linalg.norm(vector)

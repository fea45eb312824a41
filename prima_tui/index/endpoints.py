"""Embedding models behind an HTTP endpoint: Ollama's, and any that speaks as OpenAI's does.

Only an address that the user configured is ever spoken to: no redirect is followed, and requests to this computer go
through no proxy. Every failure becomes one line that says what helps.

Protocols: Ollama ``POST /api/embed {model, input: […]} -> {embeddings: [[…]]}``, in older versions ``POST
/api/embeddings {model, prompt} -> {embedding: […]}``; OpenAI ``POST /v1/embeddings {model, input: […]} -> {data:
[{index, embedding}]}``; errors ``{error: "…"}`` or ``{error: {message}}``.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import numpy as np
import orjson

from prima_tui.config import ModelSettings
from prima_tui.endpoint_settings import is_loopback
from prima_tui.errors import ModelUnavailable
from prima_tui.index.embedder import READ_CHARACTERS, REST_SECONDS, query_text
from prima_tui.model.text import shown

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

OLLAMA_URL = "http://localhost:11434"
_BATCH = 32
"""Texts in one request."""
_QUERY_SECONDS = 10.0
"""A person waits for a query, so it is given up sooner than a batch."""
_CONNECT_SECONDS = 3.0
_REST_SECONDS = 5.0
"""An endpoint that did not answer is left alone for so long: each key typed is a search."""
_LARGEST_ANSWER = 64 * 1024 * 1024
_SHORTER = (1_000, 400)
"""Characters to which a text is cut when the model says that it is too long."""


class _TooLong(Exception):
    """The endpoint takes no text of this length (or not so many at once)."""


class _NoSuchPath(Exception):
    """The endpoint doesn't know the path: an older version."""


def endpoint_model(settings: ModelSettings, env: Mapping[str, str]) -> Endpoint:
    """Return the configured endpoint's model; nothing is connected yet."""
    return (OllamaEndpoint if settings.kind == "ollama" else OpenAIEndpoint)(settings, env)


class Endpoint:
    """What both protocols have in common: batches, deadlines, the checks of an answer, the words of a failure."""

    kind = ""

    def __init__(self, settings: ModelSettings, env: Mapping[str, str]) -> None:
        self.model = settings.name
        self.name = f"{self.kind}:{settings.name}"
        self.url = (settings.url or OLLAMA_URL).rstrip("/")
        self._key_env = settings.key_env
        self._env = env
        self._timeout = settings.timeout_seconds
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()
        self._down: tuple[float, str] = (0.0, "")
        self._size = 0

    def query(self, query: str) -> Vector:
        """Return the query's vector. Raises ModelUnavailable."""
        return self.question(query_text(query))

    def question(self, text: str) -> Vector:
        """Return the vector of a text as it stands, for which somebody waits. Raises ModelUnavailable."""
        return self._vectors([text[:READ_CHARACTERS]], min(self._timeout, _QUERY_SECONDS))[0]

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in order. Raises ModelUnavailable."""
        vectors: list[Vector] = []
        for first in range(0, len(texts), _BATCH):
            vectors += self._vectors(texts[first : first + _BATCH], self._timeout)
        return vectors

    def give_way(self, seconds: float = REST_SECONDS) -> None:
        """Nothing: the work is done elsewhere."""

    def _vectors(self, texts: Sequence[str], seconds: float) -> list[Vector]:
        until, line = self._down
        if time.monotonic() < until:
            raise ModelUnavailable(line)
        try:
            return self._checked(self._ask(texts, seconds), len(texts))
        except _TooLong as error:
            if len(texts) > 1:
                return [self._vectors([text], seconds)[0] for text in texts]
            shorter = next((size for size in _SHORTER if len(texts[0]) > size), 0)
            if not shorter:
                raise ModelUnavailable(f"{self.url} refused a text: {error}") from error
            return self._vectors([texts[0][:shorter]], seconds)

    def _ask(self, texts: Sequence[str], seconds: float) -> list[Any]:
        """Return what should be the vectors. Raises ModelUnavailable, _TooLong."""
        raise NotImplementedError

    def _checked(self, answer: Sequence[Any], count: int) -> list[Vector]:
        """Return the vectors, each of length one, as 32-bit numbers. Raises ModelUnavailable for anything else."""
        if len(answer) != count:
            self._fail(f"{self.url} gave {len(answer)} vectors for {count} texts")
        vectors = []
        for one in answer:
            try:
                with np.errstate(over="ignore"):
                    vector = np.asarray(one, dtype=np.float32)
                    size = float(np.linalg.norm(vector)) if vector.ndim == 1 and vector.size else math.nan
            except (TypeError, ValueError, OverflowError):
                size = math.nan
            if not math.isfinite(size) or size == 0.0:
                self._fail(f"{self.url} gave something that is no vector")
            if self._size and vector.size != self._size:
                self._fail(f"{self.url} gave a vector of {vector.size} numbers after some of {self._size}")
            self._size = vector.size
            vectors.append(vector / np.float32(size))
        return vectors

    def _post(self, path: str, body: dict[str, Any], seconds: float) -> Any:
        """Post JSON and return the answer's JSON. Raises ModelUnavailable, _TooLong, _NoSuchPath."""
        client = self._connection()
        deadline = time.monotonic() + seconds
        timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        data = bytearray()
        try:
            with client.stream(
                "POST", self.url + path, content=orjson.dumps(body), headers=self._headers(), timeout=timeout
            ) as response:
                for chunk in response.iter_bytes():
                    data += chunk
                    if time.monotonic() > deadline:
                        raise httpx.ReadTimeout("too slow")
                    if len(data) > _LARGEST_ANSWER:
                        self._fail(f"{self.url} gave an answer past all measure")
                status = response.status_code
        except httpx.TimeoutException as error:
            self._leave_alone(f"{self.url} did not answer within {seconds:g} seconds", error)
        except httpx.ConnectError as error:
            self._leave_alone(self._not_there(), error)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            self._leave_alone(f"{self.url} broke off: {_line(error)}", error)
        try:
            answer = orjson.loads(bytes(data))
        except orjson.JSONDecodeError:
            answer = None
        if status != 200 or answer is None:
            self._refused(status, _error_text(answer))
        return answer

    def _refused(self, status: int, text: str) -> NoReturn:
        lowered = text.lower()
        if status == 200:
            self._fail(f"{self.url} gave an answer that is no JSON: is it an endpoint for embeddings?")
        if 300 <= status < 400:
            self._fail(f"{self.url} sends elsewhere ({status}), which is not followed; set its final address")
        if status in (401, 403):
            self._fail(self._unauthorised(status))
        if "model" in lowered and any(sign in lowered for sign in ("not found", "does not exist", "no such model")):
            self._fail(self._no_model())
        if status == 404:
            raise _NoSuchPath
        if status == 413 or any(sign in lowered for sign in ("too large", "too long", "context length", "maximum")):
            raise _TooLong(text or "it is too long")
        if status == 429:
            self._leave_alone(f"{self.url} takes no more requests for now ({status}): {text or 'try again later'}")
        self._fail(f"{self.url} answered {status}" + (f": {text}" if text else ""))

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self._key_env:
            key = self._env.get(self._key_env, "").strip()
            if not key:
                self._fail(f"the variable {self._key_env}, which should hold the key for {self.url}, is not set")
            if not key.isascii() or not key.isprintable():
                self._fail(f"what the variable {self._key_env} holds can't be a key for {self.url}")
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _connection(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(trust_env=not is_loopback(self.url), follow_redirects=False)
            return self._client

    def _unauthorised(self, status: int) -> str:
        if self._key_env:
            return f"{self.url} refused the key in the variable {self._key_env} ({status})"
        return f"{self.url} wants a key ({status}): name the variable that holds it with key_env under [model]"

    def _not_there(self) -> str:
        return f"nothing answers at {self.url}: start the server, or change url under [model]"

    def _no_model(self) -> str:
        return f"{self.url} has no model {self.model}"

    def _leave_alone(self, line: str, cause: Exception | None = None) -> NoReturn:
        self._down = (time.monotonic() + _REST_SECONDS, line)
        raise ModelUnavailable(line) from cause

    def _fail(self, line: str) -> NoReturn:
        raise ModelUnavailable(line)


class OllamaEndpoint(Endpoint):
    """A model served by Ollama."""

    kind = "ollama"

    def __init__(self, settings: ModelSettings, env: Mapping[str, str]) -> None:
        super().__init__(settings, env)
        self._one_by_one = False

    def _ask(self, texts: Sequence[str], seconds: float) -> list[Any]:
        if not self._one_by_one:
            try:
                answer = self._post(
                    "/api/embed", {"model": self.model, "input": list(texts), "truncate": True}, seconds
                )
                return _list(answer, "embeddings")
            except _NoSuchPath:
                self._one_by_one = True
        try:
            return [self._one(text, seconds) for text in texts]
        except _NoSuchPath:
            self._one_by_one = False
            self._fail(f"{self.url} is no Ollama: it knows neither /api/embed nor /api/embeddings")

    def _one(self, text: str, seconds: float) -> Any:
        answer = self._post("/api/embeddings", {"model": self.model, "prompt": text}, seconds)
        return answer.get("embedding") if isinstance(answer, dict) else None

    def _not_there(self) -> str:
        return f"Ollama does not answer at {self.url}: start it with `ollama serve`"

    def _no_model(self) -> str:
        return f"Ollama has no model {self.model}: pull it with `ollama pull {self.model}`"


class OpenAIEndpoint(Endpoint):
    """A model behind an endpoint that speaks as OpenAI's does (vLLM, llama.cpp, LM Studio and many others)."""

    kind = "openai"

    def _ask(self, texts: Sequence[str], seconds: float) -> list[Any]:
        path = "/embeddings" if self.url.endswith("/v1") else "/v1/embeddings"
        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        try:
            rows = _list(self._post(path, body, seconds), "data")
        except _NoSuchPath:
            self._fail(f"{self.url} knows no {path}: is it an endpoint for embeddings?")
        if not all(isinstance(row, dict) for row in rows):
            return [None] * len(rows)
        places = [row.get("index", place) for place, row in enumerate(rows)]
        if sorted(places, key=str) != sorted(range(len(rows)), key=str):
            self._fail(f"{self.url} gave vectors without their order")
        ordered = sorted(zip(places, rows, strict=True), key=lambda pair: int(pair[0]))
        return [row.get("embedding") for _place, row in ordered]


def _list(answer: Any, name: str) -> list[Any]:
    found = answer.get(name) if isinstance(answer, dict) else None
    return found if isinstance(found, list) else []


def _error_text(answer: Any) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return shown(error.strip().split("\n")[0])[:200] if isinstance(error, str) else ""


def _line(error: Exception) -> str:
    return shown(str(error).strip().split("\n")[0] or type(error).__name__)[:200]

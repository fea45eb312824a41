"""A real HTTP server on the loopback address that speaks Ollama's and OpenAI's embedding protocols, well or badly."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from tests.loopback import running


def vector_of(text: str, size: int) -> list[float]:
    """A vector that depends on the text's words, so that alike texts have alike vectors; not normalised."""
    total = np.zeros(size)
    for word in text.lower().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).standard_normal(size)
    return [float(number) for number in total * 3.0]


class Endpoint(ThreadingHTTPServer):
    """The server; what is set here decides how it behaves, ``requests`` is what it was asked."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.size = 12
        self.key = ""
        self.models = {"tiny"}
        self.old_ollama = False
        self.stall = 0.0
        self.drip = 0.0
        self.longest = 0
        self.answer: tuple[int, bytes] | None = None
        self.headers: dict[str, str] = {}
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.answered = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def texts(self) -> list[str]:
        """Every text it was asked to embed."""
        found: list[str] = []
        for _path, body, _headers in self.requests:
            given = body.get("input", body.get("prompt", []))
            found += [given] if isinstance(given, str) else given
        return found


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, dict(self.headers)))
        status, data = self.server.answer or self._answer(body)
        time.sleep(self.server.stall)
        try:
            self.send_response(status)
            for name, value in self.server.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.server.drip:
                for place in range(len(data)):
                    self.wfile.write(data[place : place + 1])
                    self.wfile.flush()
                    time.sleep(self.server.drip)
            else:
                self.wfile.write(data)
            self.server.answered += 1
        except OSError:
            return

    def _answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        server = self.server
        if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
            return 401, json.dumps({"error": {"message": "Incorrect API key provided"}}).encode()
        if self.path == "/api/embed" and not server.old_ollama:
            if body["model"] not in server.models:
                return 404, json.dumps({"error": f'model "{body["model"]}" not found, try pulling it first'}).encode()
            return 200, json.dumps({"embeddings": [vector_of(text, server.size) for text in body["input"]]}).encode()
        if self.path == "/api/embeddings":
            return 200, json.dumps({"embedding": vector_of(body["prompt"], server.size)}).encode()
        if self.path == "/v1/embeddings":
            if body["model"] not in server.models:
                message = f"The model `{body['model']}` does not exist"
                return 404, json.dumps({"error": {"message": message, "code": "model_not_found"}}).encode()
            if server.longest and any(len(text) > server.longest for text in body["input"]):
                return 400, json.dumps({"error": {"message": "longer than the maximum context length"}}).encode()
            rows = [
                {"index": place, "object": "embedding", "embedding": vector_of(text, server.size)}
                for place, text in enumerate(body["input"])
            ]
            return 200, json.dumps({"object": "list", "data": rows[::-1]}).encode()
        return 404, b"404 page not found"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Run a server for as long as the block lasts."""
    with running(Endpoint()) as server:
        yield server

"""A real HTTP server on loopback that answers chat completions: well, slowly, broken off, or with nonsense."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.loopback import running

Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class ChatServer(ThreadingHTTPServer):
    """Keeps what it was asked; ``behaviour`` answers."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, ChatServer)
        server.requests.append((self.path, dict(self.headers), body))
        try:
            server.behaviour(self, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[ChatServer]:
    """Run a server for as long as the block lasts."""
    with running(ChatServer(behaviour)) as server:
        yield server


def start(handler: BaseHTTPRequestHandler, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
    """Send the head of an answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


def event(handler: BaseHTTPRequestHandler, text: str | None, reason: str | None = None) -> None:
    """Send one event as OpenAI's API does."""
    delta = {} if text is None else {"content": text}
    send(handler, f"data: {json.dumps({'choices': [{'delta': delta, 'finish_reason': reason}]})}\n\n")


def send(handler: BaseHTTPRequestHandler, text: str) -> None:
    """Send bytes at once."""
    handler.wfile.write(text.encode())
    handler.wfile.flush()


def streaming(*pieces: str, pause: float = 0.0) -> Behaviour:
    """Answer with these pieces, and come to a proper end."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        for piece in pieces:
            event(handler, piece)
            time.sleep(pause)
        event(handler, None, "stop")
        send(handler, "data: [DONE]\n\n")

    return behave

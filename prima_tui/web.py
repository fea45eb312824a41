"""The screen in a browser on this computer: a server on the loopback address that only who knows its token can use.

Textual's own server runs the program once for each page and passes keys and pictures on. Around it stands a guard: the
Host header must be the loopback address itself (a name that an attacker's page points there is refused), every request
must carry the token, and a websocket must come from our own page. The page may fetch nothing from anywhere else.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable

from aiohttp import web
from textual_serve.server import Server

HOST = "127.0.0.1"
_STOP_SECONDS = 2.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalServer(Server):
    """Serves a command that draws with Textual, on one port of the loopback address."""

    def __init__(self, command: str, listener: socket.socket, token: str = "") -> None:
        """``listener`` is bound to the loopback address; ``token`` is made up when none is given."""
        self.listener = listener
        self.token = token or secrets.token_urlsafe(24)
        port = listener.getsockname()[1]
        self.origin = f"http://{HOST}:{port}"
        self._cookie = f"prima-tui-{port}"
        super().__init__(command, host=HOST, port=port, title="prima-tui", public_url=self.origin)

    @property
    def url(self) -> str:
        """The address to open: with the token, which the browser keeps in a cookie until it is closed."""
        return f"{self.origin}/?token={self.token}"

    async def on_startup(self, app: web.Application) -> None:
        """Textual's: says nothing, since who started it does."""

    async def application(self) -> web.Application:
        """Return the web application with the guard around it."""
        application = await self._make_app()

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        application.middlewares.append(guard)
        application.on_response_prepare.append(self._add_headers)
        return application

    def run(self) -> None:
        """Serve until interrupted."""
        logging.getLogger("textual-serve").setLevel(logging.CRITICAL)
        web.run_app(
            self.application(),
            sock=self.listener,
            print=lambda *_words: None,
            access_log=None,
            shutdown_timeout=_STOP_SECONDS,
        )

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Host", "") != self.origin.removeprefix("http://"):
            raise web.HTTPForbidden(text="This server answers at its own address only.")
        if self._is_token(request.query.get("token", "")) and request.path == "/":
            # out of the address at once, so that it stays in no history and in no one's sight
            found = web.HTTPFound("/")
            found.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict", path="/")
            raise found
        if not self._is_token(request.cookies.get(self._cookie, "")):
            raise web.HTTPForbidden(text="Open the whole address that prima-tui printed, with its token.")
        if request.path == "/ws" and request.headers.get("Origin", "") != self.origin:
            raise web.HTTPForbidden(text="Only the program's own page may connect.")
        return await handler(request)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    async def _add_headers(self, _request: web.Request, response: web.StreamResponse) -> None:
        socket_origin = self.origin.replace("http:", "ws:")
        response.headers["Content-Security-Policy"] = (
            "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {socket_origin}; "
            "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-store"


def listener_at(port: int) -> socket.socket:
    """Return a socket bound to a port of the loopback address (0: a free one). Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((HOST, port))
    except OSError:
        listener.close()
        raise
    return listener

"""The screen in a browser: only with the token, only at the loopback address, only from our own page."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

from aiohttp import web  # noqa: E402

from prima_tui.cli_serve import command_for_shell  # noqa: E402
from prima_tui.web import HOST, LocalServer, listener_at  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LocalServer]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    started: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_shell

    async def noted(*given: Any, **named: Any) -> asyncio.subprocess.Process:
        started.append(await start(*given, **named))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_shell", noted)
    words = [sys.executable, "-m", "prima_tui", "--demo", "--workspace", str(tmp_path)]
    server = LocalServer(command_for_shell(words), listener_at(0))
    runner = web.AppRunner(await server.application(), shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, server.listener).start()
    yield server
    await runner.cleanup()
    for process in started:
        await asyncio.wait_for(process.wait(), 60)


async def test_nothing_is_answered_without_the_token_or_at_another_name(server: LocalServer) -> None:
    async with aiohttp.ClientSession() as browser:
        for path in ("/", "/static/js/textual.js", "/ws", "/download/x", "/?token=wrong", f"/ws?token={server.token}"):
            async with browser.get(server.origin + path, allow_redirects=False) as answer:
                assert answer.status == 403, path
        for name in ("evil.example", f"localhost:{server.port}", HOST):
            async with browser.get(server.url, headers={"Host": name}, allow_redirects=False) as answer:
                assert answer.status == 403, name


async def test_the_token_leaves_the_address_at_once_and_the_page_may_fetch_nothing_else(server: LocalServer) -> None:
    assert server.listener.getsockname()[0] == HOST
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as browser, browser.get(server.url) as page:
        assert page.status == 200
        assert server.token not in str(page.url)
        [cookie] = page.history[0].cookies.values()
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "https:" not in policy
        assert f"ws://{HOST}:{server.port}/ws" in await page.text()
        # a cookie is sent to every port of a computer, so another page's websocket comes with it too
        for origin in ("http://127.0.0.1:1", "http://evil.example", ""):
            async with browser.get(f"{server.origin}/ws", headers={"Origin": origin}) as refused:
                assert refused.status == 403


async def test_the_program_draws_in_the_browser_and_takes_keys(server: LocalServer) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as browser:
        async with browser.get(server.url):
            pass
        address = f"{server.origin}/ws?width=120&height=40"
        async with browser.ws_connect(address, headers={"Origin": server.origin}, max_msg_size=0) as socket:
            drawn = ""

            async def until(text: str) -> None:
                nonlocal drawn
                while text not in drawn:
                    message = await socket.receive()
                    assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), drawn[-2000:]
                    if message.type == aiohttp.WSMsgType.BINARY:
                        drawn += message.data.decode("utf-8", "replace")

            await asyncio.wait_for(until("this workspace"), 90)
            await socket.send_str(json.dumps(["stdin", "\x1bOP"]))
            await asyncio.wait_for(until("Keys"), 60)
            await socket.send_str(json.dumps(["stdin", "\x11"]))

            async def ended() -> None:
                while (await socket.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                    pass

            await asyncio.wait_for(ended(), 60)


def test_the_command_is_one_line_for_the_shell() -> None:
    words = ["/a b/python", "-m", "prima_tui", "--workspace", "it's"]
    assert command_for_shell(words, "linux") == "exec '/a b/python' -m prima_tui --workspace 'it'\"'\"'s'"
    assert command_for_shell(words, "win32") == '"/a b/python" -m prima_tui --workspace it\'s'

"""How long the screen's event loop stands still while one types, scrolls and resizes over a long list.

``python -m tests.benchmarks.stalls [ROWS]`` makes a memory of so many sessions (50,000), drives the real program
without a terminal, and prints for each thing done the 99th percentile and the worst stall of the loop, in
milliseconds; the same with a thread at work that embeds. A frame is 16 ms.

A ticker that sleeps for a millisecond notes by how much it is late; a thread looks whose code runs meanwhile, this
program's own or Textual's, which paints what changed in one go. What the machine itself takes away is measured
first, with the program at rest: stalls of that size are not the program's. The garbage collector is set as the program
sets it in a terminal.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec
from textual import events
from textual.pilot import Pilot

from prima_tui.model.hits import Answer, Hit
from prima_tui.model.query import parse
from prima_tui.model.session import Exchange
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.garbage import ShortRounds
from tests.benchmarks.loop_watch import LoopWatch, told
from tests.tui.conftest import NOW, FakeMemory, session
from tests.tui.driving import answered, browse, sessions, settled

LONG_AT = 3
"""Which session has a conversation of 20,000 exchanges."""
WORDS = ("login", "checkout", "migration", "worker", "rate", "cookie", "price", "release")


class LargeMemory(FakeMemory):
    """So many sessions; a search takes those whose number fits, in a thread, and holds the interpreter but shortly."""

    def __init__(self, rows: int) -> None:
        first = session(1, "")
        super().__init__(
            tuple(
                msgspec.structs.replace(
                    first,
                    id=str(number),
                    title=f"Session {number} about {WORDS[number % len(WORDS)]} and {WORDS[number % 7]}",
                    ended_at=NOW - timedelta(minutes=11 * number),
                    message_count=number * 7_919 % 997,
                )
                for number in range(rows)
            )
        )
        said = f"{' '.join(WORDS)} again and again. " * 6
        self.conversations[self.sessions[LONG_AT].key] = tuple(
            Exchange(f"question {number} about {WORDS[number % 8]}", f"{said}\n\n```python\nx = {number}\n```", NOW)
            for number in range(20_000)
        )
        self._hits = tuple(Hit(found, 50.0) for found in self.sessions)

    def search(self, query: str, mode: Any, **_options: Any) -> Answer:
        words = tuple(parse(query).words)
        hits = self._hits if not words else self._hits[len(query) % 5 :: 2]
        return Answer(query, mode, hits, words, took_ms=1.0)


class Ticker:
    """Runs things one after another, and prints how late the loop was meanwhile."""

    def __init__(self, causes: int) -> None:
        self._watch = LoopWatch()
        self._causes = causes

    async def during(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run something and print how late the loop was meanwhile."""
        with self._watch.watching() as delays:
            await work()
        print(told(what, delays, self._causes), flush=True)


def strike(app: PrimaApp, key: str) -> None:
    """Send a key, as the terminal's driver does, and wait for nothing."""
    name = {" ": "space"}.get(key, key)
    app.post_message(events.Key(name, key if len(key) == 1 else None))


def embedding(stop: threading.Event) -> None:
    """Keep a core as busy as embedding does: mostly in code that lets the interpreter go, and now and then in ours."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    import numpy as np

    matrix = np.random.default_rng(1).normal(size=(700, 700)).astype("float32")
    while not stop.is_set():
        for _ in range(4):
            matrix @ matrix
        sum(number * number for number in range(20_000))


async def measured(rows: int, causes: int) -> None:
    """Drive the program and print what was found."""
    app = PrimaApp(LargeMemory(rows), clock=lambda: NOW, refresh_seconds=600.0)  # type: ignore[arg-type]
    sys.setswitchinterval(0.001)
    async with app.run_test(size=(160, 45)) as pilot:
        await settled(pilot, answered(app, ""), 60)
        await settled(pilot, lambda: not browse(app)._again_wanted, 60)
        await asyncio.sleep(2)
        gc.set_threshold(500_000, 20, 20)  # as the program's command line does
        ShortRounds().begin()
        ticker = Ticker(causes)
        await ticker.during("at rest", lambda: asyncio.sleep(3))
        await steps(app, pilot, ticker, "")
        stop = threading.Event()
        thread = threading.Thread(target=embedding, args=(stop,), daemon=True)
        thread.start()
        await ticker.during("at rest, while embedding", lambda: asyncio.sleep(3))
        await steps(app, pilot, ticker, ", while embedding")
        stop.set()
        thread.join()


async def steps(app: PrimaApp, pilot: Pilot[Any], ticker: Ticker, how: str) -> None:
    """Type, scroll, resize, group."""

    async def typing() -> None:
        for letter in "login cookie":
            strike(app, letter)
            await asyncio.sleep(0.12)
        await settled(pilot, answered(app, "login cookie"), 60)
        for _ in range(12):
            strike(app, "backspace")
            await asyncio.sleep(0.08)
        await settled(pilot, answered(app, ""), 60)

    async def scrolling() -> None:
        for key in (*["pagedown"] * 20, "ctrl+end", *["pageup"] * 20, "ctrl+home", *["down"] * 40):
            strike(app, key)
            await asyncio.sleep(0.03)

    async def wheel() -> None:
        for _ in range(60):
            sessions(app).scroll_relative(y=3, animate=False)
            await asyncio.sleep(0.016)

    async def resizing() -> None:
        for width in (*range(160, 90, -7), *range(90, 200, 11), 160):
            await pilot.resize_terminal(width, 45)
            await asyncio.sleep(0.05)

    async def arranging() -> None:
        for key in ("alt+g", "alt+g", "alt+g", "ctrl+s", "ctrl+s", "ctrl+s", "ctrl+s", "f7", "f7", "f7"):
            strike(app, key)
            await asyncio.sleep(0.4)

    async def views() -> None:
        for key in ("alt+l", "escape", "alt+s", "escape"):
            strike(app, key)
            await asyncio.sleep(0.8)

    async def long_conversation() -> None:
        sessions(app).select(LONG_AT)
        pane = browse(app).query_one(ConversationPane)
        await settled(pilot, lambda: len(pane.document.starts) == 20_000, 60)
        pane.focus()
        for key in ("end", "home", "pagedown", "end", "ctrl+f", *"cookie", "enter", "n", "n", "N", "escape"):
            strike(app, key)
            await asyncio.sleep(0.15)
        app.screen.query_one("#query").focus()
        sessions(app).select(0)
        await asyncio.sleep(0.5)

    for what, work in (
        ("typing", typing),
        ("keys in the list", scrolling),
        ("wheel", wheel),
        ("resizing", resizing),
        ("groups, order, rows", arranging),
        ("timeline, statistics", views),
        ("a conversation of 20,000", long_conversation),
    ):
        await ticker.during(what + how, work)


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=50_000)
    parser.add_argument("--causes", type=int, default=0, help="so many of the worst delays of each, with their causes")
    given = parser.parse_args()
    asyncio.run(measured(given.rows, given.causes))


if __name__ == "__main__":
    main()

"""When a search begins: the first of keys struck together at once, those right after it as one."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from prima_tui.model.documents import DocumentsAnswer
from prima_tui.model.hits import Answer, Cancel, Mode
from prima_tui.tui import live_search
from prima_tui.tui.live_search import LiveSearch


class _Memory:
    """Notes what is searched for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.modes: list[Mode] = []
        self.held: threading.Event | None = None

    def search(self, query: str, mode: Mode, *, deep: bool = False, cancel: Cancel | None = None) -> Answer:
        self.asked.append(query)
        self.modes.append(mode)
        while self.held is not None and cancel is not None and not self.held.wait(0.001):
            cancel.check()
        return Answer(query, mode)

    def search_documents(
        self, text: str, mode: Mode, *, limit: int | None = None, alone: bool = False, cancel: Cancel | None = None
    ) -> DocumentsAnswer | None:
        return None


async def _ask(live: LiveSearch, memory: _Memory, query: str) -> list[Answer]:
    return [answer async for answer, _last in live.answers(memory, query, "keyword")]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time, a list of one, which stands still unless a test moves it."""
    now = [100.0]
    monkeypatch.setattr(live_search, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> list[float]:
    """Return the pauses that searches made; none takes longer than the rest of the loop's turn."""
    made: list[float] = []
    sleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        made.append(seconds)
        await sleep(0)

    monkeypatch.setattr(live_search.asyncio, "sleep", pause)
    return made


async def test_a_key_after_a_pause_is_searched_for_at_once(clock: list[float], pauses: list[float]) -> None:
    memory, live = _Memory(), LiveSearch()
    for query in ("l", "lo", "log"):
        await _ask(live, memory, query)
        clock[0] += 0.125
    assert memory.asked == ["l", "lo", "log"]
    assert pauses == []


async def test_keys_struck_together_are_one_search_more(clock: list[float], pauses: list[float]) -> None:
    memory, live = _Memory(), LiveSearch()
    memory.held = threading.Event()
    asking: asyncio.Task[list[Answer]] | None = None
    for query in ("l", "lo", "log", "logi", "login"):
        if asking is not None:
            asking.cancel()
        asking = asyncio.create_task(_ask(live, memory, query))
        if query == "l":
            while memory.asked != ["l"]:
                await asyncio.wait([asking], timeout=0.005)
        clock[0] += 0.002
    memory.held.set()
    assert asking is not None
    assert [answer.query for answer in await asking] == ["login"]
    assert memory.asked == ["l", "login"]
    assert set(pauses) == {live_search.COALESCE_SECONDS}


async def test_by_meaning_is_searched_only_when_no_further_key_comes(clock: list[float], pauses: list[float]) -> None:
    memory, live = _Memory(), LiveSearch()
    answers = live.answers(memory, "log", "combined")
    answer, last = await anext(answers)
    assert (answer.mode, last) == ("keyword", False)
    await answers.aclose()  # a further key
    assert memory.modes == ["keyword"]
    clock[0] += 0.125
    answers = live.answers(memory, "logi", "combined")
    await anext(answers)
    clock[0] += 0.04
    answer, last = await anext(answers)
    assert (answer.mode, last) == ("combined", True)
    assert pauses == [pytest.approx(live_search.MEANING_AFTER_SECONDS - 0.04)]

"""Watches an event loop: how long it stands still, and what it was that took the time.

A ticker in the loop notes how late it is. Of each delay it is known what the loop's own thread worked (by that
thread's processor clock), how long it stood in the queue for a processor (by the kernel's account), and so how long it
waited for the interpreter, which another thread held. A thread looks at the loop's frames meanwhile: it tells which of
the work was this program's, which Textual's, and, while the loop waits, which other threads worked. The garbage
collector tells of itself.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

TICK, LOOK, FRAME, NOTABLE = 0.002, 0.002, 0.016, 0.008
"""Seconds: between two ticks, between two looks, a frame of the screen, and from when a delay's causes are kept."""


@dataclass
class Delay:
    """One time that the loop was late, in seconds."""

    at: float
    late: float
    worked: float
    """What the loop's thread worked, by its processor clock."""
    queued: float
    """What it stood in the queue for a processor."""
    collected: float = 0.0
    """What the garbage collector took of its work."""
    ours: float = 0.0
    """What of its work was seen to be this program's own."""
    places: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Where its work was seen, with the seconds."""
    others: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """What other threads worked meanwhile, with the seconds."""

    @property
    def waited(self) -> float:
        """What it waited for the interpreter, while another thread held it."""
        return max(0.0, self.late - self.worked - self.queued)

    @property
    def own(self) -> float:
        """What the program could have done better: its work in the loop, its garbage, and waiting for its threads."""
        return self.ours + self.collected + self.waited

    def told(self) -> str:
        """Return the delay on a line or a few, for reading; in milliseconds."""
        parts = {
            "late": self.late, "worked": self.worked, "ours": self.ours, "garbage": self.collected,
            "waited": self.waited, "queued": self.queued,
        }  # fmt: skip
        lines = ["  ".join(f"{name} {seconds * 1000:.1f}" for name, seconds in parts.items())]
        for where, seen in (("in the loop", self.places), ("beside it  ", self.others)):
            most = sorted(seen.items(), key=lambda one: -one[1])[:3]
            lines += [f"  {where} {seconds * 1000:5.1f}  {what}" for what, seconds in most]
        return "\n".join(lines)


class LoopWatch:
    """Watches the loop of the thread that it is made in, between :meth:`start` and :meth:`stop`."""

    def __init__(self) -> None:
        self.delays: list[Delay] = []
        self._thread = threading.get_ident()
        self._number = threading.get_native_id()
        self._account = Path(f"/proc/self/task/{self._number}/schedstat")
        self._began = 0.0
        self._now: Delay | None = None
        self._collected = 0.0
        self._collecting = 0.0
        self._task: asyncio.Task[None] | None = None
        self._over = threading.Event()

    def start(self) -> None:
        """Begin to watch; called in the loop."""
        self.delays, self._over = [], threading.Event()
        gc.callbacks.append(self._garbage)
        threading.Thread(target=self._look, args=(self._over,), name="loop-watch", daemon=True).start()
        self._task = asyncio.get_running_loop().create_task(self._tick())

    def stop(self) -> list[Delay]:
        """Watch no more; return all delays."""
        if self._task is not None:
            self._task.cancel()
        gc.callbacks.remove(self._garbage)
        self._over.set()
        return self.delays

    @contextmanager
    def watching(self) -> Iterator[list[Delay]]:
        """Watch during a ``with``, which is given the list that the delays come to."""
        self.start()
        try:
            yield self.delays
        finally:
            self.stop()

    def _queued(self) -> float:
        try:
            return int(self._account.read_bytes().split()[1]) / 1e9
        except OSError:  # not Linux: then it counts as waiting
            return 0.0

    async def _tick(self) -> None:
        queued = self._queued()
        while True:
            worked, self._collected = time.thread_time(), 0.0
            self._now = delay = Delay(0.0, 0.0, 0.0, 0.0)
            before = self._began = time.perf_counter()
            await asyncio.sleep(TICK)
            delay.at = time.perf_counter()
            delay.late = max(0.0, delay.at - before - TICK)
            delay.worked = time.thread_time() - worked
            delay.collected = self._collected
            # what a tick itself costs is no delay
            delay.worked = min(delay.worked, delay.late)
            if delay.late > NOTABLE / 2:
                waits, queued = queued, self._queued()
                delay.queued = min(queued - waits, delay.late - delay.worked)
            elif len(self.delays) % 16 == 0:
                queued = self._queued()
            self.delays.append(delay)

    def _garbage(self, phase: str, _facts: dict[str, int]) -> None:
        if threading.get_ident() == self._thread:
            now = time.thread_time()
            if phase == "start":
                self._collecting = now
            else:
                self._collected += now - self._collecting

    def _look(self, over: threading.Event) -> None:
        """During a delay, look every other millisecond what works; count the processor time of each thread to it."""
        own = threading.get_native_id()
        clocks: dict[int, float] = {}
        delay: Delay | None = None
        while not over.is_set():
            time.sleep(LOOK)
            if time.perf_counter() - self._began < NOTABLE / 2:
                if delay is not None:
                    delay = None
                clocks[self._number] = _clock(self._number)
                continue
            current, frames = self._now, sys._current_frames()
            if current is None:
                continue
            fresh, delay = current is not delay, current
            for thread in threading.enumerate():
                number, frame = thread.native_id, frames.get(thread.ident or 0)
                if number is None or number == own or frame is None:
                    continue
                clock = _clock(number)
                spent = clock - clocks.get(number, clock)
                clocks[number] = clock
                if number == self._number:
                    ours, place = whose(frame)
                    current.ours += spent if ours else 0.0
                    current.places[place] += spent
                elif spent > 0.0005 and not fresh:
                    current.others[f"{thread.name}: {whose(frame)[1]}"] += spent


def _clock(number: int) -> float:
    """Processor time of a thread of this process, in seconds, by its number in the system; 0 when it is over."""
    try:
        return time.clock_gettime((~number << 3) | 6)
    except OSError:
        return 0.0


def whose(frame: FrameType | None) -> tuple[bool, str]:
    """Return whether code is this program's own (or a library's that it calls), and where it is.

    What Textual runs of ours, as drawing a line, is ours; what Textual does when we ask it to is Textual's.
    """
    innermost = _place(frame)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.endswith(("/tui/garbage.py", "/_weakrefset.py")):  # called by the collector, which is counted by itself
            return False, "garbage"
        if "/prima_tui/" in file:
            return True, f"{_place(frame)} < {_callers(frame.f_back)}" + (
                f" ({innermost})" if innermost != _place(frame) else ""
            )
        if "/textual/" in file:
            return False, f"{_place(frame)} < {_callers(frame.f_back)}"
        frame = frame.f_back
    return False, innermost


def _place(frame: FrameType | None) -> str:
    if frame is None:
        return ""
    file = frame.f_code.co_filename.rsplit("/", 2)
    return f"{'/'.join(file[-2:])}:{frame.f_lineno} {frame.f_code.co_name}"


def _callers(frame: FrameType | None) -> str:
    names = []
    while frame is not None and len(names) < 5:
        if not frame.f_code.co_filename.endswith(("asyncio/events.py", "asyncio/base_events.py")):
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return " < ".join(names)


def percentile(values: list[float], part: float) -> float:
    """Return the value that so great a part of all is not above; 0 for none."""
    ordered = sorted(values) or [0.0]
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def told(what: str, delays: list[Delay], causes: int = 0) -> str:
    """Return on one line what was found: worst and 99th percentile by the clock, of own work, and of waiting.

    With ``causes`` so many of the worst delays of the program's own making follow, each with what it was.
    """
    worked = [one.worked for one in delays]
    ours = [one.ours for one in delays]
    waited = [one.waited for one in delays]
    late = [one.late for one in delays]

    def pair(values: list[float]) -> str:
        over = sum(1 for value in values if value > FRAME)
        return f"{percentile(values, 0.99) * 1000:6.1f} {max(values, default=0.0) * 1000:6.1f} {over:3}"

    lines = [
        f"{what:<36} clock {pair(late)} | worked {pair(worked)} | ours {pair(ours)} | waited {pair(waited)}"
        f" | garbage {max((one.collected for one in delays), default=0.0) * 1000:5.1f}  n={len(delays)}"
    ]
    worst = sorted(delays, key=lambda one: -one.own)[:causes]
    lines += ["    " + delay.told().replace("\n", "\n    ") for delay in worst if delay.own > FRAME / 2]
    return "\n".join(lines)

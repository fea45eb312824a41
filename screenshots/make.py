"""Make the screenshots from the demo history: ``python screenshots/make.py`` (PNG too where ``rsvg-convert`` is).

Each is a state that a person reaches by the keys named beside it. With names behind it, only those are made.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from prima_tui.config import load_settings, paths_below
from prima_tui.demo import demo_history
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope
from prima_tui.tui.app import PrimaApp

FOLDER = Path(__file__).parent
# name, theme, size, query, keys after the answer is there
State = tuple[str, str, tuple[int, int], str, tuple[str, ...]]
DARK, LIGHT = "prima-dark", "prima-light"
WIDE, MIDDLE, SMALL = (160, 44), (120, 40), (80, 24)
STATES: tuple[State, ...] = (
    ("demo-dark", DARK, WIDE, "double booking", ()),
    ("demo-light", LIGHT, WIDE, "double booking", ()),
    ("by-meaning", DARK, WIDE, "customers are charged twice", ("f2", "f2")),
    ("filters", DARK, WIDE, "agent:codex date:<2w test", ()),
    ("narrow", DARK, SMALL, "calendar", ()),
    ("narrow-pane", LIGHT, SMALL, "calendar", ("ctrl+o",)),
    ("stacked", DARK, MIDDLE, "cache", ()),
    ("newest", DARK, (200, 50), "", ()),
    ("help", DARK, WIDE, "", ("f1",)),
    ("palette", LIGHT, MIDDLE, "", ("ctrl+backslash",)),
    ("tools-open", DARK, MIDDLE, "webhook twice", ("alt+t", "ctrl+o")),
    ("find", LIGHT, MIDDLE, "webhook twice", ("ctrl+f", *"outbox", "enter")),
    ("file-history", DARK, WIDE, "", ("alt+v", *"bookings.py")),
    ("file-history-light", LIGHT, SMALL, "", ("alt+v", *"bookings.py")),
    ("file-lines", DARK, WIDE, "", ("alt+v", *"outbox.py", "f4", "alt+n", "alt+n")),
    ("file-lines-light", LIGHT, SMALL, "", ("alt+v", *"outbox.py:37")),
    ("timeline", DARK, MIDDLE, "", ("alt+l", "w", "left", "shift+left", "shift+left")),
    ("timeline-light", LIGHT, SMALL, "", ("alt+l",)),
    ("statistics", DARK, (160, 46), "", ("alt+s", "down")),
    ("statistics-light", LIGHT, SMALL, "", ("alt+s",)),
    ("no-hits", DARK, SMALL, "quetzal marzipan", ("f2",)),
    # last, since how the list is grouped is remembered
    ("grouped", DARK, MIDDLE, "", ("alt+g",)),
)
# of a computer where nobody has talked to an agent yet
WITHOUT_HISTORY: tuple[State, ...] = (
    ("first-run", DARK, SMALL, "", ()),
    ("first-run-light", LIGHT, MIDDLE, "", ()),
)


async def picture(memory: Memory, state: State, demo: bool) -> None:
    """Bring the screen into a state and save it."""
    name, theme, size, query, keys = state
    app = PrimaApp(memory, query=query, theme=theme, demo=demo)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            if len(key) > 1:
                await settled(pilot)
        if keys:
            await settled(pilot)
        svg = app.export_screenshot(title="prima-tui")
    # the picture names no host: a viewer uses a monospace font of its own
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code,", "Fira Code, DejaVu Sans Mono,").replace(
        "Fira Code;", "DejaVu Sans Mono, monospace;"
    )
    # some viewers drop the spaces at the ends of a text element
    svg = of_ana(re.sub(r"(<text[^>]*)>", r'\1 xml:space="preserve">', svg))
    (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
    if converter := shutil.which("rsvg-convert"):
        subprocess.run([converter, "-w", "1600", FOLDER / f"{name}.svg", "-o", FOLDER / f"{name}.png"], check=True)


def of_ana(svg: str) -> str:
    """Return a picture with the demo's temporary folder, whose name is chance, as that of somebody."""
    home = "/home/ana/projects/seasports"
    return re.sub(r"/[\w/.-]*prima-tui-demo-\w+", lambda found: home.ljust(len(found[0]))[: len(found[0])], svg)


async def settled(pilot: object) -> None:
    """Wait until the answers, the preview and the progress have come to rest."""
    for _ in range(12):
        await asyncio.sleep(0.15)
        await pilot.pause()  # type: ignore[attr-defined]


def main(wanted: Sequence[str]) -> None:
    """Make the wanted pictures, without any named every one."""
    with demo_history() as (home, workspace, env):
        memory = Memory(Scope(workspace, False, home, env), load_settings(workspace, paths_below(home)))
        memory.refresh()
        memory.index_everything()
        make(memory, STATES, wanted, demo=True)
        memory.close()
    with tempfile.TemporaryDirectory(prefix="prima-tui-demo-") as folder:
        workspace = Path(folder) / "tidewater"
        workspace.mkdir()
        empty = Memory(Scope(workspace, False, Path(folder), {}), load_settings(workspace, paths_below(Path(folder))))
        make(empty, WITHOUT_HISTORY, wanted, demo=False)
        empty.close()


def make(memory: Memory, states: Sequence[State], wanted: Sequence[str], demo: bool) -> None:
    """Make pictures of one history."""
    for state in states:
        if not wanted or state[0] in wanted:
            asyncio.run(picture(memory, state, demo))
            print(state[0], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

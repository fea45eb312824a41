"""Make the screenshots from the demo history: ``python screenshots/make.py`` (PNG too where ``rsvg-convert`` is).

Each is a state that a person reaches by the keys named beside it.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from prima_tui.config import load_settings, paths_below
from prima_tui.demo import demo_history
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope
from prima_tui.tui.app import PrimaApp

FOLDER = Path(__file__).parent
# name, theme, size, query, keys after the answer is there
STATES: tuple[tuple[str, str, tuple[int, int], str, tuple[str, ...]], ...] = (
    ("demo-dark", "prima-dark", (160, 44), "double booking", ()),
    ("demo-light", "prima-light", (160, 44), "double booking", ()),
    ("by-meaning", "prima-dark", (160, 44), "customers are charged twice", ("f2", "f2")),
    ("filters", "prima-dark", (160, 44), "agent:codex date:<2w test", ()),
    ("narrow", "prima-dark", (80, 24), "calendar", ()),
    ("narrow-pane", "prima-light", (80, 24), "calendar", ("ctrl+o",)),
    ("stacked", "prima-dark", (120, 40), "cache", ()),
    ("newest", "prima-dark", (200, 50), "", ()),
    ("help", "prima-dark", (160, 44), "", ("f1",)),
)


async def picture(
    memory: Memory, name: str, theme: str, size: tuple[int, int], query: str, keys: Sequence[str]
) -> None:
    """Bring the screen into a state and save it."""
    app = PrimaApp(memory, query=query, theme=theme, demo=True)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        svg = app.export_screenshot(title="prima-tui")
    # the picture names no host: a viewer uses a monospace font of its own
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code,", "Fira Code, DejaVu Sans Mono,").replace(
        "Fira Code;", "DejaVu Sans Mono, monospace;"
    )
    # some viewers drop the spaces at the ends of a text element
    svg = re.sub(r"(<text[^>]*)>", r'\1 xml:space="preserve">', svg)
    (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
    if converter := shutil.which("rsvg-convert"):
        subprocess.run([converter, "-w", "1600", FOLDER / f"{name}.svg", "-o", FOLDER / f"{name}.png"], check=True)


async def settled(pilot: object) -> None:
    """Wait until the answers, the preview and the progress have come to rest."""
    for _ in range(12):
        await asyncio.sleep(0.15)
        await pilot.pause()  # type: ignore[attr-defined]


def main() -> None:
    """Make every picture."""
    with demo_history() as (home, workspace, env):
        memory = Memory(Scope(workspace, False, home, env), load_settings(workspace, paths_below(home)))
        memory.refresh()
        memory.index_everything()
        for state in STATES:
            asyncio.run(picture(memory, *state))
            print(state[0])
        memory.close()


if __name__ == "__main__":
    main()

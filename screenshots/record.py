"""Record a short film of the demo history as one animated SVG: ``python screenshots/record.py``.

Each step presses keys and keeps what then stands on the screen. A row of the screen is written once for all frames
that show it, and is made visible in their time, so that a film of half a minute stays a few hundred kilobytes. A viewer
that moves nothing shows the frame that was marked as the picture.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from make import of_ana, settled
from rich.cells import cell_len
from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.pilot import Pilot

from prima_tui.config import load_settings, paths_below
from prima_tui.demo import demo_history
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope
from prima_tui.tui.app import PrimaApp

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 120, 32
CELL, LINE, EDGE = 8.4, 18, 14
LARGEST_BYTES = 1_500_000


class Step(NamedTuple):
    """Keys that are pressed one after the other, what is said of them, and how long the result stands."""

    keys: Sequence[str]
    said: str
    seconds: float
    each: float = 0.0
    """Seconds that each key's own frame stands; 0: only the result is kept."""
    picture: bool = False
    """Whether this is what a viewer shows that moves nothing."""


QUERY = "webhook twice"
FILM = (
    Step((), "every conversation of every agent, newest first", 2.2),
    Step(
        [*QUERY.replace(" ", "_")], "type what you remember: words and meaning, at every key", 2.4, 0.14, picture=True
    ),
    Step(("down",), "move: the conversation opens at the exchange that fits", 1.4),
    Step(("up",), "", 1.0),
    Step(("f3",), "F3: the next match", 1.6),
    Step(("ctrl+o",), "Ctrl+O: the conversation alone", 2.4),
    Step(("ctrl+o",), "", 0.8),
    Step(("alt+l",), "Alt+L: when it happened", 2.0),
    Step(("escape",), "", 0.6),
    Step(("alt+v",), "Alt+V: the files that were changed", 1.6),
    Step([*"outbox.py"], "every session that changed a file, why, and the diff", 2.4, 0.1),
    Step(("f4",), "F4: its lines, and which conversation wrote each", 1.6),
    Step(("alt+n", "alt+n"), "from conversation to conversation", 2.6, 1.2),
    Step(("enter",), "Enter: that conversation, at that exchange", 2.2),
)


class Film:
    """Frames, each a list of drawn rows, and how long each stands."""

    def __init__(self) -> None:
        self._rows: dict[str, str] = {}
        self._frames: list[tuple[float, list[str]]] = []
        self._picture = 0

    def add(self, rows: Sequence[str], seconds: float, picture: bool = False) -> None:
        """Add a frame; one that looks like the last lengthens that."""
        names = [self._rows.setdefault(row, f"r{len(self._rows)}") for row in rows]
        if self._frames and self._frames[-1][1] == names:
            self._frames[-1] = (self._frames[-1][0] + seconds, names)
        else:
            self._frames.append((seconds, names))
        if picture:
            self._picture = len(self._frames) - 1

    def svg(self) -> str:
        """Return the film as an SVG that plays for ever."""
        width, height = WIDTH * CELL + 2 * EDGE, (HEIGHT + 2) * LINE + 2 * EDGE
        total = sum(seconds for seconds, _names in self._frames)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">',
            "<style>text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}</style>",
            f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#10131a"/>',
            "<defs>",
            *(f'<g id="{name}">{row}</g>' for row, name in self._rows.items()),
            "</defs>",
            f'<g transform="translate({EDGE},{EDGE})">',
        ]
        for line in range(HEIGHT + 2):
            parts += self._line(line, total)
        return "\n".join([*parts, "</g></svg>\n"])

    def _line(self, line: int, total: float) -> list[str]:
        """One row of the screen through all frames: for each look of it the times at which it is seen."""
        times: dict[str, list[tuple[float, float]]] = {}
        at = 0.0
        for seconds, names in self._frames:
            spans = times.setdefault(names[line], [])
            if spans and abs(spans[-1][1] - at) < 1e-6:
                spans[-1] = (spans[-1][0], at + seconds)
            else:
                spans.append((at, at + seconds))
            at += seconds
        still = self._frames[self._picture][1][line]
        return [self._look(name, line, spans, total, name == still) for name, spans in times.items()]

    @staticmethod
    def _look(name: str, line: int, spans: Sequence[tuple[float, float]], total: float, still: bool) -> str:
        use = f'<use href="#{name}" y="{line * LINE}"'
        if spans == [(0.0, total)] or (len(spans) == 1 and spans[0][0] == 0 and spans[0][1] >= total - 1e-6):
            return use + "/>"
        moments: list[tuple[float, str]] = [] if spans[0][0] == 0 else [(0.0, "hidden")]
        for start, end in spans:
            moments.append((start, "visible"))
            if end < total - 1e-6:
                moments.append((end, "hidden"))
        values = ";".join(value for _at, value in moments)
        keys = ";".join(f"{at / total:.4f}".rstrip("0").rstrip(".") or "0" for at, _value in moments)
        shown = "visible" if still else "hidden"
        return (
            f'{use} visibility="{shown}"><animate attributeName="visibility" calcMode="discrete" dur="{total:.2f}s" '
            f'repeatCount="indefinite" values="{values}" keyTimes="{keys}"/></use>'
        )


_FOREGROUND, _BACKGROUND = ColorTriplet(217, 220, 230), ColorTriplet(16, 19, 26)


def drawn(segments: Sequence[Segment]) -> str:
    """Return a row of the screen as SVG: grounds first, then texts, each held to the width of its cells."""
    grounds: list[str] = []
    texts: list[str] = []
    x = 0
    for text, style, control in segments:
        size = cell_len(text)
        if control or not size:
            continue
        front, ground, more = _colours(style or Style.null())
        if ground is not None:
            grounds.append(
                f'<rect x="{x * CELL:.1f}" width="{size * CELL + 0.3:.1f}" height="{LINE + 0.3}" fill="{ground.hex}"/>'
            )
        start = len(text) - len(text.lstrip(" "))
        body = text.strip(" ")
        if body:
            left, wide = (x + start) * CELL, cell_len(body) * CELL
            texts.append(
                f'<text x="{left:.1f}" y="13.5" textLength="{wide:.1f}" fill="{front.hex}"{more}>{escape(body)}</text>'
            )
        x += size
    return "".join(grounds + texts)


def _colours(style: Style) -> tuple[ColorTriplet, ColorTriplet | None, str]:
    """The colours of a style, and what else is to be said of its text."""
    front = _triplet(style.color, _FOREGROUND)
    ground = _triplet(style.bgcolor, _BACKGROUND)
    if style.reverse:
        front, ground = ground, front
    if style.dim:
        front = blend_rgb(front, ground, 0.5)
    more = (' font-weight="bold"' if style.bold else "") + (' font-style="italic"' if style.italic else "")
    more += ' text-decoration="underline"' if style.underline else ""
    return front, None if ground == _BACKGROUND else ground, more


def _triplet(color: Color | None, default: ColorTriplet) -> ColorTriplet:
    return default if color is None or color.is_default else color.get_truecolor()


def caption(said: str) -> list[str]:
    """Return the two rows below the screen: an empty one, and what is said."""
    text = said.center(WIDTH)
    return ["", drawn([Segment(text, Style(color="#f2b45c", bold=True))])]


def screen(app: PrimaApp) -> list[str]:
    """Return the rows of what stands on the screen."""
    return [drawn(list(strip)) for strip in app.screen._compositor.render_strips()]


async def record(memory: Memory) -> Film:
    """Play the film."""
    film = Film()
    app = PrimaApp(memory, theme="prima-dark", demo=True)
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await settled(pilot)
        for step in FILM:
            for key in step.keys:
                await pilot.press("space" if key == "_" else key)
                if step.each:
                    await still(pilot)
                    film.add([*screen(app), *caption(step.said)], step.each)
            await settled(pilot)
            film.add([*screen(app), *caption(step.said)], step.seconds, step.picture)
        film.add(handed_over(app, memory), 3.0)
    return film


async def still(pilot: Pilot[Any]) -> None:
    """Let the answer to a key come."""
    for _ in range(4):
        await asyncio.sleep(0.05)
        await pilot.pause()


def handed_over(app: PrimaApp, memory: Memory) -> list[str]:
    """Return what is seen when the terminal is the agent's: the command that Enter runs."""
    hit = app.screen._list.selected_hit  # type: ignore[attr-defined]
    command = memory.resume_plan(hit.session).command
    argv = " ".join(command.argv) if command else ""
    lines = [
        [Segment("❯ ", Style(color="#f2b45c", bold=True)), Segment(argv, Style(color="#7fcf8e", bold=True))],
        [],
        [Segment("  The agent takes the work up again, in its own folder.", Style(color="#9aa3b8"))],
        [Segment("  Leave it, and you are back in the list.", Style(color="#9aa3b8"))],
    ]
    rows = [drawn(line) for line in lines]
    return [*rows, *[""] * (HEIGHT - len(rows)), *caption("Enter: resume")]


def main() -> None:
    """Record and write the film."""
    with demo_history() as (home, workspace, env):
        memory = Memory(Scope(workspace, False, home, env), load_settings(workspace, paths_below(home)))
        memory.refresh()
        memory.index_everything()
        svg = asyncio.run(record(memory)).svg()
        memory.close()
    svg = of_ana(svg)
    size = len(svg.encode())
    if size > LARGEST_BYTES:
        raise SystemExit(f"the film has {size:,} bytes: more than a page should load")
    (FOLDER / "film.svg").write_text(svg, encoding="utf-8")
    print(f"film.svg: {size:,} bytes")


if __name__ == "__main__":
    main()

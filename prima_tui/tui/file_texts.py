"""What the file history says in words: why it is empty, and who wrote a line."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content, Span

from prima_tui.model.reach import Reach
from prima_tui.model.text import one_line
from prima_tui.tui.styled_lines import fitted

_STYLES = {
    "title-selected": "bold",
    "source": "$accent",
    "age": "$foreground 65%",
    "fact": "$foreground 70%",
    "faint": "italic $foreground 55%",
}
_KEY = "bold $accent"


_WHERE: dict[Reach, str] = {
    "workspace": "in this workspace",
    "repository": "in this repository",
    "everywhere": "on this computer",
}


def nothing_typed(reach: Reach) -> Content:
    """No session changed any file."""
    return Content.assemble(
        (f"No session known {_WHERE[reach]} changed a file", "bold"),
        "\n\nChanges are known from an agent's own editing tools.\nWhat a command or a person changed is not recorded.",
        "\n\n",
        ("Esc", _KEY),
        "  back to the sessions",
    )


def nothing_known(part: str, on_disk: bool, reach: Reach) -> Content:
    """No session changed a file like the one typed."""
    text = one_line(part)
    parts: list[Content | str | tuple[str, str]] = [
        ("No session changed such a file", "bold"),
        "\n",
        (text if len(text) <= 60 else "…" + text[-59:], "italic $foreground 70%"),
        "\n\nA part of the path is enough, capitals don't matter.\n\n",
    ]
    if on_disk:
        parts += [(" F4", _KEY), "  show the file's lines all the same\n"]
    if reach != "everywhere":
        parts += [("Esc", _KEY), "  and then Ctrl+G: look in more folders"]
    else:
        parts += [("Esc", _KEY), "  see all changed files"]
    return Content.assemble(*parts)


def no_lines(shown_path: str, note: str) -> Content:
    """A file whose lines can't be shown."""
    return Content.assemble((one_line(shown_path), "bold"), f"\n\n{note}\n\n", ("F4", _KEY), "  its changes")


def foot_content(facts: Sequence[tuple[str, str]], said: str, width: int) -> Content:
    """Return who wrote a line (nobody: no facts), and below it what the agent said of it."""
    if not facts:
        return Content.assemble(
            ("No conversation known here wrote this line.", "bold"),
            ("\nIt was there before, or a person or a command put it there.", "$foreground 65%"),
        )
    line = fitted(facts, width)
    head = Content(
        line.text, spans=[Span(start, end, _STYLES[name]) for start, end, name in line.spans if name in _STYLES]
    )
    return Content("\n").join([head, Content(said or "No explanation is recorded.").stylize("$foreground 80%")])

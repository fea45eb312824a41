"""The outline of an Org document: lines that begin with stars, outside of blocks."""

from __future__ import annotations

import re

from prima_tui.documents.markdown import Heading, Outline

_HEADING = re.compile(r"(\*+)\s+(.*)")
_BLOCK = re.compile(r"\s*#\+begin_(\S+)", re.IGNORECASE)
_TITLE = re.compile(r"^#\+title:[^\S\n]*(.+)$", re.IGNORECASE | re.MULTILINE)
# The state of a task, its priority and the tags behind a heading are no part of what it says.
_STATE = re.compile(r"(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z0-9]\]\s+)?")
_TAGS = re.compile(r"(?<!\s)\s+:[\w@#%:]+:\s*\Z")


def org_outline(text: str) -> Outline:
    """Return the outline of a document whose lines end in a line feed."""
    headings: list[Heading] = []
    above: list[tuple[int, str]] = []
    block = ""
    for number, line in enumerate(text.split("\n")):
        if block:
            if line.strip().lower() == f"#+end_{block}":
                block = ""
            continue
        if opening := _BLOCK.match(line):
            block = opening[1].lower()
        elif found := _HEADING.match(line):
            level = len(found[1])
            while above and above[-1][0] >= level:
                above.pop()
            title = _TAGS.sub("", found[2])
            above.append((level, title[_STATE.match(title).end() :].strip()))  # type: ignore[union-attr]
            headings.append(Heading(tuple(name for _level, name in above if name), level, number, number + 1))
    return Outline(tuple(headings))


def org_title(text: str) -> str:
    """Return the title that a document gives itself, "" when it gives none."""
    found = _TITLE.search(text)
    return found[1].strip() if found else ""

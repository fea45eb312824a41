"""The fenced code in a Markdown text, as it was written."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"^(?P<indent>\s{0,12})(?P<marks>`{3,}|~{3,})\s*(?P<language>[\w+#.-]*)(?P<rest>.*)$")


class CodeBlock(NamedTuple):
    """One fenced block."""

    language: str
    code: str
    """Without the fence and its indentation, no line end at the end."""


def code_blocks(text: str) -> list[CodeBlock]:
    """Return the fenced blocks of a text in order; one never closed goes to the end; empty ones are left out."""
    found: list[CodeBlock] = []
    marks, language, indent = "", "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not marks:
            if fence and "`" not in fence["rest"]:
                marks, language, indent, lines = fence["marks"], fence["language"], fence["indent"], []
        elif fence and fence["marks"].startswith(marks) and not (fence["language"] or fence["rest"].strip()):
            found.append(CodeBlock(language, "\n".join(lines)))
            marks = ""
        else:
            lines.append(line.removeprefix(indent))
    if marks:
        found.append(CodeBlock(language, "\n".join(lines)))
    return [block for block in found if block.code.strip()]

"""The citations in an answer, checked against the chunks it was written from; one of anything else is marked.

Chunks are cited by number, ``[2]`` or ``[2 docs/setup.md]``, and files by name. A file that stands in a given chunk's
text, or in the question, may be named too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prima_tui.model.documents import Citation, DocumentHit

MARK = " (not given)"
_LONGEST = 200
"""Characters of a citation that is not closed yet; beyond them it is none."""
_NAME = r"[^\s\[\](){}<>\"'`,;:*|]+\.(?:md|markdown|txt|rst|org|ipynb|pdf)\b"
# A number in brackets directly after a word is an index in code.
_CITATION = re.compile(
    rf"(?<![\w\])])\[(?P<inner>\d{{1,3}}(?:[^\[\]\n]{{0,{_LONGEST}}}))\]|(?P<name>{_NAME})", re.IGNORECASE
)
_NAME_INSIDE = re.compile(_NAME, re.IGNORECASE)
_NUMBERS = re.compile(r"(?<![\w./-])(\d{1,3})(?![\w./-])")


class CitationCheck:
    """Reads an answer piece by piece, as it streams in, and gives it back with what was not given marked."""

    def __init__(self, question: str, hits: Sequence[DocumentHit]) -> None:
        self._paths = [hit.path for hit in hits]
        self._named = {name.lower() for text in (question, *(hit.text for hit in hits)) for name in _names(text)}
        self._held = ""
        self._last = ""
        """The last character that was given back: it tells an index in code from a citation."""
        self._found: dict[Citation, None] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """What was cited so far, each once, in order."""
        return tuple(self._found)

    def feed(self, piece: str) -> str:
        """Return what can be shown by now: a citation that may not be complete yet is held back."""
        text = self._held + piece
        end = max(text.rfind(" "), text.rfind("\n")) + 1
        bracket = text.rfind("[", max(0, end - _LONGEST), end)
        if bracket >= 0 and "]" not in text[bracket:end] and "\n" not in text[bracket:end]:
            end = bracket
        self._held = text[end:]
        return self._marked(text[:end])

    def rest(self) -> str:
        """Return what was held back; nothing comes any more."""
        text, self._held = self._held, ""
        return self._marked(text)

    def _marked(self, text: str) -> str:
        before = len(self._last)
        text = self._last + text
        parts = []
        place = before
        for match in _CITATION.finditer(text, before):
            parts += [text[place : match.start()], self._check(match)]
            place = match.end()
        self._last = text[-1:]
        return "".join([*parts, text[place:]])

    def _check(self, match: re.Match[str]) -> str:
        if match["name"] is not None:
            return match.group() + ("" if self._file(match["name"]) else MARK)
        inner = match["inner"]
        names = _names(inner)
        known = [self._file(name) for name in names]
        for number in _NUMBERS.findall(_NAME_INSIDE.sub("", inner)):
            place = int(number)
            if 1 <= place <= len(self._paths):
                known.append(True)
                self._found.setdefault(Citation(self._paths[place - 1], place, True))
            elif not names:
                known.append(False)
                self._found.setdefault(Citation(f"[{number}]", place, False))
        return match.group() + ("" if all(known) else MARK)

    def _file(self, name: str) -> bool:
        """Note a file that was named; tell whether it was given."""
        name = name.removeprefix("./")
        if "://" in name or name.startswith("//"):
            return True  # an address is no file
        given = [path for path in self._paths if path == name or path.endswith("/" + name)]
        if given:
            self._found.setdefault(Citation(given[0], None, True))
            return True
        if name.lower() in self._named:
            return True
        self._found.setdefault(Citation(name, None, False))
        return False


def _names(text: str) -> list[str]:
    return [found.group().removeprefix("./") for found in _NAME_INSIDE.finditer(text)]

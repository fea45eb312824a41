"""The startup log: a real file with one line for each thing that a source passed over, shown by a key in the screen."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from prima_tui.config import private_folder
from prima_tui.model.text import shown
from prima_tui.sources.base import Problem

_LARGEST = 512 * 1024
"""Bytes; a log past this size is kept once as ``startup.log.1`` and begun anew."""


class StartupLog:
    """Writes what is new to the log and keeps the warnings of this run. An unwritable log costs only the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: set[str] = set()

    def note(self, lines: Iterable[str]) -> None:
        """Append the lines that this run has not written yet, each with the local time in front."""
        new = [line for line in dict.fromkeys(lines) if line not in self._written]
        if not new:
            return
        self._written.update(new)
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        text = "".join(f"{now} {shown(line).replace(chr(10), ' ')}\n" for line in new)
        try:
            private_folder(self.path.parent)
            if self.path.exists() and self.path.stat().st_size > _LARGEST:
                self.path.replace(self.path.with_suffix(".log.1"))
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
        except OSError:
            return

    def forget(self, names: Iterable[str]) -> None:
        """Remove the lines that hold one of the names (ids, paths, titles) from the log and the one before it.

        Raises OSError.
        """
        wanted = [name for name in dict.fromkeys(shown(name).replace("\n", " ") for name in names) if name.strip()]
        self._written = {line for line in self._written if not any(name in line for name in wanted)}
        for path in (self.path, self.path.with_suffix(".log.1")):
            try:
                lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
            except FileNotFoundError:
                continue
            kept = [line for line in lines if not any(name in line for name in wanted)]
            if len(kept) == len(lines):
                continue
            new = path.with_name(f".{path.name}.{os.getpid()}")
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(kept)
            new.replace(path)


def _encodable(path: str) -> str:
    """Return a path as text that can be stored and printed: file names may hold bytes that are no text."""
    return path.encode("utf-8", "replace").decode()


def warning_lines(source: str, problems: Iterable[Problem]) -> list[str]:
    """Return one line for each kind of problem of a source, with the count and one example path."""
    kinds: dict[str, tuple[int, str]] = {}
    for problem in problems:
        count, example = kinds.get(problem.what, (0, problem.path))
        kinds[problem.what] = (count + problem.count, example)
    return [
        f"{source}: {what}" + (f" ({count}×)" if count > 1 else "") + f", e.g. {_encodable(example)}"
        for what, (count, example) in sorted(kinds.items())
    ]

"""How the user's editor is told to open a file at a line. Nothing is run here."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath

import msgspec

from prima_tui.resume import find_program

_PLUS_LINE = frozenset((
    "vi", "vim", "nvim", "view", "nvi", "vis", "elvis", "vile", "gvim", "mvim", "nano", "pico", "emacs", "emacsclient",
    "micro", "hx", "helix", "kak", "joe", "jmacs", "mg", "jed", "ne", "zile", "gedit", "pluma", "xed", "bbedit",
))  # fmt: skip
"""``editor +LINE FILE``."""
_GOTO = frozenset((
    "code", "code-insiders", "code-oss", "codium", "codium-insiders", "vscodium", "cursor", "windsurf", "positron",
))  # fmt: skip
"""``editor --goto FILE:LINE``."""
_COLON_LINE = frozenset(("subl", "sublime_text", "zed", "zeditor", "pulsar", "atom", "lapce"))
"""``editor FILE:LINE``."""
_LINE_OPTION = frozenset((
    "idea", "pycharm", "webstorm", "phpstorm", "goland", "clion", "rubymine", "rider", "rustrover",
    "kate", "kwrite", "mate", "mousepad",
))  # fmt: skip
"""``editor --line LINE FILE``."""
_WINDOWS_OF_THEIR_OWN = frozenset(
    {*_GOTO, *_COLON_LINE, *_LINE_OPTION, "gvim", "mvim", "gedit", "pluma", "xed", "bbedit"}
)
_NO_EDITOR = (
    "No editor is set. Name one in the variable VISUAL or EDITOR, in the file that your shell reads at its start:\n\n"
    "export EDITOR=nano"
)


class EditPlan(msgspec.Struct, frozen=True):
    """What opening a file runs, and what stands against it."""

    path: str
    line: int
    argv: tuple[str, ...] = ()
    """Empty when there is no editor to run."""
    in_terminal: bool = True
    """Whether the editor draws in this terminal; one with a window of its own runs beside the program."""
    problem: str = ""
    """Why nothing can be run, with what can be done; "" when it can."""

    @property
    def place(self) -> str:
        """File and line as terminals and editors understand it: ``FILE:LINE``."""
        return f"{self.path}:{self.line}"


def plan_editing(path: Path, line: int = 1, env: Mapping[str, str] = os.environ) -> EditPlan:
    """Return how ``$VISUAL``, else ``$EDITOR``, opens a file at a line (from 1).

    An editor that isn't known gets the file alone, since an argument it doesn't understand might be taken for a file.
    """
    file, line = str(path.absolute()), max(1, line)
    words = _words(env.get("VISUAL", "")) or _words(env.get("EDITOR", ""))
    if not words:
        return EditPlan(file, line, problem=_NO_EDITOR)
    found = find_program(words[0], env)
    if found is None:
        problem = f"Your editor {words[0]} was not found. The variable VISUAL, else EDITOR, names it."
        return EditPlan(file, line, problem=problem)
    name = _name(words[0])
    argv = (found, *words[1:], *_arguments(name, file, line))
    return EditPlan(file, line, argv, in_terminal=name not in _WINDOWS_OF_THEIR_OWN)


def _words(value: str) -> Sequence[str]:
    """Return the words of a variable that holds a command; one whose quotes aren't closed is taken as it is."""
    try:
        return shlex.split(value, posix=sys.platform != "win32")
    except ValueError:
        return (value,)


def _name(program: str) -> str:
    name = PureWindowsPath(program.strip('"')).name.lower()
    for end in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(end)
    return name


def _arguments(name: str, file: str, line: int) -> tuple[str, ...]:
    if name in _PLUS_LINE:
        return (f"+{line}", file)
    if name in _GOTO:
        return ("--goto", f"{file}:{line}")
    if name in _COLON_LINE:
        return (f"{file}:{line}",)
    if name in _LINE_OPTION:
        return ("--line", str(line), file)
    return (file,)

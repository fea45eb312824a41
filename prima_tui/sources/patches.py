"""Which files a patch touches: apply_patch texts, wherever a model put them, and unified diffs.

An apply_patch text lies between ``*** Begin Patch`` and ``*** End Patch``. It may be the whole input of a tool, an
argument of a command, a here-document in a shell line, or a string literal in a script.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prima_tui.model.session import Action, TextEdit

BEGIN = "*** Begin Patch"
END = "*** End Patch"


class PatchedFile(NamedTuple):
    """One file that a patch touches; for a move ``path`` is the new path."""

    path: str
    action: Action


class Patch(NamedTuple):
    """A patch text, and the folder (as written, "" mostly) that a ``cd`` in front of it changes to."""

    text: str
    folder: str = ""


_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: ?(.+)|\*\*\* Move to: ?(.+)")
_ACTIONS: dict[str, Action] = {"Add": "add", "Update": "update", "Delete": "delete"}


def patched_files(text: str) -> list[PatchedFile]:
    """Return the files of every apply_patch text in ``text``, else those of a unified diff, in order."""
    if BEGIN not in text:
        return unified_diff_files(text)
    found: list[PatchedFile] = []
    inside = False
    for line in text.split("\n"):
        if BEGIN in line:
            inside = True
        elif line.strip() == END:
            inside = False
        elif inside and line.startswith("*** ") and (header := _HEADER.fullmatch(line.rstrip())):
            verb, path, target = header.groups()
            if verb:
                found.append(PatchedFile(path.strip(), _ACTIONS[verb]))
            elif found:
                found[-1] = PatchedFile(target.strip(), "move")
    return [file for file in found if file.path]


def unified_diff_files(text: str) -> list[PatchedFile]:
    """Return the files of a unified diff (``---``/``+++`` pairs, git's renames), in order."""
    found: list[PatchedFile] = []
    before: str | None = None
    for line in text.split("\n"):
        if line.startswith("--- "):
            before = _diff_path(line[4:])
        elif line.startswith("+++ ") and before is not None:
            after = _diff_path(line[4:])
            moved = bool(found) and found[-1] == PatchedFile(after, "move")
            if before and after and not moved:
                found.append(PatchedFile(after, "update"))
            elif after and not moved:
                found.append(PatchedFile(after, "add"))
            elif before and not after:
                found.append(PatchedFile(before, "delete"))
            before = None
        elif line.startswith("rename to "):
            found.append(PatchedFile(line[10:].strip(), "move"))
        else:
            # a removed line "-- x" looks like "--- x" too, but is hardly followed at once by what looks like "+++ y"
            before = None
    return found


def _diff_path(written: str) -> str:
    """Return the path of a ``---`` or ``+++`` line without git's prefix and diff's time stamp; "" for /dev/null."""
    path = written.split("\t", maxsplit=1)[0].strip().strip('"')
    if path == "/dev/null":
        return ""
    return path[2:] if path[:2] in ("a/", "b/") else path


def patch_edits(text: str, folder: str = "") -> list[TextEdit]:
    """Return what every apply_patch text in ``text`` replaces, one edit a hunk; relative paths joined to ``folder``.

    The text before and after a hunk holds its unchanged lines too. Without such a text it is read as a unified diff.
    """
    if BEGIN not in text:
        return _edits_of_diff(text, folder)
    found: list[TextEdit] = []
    path = ""
    action: Action = "update"
    old: list[str] = []
    new: list[str] = []

    def end_hunk() -> None:
        if path and (old or new):
            found.append(TextEdit(joined(folder, path), "\n".join(old), "\n".join(new), action))
        old.clear()
        new.clear()

    inside = False
    for line in text.split("\n"):
        if BEGIN in line:
            inside = True
        elif line.strip() == END:
            end_hunk()
            inside = False
        elif not inside:
            continue
        elif line.startswith("*** ") and (header := _HEADER.fullmatch(line.rstrip())):
            verb, named, target = header.groups()
            if target:
                path, action = target.strip(), "move"
                continue
            end_hunk()
            path, action = named.strip(), _ACTIONS[verb]
            if verb == "Delete":
                found.append(TextEdit(joined(folder, path), "", "", "delete"))
        elif line.startswith(("@@", "*** End of File")):
            end_hunk()
        else:
            _take_line(line, old, new)
    end_hunk()
    return found


def _take_line(line: str, old: list[str], new: list[str]) -> None:
    sign, rest = line[:1], line[1:]
    if sign == "+":
        new.append(rest)
    elif sign == "-":
        old.append(rest)
    else:
        old.append(rest)
        new.append(rest)


def unified_diff_edits(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after each hunk of one file's unified diff, unchanged lines in both."""
    old: list[str] = []
    new: list[str] = []
    inside = False
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("@@"):
            if old or new:
                yield "\n".join(old), "\n".join(new)
            old, new, inside = [], [], True
        elif inside and not line.startswith("\\"):
            _take_line(line, old, new)
    if old or new:
        yield "\n".join(old), "\n".join(new)


def _edits_of_diff(text: str, folder: str) -> list[TextEdit]:
    """Return the edits of a unified diff of several files."""
    files = unified_diff_files(text)
    lines = text.split("\n")
    starts = [place for place, line in enumerate(lines) if line.startswith("--- ")]
    if len(starts) != len(files):
        return [TextEdit(joined(folder, file.path), "", "", file.action) for file in files]
    ends = [*starts[1:], len(lines)][: len(starts)]
    return [
        TextEdit(joined(folder, file.path), old, new, file.action)
        for file, start, end in zip(files, starts, ends, strict=True)
        for old, new in unified_diff_edits("\n".join(lines[start + 2 : end]))
    ]


_CALL = re.compile(
    r"(?:^|[\n;&|({])[ \t]*(?:[^\s;&|'\"]*/)?apply_?patch\b[^\n]*?(?:\n[^\n]{0,200}?)?"
    r"(?P<patch>\*\*\* Begin Patch.*?(?:\n\*\*\* End Patch|\Z))",
    re.DOTALL,
)
_CHANGED_FOLDER = re.compile(
    r"(?:^|[\n;&|({])[ \t]*cd[ \t]+(\"[^\"\n]+\"|'[^'\n]+'|[^\s;&|]+)[ \t]*(?:&&|;|\n)[^\n]*\Z"
)


def shell_patches(command: str | Sequence[object]) -> list[Patch]:
    """Return the patches that a command hands to apply_patch: an argument list, or a shell line (quotes, ``<<``)."""
    if isinstance(command, str):
        return list(_patches_in_line(command))
    words = [word for word in command if isinstance(word, str)]
    if not words:
        return []
    program = words[0].rsplit("/", 1)[-1]
    if program in ("apply_patch", "applypatch"):
        return [Patch(word) for word in words[1:] if BEGIN in word]
    return [patch for word in words[1:] for patch in _patches_in_line(word)]


def _patches_in_line(line: str) -> Iterator[Patch]:
    if BEGIN not in line:
        return
    for call in _CALL.finditer(line):
        folder = ""
        # the match itself begins with the separator that ends a "cd"
        changed = _CHANGED_FOLDER.search(line[: call.start()] + line[call.start() : call.start() + 1])
        if changed is not None:
            folder = changed[1].strip("\"'")
        yield Patch(call["patch"], folder)


_LITERAL_BEFORE = re.compile(r"([\"'`])(?:\s|\\n)*\Z")
_LITERAL_ON_LINE = re.compile(r"([\"'`])((?:\\.|(?!\1)[^\n\\]){0,300}?)\Z")
_JOINT = re.compile(r"\s*([,+])\s*([\"'`])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


def script_patches(script: str) -> list[Patch]:
    """Return the patches in string literals of a JavaScript text that names apply_patch, escapes undone.

    Literals that are added up or listed one after another are put together.
    """
    if "apply_patch" not in script and "applypatch" not in script:
        return []
    found: list[Patch] = []
    position = 0
    while (begin := script.find(BEGIN, position)) >= 0:
        before = script[max(0, begin - 400) : begin]
        opening = _LITERAL_BEFORE.search(before) or _LITERAL_ON_LINE.search(before)
        if opening is None:
            position = begin + len(BEGIN)
            continue
        start = begin - len(before) + opening.start()
        text, position = _literals(script, start)
        position = max(position, begin + len(BEGIN))
        if text.lstrip().startswith(BEGIN):
            found.append(Patch(text))
        else:
            found.extend(shell_patches(text))
    return found


def _literals(script: str, start: int) -> tuple[str, int]:
    """Return the literal that opens at ``start``, with those joined to it up to the patch's end, and where it ends."""
    text, end = _literal(script, start)
    while END not in text:
        joint = _JOINT.match(script, end)
        if joint is None:
            break
        more, end = _literal(script, joint.start(2))
        text += ("\n" if joint[1] == "," else "") + more
    return text, end


def _literal(script: str, start: int) -> tuple[str, int]:
    """Return the value of the string literal whose quote stands at ``start``, and the place after its closing quote."""
    quote = script[start]
    end = start + 1
    while end < len(script) and script[end] != quote:
        end += 2 if script[end] == "\\" else 1
    body = script[start + 1 : end]
    raw = script[max(0, start - 10) : start].endswith("String.raw")
    if raw:
        return body, end + 1
    # two escapes can make one character; half of one can be encoded by nothing and is replaced
    value = _ESCAPE.sub(_unescaped, body).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value, end + 1


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if digits:
        number = int(digits, 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    return _ESCAPES.get(escape[4], escape[4])


def joined(folder: str | None, path: str) -> str:
    """Return ``path`` made absolute against ``folder`` where that is known; both may be of another system."""
    if not folder or posixpath.isabs(path) or ntpath.splitdrive(path)[0] or path.startswith("\\"):
        return path
    windows = "\\" in folder or bool(ntpath.splitdrive(folder)[0])
    if windows:
        return ntpath.normpath(ntpath.join(folder, path))
    return posixpath.normpath(posixpath.join(folder, path))

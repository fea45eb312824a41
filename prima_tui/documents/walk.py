"""The documents below a project root: which files they are. Nothing is opened but ``.gitignore`` files.

Left out are what git ignores, ``.git``, ``node_modules``, ``.memory`` and ``.prima-memory``, the shared log of a
workspace (its entries are found as conversations), and links that lead out of the root. Folders that are links are
never entered: what they lead to inside the root is found where it really is, and so no walk runs in a circle.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from pathspec import GitIgnoreSpec

from prima_tui.documents.project import MEMORY_FOLDER

DEFAULT_INCLUDE = ("*.[mM][dD]", "*.[mM][aA][rR][kK][dD][oO][wW][nN]", "*.[tT][xX][tT]")
"""Patterns (gitignore syntax) of what is a document when nothing else is configured."""
LEFT_OUT = frozenset({".git", "node_modules", MEMORY_FOLDER, ".prima-memory"})
_SHARED_LOG = ".claude/state/"
"""Conversations, which are searched as such."""
_IGNORE_FILE = ".gitignore"


class DocumentFile(msgspec.Struct, frozen=True):
    """A document that is there: its path relative to the root (with ``/``), bytes, time of its last change."""

    path: str
    size: int
    mtime_ns: int


class Walk(msgspec.Struct, frozen=True):
    """What a walk found, in the order of paths, and what could not be looked at, one line each."""

    files: tuple[DocumentFile, ...]
    warnings: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Folders that could not be read, with a slash at their ends ("" for the root): what is in them is not known."""


class _Ignore(msgspec.Struct, frozen=True):
    """The patterns of one ``.gitignore``: they hold below its folder, and are matched relative to it."""

    folder: str
    """Relative to the root with a slash at its end, "" for the root; of a folder above it the way from there."""
    spec: GitIgnoreSpec
    above: str = ""
    """For a file above the root: the root's path relative to it, with a slash at its end."""

    def verdict(self, path: str) -> bool | None:
        """Tell whether the path (relative to the root) is ignored, expressly not, or not spoken of (None)."""
        return self.spec.check_file(self.above + path[len(self.folder) :]).include


def walk(
    root: Path,
    include: Sequence[str] = DEFAULT_INCLUDE,
    exclude: Sequence[str] = (),
    stop: Callable[[], bool] = lambda: False,
    also: Callable[[str], bool] = lambda _path: False,
) -> Walk:
    """Return the documents below ``root``: files that match ``include`` and not ``exclude`` (gitignore syntax).

    ``also`` tells of a path whether it is a document beyond what ``include`` says.

    Never raises: a folder that can't be read is a warning. ``stop`` is asked at every folder; a walk that was stopped
    is not complete.
    """
    walker = _Walker(root, GitIgnoreSpec.from_lines(include), GitIgnoreSpec.from_lines(exclude), stop, also)
    walker.folder("", walker.above())
    walker.links_to_files()
    return Walk(
        tuple(sorted(walker.found.values(), key=lambda one: one.path)), tuple(walker.warnings), tuple(walker.unread)
    )


class _Walker:
    def __init__(
        self,
        root: Path,
        include: GitIgnoreSpec,
        exclude: GitIgnoreSpec,
        stop: Callable[[], bool],
        also: Callable[[str], bool],
    ) -> None:
        self.root = os.path.realpath(root)
        self.include = include
        self.exclude = exclude
        self.stop = stop
        self.also = also
        self.found: dict[str, DocumentFile] = {}
        self.warnings: list[str] = []
        self.unread: list[str] = []
        self._links: list[str] = []
        self._ignores: dict[str, tuple[_Ignore, ...]] = {}
        """For each folder that was entered: the patterns that hold in it, the nearest last."""

    def above(self) -> tuple[_Ignore, ...]:
        """Return the patterns of folders above the root, up to the top of its git repository."""
        top = Path(self.root)
        folders = [top, *top.parents]
        repository = next((place for place, folder in enumerate(folders) if (folder / ".git").exists()), 0)
        ignores = []
        for folder in reversed(folders[1 : repository + 1]):
            way = top.relative_to(folder).as_posix() + "/"
            spec = self._read(folder / _IGNORE_FILE, str(folder / _IGNORE_FILE))
            # a root inside an ignored folder was made a root on purpose
            if spec is not None and not spec.check_file(way).include:
                ignores.append(_Ignore("", spec, way))
        return tuple(ignores)

    def folder(self, first: str, ignores: tuple[_Ignore, ...]) -> None:
        """Take the documents of a folder (its path with a slash at its end, "" for the root) and of those below it."""
        waiting = [(first, ignores)]
        entered: set[tuple[int, int]] = set()
        while waiting and not self.stop():
            folder, ignores = waiting.pop()
            entries = self._entries(folder, entered)
            if any(entry.name == _IGNORE_FILE and entry.is_file() for entry in entries):
                spec = self._read(Path(self.root, folder, _IGNORE_FILE), folder + _IGNORE_FILE)
                if spec is not None:
                    ignores = (*ignores, _Ignore(folder, spec))
            self._ignores[folder] = ignores
            for entry in entries:
                path = folder + entry.name
                if entry.is_symlink():
                    self._links.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name not in LEFT_OUT and not self._left_out(path + "/", ignores):
                        waiting.append((path + "/", ignores))
                elif self._wanted(path, ignores) and entry.is_file(follow_symlinks=False):
                    self._take(path, entry)

    def links_to_files(self) -> None:
        """Take the links to files inside the root that are not found under their own name."""
        for path in sorted(self._links):
            folder = path[: path.rfind("/") + 1]
            if self.stop() or not self._wanted(path, self._ignores[folder]):
                continue
            target = os.path.realpath(Path(self.root, path))
            inside = os.path.relpath(target, self.root).replace(os.sep, "/") if _below(target, self.root) else ""
            parts = inside.split("/")
            if not inside or inside in self.found or LEFT_OUT.intersection(parts):
                continue
            home = "/".join(parts[:-1]) + "/" if len(parts) > 1 else ""
            if home not in self._ignores or self._left_out(inside, self._ignores[home]):
                continue
            try:
                state = Path(target).stat()
            except OSError:
                continue  # a link to nothing
            if stat.S_ISREG(state.st_mode):
                self.found[inside] = DocumentFile(path, state.st_size, state.st_mtime_ns)

    def _entries(self, folder: str, entered: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
        place = Path(self.root, folder)
        try:
            state = place.stat()
            # a mount or a junction can lead to a folder above
            if (state.st_dev, state.st_ino) in entered and state.st_ino:
                return []
            entered.add((state.st_dev, state.st_ino))
            with os.scandir(place) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.warnings.append(f"{folder or '.'}: can't be read: {error.strerror or error}")
            self.unread.append(folder)
            return []

    def _take(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "backslashreplace").decode()
            self.warnings.append(f"{shown}: left out: its name is no valid text")
            return
        try:
            state = entry.stat(follow_symlinks=False)
        except OSError:
            return  # it vanished meanwhile
        self.found[path] = DocumentFile(path, state.st_size, state.st_mtime_ns)

    def _wanted(self, path: str, ignores: tuple[_Ignore, ...]) -> bool:
        return (self.include.match_file(path) or self.also(path)) and not self._left_out(path, ignores)

    def _left_out(self, path: str, ignores: tuple[_Ignore, ...]) -> bool:
        if self.exclude.match_file(path) or f"/{path}".endswith(f"/{_SHARED_LOG}"):
            return True
        for ignore in reversed(ignores):
            verdict = ignore.verdict(path)
            if verdict is not None:
                return verdict
        return False

    def _read(self, path: Path, name: str) -> GitIgnoreSpec | None:
        try:
            text = path.read_bytes().decode("utf-8-sig", "replace")
            return GitIgnoreSpec.from_lines(_without_faults(text.splitlines()))
        except OSError as error:
            if path.exists():
                self.warnings.append(f"{name}: not honoured: {error.strerror or error}")
            return None


def _without_faults(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that are patterns; one that is none costs no other."""
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        yield line


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)

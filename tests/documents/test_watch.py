"""Watching documents: one refresh for a burst, whatever editors and git do, and an end at once."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import watchfiles

from prima_tui.documents import watch
from prima_tui.documents.watch import Watcher
from prima_tui.errors import PrimaError
from prima_tui.model.hits import Cancel


class Watching:
    """A watcher in a thread; remembers what the documents were at each refresh."""

    def __init__(self, root: Path, *, polling: bool = False) -> None:
        self.root = root
        self.seen: list[dict[str, str]] = []
        self.lines: list[str] = []
        self.fail = ""
        self.hold = threading.Event()
        self.hold.set()
        self.cancel = Cancel()
        self.watcher = Watcher(
            root, root.parent / "config.toml", self._refresh, self.lines.append, self.cancel, polling=polling
        )
        self.thread = threading.Thread(target=self.watcher.run, daemon=True)
        self.thread.start()
        self.until(lambda: bool(self.seen or self.lines))
        time.sleep(watch.TICK_SECONDS + 0.3)

    def _refresh(self, cancel: Cancel) -> None:
        while not self.hold.wait(0.01):
            if cancel.cancelled:
                return
        if self.fail:
            raise PrimaError(self.fail)
        self.seen.append(documents(self.root))

    def until(self, holds: Callable[[], bool], seconds: float = 15.0) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, (self.seen, self.lines)
            time.sleep(0.02)

    def current(self) -> bool:
        """Whether the last refresh saw the documents as they are."""
        return bool(self.seen) and self.seen[-1] == documents(self.root)

    def stop(self) -> float:
        started = time.monotonic()
        self.cancel.cancel()
        self.thread.join(10)
        assert not self.thread.is_alive()
        return time.monotonic() - started


def documents(root: Path) -> dict[str, str]:
    found = {}
    for path in root.rglob("*.md"):
        try:
            found[str(path.relative_to(root))] = path.read_text()
        except OSError:
            continue
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".memory").mkdir(parents=True)
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "a.md").write_text("a")
    (root / "docs" / "deep" / "b.md").write_text("b")
    return root


@pytest.fixture
def watching(root: Path) -> Iterator[Watching]:
    one = Watching(root)
    yield one
    one.hold.set()
    one.stop()


def test_it_refreshes_at_the_start_and_after_each_burst(watching: Watching, root: Path) -> None:
    assert len(watching.seen) == 1
    for number in range(30):
        (root / f"new{number}.md").write_text("x")
    watching.until(watching.current)
    assert len(watching.seen) <= 3
    (root / "a.md").unlink()
    watching.until(watching.current)


def test_what_is_no_document_costs_nothing(watching: Watching, root: Path) -> None:
    (root / "code.py").write_text("x = 1\n")
    (root / ".a.md.swp").write_bytes(b"b0VIM")
    (root / "4913").write_text("")
    (root / "4913").unlink()
    (root / ".memory" / "index.duckdb").write_bytes(b"x")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "readme.md").write_text("x")
    time.sleep(2.5)
    assert len(watching.seen) == 1


def test_a_save_by_way_of_a_swap_file_is_seen(watching: Watching, root: Path) -> None:
    (root / ".a.md.tmp").write_text("saved")
    (root / ".a.md.tmp").replace(root / "a.md")
    watching.until(watching.current)
    assert watching.seen[-1]["a.md"] == "saved"


def test_renamed_moved_and_deleted_folders_are_seen(watching: Watching, root: Path, tmp_path: Path) -> None:
    (root / "docs").rename(root / "texts")
    watching.until(watching.current)
    assert "texts/deep/b.md" in watching.seen[-1]
    (root / "texts" / "deep" / "b.md").write_text("after the move")
    watching.until(watching.current)
    (root / "texts").rename(tmp_path / "elsewhere")
    watching.until(watching.current)
    assert list(watching.seen[-1]) == ["a.md"]
    (tmp_path / "elsewhere").rename(root / "back")
    watching.until(watching.current)


def test_files_in_a_folder_made_this_moment_are_seen(watching: Watching, root: Path) -> None:
    for number in range(5):
        folder = root / f"made{number}" / "deep"
        folder.mkdir(parents=True)
        (folder / "c.md").write_text("c")
    watching.until(watching.current)


def test_an_ignore_file_and_the_configuration_change_what_is_a_document(watching: Watching, root: Path) -> None:
    (root / ".gitignore").write_text("a.md\n")
    watching.until(lambda: len(watching.seen) == 2)
    (root / ".memory" / "config.toml").write_text('[documents]\ninclude = ["*.rst", "*.md"]\n')
    (root / "c.rst").write_text("c")
    watching.until(lambda: len(watching.seen) == 3)
    (root / "c.rst").write_text("changed")
    watching.until(lambda: len(watching.seen) == 4)


def test_a_branch_switch_with_thousands_of_changes_is_a_few_refreshes(watching: Watching, root: Path) -> None:
    for switch in range(2):
        for number in range(1500):
            path = root / f"branch{number % 40}" / f"{number}.md"
            if switch and number % 2:
                path.unlink()
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_text(f"{switch} {number}")
    watching.until(watching.current, 30)
    assert len(watching.seen) <= 10


def test_a_deleted_project_is_waited_for_and_never_made_anew(watching: Watching, root: Path) -> None:
    shutil.rmtree(root)
    watching.until(lambda: any("waiting for it" in line for line in watching.lines))
    time.sleep(0.5)
    assert not root.exists()
    before = len(watching.seen)
    (root / ".memory").mkdir(parents=True)
    (root / "a.md").write_text("born again")
    watching.until(lambda: len(watching.seen) > before and watching.current())
    (root / "a.md").write_text("and changed")
    watching.until(watching.current)


def test_a_folder_put_in_the_place_of_the_project_is_watched(watching: Watching, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".memory").mkdir(parents=True)
    (other / "a.md").write_text("other")
    root.rename(tmp_path / "old")
    other.rename(root)
    watching.until(watching.current)
    time.sleep(watch.TICK_SECONDS + 0.3)
    (root / "a.md").write_text("other, changed")
    watching.until(watching.current)


def test_a_refresh_that_fails_is_said_once_and_tried_again(
    watching: Watching, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "TRY_AGAIN_SECONDS", 0.2)
    watching.fail = "the index is busy"
    (root / "a.md").write_text("changed")
    watching.until(lambda: bool(watching.lines))
    time.sleep(2.5)
    assert watching.lines == ["not refreshed: the index is busy; it is tried again"]
    watching.fail = ""
    watching.until(watching.current)


def test_it_stops_at_once_while_waiting_and_in_the_middle_of_a_refresh(watching: Watching, root: Path) -> None:
    assert watching.stop() < 1.0
    other = Watching(root)
    other.hold.clear()
    (root / "a.md").write_text("changed")
    time.sleep(1.0)
    assert other.stop() < 1.0


def test_polling_sees_the_same_changes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.1)
    one = Watching(root, polling=True)
    (root / "docs").rename(root / "texts")
    one.until(one.current)
    state = (root / "a.md").stat()
    (root / "a.md").write_text("b")
    os.utime(root / "a.md", ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    one.until(one.current)
    shutil.rmtree(root)
    one.until(lambda: bool(one.lines))
    assert one.stop() < 1.0


def test_without_notifications_it_polls_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_paths: object, **_options: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached")
        yield

    monkeypatch.setattr(watch, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(watchfiles, "watch", refused)
    one = Watching(root)
    assert one.lines == ["no notifications here (OS file watch limit reached); looking every 0.1 s instead"]
    (root / "a.md").write_text("changed")
    one.until(one.current)
    one.stop()


def test_what_is_in_a_collection_is_watched_too(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / ".memory").mkdir(parents=True)
    (root / ".memory" / "config.toml").write_text('[collections.code]\ninclude = ["*.py"]\n')
    watching = Watching(root)
    try:
        before = len(watching.seen)
        (root / "app.py").write_text("x = 1")
        watching.until(lambda: len(watching.seen) > before)
        before = len(watching.seen)
        (root / "app.rs").write_text("fn a() {}")
        time.sleep(watch.QUIET_SECONDS + 0.5)
        assert len(watching.seen) == before
    finally:
        watching.stop()

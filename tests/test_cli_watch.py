"""``prima-tui docs watch`` as a process: what is written is found, and it ends at once and well."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from prima_tui.config import load_settings, paths_below
from prima_tui.documents_memory import Documents
from prima_tui.index.embedder import Embedder

ROOT = Path(__file__).resolve().parents[1]


class Watch:
    """The command in a process of its own."""

    def __init__(self, root: Path, *words: str) -> None:
        home = root.parent
        env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTEST"))}
        env |= {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        self.log = home / "watch.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prima_tui", "docs", "watch", *words],
                cwd=root,
                env=env,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def until(self, text: str, times: int = 1, seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while self.log.read_text().count(text) < times:
            assert time.monotonic() < deadline and self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "home" / "project"
    (root / ".memory").mkdir(parents=True)
    (root / "a.md").write_text("# Apples\n\nApples are kept in the cellar.\n")
    return root


@pytest.fixture
def watching(root: Path) -> Iterator[Watch]:
    one = Watch(root)
    one.until("1 new or changed")
    time.sleep(1.5)
    yield one
    one.process.kill()
    one.process.wait()


def test_what_is_written_is_found_by_meaning_and_ctrl_c_ends_it_well(
    watching: Watch, root: Path, embedder: Embedder
) -> None:
    (root / "b.md").write_text("# Boats\n\nThe ferry leaves at nine.\n")
    watching.until("1 new or changed", 2)
    (root / "a.md").unlink()
    watching.until("1 removed")
    documents = Documents(root, load_settings(root, paths_below(root.parent)), env={}, model=embedder)
    assert [hit.path for hit in documents.search("when does the ferry depart", "semantic")] == ["b.md"]
    documents.close()
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(10) == 0
    assert "Traceback" not in watching.log.read_text()


def test_a_project_that_goes_and_comes_back_is_indexed_again(watching: Watch, root: Path, embedder: Embedder) -> None:
    shutil.rmtree(root)
    watching.until("waiting for it to come back")
    assert not root.exists()
    (root / ".memory").mkdir(parents=True)
    (root / "c.md").write_text("# Candles\n\nCandles are in the drawer.\n")
    watching.until("1 new or changed", 2)
    watching.process.send_signal(signal.SIGTERM)
    assert watching.process.wait(10) == 0
    documents = Documents(root, load_settings(root, paths_below(root.parent)), env={}, model=embedder)
    state = documents.status()
    assert (state.files, state.stale_files) == (1, ())
    assert [hit.path for hit in documents.search("in which drawer are candles", "semantic")] == ["c.md"]
    documents.close()


def test_ctrl_c_in_the_middle_of_indexing_ends_it_too(root: Path) -> None:
    for number in range(150):
        text = "\n\n".join(f"## Part {part}\n\n" + f"word{number}x{part} and more words " * 60 for part in range(8))
        (root / f"{number}.md").write_text(text)
    one = Watch(root)
    one.until("watching")
    time.sleep(4)
    one.process.send_signal(signal.SIGINT)
    assert one.process.wait(20) == 0  # all of it would take a minute and more
    assert "Traceback" not in one.log.read_text()


def test_without_a_project_it_says_what_helps(tmp_path: Path) -> None:
    (tmp_path / "home" / "plain").mkdir(parents=True)
    one = Watch(tmp_path / "home" / "plain")
    assert one.process.wait(30) == 1
    assert "docs init" in one.log.read_text()

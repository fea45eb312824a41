"""``prima-tui docs``: what the commands print, as text and as one JSON document, and how they exit."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.documents.chat_server import serving, streaming

ROOT = Path(__file__).resolve().parents[1]


class Shell:
    """Runs the program in a project, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        keep = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTEST"))}
        self.env = keep | {"HOME": str(self.home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "prima_tui", *words]
        return subprocess.run(argv, cwd=cwd or self.root, env=self.env, capture_output=True, text=True, timeout=120)

    def json(self, *words: str) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_without_a_project_it_says_how_to_make_one(shell: Shell) -> None:
    done = shell.run("docs", "search", "x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "docs init" in done.stderr


def test_init_makes_the_memory_and_prints_the_block_for_agents(shell: Shell) -> None:
    made = shell.json("docs", "init")
    assert (made["created"], made["ignored"]) == (True, False)
    assert made["mcp"]["mcpServers"]["prima-tui"]["args"][-1] == "mcp"
    assert (shell.root / ".memory").is_dir()
    assert not (shell.root / ".gitignore").exists()
    again = shell.run("docs", "init", "--gitignore")
    assert "was there already" in again.stdout
    assert '"mcpServers"' in again.stdout
    assert (shell.root / ".gitignore").read_text() == ".memory/\n"
    assert shell.json("docs", "init", "--gitignore")["ignored"] is True
    assert (shell.root / ".gitignore").read_text() == ".memory/\n"


def test_init_adds_to_gitignore_without_touching_what_stands_there(shell: Shell) -> None:
    (shell.root / ".gitignore").write_bytes(b"build/\r\n*.pyc")
    shell.run("docs", "init", "--gitignore")
    assert (shell.root / ".gitignore").read_bytes() == b"build/\r\n*.pyc\r\n.memory/\r\n"


@pytest.mark.parametrize(("typed", "ignored"), [("y\n", True), ("n\n", False)])
def test_init_asks_a_person(shell: Shell, typed: str, ignored: bool) -> None:
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "prima_tui", "docs", "init"]
    running = subprocess.Popen(argv, cwd=shell.root, env=shell.env, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs)
    os.write(ours, typed.encode())
    running.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert running.returncode == 0
    assert (shell.root / ".gitignore").exists() is ignored


def test_a_project_from_first_index_to_answers(shell: Shell) -> None:
    """One run of the real program with the real model."""
    (shell.root / "docs").mkdir()
    (shell.root / "docs" / "retry.md").write_text(
        "# Mail\n\n## Retry policy\n\nA mail is sent again after five minutes.\n"
    )
    (shell.root / "notes.txt").write_bytes("Gr\u00fc\u00dfe aus K\u00f6ln\n".encode("latin-1"))
    shell.run("docs", "init")
    status = shell.json("docs", "status")
    assert (status["files"], status["chunks"], status["last_indexed"]) == (2, 0, None)
    assert status["stale_files"] == ["docs/retry.md", "notes.txt"]

    done = shell.json("docs", "index")
    assert (done["files"], done["chunks_embedded"], done["finished"]) == (2, 2, True)
    assert "Latin-1" in done["warnings"][0]
    status = shell.json("docs", "status")
    assert (status["chunks"], status["stale_files"]) == (2, [])
    assert status["last_indexed"].endswith("Z")

    found = shell.json("docs", "search", "when", "is", "an", "email", "delivered", "a second time")
    assert [hit["path"] for hit in found["results"]][:1] == ["docs/retry.md"]
    hit = found["results"][0]
    assert (hit["heading"], hit["first_line"], hit["last_line"], hit["stale"]) == ("Mail > Retry policy", 1, 5, False)
    text = shell.run("docs", "search", "retry policy").stdout
    assert text.startswith("docs/retry.md:1-5  Mail > Retry policy · ")

    asked = shell.json("docs", "ask", "after how long is a mail sent again?")
    assert (asked["answer"], asked["model"], asked["note"]) == (None, None, "")
    assert asked["results"][0]["path"] == "docs/retry.md"

    beside = shell.json("search", "retry policy")
    assert [one["path"] for one in beside["documents"]] == ["docs/retry.md"]
    assert "docs/retry.md:1" in shell.run("search", "retry policy").stdout

    with serving(streaming("After five minutes ", "[1 docs/retry.md], ", "see [9].\x1b[2J")) as server:
        (shell.root / ".memory" / "config.toml").write_text(f'[ask]\nurl = "{server.url}"\nname = "tiny"\n')
        answered = shell.run("docs", "ask", "after how long is a mail sent again?")
        asked = shell.json("docs", "ask", "after how long is a mail sent again?")
    assert answered.returncode == 0
    assert answered.stdout.index("[1] docs/retry.md:1-5") < answered.stdout.index("Answer:\nAfter five minutes")
    assert "see [9] (not given)." in answered.stdout
    assert "\x1b" not in answered.stdout
    assert "Cited: docs/retry.md:1-5" in answered.stdout
    assert "Not among the chunks given: [9]" in answered.stdout
    assert (asked["complete"], asked["citations"][0]["path"]) == (True, "docs/retry.md")

    down = shell.run("docs", "ask", "after how long is a mail sent again?")
    assert down.returncode == 0
    assert "A mail is sent again after five minutes." in down.stdout
    assert down.stderr.splitlines()[-1].startswith("no answer: nothing answers at ")


def test_keyword_search_needs_no_index(shell: Shell) -> None:
    (shell.root / "a.md").write_text("# Apples\n")
    shell.run("docs", "init")
    found = shell.json("docs", "search", "apples", "--mode", "keyword")
    assert [hit["path"] for hit in found["results"]] == ["a.md"]
    assert not (shell.root / ".memory" / "index.duckdb").exists()


def test_finding_nothing_is_done(shell: Shell) -> None:
    shell.run("docs", "init")
    done = shell.run("docs", "search", "zebra", "-m", "keyword")
    assert (done.returncode, done.stdout) == (0, "Nothing found in the documents.\n")


def test_the_root_is_found_from_below(shell: Shell) -> None:
    shell.run("docs", "init")
    (shell.root / "deep" / "down").mkdir(parents=True)
    done = shell.run("docs", "status", cwd=shell.root / "deep" / "down")
    assert str(shell.root) in done.stdout


def test_a_collection_is_searched_asked_and_counted(shell: Shell) -> None:
    (shell.root / "src").mkdir()
    (shell.root / "src" / "app.py").write_text("def retry() -> None:\n    '''Send the mail again.'''\n")
    (shell.root / "notes.md").write_text("# Mail\n\nThe mail is sent again.\n")
    shell.run("docs", "init")
    (shell.root / ".memory" / "config.toml").write_text('[collections.code]\ninclude = ["*.py"]\n')
    found = shell.json("docs", "search", "mail", "--mode", "keyword", "--collection", "code")
    assert [hit["path"] for hit in found["results"]] == ["src/app.py"]
    assert shell.json("docs", "status")["collections"] == [{"name": "code", "files": 1}]
    assert "Collection code: 1 file\n" in shell.run("docs", "status").stdout


def test_the_answer_to_a_question_is_compared_with_an_earlier_state(shell: Shell) -> None:
    (shell.root / "a.md").write_text("# Mail\n\nA mail is sent again after five minutes.\n")
    shell.run("docs", "init")
    shell.run("docs", "index")
    assert len(shell.json("docs", "snapshot", "--list")["states"]) == 1
    (shell.root / "a.md").write_text("# Mail\n\nA mail is sent again after two hours.\n")
    shell.run("docs", "index")
    text = shell.run("docs", "diff", "when", "is", "a", "mail", "sent", "again").stdout
    assert "-A mail is sent again after five minutes." in text
    assert "+A mail is sent again after two hours." in text
    assert [state["named"] for state in shell.json("docs", "snapshot", "release")["states"]] == [True, False, False]
    assert shell.json("docs", "diff", "mail", "--from", "release")["changes"][0]["kind"] == "same"

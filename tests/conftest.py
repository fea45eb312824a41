"""What every test stands on: no test sees the real home, and the embedding model is loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from prima_tui.index.embedder import Embedder
from tests.world import World

# a busy machine is no fault of what is tested
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

_ROOTS = (
    *("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PROJECT_DIR_NAME", "CODEX_HOME", "CODEX_SQLITE_HOME", "VSCODE_PORTABLE"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "PRIMA_EXPECTED_HOST"),
)


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point every variable that leads to the user's own files at an empty folder."""
    home = tmp_path_factory.mktemp("no-home")
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in _ROOTS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _a_terminal_that_can_do_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the same terminal for every test, whatever the tests run in; a test of another one sets that itself."""
    for name, value in (("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "C.UTF-8")):
        monkeypatch.setenv(name, value)
    for name in ("LC_ALL", "LC_CTYPE", "NO_COLOR", "TMUX", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """Return the real model, loaded once for the whole run."""
    return Embedder(tmp_path_factory.mktemp("model-cache"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return an empty home with a workspace in it."""
    return World(tmp_path)

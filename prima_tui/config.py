"""Settings and paths. Nothing is made or opened here: folders come into being when something is first written."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from prima_tui.errors import PrimaError

APP = "prima-tui"
MEMORY_FOLDER = ".prima-memory"
EXPECTED_HOST = "claude-code"


class Paths(msgspec.Struct, frozen=True):
    """Where the program keeps what it makes. All of it can be deleted; only the index costs time to make again."""

    cache: Path
    """The catalog and the assembled model."""
    data: Path
    """The index over every workspace, and what the screen remembers."""
    config: Path
    """The user's ``config.toml``."""
    log: Path
    """The startup log."""

    @property
    def catalog(self) -> Path:
        """The catalog's database file."""
        return self.cache / "catalog.duckdb"


class Settings(msgspec.Struct, frozen=True):
    """What a user can set, with the values used when nothing is set."""

    paths: Paths
    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    budget_seconds: float = 20.0
    """Seconds that an update of the index before a search may take."""
    theme: str = ""
    keys: dict[str, str] = {}
    """Binding id to keys, as the screen's keymap takes it."""
    problems: tuple[str, ...] = ()
    """What was wrong in the configuration files, one line each."""


def default_paths() -> Paths:
    """Return the platform's usual folders for this user (they follow HOME and the XDG variables)."""
    return Paths(
        cache=Path(platformdirs.user_cache_dir(APP, appauthor=False)),
        data=Path(platformdirs.user_data_dir(APP, appauthor=False)),
        config=Path(platformdirs.user_config_dir(APP, appauthor=False)),
        log=Path(platformdirs.user_log_dir(APP, appauthor=False)) / "startup.log",
    )


def paths_below(home: Path) -> Paths:
    """Return paths inside one folder, for a history that must leave no trace elsewhere (the demo, a test)."""
    base = home / ".prima-tui"
    return Paths(cache=base / "cache", data=base / "data", config=base / "config", log=base / "log" / "startup.log")


def load_settings(workspace: Path, paths: Paths | None = None) -> Settings:
    """Return the settings: the workspace's ``.prima-memory/config.toml`` over the user's ``config.toml``.

    A file that is missing is fine; one that can't be read or a value of the wrong kind is named in ``problems`` and
    the default stands.
    """
    paths = paths or default_paths()
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    problems: list[str] = []
    for path in (paths.config / "config.toml", workspace / MEMORY_FOLDER / "config.toml"):
        try:
            with path.open("rb") as file:
                table = tomllib.load(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            problems.append(f"{path}: not used: {error}")
            continue
        for name, value in table.items():
            if name == "keys" and isinstance(value, dict):
                keys.update({str(k): str(v) for k, v in value.items()})
            elif name == "theme" and isinstance(value, str):
                values[name] = value
            elif name == "budget_seconds" and isinstance(value, int | float) and not isinstance(value, bool):
                values[name] = max(0.0, float(value))
            else:
                problems.append(f"{path}: {name} = {value!r} is not a setting, or not of its kind; it is ignored")
    return Settings(paths=paths, keys=keys, problems=tuple(problems), **values)


def check_host(env: Mapping[str, str] = os.environ) -> None:
    """Refuse to run for another host: ``PRIMA_EXPECTED_HOST`` unset, empty or ``claude-code`` is fine.

    Raises PrimaError for any other value; nothing has been written by then.
    """
    value = env.get("PRIMA_EXPECTED_HOST", "")
    if value not in ("", EXPECTED_HOST):
        raise PrimaError(
            f"PRIMA_EXPECTED_HOST is {value!r}; this program runs for {EXPECTED_HOST!r} only and stops here."
        )


def private_folder(folder: Path) -> Path:
    """Make the folder if it is missing, readable by its owner only; return it. Raises OSError as ``mkdir`` does."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    return folder


def memory_folder(workspace: Path) -> Path:
    """Return ``<workspace>/.prima-memory``, made if missing, with the ``.gitignore`` that keeps history out of git.

    Raises OSError when it can't be made (a read-only workspace, a file of that name).
    """
    folder = private_folder(workspace / MEMORY_FOLDER)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# your conversations; never commit them\n*\n", encoding="utf-8")
    return folder

"""Settings and paths. Nothing is made or opened here: folders come into being when something is first written."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import platformdirs

from prima_tui.endpoint_settings import ONLY_THE_USERS, endpoint_fault
from prima_tui.errors import PrimaError, UsageError

APP = "prima-tui"
MEMORY_FOLDER = ".prima-memory"
EXPECTED_HOST = "claude-code"
DOCUMENT_TABLES = frozenset(("documents", "ask", "collections"))
"""Tables of a configuration file that are read where documents are."""


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


ModelKind = Literal["built-in", "fastembed", "ollama", "openai"]


class ModelSettings(msgspec.Struct, frozen=True):
    """The ``[model]`` table: which embedding model reads the history. Nothing set: the one that comes along."""

    kind: ModelKind = "built-in"
    name: str = ""
    """The model's name, as fastembed or the endpoint knows it."""
    url: str = ""
    """Of the endpoint; "" for Ollama means its usual address on this computer."""
    key_env: str = ""
    """Name of the environment variable that holds the endpoint's key; the key itself stands in no file."""
    timeout_seconds: float = 30.0
    """How long one request to the endpoint may take."""
    download: bool = False
    """Whether a fastembed model that is not on the disk may be fetched."""


class Settings(msgspec.Struct, frozen=True):
    """What a user can set, with the values used when nothing is set."""

    paths: Paths
    model: ModelSettings = ModelSettings()
    budget_seconds: float = 20.0
    """Seconds that an update of the index before a search may take."""
    theme: str = ""
    keys: dict[str, str] = {}
    """Binding id to keys, as the screen's keymap takes it."""
    resume_arguments: dict[str, tuple[str, ...]] = {}
    """Source id to further arguments for its agent when a session is resumed."""
    moved_from: tuple[str, ...] = ()
    """Folders that were this workspace before it moved, all gone by now; only the workspace's own file can say so."""
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
    model = ModelSettings()
    own = paths.config / "config.toml"
    for path in (own, workspace / MEMORY_FOLDER / "config.toml"):
        table = read_table(path, problems)
        for name, value in table.items():
            if name in DOCUMENT_TABLES and path == own:
                continue  # read where documents are
            if name == "keys" and isinstance(value, dict):
                keys.update({str(k): str(v) for k, v in value.items()})
            elif name == "model" and isinstance(value, dict):
                model = _with_model_table(model, value, path, problems, trusted=path == own)
            elif name == "resume" and isinstance(value, dict):
                if path == own:
                    values["resume_arguments"] = _resume_arguments(value, path, problems)
                else:
                    problems.append(f"{path}: resume can only be set in your own configuration; it is ignored")
            elif name == "moved_from" and path != own:
                values[name] = tuple(_vanished_folders(value, path, problems))
            elif name == "theme" and isinstance(value, str):
                values[name] = value
            elif name == "budget_seconds" and isinstance(value, int | float) and not isinstance(value, bool):
                values[name] = max(0.0, float(value))
            else:
                problems.append(f"{path}: {name} = {value!r} is not a setting, or not of its kind; it is ignored")
    return Settings(paths=paths, model=_complete(model, problems), keys=keys, problems=tuple(problems), **values)


def _resume_arguments(table: Mapping[str, Any], path: Path, problems: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the further arguments for each agent: ``[resume.claude-code] arguments = ["--verbose"]``."""
    found: dict[str, tuple[str, ...]] = {}
    for source, value in table.items():
        given = value.get("arguments") if isinstance(value, dict) and set(value) == {"arguments"} else None
        if isinstance(given, list) and all(isinstance(one, str) and one.isprintable() for one in given):
            found[source] = tuple(given)
        else:
            problems.append(f'{path}: resume.{source} is ignored: it holds no arguments = ["…"]')
    return found


def read_table(path: Path, problems: list[str]) -> Mapping[str, Any]:
    """Return what a TOML file holds; nothing for a missing one, and for one that can't be read a line in problems."""
    try:
        with path.open("rb") as file:
            import tomllib

            return tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        problems.append(f"{path}: not used: {error}")
    return {}


def _vanished_folders(value: object, path: Path, problems: list[str]) -> Iterator[str]:
    """Yield the folders of a ``moved_from`` entry. One that still exists is another workspace, and a problem."""
    for place in value if isinstance(value, list) else [value]:
        if not isinstance(place, str) or not Path(place).is_absolute():
            problems.append(f"{path}: moved_from: {place!r} is no absolute path; it is ignored")
        elif Path(place).is_dir():
            problems.append(f"{path}: moved_from: {place} still exists, so it did not become this workspace; ignored")
        else:
            yield place


def add_moved_from(workspace: Path, folder: str) -> None:
    """Note in the workspace's own configuration that it was ``folder`` before it moved; the rest of it stays as it is.

    Raises UsageError when that folder still exists, PrimaError when the file is of a kind that can't be added to,
    OSError when it can't be written.
    """
    import json
    import tomllib

    if Path(folder).is_dir():
        raise UsageError(f"{folder} still exists, so it did not become this workspace")
    path = memory_folder(workspace) / "config.toml"
    text = path.read_text("utf-8") if path.exists() else ""
    try:
        said = tomllib.loads(text).get("moved_from", [])
        known = [*said] if isinstance(said, list) else [said]
        line = f"moved_from = {json.dumps([*dict.fromkeys([*known, folder])], ensure_ascii=False)}\n"
        # a new entry stands first: behind a table it would be one of that table's
        changed = re.sub(r"(?ms)^moved_from[ \t]*=[ \t]*\[.*?\][ \t]*$\n?", lambda _found: line, text, count=1)
        if changed == text:
            changed = line + text
        if folder not in tomllib.loads(changed)["moved_from"]:
            raise ValueError("moved_from stands in it in another form")
    except (TypeError, ValueError) as error:
        raise PrimaError(f"{path} can't be added to ({error}); put moved_from = [{folder!r}] there") from error
    if path.exists():
        replace_file(path, changed.encode())
    else:
        path.write_text(changed, "utf-8")


def _with_model_table(
    model: ModelSettings, table: Mapping[str, Any], path: Path, problems: list[str], *, trusted: bool
) -> ModelSettings:
    """Return the model settings with a ``[model]`` table laid over them.

    A workspace's file comes with whatever was checked out, so it is not ``trusted``: it can't name an address beyond
    this computer, a variable to send as a key, or have anything downloaded; and what the user set for one kind of
    model, or for one address, does not serve another that a workspace chose.
    """
    values: dict[str, Any] = {}
    for name, value in table.items():
        fault = _model_fault(name, value, trusted=trusted)
        if fault:
            problems.append(f"{path}: model.{name} is ignored: {fault}")
        else:
            values[name] = float(value) if name == "timeout_seconds" else value
    if "name" in values and model.kind == "built-in":
        values.setdefault("kind", "fastembed")
    if not trusted:
        if values.get("kind", model.kind) != model.kind:
            model = ModelSettings(timeout_seconds=model.timeout_seconds)
        if values.get("url", model.url) != model.url:
            values["key_env"] = ""
    return msgspec.structs.replace(model, **values)


def _model_fault(name: str, value: object, *, trusted: bool) -> str:
    """Return what is wrong with one entry of a ``[model]`` table, "" when nothing is. Never repeats the value."""
    if name == "kind":
        kinds = get_args(ModelKind)
        return "" if value in kinds else f"it is none of {', '.join(kinds)}"
    if name == "download":
        if not isinstance(value, bool):
            return "it is neither true nor false"
        return "" if trusted else ONLY_THE_USERS
    return endpoint_fault(name, value, trusted=trusted)


def _complete(model: ModelSettings, problems: list[str]) -> ModelSettings:
    """Return the settings, or those of the model that comes along when something is missing for another one."""
    missing = ""
    if model.kind != "built-in" and not model.name:
        missing = "name"
    elif model.kind == "openai" and not model.url:
        missing = "url"
    if not missing:
        return model
    problems.append(f"model: kind {model.kind!r} needs a {missing}; the built-in model is used")
    return ModelSettings()


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
    """Make the folder if it is missing, readable by its owner only (one that was open to others is closed to them).

    Returns it. Raises OSError as ``mkdir`` does.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_mode & 0o077:
        with contextlib.suppress(OSError):
            folder.chmod(0o700)
    return folder


def replace_file(path: Path, data: bytes, *, follow_link: bool = True) -> None:
    """Put a file's new content in place of the old in one step: whoever reads sees one or the other, whole.

    A link stays one and the file that it names is replaced (without ``follow_link`` the link itself is, and what it
    names stays as it is); the mode stays too. Raises OSError, the old file unharmed.
    """
    import tempfile  # seldom needed, and every start would pay for it

    path = path.resolve() if follow_link else path.parent.resolve() / path.name
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        try:
            mode = path.stat().st_mode & 0o7777
        except FileNotFoundError:
            mode = 0o644
        new.chmod(mode)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def memory_folder(workspace: Path) -> Path:
    """Return ``<workspace>/.prima-memory``, made if missing, with the ``.gitignore`` that keeps history out of git.

    Raises OSError when it can't be made (a read-only workspace, a file of that name).
    """
    folder = private_folder(workspace / MEMORY_FOLDER)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        descriptor = os.open(ignore, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("# your conversations; never commit them\n*\n")
    return folder

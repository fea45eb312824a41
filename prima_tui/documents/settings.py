"""What can be set for documents: the project's ``.memory/config.toml`` over the user's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from pathspec import GitIgnoreSpec

from prima_tui.config import DOCUMENT_TABLES, read_table
from prima_tui.documents.collections import Collection
from prima_tui.documents.project import MEMORY_FOLDER
from prima_tui.documents.walk import DEFAULT_INCLUDE
from prima_tui.endpoint_settings import endpoint_fault

_NAME = re.compile(r"[\w-]{1,40}")


class AskSettings(msgspec.Struct, frozen=True):
    """The ``[ask]`` table: which model writes answers. Nothing set: none does."""

    url: str = ""
    """Of an endpoint that speaks as OpenAI's chat completions do, with or without ``/v1`` at its end."""
    name: str = ""
    """The model's name, as the endpoint knows it."""
    key_env: str = ""
    """Name of the environment variable that holds the endpoint's key; the key itself stands in no file."""
    timeout_seconds: float = 60.0
    """How long a whole answer may take."""

    @property
    def configured(self) -> bool:
        """Whether there is a model to be asked."""
        return bool(self.url and self.name)


class DocumentSettings(msgspec.Struct, frozen=True):
    """What holds for one project."""

    include: tuple[str, ...] = DEFAULT_INCLUDE
    """Which files are documents; gitignore syntax."""
    exclude: tuple[str, ...] = ()
    """Which of them are left out, beyond what git ignores; gitignore syntax."""
    largest_megabytes: float = 10.0
    """A larger file is left out."""
    ask: AskSettings = AskSettings()
    collections: tuple[Collection, ...] = ()
    """What is in one of them is a document too."""
    problems: tuple[str, ...] = ()
    """What was wrong in the configuration files, one line each."""

    def in_a_collection(self, path: str) -> bool:
        """Tell whether a file (its path relative to the project's root) is in one of the collections."""
        return any(one.holds(path) for one in self.collections)


def load_document_settings(root: Path, user_file: Path) -> DocumentSettings:
    """Return the settings of the project at ``root``, over those of the user's ``config.toml``.

    A file that is missing is fine; one that can't be read or a value of the wrong kind is named in ``problems``.
    """
    settings = DocumentSettings()
    problems: list[str] = []
    for path, trusted in ((user_file, True), (root / MEMORY_FOLDER / "config.toml", False)):
        table = read_table(path, problems)
        for name, value in table.items():
            if name == "documents" and isinstance(value, dict):
                settings = _with_documents(settings, value, path, problems)
            elif name == "ask" and isinstance(value, dict):
                ask = _with_ask(settings.ask, value, path, problems, trusted=trusted)
                settings = msgspec.structs.replace(settings, ask=ask)
            elif name == "collections" and isinstance(value, dict):
                collections = _with_collections(settings.collections, value, path, problems)
                settings = msgspec.structs.replace(settings, collections=collections)
            elif not trusted or name in DOCUMENT_TABLES:
                problems.append(f"{path}: {name} is not a setting of a project, or no table; it is ignored")
    ask = settings.ask
    if (ask.url or ask.name) and not ask.configured:
        problems.append(f"ask: a {'name' if ask.url else 'url'} is missing; no answers are written")
    return msgspec.structs.replace(settings, problems=tuple(problems))


def _with_documents(
    settings: DocumentSettings, table: Mapping[str, Any], path: Path, problems: list[str]
) -> DocumentSettings:
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name in ("include", "exclude") and _are_patterns(value):
            values[name] = tuple(value)
        elif name == "largest_megabytes" and _is_number(value):
            values[name] = float(value)
        else:
            problems.append(f"{path}: documents.{name} is not a setting, or not of its kind; it is ignored")
    return msgspec.structs.replace(settings, **values)


def _with_collections(
    known: tuple[Collection, ...], tables: Mapping[str, Any], path: Path, problems: list[str]
) -> tuple[Collection, ...]:
    """Return the collections with those of a file added; one that has a known name takes the other's place."""
    found = {one.name: one for one in known}
    for name, table in tables.items():
        fault = _collection_fault(name, table)
        if fault:
            problems.append(f"{path}: collections.{name} is ignored: {fault}")
            continue
        root = "/".join(PurePosixPath(table.get("root", "").replace("\\", "/")).parts)
        found[name] = Collection(name, tuple(table["include"]), tuple(table.get("exclude", ())), root)
    return tuple(found.values())


def _collection_fault(name: str, table: object) -> str:
    """Return what is wrong with a ``[collections.NAME]`` table, "" when nothing is."""
    if not _NAME.fullmatch(name):
        return "a name has letters, digits, - and _ only"
    if not isinstance(table, dict) or not table.get("include"):
        return "it needs a list of patterns: include"
    for key, value in table.items():
        if key in ("include", "exclude"):
            if not _are_patterns(value):
                return f"{key} is no list of patterns"
        elif key == "root":
            parts = PurePosixPath(value.replace("\\", "/")).parts if isinstance(value, str) else ("..",)
            if ".." in parts or parts[:1] == ("/",) or (parts and ":" in parts[0]):
                return "root is no folder inside the project"
        else:
            return f"{key} is not a setting"
    return ""


def _are_patterns(value: object) -> bool:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return False
    try:
        GitIgnoreSpec.from_lines(value)
    except ValueError:
        return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 86_400


def _with_ask(
    ask: AskSettings, table: Mapping[str, Any], path: Path, problems: list[str], *, trusted: bool
) -> AskSettings:
    """Return the settings with an ``[ask]`` table laid over them.

    A project's file comes with whatever was checked out, so it is not ``trusted``: it can't name an address beyond
    this computer or a variable to send as a key, and a key meant for one address isn't sent to another that it chose.
    """
    values: dict[str, Any] = {}
    for name, value in table.items():
        fault = endpoint_fault(name, value, trusted=trusted)
        if fault:
            problems.append(f"{path}: ask.{name} is ignored: {fault}")
        else:
            values[name] = float(value) if name == "timeout_seconds" else value
    if not trusted and values.get("url", ask.url) != ask.url:
        values["key_env"] = ""
    return msgspec.structs.replace(ask, **values)

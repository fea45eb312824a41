"""The registry: built-in sources in their order, sources of other packages, broken ones as problems."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from prima_tui.sources import registry
from prima_tui.sources.base import Problem
from prima_tui.sources.shared_log import SharedLog


class Extra(SharedLog):
    id = "extra"


class Nameless(SharedLog):
    id = ""


class Incomplete:
    id = "incomplete"


class Failing(SharedLog):
    id = "failing"

    def __init__(self) -> None:
        raise RuntimeError("no database")


READY = Extra()
NUMBER = 7


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let entry points with these names and values be found, as if packages had been installed."""
    registry._loaded.cache_clear()

    def plug(**values: str) -> None:
        points = EntryPoints(EntryPoint(name, value, registry.GROUP) for name, value in values.items())
        monkeypatch.setattr(registry, "_may_be_registered", lambda: True)
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.select(group=group))

    plug()
    yield plug
    registry._loaded.cache_clear()


def test_the_built_in_sources_have_their_ids() -> None:
    ids = [each.id for each in registry.builtin_sources()]
    assert ids == ["claude-code", "codex", "vscode", "copilot-cli", "shared-log"]


def test_built_in_sources_can_go_to_other_processes() -> None:
    for source in registry.builtin_sources():
        assert pickle.loads(pickle.dumps(source)).id == source.id


def test_a_source_is_found_by_its_id(plugged: Any) -> None:
    assert registry.source_by_id("vscode").id == "vscode"
    with pytest.raises(KeyError):
        registry.source_by_id("nothing")


@pytest.mark.parametrize("name", ["Extra", "READY"])
def test_another_package_can_add_a_class_or_an_object(plugged: Any, name: str) -> None:
    plugged(extra=f"{__name__}:{name}")
    problems: list[Problem] = []
    assert [each.id for each in registry.all_sources(problems)][-1] == "extra"
    assert registry.source_by_id("extra").id == "extra"
    assert problems == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (f"{__name__}:Missing", "AttributeError"),
        ("no_such_package_here:Source", "ModuleNotFoundError"),
        (f"{__name__}:Incomplete", "it lacks roots, files, read, contains, finish"),
        (f"{__name__}:Nameless", "it has no id"),
        (f"{__name__}:Failing", "no database"),
        (f"{__name__}:NUMBER", "it has no id"),
        ("prima_tui.sources.shared_log:SharedLog", 'there is already a source "shared-log"'),
    ],
)
def test_a_broken_plug_in_is_a_problem_and_costs_no_other_source(plugged: Any, value: str, reason: str) -> None:
    plugged(bad=value, extra=f"{__name__}:Extra")
    problems: list[Problem] = []
    assert len(registry.all_sources(problems)) == len(registry.builtin_sources()) + 1
    (problem,) = problems
    assert problem.what.startswith("source can't be loaded: ")
    assert reason in problem.what
    assert problem.path == f"bad = {value}"


def test_a_package_that_is_installed_is_found(tmp_path: Path) -> None:
    installed = tmp_path / "site" / "another-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[prima_tui.sources]\nanother = no_such_package:Source\n")
    code = (
        "import sys\n"
        "from prima_tui.sources.registry import all_sources\n"
        "problems = []\n"
        "all_sources(problems)\n"
        "print([one.path for one in problems], 'importlib.metadata' in sys.modules)"
    )

    def run(folder: Path) -> str:
        path = os.pathsep.join(map(str, (folder, Path(registry.__file__).parents[2])))
        env = {**os.environ, "PYTHONPATH": path}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout

    assert run(tmp_path / "site") == "['another = no_such_package:Source'] True\n"
    assert run(tmp_path) == "[] False\n", "what takes long to load is not loaded for nothing"

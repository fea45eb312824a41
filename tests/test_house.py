"""The house itself: the README's two commands, the pinned dependencies, what an import may cost."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# put together here, so that this file names none of them
REGISTRY_HOSTS = ["pypi" + ".org", "python" + "hosted", "registry." + "npmjs", "deb." + "debian", "anaconda" + ".org"]


def fenced_lines(heading: str) -> list[str]:
    """The lines inside the code fences of one section of the README."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    assert section
    blocks = re.findall(r"^```\w*\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def pins(lock: str) -> dict[str, str]:
    """Name to version of every package that a lock file pins."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", text, re.MULTILINE))


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=~! ;\[]", requirement)[0].lower().replace("_", "-") for requirement in requirements}


@pytest.mark.parametrize(("heading", "end"), [("Start", ".venv/bin/prima-tui"), ("Test", ".venv/bin/python -m pytest")])
def test_each_of_the_two_commands_is_one_fenced_line(heading: str, end: str) -> None:
    (line,) = fenced_lines(heading)
    assert line.startswith("python3 -m venv .venv && ")
    assert line.endswith(f" && {end}")


def test_the_commands_install_what_is_pinned() -> None:
    for heading, lock in (("Start", "requirements.lock"), ("Test", "requirements-dev.lock")):
        assert f"--require-hashes -r {lock}" in fenced_lines(heading)[0]


def test_the_continuous_check_runs_the_readmes_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text(encoding="utf-8")
    assert "README.md" in text
    assert "-m pytest" not in text


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_holds_no_address_and_a_hash_for_every_package(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    for requirement in re.split(r"\n(?=[a-z0-9])", text)[1:]:
        assert "--hash=sha256:" in requirement, requirement.splitlines()[0]


def test_the_locks_pin_every_dependency() -> None:
    project = PROJECT["project"]
    run_time = names(project["dependencies"])
    extras = names([one for extra in ("test", "dev") for one in project["optional-dependencies"][extra]])
    assert run_time <= set(pins("requirements.lock"))
    assert run_time | extras <= set(pins("requirements-dev.lock"))


def test_the_two_locks_pin_the_same_versions() -> None:
    run_time, everything = pins("requirements.lock"), pins("requirements-dev.lock")
    assert {name: everything.get(name) for name in run_time} == run_time


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_tracked_file_names_the_host_of_a_package_registry() -> None:
    for path in tracked_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        assert [host for host in REGISTRY_HOSTS if host in text] == [], path


def run_python(code: str, home: Path) -> str:
    """What the code prints, in a fresh interpreter with an empty home as its current folder."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTEST"))}
    env |= {"HOME": str(home), "USERPROFILE": str(home), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=home, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


needs_cli = pytest.mark.skipif(importlib.util.find_spec("prima_tui.cli") is None, reason="no command line here")


@needs_cli
def test_importing_the_command_line_loads_nothing_heavy_and_makes_nothing(tmp_path: Path) -> None:
    heavy = (
        "textual",
        "duckdb",
        "fastembed",
        "onnxruntime",
        "numpy",
        "tokenizers",
        "rapidfuzz",
        "mcp",
        "pydantic",
        "watchfiles",
        "multiprocessing.pool",
    )
    code = f"import json, sys, prima_tui.cli; print(json.dumps([m for m in {heavy!r} if m in sys.modules]))"
    assert json.loads(run_python(code, tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_no_module_makes_a_file_or_a_folder_when_it_is_imported(tmp_path: Path) -> None:
    code = """
import importlib, pkgutil, prima_tui
for module in pkgutil.walk_packages(prima_tui.__path__, "prima_tui."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
    run_python(code, tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_cli
def test_the_readme_names_every_key() -> None:
    from textual.binding import Binding

    from prima_tui.tui.app import PrimaApp
    from prima_tui.tui.browse_screen import BrowseScreen

    bindings = [binding for owner in (PrimaApp, BrowseScreen) for binding in owner.BINDINGS]
    keys = {binding.key.split(",")[0] for binding in bindings if isinstance(binding, Binding)}
    section = README.split("\n## Keys\n")[1].split("\n## ")[0].lower()
    assert sorted(key for key in keys if f"`{key}`" not in section and f" {key} " not in section) == []


@needs_cli
def test_the_readme_names_every_filter_and_every_source() -> None:
    from prima_tui.model.query import STATES, FilterName
    from prima_tui.sources.registry import builtin_sources

    section = README.split("\n## Filters\n")[1].split("\n## ")[0]
    written = [*(f"`{name}:" for name in get_args(FilterName)), *(f"`is:{state}`" for state in STATES)]
    written += [f"`{source.id}`" for source in builtin_sources()]
    assert [one for one in written if one not in section] == []

"""Settings of documents: the project's over the user's, and what a checked out project may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from prima_tui.config import load_settings, paths_below
from prima_tui.documents.settings import DocumentSettings, load_document_settings
from prima_tui.documents.walk import DEFAULT_INCLUDE


def loaded(tmp_path: Path, user: str = "", project: str = "") -> DocumentSettings:
    root = tmp_path / "project"
    (root / ".memory").mkdir(parents=True, exist_ok=True)
    (tmp_path / "config.toml").write_text(user)
    (root / ".memory" / "config.toml").write_text(project)
    return load_document_settings(root, tmp_path / "config.toml")


def test_nothing_set_means_the_defaults_and_no_answers(tmp_path: Path) -> None:
    settings = load_document_settings(tmp_path, tmp_path / "missing.toml")
    assert settings.include == DEFAULT_INCLUDE
    assert not settings.ask.configured
    assert settings.problems == ()


def test_the_projects_patterns_stand_over_the_users(tmp_path: Path) -> None:
    user = '[documents]\ninclude = ["*.md"]\nexclude = ["drafts/"]\n'
    settings = loaded(tmp_path, user, '[documents]\ninclude = ["*.rst"]\n')
    assert (settings.include, settings.exclude) == (("*.rst",), ("drafts/",))


@pytest.mark.parametrize("value", ['"*.md"', "[1]", '["!"]', "3"])
def test_patterns_that_are_none_are_named_and_ignored(tmp_path: Path, value: str) -> None:
    settings = loaded(tmp_path, project=f"[documents]\ninclude = {value}\n")
    assert settings.include == DEFAULT_INCLUDE
    assert "documents.include" in settings.problems[0]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    settings = loaded(tmp_path, project="[documents\n")
    assert "not used" in settings.problems[0]


def test_a_project_may_name_an_endpoint_on_this_computer_only(tmp_path: Path) -> None:
    settings = loaded(tmp_path, project='[ask]\nurl = "http://127.0.0.1:8080/v1"\nname = "m"\n')
    assert settings.ask.configured
    settings = loaded(tmp_path, project='[ask]\nurl = "https://models.example/v1"\nname = "m"\n')
    assert not settings.ask.configured
    assert "only name an address on this computer" in settings.problems[0]


def test_the_user_may_name_any_endpoint_and_a_key(tmp_path: Path) -> None:
    ask = loaded(tmp_path, '[ask]\nurl = "https://models.example/v1"\nname = "m"\nkey_env = "KEY"\n').ask
    assert (ask.url, ask.key_env, ask.configured) == ("https://models.example/v1", "KEY", True)


def test_a_project_neither_names_a_key_nor_gets_the_users_at_its_own_address(tmp_path: Path) -> None:
    user = '[ask]\nurl = "https://models.example"\nname = "m"\nkey_env = "KEY"\n'
    settings = loaded(tmp_path, user, '[ask]\nurl = "http://localhost:9"\nkey_env = "OTHER"\n')
    assert (settings.ask.url, settings.ask.key_env) == ("http://localhost:9", "")
    assert "key_env" in settings.problems[0]


def test_a_key_in_the_file_is_refused_and_never_repeated(tmp_path: Path) -> None:
    settings = loaded(tmp_path, '[ask]\nurl = "http://localhost:9"\nname = "m"\napi_key = "sk-secret"\n')
    assert "key_env" in settings.problems[0]
    assert "sk-secret" not in settings.problems[0]


def test_half_an_endpoint_is_told(tmp_path: Path) -> None:
    assert "name is missing" in loaded(tmp_path, '[ask]\nurl = "http://localhost:9"\n').problems[0]


def test_the_tables_are_no_fault_to_the_programs_own_settings(tmp_path: Path) -> None:
    paths = paths_below(tmp_path)
    paths.config.mkdir(parents=True)
    (paths.config / "config.toml").write_text('[documents]\nexclude = []\n[ask]\nname = "m"\n')
    assert load_settings(tmp_path, paths).problems == ()

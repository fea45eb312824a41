"""``prima-tui install-skills``, run as people run it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prima_tui.cli import program
from prima_tui.errors import UsageError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "shop").mkdir(parents=True)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(home / "shop")
    return home


def run(*words: str) -> Result:
    return CliRunner().invoke(program, ["install-skills", *words])


def files(home: Path) -> list[str]:
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())


def test_a_dry_run_shows_everything_and_writes_nothing(home: Path) -> None:
    result = run("--dry-run", "--mcp")
    assert result.exit_code == 0, result.output
    for name in ("welcome", "resume", "reindex", "sleep"):
        assert f"{name}.md: would be written" in result.output
    assert "CLAUDE.md" in result.output
    assert ".mcp.json: server would be registered" in result.output
    assert files(home) == []


def test_install_and_uninstall_leave_no_file_of_ours(home: Path) -> None:
    assert run("--mcp").exit_code == 0
    commands = [f".claude/commands/{name}.md" for name in ("reindex", "resume", "sleep", "welcome")]
    assert files(home) == [*commands, "shop/.mcp.json"]
    again = run("--mcp")
    assert again.exit_code == 0
    assert again.output.count("up to date") == 4
    assert "registered already" in again.output
    assert run("--mcp", "--uninstall").exit_code == 0
    assert files(home) == ["shop/.mcp.json"]
    assert json.loads((home / "shop" / ".mcp.json").read_text()) == {"mcpServers": {}}
    assert run("--uninstall").output == "Nothing is installed there.\n"


def test_what_a_person_changed_is_kept_and_the_exit_code_says_so(home: Path) -> None:
    run("--project")
    path = home / "shop" / ".claude" / "commands" / "sleep.md"
    path.write_text(path.read_text() + "Mine.\n")
    for words in (("--project",), ("--project", "--uninstall")):
        result = run(*words)
        assert result.exit_code == 1
        assert "sleep.md: kept: it " in result.output
        assert path.read_text().endswith("Mine.\n")
    assert run("--project", "--force").exit_code == 0
    assert not path.read_text().endswith("Mine.\n")


def test_nothing_at_all_is_written_when_a_settings_file_is_refused(home: Path) -> None:
    (home / "shop" / ".mcp.json").write_text("{ // servers\n}")
    result = run("--mcp")
    assert "not valid JSON" in str(result.exception)
    assert files(home) == ["shop/.mcp.json"]


def test_each_agent_is_registered_where_it_looks(home: Path) -> None:
    (home / ".claude.json").write_text('{"numStartups": 3}')
    assert run("--mcp", "--user").exit_code == 0
    assert list(json.loads((home / ".claude.json").read_text())) == ["numStartups", "mcpServers"]
    assert run("--agent", "codex", "--mcp", "--user").exit_code == 0
    assert "[mcp_servers.prima-tui]" in (home / ".codex" / "config.toml").read_text()
    assert (home / ".codex" / "prompts" / "resume.md").is_file()


@pytest.mark.parametrize(
    "words", [("--user",), ("--agent", "codex", "--mcp"), ("--agent", "codex", "--project"), ("--prefix", "../x")]
)
def test_words_that_make_no_sense_together_are_usage_errors(home: Path, words: tuple[str, ...]) -> None:
    assert isinstance(run(*words).exception, UsageError)
    assert files(home) == []


def test_json_is_one_document(home: Path) -> None:
    document = json.loads(run("--json", "--prefix", "prima-").stdout)
    assert next(Path(row["path"]).name for row in document["files"]) == "prima-welcome.md"
    assert {row["result"] for row in document["files"]} == {"written"}


def test_every_command_begins_with_a_header_that_agents_can_read(home: Path) -> None:
    run()
    for path in (home / ".claude" / "commands").iterdir():
        header = path.read_text().split("---\n")[1]
        assert re.fullmatch(r'description: "[^"\n]+"\n(argument-hint: "[^"\n]+"\n)?', header), path

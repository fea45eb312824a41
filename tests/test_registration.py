"""The MCP server's entry in settings files: everything else stays as it was, byte for byte."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.errors import PrimaError
from prima_tui.registration import carry_out, plan_entry, plan_removal, server_command, user_file

COMMAND = ["prima-tui", "mcp"]
ENTRY = {"type": "stdio", "command": "prima-tui", "args": ["mcp"]}


def put(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def register(path: Path, command: list[str] = COMMAND, force: bool = False) -> str:
    change = plan_entry(path, command, force)
    carry_out(change)
    return change.outcome


def without_insertion(old: str, new: str) -> bool:
    """Whether the new text is the old one with one stretch put in."""
    head = 0
    while head < len(old) and old[head] == new[head]:
        head += 1
    return new[: head - len(old) or len(new)].startswith(old[:head]) and new.endswith(old[head:])


def test_a_missing_file_is_made_with_the_entry_alone(tmp_path: Path) -> None:
    path = tmp_path / "folder" / ".mcp.json"
    assert register(path) == "written"
    assert json.loads(path.read_text()) == {"mcpServers": {"prima-tui": ENTRY}}
    assert register(path) == "unchanged"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }\n",
        '{"mcpServers": {}}',
        '{"mcpServers":{"a":{"command":"x"}},"z":[1,2.50,1e3]}',
        '{\n\t"mcpServers": {\n\t\t"a": {"command": "x"}\n\t},\n\t"b":   true\n}\n',
        '{\r\n    "z" : "\\u00e9\\/",\r\n    "mcpServers" : { }\r\n}\r\n',
        '\ufeff{\n  "numUses": 3\n}',
        '{"mcpServers": {"a": 1},\n "mcpServers": {"b": {"args": ["}", "{\\"mcpServers\\": 1}"]}}}',
        '\n\n  {\n"x": {"mcpServers": {}}\n}',
    ],
)
def test_everything_else_keeps_its_bytes(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "settings.json", text)
    before = json.loads(text.removeprefix("\ufeff"))
    assert register(path) == "written"
    new = path.read_bytes().decode()
    assert without_insertion(text, new), new
    after = json.loads(new.removeprefix("\ufeff"))
    assert after["mcpServers"].pop("prima-tui") == ENTRY
    assert after == {**before, "mcpServers": before.get("mcpServers", {})}
    assert ("\r\n" in text) == ("\r\n" in new)
    assert "\n" in text or "\n" not in new or text.strip() in ("{}", "{ }")


def test_the_entry_is_laid_out_like_its_neighbours(tmp_path: Path) -> None:
    path = put(
        tmp_path / "a.json", '{\n    "mcpServers": {\n        "a": {\n            "command": "x"\n        }\n    }\n}\n'
    )
    register(path)
    assert path.read_text() == json.dumps({"mcpServers": {"a": {"command": "x"}, "prima-tui": ENTRY}}, indent=4) + "\n"


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(["a", "b", "prima-tui ", '"', "{"]), documents, max_size=4)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        lambda outer, inner: {**outer, **inner}, objects, st.just({}) | st.builds(lambda o: {"mcpServers": o}, objects)
    ),
    st.sampled_from([None, 0, 1, 4, "\t"]),
    st.booleans(),
)
def test_registering_and_removing_changes_the_entry_alone(
    tmp_path: Path, document: dict[str, Any], indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    path = put(tmp_path / "any.json", text)
    assert register(path) == "written"
    new = path.read_bytes().decode()
    assert without_insertion(text, new)
    assert json.loads(new) == {**document, "mcpServers": {**document.get("mcpServers", {}), "prima-tui": ENTRY}}
    change = plan_removal(path)
    assert change.outcome == "removed"
    carry_out(change)
    left = path.read_bytes().decode()
    assert json.loads(left) == {"mcpServers": {}, **document}
    if document.get("mcpServers"):
        assert left == text
    assert plan_removal(path).outcome == "absent"


def test_an_entry_that_says_something_else_is_replaced_only_when_forced(tmp_path: Path) -> None:
    text = '{"mcpServers": {"prima-tui": {"command": "/old/prima-tui"} , "b": 1}}'
    path = put(tmp_path / "a.json", text)
    assert register(path) == "differs"
    assert path.read_text() == text
    assert register(path, force=True) == "written"
    assert path.read_text() == text.replace('{"command": "/old/prima-tui"}', json.dumps(ENTRY))


@pytest.mark.parametrize(
    ("entry", "removed"),
    [
        ({"type": "stdio", "command": "prima-tui", "args": ["mcp"]}, True),
        ({"command": "/an/old/place/bin/prima-tui", "args": ["mcp"]}, True),
        ({"command": "/an/old/place/bin/python3", "args": ["-m", "prima_tui", "mcp"]}, True),
        ({"command": "prima-tui", "args": ["mcp", "--all"]}, False),
        ({"command": "prima-tui", "args": ["mcp"], "env": {"A": "b"}}, False),
        ({"command": "a-wrapper", "args": ["mcp"]}, False),
        ({"type": "http", "url": "http://localhost:1"}, False),
        ("prima-tui mcp", False),
    ],
)
def test_only_an_entry_as_it_is_written_is_removed_unless_forced(tmp_path: Path, entry: object, removed: bool) -> None:
    path = put(tmp_path / "a.json", json.dumps({"mcpServers": {"prima-tui": entry}}))
    assert plan_removal(path).outcome == ("removed" if removed else "differs")
    assert plan_removal(path, force=True).outcome == "removed"


def test_an_entry_of_codex_that_was_changed_is_removed_only_when_forced(tmp_path: Path) -> None:
    path = put(tmp_path / "config.toml", '[mcp_servers.prima-tui]\ncommand = "prima-tui"\nargs = ["mcp", "--all"]\n')
    assert plan_removal(path).outcome == "differs"
    assert plan_removal(path, force=True).text == ""


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,}', "// servers\n{}", "[]", '"text"', '{"mcpServers": []}', '{"a": 1} {}', "{", "[" * 100_000, "\x00"],
)
def test_a_file_that_is_not_understood_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "a.json", text)
    with pytest.raises(PrimaError, match=r"a\.json is left as it is"):
        plan_entry(path, COMMAND)
    assert path.read_bytes() == text.encode()


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(PrimaError, match="not UTF-8"):
        plan_entry(path, COMMAND)


def test_mode_and_link_of_the_file_stay(tmp_path: Path) -> None:
    real = put(tmp_path / "real.json", "{}")
    real.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    register(link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert "prima-tui" in real.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_codex_gets_a_table_at_the_end_of_its_settings(tmp_path: Path) -> None:
    text = 'model = "o"  # mine\n\n[mcp_servers.other]\ncommand = "x"'
    path = put(tmp_path / "config.toml", text)
    assert register(path) == "written"
    new = path.read_text()
    assert new.startswith(text)
    assert tomllib.loads(new)["mcp_servers"]["prima-tui"] == {"command": "prima-tui", "args": ["mcp"]}
    assert register(path) == "unchanged"
    assert register(path, ["C:\\a b\\prima-tui.exe", "mcp"]) == "differs"
    assert register(path, ["C:\\a b\\prima-tui.exe", "mcp"], force=True) == "written"
    assert tomllib.loads(path.read_text())["mcp_servers"]["prima-tui"]["command"] == "C:\\a b\\prima-tui.exe"
    change = plan_removal(path)
    carry_out(change)
    assert path.read_text().rstrip("\n") == text
    assert plan_removal(path).outcome == "absent"


def test_codex_settings_that_hold_their_servers_inline_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "config.toml", 'mcp_servers = { other = { command = "x" } }\n')
    with pytest.raises(PrimaError, match="left as it is"):
        plan_entry(path, COMMAND)
    put(path, "not toml")
    with pytest.raises(PrimaError, match="not valid TOML"):
        plan_entry(path, COMMAND)


def test_the_users_file_follows_the_variables_of_the_agents(tmp_path: Path) -> None:
    assert user_file("claude-code", tmp_path, {}) == tmp_path / ".claude.json"
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    assert user_file("claude-code", tmp_path, moved) == tmp_path / "c" / ".claude.json"
    assert user_file("codex", tmp_path, moved) == tmp_path / "x" / "config.toml"


def test_the_command_is_one_that_exists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    command = server_command()
    assert Path(command[0]).is_absolute()
    assert command[-1] == "mcp"

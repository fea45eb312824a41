"""When Claude Code deletes a conversation: so many days after its file was last written to as the settings say."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from prima_tui.model.session import Session
from prima_tui.sources import claude_code_cleanup
from prima_tui.sources.assemble import Assembler
from prima_tui.sources.base import Scope
from prima_tui.sources.reading import read_files
from prima_tui.sources.registry import all_sources
from tests.world import NOW, World, session_id

TURNS = [("A question", "An answer")]


def sessions(world: World, env: dict[str, str] | None = None) -> dict[str, Session]:
    claude_code_cleanup._kept_days.cache_clear()
    scope = Scope(workspace=world.workspace, everywhere=False, home=world.home, env=env or {})
    sources = {source.id: source for source in all_sources([])}
    files = [file for source in sources.values() for file in source.files(scope, [])]
    found = Assembler(scope, sources).assemble([one.reading for one in read_files(files)])
    return {item.session.id: item.session for item in found}


def last_written(path: Path, days_ago: float) -> None:
    at = (NOW - timedelta(days=days_ago)).timestamp()
    os.utime(path, (at, at))


def days_left(found: Session) -> float | None:
    return None if found.expires_at is None else (found.expires_at - NOW) / timedelta(days=1)


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ("{}", 30),
        ('{"cleanupPeriodDays": 90}', 90),
        ('{"cleanupPeriodDays": 0}', 30),
        ('{"cleanupPeriodDays": -3}', 30),
        ('{"cleanupPeriodDays": true}', 30),
        ('{"cleanupPeriodDays": "ten"}', 30),
        ("[1]", 30),
        ("{broken", 30),
        ('{"cleanupPeriodDays": 99999}', None),
        ('{"cleanupPeriodDays": 1e300}', None),
    ],
)
def test_the_settings_say_how_long_a_file_is_kept(world: World, settings: str | None, days: float | None) -> None:
    last_written(world.claude("one", TURNS), 10)
    if settings is not None:
        (world.home / ".claude" / "settings.json").write_text(settings, "utf-8")
    left = days_left(sessions(world)[session_id("one")])
    assert left == (None if days is None else pytest.approx(days - 10))


def test_each_configuration_folder_has_settings_of_its_own(world: World) -> None:
    project = world.project().name
    work, home = world.home / "claude-work", world.home / ".claude"
    last_written(world.claude("private", TURNS, folder=home / "projects" / project), 1)
    last_written(world.claude("work", TURNS, folder=work / "projects" / project), 1)
    (home / "settings.json").write_text('{"cleanupPeriodDays": 5}', "utf-8")
    (work / "settings.json").write_text('{"cleanupPeriodDays": 60}', "utf-8")
    found = sessions(world, {"CLAUDE_CONFIG_DIR": f"{home},{work}"})
    assert days_left(found[session_id("private")]) == pytest.approx(4)
    assert days_left(found[session_id("work")]) == pytest.approx(59)


def test_of_two_files_of_a_session_the_one_that_stays_longer_counts(world: World) -> None:
    last_written(world.claude("one", TURNS), 20)
    second = world.claude("one", TURNS, folder=world.home / ".config" / "claude" / "projects" / world.project().name)
    last_written(second, 2)
    assert days_left(sessions(world)[session_id("one")]) == pytest.approx(28)


def test_agents_that_delete_nothing_have_no_such_time(world: World) -> None:
    world.codex("rates", TURNS)
    world.log_entry("pool", "# Text")
    assert {found.expires_at for found in sessions(world).values()} == {None}

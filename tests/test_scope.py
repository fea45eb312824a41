"""How far a search reaches: the workspace under all its names, its repository, everywhere; a workspace that moved."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from prima_tui import cli
from prima_tui.config import add_moved_from, load_settings, paths_below
from prima_tui.errors import PrimaError, UsageError
from prima_tui.memory import Memory
from prima_tui.model.reach import Reach
from prima_tui.sources import places
from prima_tui.sources.base import Scope
from tests.sources.test_repository import make_repository, make_worktree
from tests.world import World, session_id

TALK = [("Which port?", "8080.")]


def memory_of(world: World, workspace: Path, reach: Reach = "workspace", **env: str) -> Memory:
    """Return a memory of any workspace of the world's home."""
    scope = Scope(workspace, False, world.home, env).reaching(reach)
    return Memory(scope, load_settings(workspace, paths_below(world.home)))


def names_in(memory: Memory, *names: str) -> set[str]:
    """Return which of the named sessions are in the memory's scope."""
    found = {one.id for one in memory.refresh().sessions}
    return {name for name in names if session_id(name) in found}


def start_of(world: World, workspace: Path, reach: Reach, *names: str) -> set[str]:
    return names_in(memory_of(world, workspace, reach), *names)


# -- the workspace under all of its names ---------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_workspace_and_a_link_to_it_show_the_same_sessions(world: World, agent: str) -> None:
    link = world.home / "a-link"
    link.symlink_to(world.workspace)
    write = getattr(world, agent)
    write("by its name", TALK, cwd=world.workspace if agent == "claude" else str(world.workspace))
    write("by the link", TALK, cwd=link if agent == "claude" else str(link))
    for start in (world.workspace, link):
        assert start_of(world, start, "workspace", "by its name", "by the link") == {"by its name", "by the link"}


def test_a_folder_whose_name_merely_begins_or_ends_alike_is_another_one(world: World) -> None:
    for name in ("shop-2", "other-shop", "sho"):
        (world.home / name).mkdir()
        world.claude(name, TALK, cwd=world.home / name)
        world.codex(f"codex {name}", TALK, cwd=str(world.home / name))
    world.claude("sub", TALK, cwd=world.workspace / "api")
    memory = memory_of(world, world.workspace)
    assert memory.refresh().sessions == ()
    assert names_in(memory.reaching("repository"), "shop-2", "other-shop", "sho", "codex shop-2", "sub") == {"sub"}


def test_on_a_disk_that_ignores_case_the_workspace_is_found_however_it_is_typed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.claude("claude", TALK)
    world.codex("codex", TALK)
    typed = Path(str(world.workspace).replace("shop", "SHOP"))
    typed.mkdir()  # here it is another folder; on such a disk it would be the same
    assert start_of(world, typed, "workspace", "claude", "codex") == set()
    for module in ("places", "claude_code_folders"):
        monkeypatch.setattr(f"prima_tui.sources.{module}.ignores_case", lambda _path: True)
    places._inside.cache_clear()
    places._same_place.cache_clear()
    memory_of(world, typed)._last.forget()  # of the disk as it was: no disk changes in this
    assert start_of(world, typed, "workspace", "claude", "codex") == {"claude", "codex"}


# -- the repository -------------------------------------------------------------------------------------------------


def test_the_repository_is_sub_folders_and_worktrees_the_deleted_ones_too(world: World) -> None:
    git = make_repository(world.workspace, remote="git@host.org:ana/shop.git")
    feature = make_worktree(git, world.home / "feature")
    deleted = make_worktree(git, world.home / "deleted")
    shutil.rmtree(deleted)
    make_repository(world.home / "clone", remote="git@host.org:ana/shop.git")
    for name, cwd in {
        "own": world.workspace,
        "sub": world.workspace / "api",
        "worktree": feature,
        "in a worktree": feature / "api",
        "deleted": deleted,
        "agent's": world.workspace / ".claude" / "worktrees" / "fix",
        "clone": world.home / "clone",
        "foreign": world.home / "feature-2",
    }.items():
        world.claude(name, TALK, cwd=cwd)
        world.codex(f"codex {name}", TALK, cwd=str(cwd))
    wanted = {"sub", "worktree", "in a worktree", "deleted", "agent's"}
    everything = {*wanted, "own", "clone", "foreign"}
    for start in (world.workspace, feature):
        own = {"own"} if start == world.workspace else {"worktree"}
        memory = memory_of(world, start)
        assert names_in(memory, *everything) == own
        wide = memory.reaching("repository")
        assert names_in(wide, *everything) == wanted | {"own"}
        assert names_in(wide, *(f"codex {name}" for name in everything)) == {f"codex {n}" for n in wanted | {"own"}}
        assert names_in(memory.reaching("everywhere"), *everything) == everything


def record_address(rollout: Path, address: str) -> None:
    """Have a rollout name the address of its repository."""
    text = rollout.read_text().replace('"branch": "main"', f'"branch": "main", "repository_url": "{address}"')
    rollout.write_text(text)


def test_a_folder_that_is_gone_belongs_by_what_its_sessions_recorded_of_the_repository(world: World) -> None:
    make_repository(world.workspace, remote="git@host.org:ana/shop.git")
    record_address(world.codex("moved", TALK, cwd=str(world.home / "old")), "https://host.org/ana/shop")
    world.codex("unknown", TALK, cwd=str(world.home / "old"))
    record = {"type": "worktree-state", "worktreeSession": {"originalCwd": str(world.workspace)}}
    world.claude("sent away", TALK, cwd=world.home / "hook-made", copied=[record])
    world.claude("not sent", TALK, cwd=world.home / "not-made")
    names = ("moved", "unknown", "sent away", "not sent")
    assert start_of(world, world.workspace, "workspace", *names) == set()
    assert start_of(world, world.workspace, "repository", *names) == {"moved", "sent away"}


def test_a_workspace_that_is_no_repository_reaches_its_sub_folders(world: World) -> None:
    world.claude("sub", TALK, cwd=world.workspace / "api")
    world.claude("beside", TALK, cwd=world.home / "shop-api")
    assert start_of(world, world.workspace, "workspace", "sub", "beside") == set()
    assert start_of(world, world.workspace, "repository", "sub", "beside") == {"sub"}


def test_each_scope_has_an_index_and_a_last_list_of_its_own(world: World) -> None:
    memory = memory_of(world, world.workspace)
    paths = {reach: memory.reaching(reach)._index_path() for reach in ("repository", "workspace", "everywhere")}
    assert paths["repository"] == world.workspace / ".prima-memory" / "repository" / "index.duckdb"
    assert paths["workspace"] == world.workspace / ".prima-memory" / "index.duckdb"
    assert len(set(paths.values())) == 3
    assert len({memory.reaching(reach)._last.path for reach in paths}) == 3
    assert memory.reaching("repository").reaching("workspace") is memory


def test_every_command_of_the_command_line_reaches_the_repository(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.claude("sub", TALK, cwd=world.workspace / "api")
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.chdir(world.workspace)
    for arguments in (["sessions"], ["search", "port", "--mode", "keyword"], ["show", session_id("sub")]):
        narrow = CliRunner().invoke(cli.program, [*arguments, "--json"], standalone_mode=False)
        assert session_id("sub") not in narrow.stdout
        for words in ([*arguments, "--repository"], ["--repository", *arguments]):
            wide = CliRunner().invoke(cli.program, [*words, "--json"], standalone_mode=False)
            assert session_id("sub") in wide.stdout


# -- a workspace that moved -----------------------------------------------------------------------------------------


def moved(world: World) -> Path:
    """Write sessions of a folder ``old/shop`` and move that folder to the workspace; return the old path."""
    old = world.home / "old" / "shop"
    old.mkdir(parents=True)
    world.claude("before", TALK, cwd=old)
    world.codex("codex before", TALK, cwd=str(old / "api"))
    old.rmdir()
    (world.workspace / "api").mkdir()
    return old


def test_what_was_recorded_before_a_move_is_offered_and_never_taken_in_unasked(world: World) -> None:
    old = moved(world)
    memory = memory_of(world, world.workspace)
    assert names_in(memory, "before", "codex before") == set()
    assert memory.earlier_folders() == (str(old),)
    after = memory.take_over(str(old))
    assert names_in(after, "before", "codex before") == {"before", "codex before"}
    assert after.earlier_folders() == ()
    # and from now on, in every process
    assert start_of(world, world.workspace, "workspace", "before", "codex before") == {"before", "codex before"}


def test_nothing_is_offered_where_sessions_were_recorded_or_the_old_folder_is_there_or_of_another_repository(
    world: World,
) -> None:
    old = moved(world)
    old.mkdir()
    assert memory_of_refreshed(world).earlier_folders() == ()
    old.rmdir()
    world.claude("now", TALK)
    assert memory_of_refreshed(world).earlier_folders() == ()


def test_a_vanished_namesake_of_another_repository_is_not_offered(world: World) -> None:
    make_repository(world.workspace, remote="git@host.org:ana/shop.git")
    for name, owner in (("one", "ana"), ("two", "bruno")):
        record_address(world.codex(name, TALK, cwd=str(world.home / name / "shop")), f"https://host.org/{owner}/shop")
    assert memory_of_refreshed(world).earlier_folders() == (str(world.home / "one" / "shop"),)


def memory_of_refreshed(world: World) -> Memory:
    memory = memory_of(world, world.workspace)
    memory.refresh()
    return memory


def test_a_session_from_before_a_move_is_resumed_in_the_new_folder_and_the_agents_limit_is_told(world: World) -> None:
    old = moved(world)
    for name in ("claude", "codex"):
        (world.home / name).write_text("#!/bin/sh\n")
        (world.home / name).chmod(0o755)
    memory = memory_of(world, world.workspace, PATH=str(world.home)).take_over(str(old))
    sessions = {one.id: one for one in memory.refresh().sessions}
    claude = memory.resume_plan(sessions[session_id("before")])
    assert claude.shell_line.startswith(f"cd {world.workspace} && claude --resume ")
    assert str(old) in claude.warning
    assert "2.1.223" in claude.warning
    codex = memory.resume_plan(sessions[session_id("codex before")])
    assert codex.shell_line.startswith(f"cd {world.workspace / 'api'} && codex resume ")
    assert "Claude" not in codex.warning


def test_the_command_says_what_it_took_in_and_refuses_a_folder_that_exists(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = moved(world)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.chdir(world.workspace)
    told = CliRunner().invoke(cli.program, ["sessions"], standalone_mode=False)
    assert f"prima-tui moved-from {old}" in told.output
    done = CliRunner().invoke(cli.program, ["moved-from", str(old)], standalone_mode=False)
    assert done.output == f"2 sessions of {old} belong to {world.workspace} now\n"
    refused = CliRunner().invoke(cli.program, ["moved-from", str(world.home)], standalone_mode=False)
    assert isinstance(refused.exception, UsageError)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ["/gone/a"]),
        ('theme = "x"\n[keys]\n"a" = "b"\n', ["/gone/a"]),
        ('moved_from = ["/gone/b"]\n[keys]\n', ["/gone/b", "/gone/a"]),
        ('moved_from = [\n  "/gone/b", # why\n  "/gone/a",\n]\ntheme = "x"\n', ["/gone/b", "/gone/a"]),
    ],
)
def test_the_configuration_keeps_all_else_when_a_move_is_noted(
    tmp_path: Path, before: str, expected: list[str]
) -> None:
    config = tmp_path / ".prima-memory" / "config.toml"
    config.parent.mkdir()
    config.write_text(before)
    add_moved_from(tmp_path, "/gone/a")
    after = tomllib.loads(config.read_text())
    assert after.pop("moved_from") == expected
    without = tomllib.loads(before)
    without.pop("moved_from", None)
    assert after == without


def test_a_configuration_that_can_not_be_added_to_stays_as_it_is(tmp_path: Path) -> None:
    config = tmp_path / ".prima-memory" / "config.toml"
    config.parent.mkdir()
    for text in ("not = = toml", 'moved_from = "/gone/b"\n'):
        config.write_text(text)
        with pytest.raises(PrimaError, match="moved_from"):
            add_moved_from(tmp_path, "/gone/a")
        assert config.read_text() == text


def test_a_moved_from_that_still_exists_or_means_nothing_is_ignored_and_told(world: World) -> None:
    config = world.workspace / ".prima-memory" / "config.toml"
    config.parent.mkdir()
    (world.home / "other").mkdir()
    config.write_text(f'moved_from = ["{world.home}/other", "relative", 7, "/gone/shop"]')
    settings = load_settings(world.workspace, paths_below(world.home))
    assert settings.moved_from == ("/gone/shop",)
    assert len(settings.problems) == 3
    assert "still exists" in settings.problems[0]

"""The command files: shown before they are written, never overwritten or removed when a person changed them."""

from __future__ import annotations

from pathlib import Path

import pytest

from prima_tui.errors import PrimaError, UsageError
from prima_tui.skills import command_folder, install, installed, plan_install, skill_names, uninstall


def states(folder: Path) -> dict[str, str]:
    return {file.path.name: file.state for file in plan_install(folder)}


def test_planning_shows_everything_and_writes_nothing(tmp_path: Path) -> None:
    planned = plan_install(tmp_path / "commands")
    assert [file.path.stem for file in planned] == list(skill_names()) == ["welcome", "resume", "reindex", "sleep"]
    assert {file.state for file in planned} == {"new"}
    assert all(file.text.startswith("---\ndescription: ") for file in planned)
    assert list(tmp_path.iterdir()) == []


def test_installing_writes_them_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    assert len(install(plan_install(tmp_path))) == 4
    assert set(states(tmp_path).values()) == {"same"}
    assert install(plan_install(tmp_path)) == []


def test_a_file_that_a_person_changed_is_kept_unless_forced(tmp_path: Path) -> None:
    install(plan_install(tmp_path))
    edited, own = tmp_path / "sleep.md", tmp_path / "resume.md"
    edited.write_text(edited.read_text().replace("Report", "Say"))
    own.write_text("my own command\n")
    assert states(tmp_path) == {
        "welcome.md": "same",
        "resume.md": "foreign",
        "reindex.md": "same",
        "sleep.md": "changed",
    }
    assert install(plan_install(tmp_path)) == []
    assert own.read_text() == "my own command\n"
    assert [file.path for file in install(plan_install(tmp_path), force=True)] == [own, edited]
    assert set(states(tmp_path).values()) == {"same"}


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(tmp_path: Path, there: bool) -> None:
    folder, elsewhere = tmp_path / "commands", tmp_path / "elsewhere.md"
    folder.mkdir()
    if there:
        elsewhere.write_text("my own command\n")
    (folder / "sleep.md").symlink_to(elsewhere)
    assert states(folder)["sleep.md"] == "linked"
    assert folder / "sleep.md" not in [file.path for file in install(plan_install(folder))]
    assert (folder / "sleep.md").is_symlink()
    assert [file.path for file in install(plan_install(folder), force=True)] == [folder / "sleep.md"]
    assert not (folder / "sleep.md").is_symlink()
    assert (folder / "sleep.md").stat().st_mode & 0o777 == 0o644 or not there
    assert elsewhere.exists() == there
    assert not there or elsewhere.read_text() == "my own command\n"
    assert set(states(folder).values()) == {"same"}


def test_a_link_to_our_own_text_is_as_it_should_be_and_uninstalling_takes_the_link_alone(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "commands", tmp_path / "elsewhere"
    install(plan_install(elsewhere))
    folder.mkdir()
    for file in plan_install(elsewhere):
        (folder / file.path.name).symlink_to(file.path)
    assert install(plan_install(folder), force=True) == []
    assert len(uninstall(installed(folder))) == 4
    assert list(folder.iterdir()) == []
    assert set(states(elsewhere).values()) == {"same"}


def test_a_file_of_an_older_version_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prima_tui.skills._bundled", lambda name: f"old {name}")
    install(plan_install(tmp_path))
    monkeypatch.undo()
    assert set(states(tmp_path).values()) == {"older"}
    assert len(install(plan_install(tmp_path))) == 4
    assert set(states(tmp_path).values()) == {"same"}


def test_uninstalling_removes_our_own_unchanged_files_alone(tmp_path: Path) -> None:
    install(plan_install(tmp_path))
    install(plan_install(tmp_path, "prima-"))
    (tmp_path / "welcome.md").write_text("mine, about prima-tui install-skills\n")
    (tmp_path / "deploy.md").write_text("another\n")
    sleep = tmp_path / "sleep.md"
    sleep.write_text("And more.\n" + sleep.read_text())
    removed = uninstall(installed(tmp_path))
    assert len(removed) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deploy.md", "sleep.md", "welcome.md"]
    assert [file.path for file in uninstall(installed(tmp_path), force=True)] == [sleep]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deploy.md", "welcome.md"]


def test_a_prefix_goes_before_each_name_and_must_be_a_name(tmp_path: Path) -> None:
    assert plan_install(tmp_path, "prima-")[1].path == tmp_path / "prima-resume.md"
    for prefix in ("../", "a b", "-x", "ä/"):
        with pytest.raises(UsageError):
            plan_install(tmp_path, prefix)


def test_a_folder_in_the_place_of_a_file_is_said_and_left(tmp_path: Path) -> None:
    (tmp_path / "sleep.md").mkdir()
    assert states(tmp_path)["sleep.md"] == "foreign"
    with pytest.raises(PrimaError, match=r"sleep\.md can't be written"):
        install(plan_install(tmp_path), force=True)


def test_each_agent_has_its_folder_and_the_variables_move_it(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    assert command_folder("claude-code", tmp_path, {}) == tmp_path / ".claude" / "commands"
    assert command_folder("claude-code", tmp_path, {}, project) == project / ".claude" / "commands"
    assert command_folder("codex", tmp_path, {}) == tmp_path / ".codex" / "prompts"
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    assert command_folder("claude-code", tmp_path, moved) == tmp_path / "c" / "commands"
    assert command_folder("codex", tmp_path, moved) == tmp_path / "x" / "prompts"
    with pytest.raises(UsageError):
        command_folder("codex", tmp_path, {}, project)

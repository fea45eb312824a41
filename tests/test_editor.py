"""The user's editor: which one it is, and how it is told to open a file at a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from prima_tui.editor import plan_editing


def environment(folder: Path, **variables: str) -> dict[str, str]:
    for value in variables.values():
        name = value.split()[0]
        if "/" not in name and not name.startswith("gone"):
            program = folder / name
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
    return {"PATH": str(folder), **variables}


@pytest.mark.parametrize(
    ("editor", "expected", "in_terminal"),
    [
        ("vim", ["+12", "FILE"], True),
        ("nvim -R", ["-R", "+12", "FILE"], True),
        ("nano", ["+12", "FILE"], True),
        ("emacs -nw", ["-nw", "+12", "FILE"], True),
        ("emacsclient -t", ["-t", "+12", "FILE"], True),
        ("micro", ["+12", "FILE"], True),
        ("hx", ["+12", "FILE"], True),
        ("helix", ["+12", "FILE"], True),
        ("code --wait", ["--wait", "--goto", "FILE:12"], False),
        ("codium", ["--goto", "FILE:12"], False),
        ("cursor", ["--goto", "FILE:12"], False),
        ("subl", ["FILE:12"], False),
        ("zed", ["FILE:12"], False),
        ("pycharm", ["--line", "12", "FILE"], False),
        ("kate", ["--line", "12", "FILE"], False),
        ("gvim", ["+12", "FILE"], False),
        ("ed", ["FILE"], True),
    ],
)
def test_every_known_editor_gets_the_line_in_its_own_form(
    tmp_path: Path, editor: str, expected: list[str], in_terminal: bool
) -> None:
    plan = plan_editing(tmp_path / "a b.md", 12, environment(tmp_path, EDITOR=editor))
    file = str(tmp_path / "a b.md")
    assert plan.argv == (str(tmp_path / editor.split(maxsplit=1)[0]), *(one.replace("FILE", file) for one in expected))
    assert plan.in_terminal is in_terminal
    assert plan.problem == ""
    assert plan.place == f"{file}:12"


def test_visual_goes_before_editor_and_an_empty_one_counts_as_none(tmp_path: Path) -> None:
    env = environment(tmp_path, VISUAL="nano", EDITOR="vim")
    assert plan_editing(tmp_path, 1, env).argv[0].endswith("nano")
    assert plan_editing(tmp_path, 1, {**env, "VISUAL": "  "}).argv[0].endswith("vim")


def test_a_program_may_be_named_by_its_path_with_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "my programs"
    folder.mkdir()
    environment(folder, EDITOR="vim")
    plan = plan_editing(tmp_path / "x.md", 3, {"PATH": "", "EDITOR": f"'{folder}/vim' -u NONE"})
    assert plan.argv == (str(folder / "vim"), "-u", "NONE", "+3", str(tmp_path / "x.md"))


def test_without_an_editor_it_says_how_to_set_one(tmp_path: Path) -> None:
    plan = plan_editing(tmp_path / "x.md", 0, {"PATH": ""})
    assert plan.argv == ()
    assert "export EDITOR=" in plan.problem
    assert plan.place.endswith("x.md:1")


def test_an_editor_that_is_not_there_is_named(tmp_path: Path) -> None:
    plan = plan_editing(tmp_path / "x.md", 5, environment(tmp_path, EDITOR="gone-editor -x"))
    assert plan.argv == ()
    assert "gone-editor" in plan.problem


def test_quotes_that_are_not_closed_are_no_error(tmp_path: Path) -> None:
    assert "it's" in plan_editing(tmp_path / "x.md", 5, {"PATH": "", "EDITOR": "it's"}).problem

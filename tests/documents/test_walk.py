"""The walk: which files are documents, what git ignores, where links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prima_tui.documents.walk import walk


def make(root: Path, *paths: str, text: str = "text") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def found(root: Path, **more: object) -> list[str]:
    return [file.path for file in walk(root, **more).files]  # type: ignore[arg-type]


def test_markdown_and_text_files_are_documents_whatever_their_case(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "B.MD", "c/d.markdown", "c/e.Txt", "code.py", "noext", "a.mdx")
    assert found(tmp_path) == ["B.MD", "a.md", "c/d.markdown", "c/e.Txt"]


def test_folders_of_tools_are_left_out_at_every_level(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".git/a.md",
        "node_modules/a.md",
        "x/node_modules/b.md",
        ".memory/a.md",
        "x/.prima-memory/a.md",
        "x/y.md",
    )
    assert found(tmp_path) == ["x/y.md"]


def test_gitignore_is_honoured_at_every_level_the_nearest_last(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.md",
        "draft-a.md",
        "sub/draft-b.md",
        "sub/keep/draft-c.md",
        "build/x.md",
        "sub/only/y.md",
        "z/only/y.md",
    )
    (tmp_path / ".gitignore").write_text("draft-*\nbuild/\n# comment\n")
    (tmp_path / "sub" / ".gitignore").write_text("/only\n")
    (tmp_path / "sub" / "keep" / ".gitignore").write_text("!draft-*\n")
    assert found(tmp_path) == ["a.md", "sub/keep/draft-c.md", "z/only/y.md"]


def test_what_lies_in_an_ignored_folder_cannot_come_back(tmp_path: Path) -> None:
    make(tmp_path, "build/keep.md")
    (tmp_path / ".gitignore").write_text("build/\n!build/keep.md\n")
    assert found(tmp_path) == []


def test_the_patterns_of_the_repository_around_the_root_hold_too(tmp_path: Path) -> None:
    root = tmp_path / "packages" / "one"
    make(root, "a.md", "secret.md", "sub/secret.md", "sub/b.md")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("secret.md\n/packages/one/sub/b.md\n")
    assert found(root) == ["a.md"]


def test_patterns_beyond_the_repository_do_not_hold(tmp_path: Path) -> None:
    root = tmp_path / "one"
    make(root, "a.md")
    (root / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*\n")
    assert found(root) == ["a.md"]


def test_a_root_that_is_itself_ignored_is_read(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    make(root, "a.md")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("notes/\n")
    assert found(root) == ["a.md"]


def test_a_line_that_is_no_pattern_costs_no_other(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbf!\nb.md\n\xff\xfe\n")
    assert found(tmp_path) == ["a.md"]


def test_include_and_exclude_are_gitignore_patterns(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "docs/b.rst", "docs/old/c.rst", "docs/d.md", "e.rst")
    assert found(tmp_path, include=["docs/**/*.rst"], exclude=["old/"]) == ["docs/b.rst"]
    assert found(tmp_path, exclude=["*.md", "!docs/*.md"]) == ["docs/d.md"]


def test_what_git_ignores_is_not_included_by_a_pattern(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_text("b.md")
    assert found(tmp_path, include=["*.md"]) == ["a.md"]


def test_links_out_of_the_root_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, "a.md")
    make(tmp_path, "outside/secret.md")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "nowhere.md").symlink_to(tmp_path / "missing.md")
    assert found(root) == ["a.md"]


def test_links_inside_never_double_a_document_or_run_in_a_circle(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md", "docs/page", "node_modules/x/readme.md", "ignored/b.md")
    (tmp_path / ".gitignore").write_text("ignored/")
    (tmp_path / "docs" / "circle").symlink_to(tmp_path)
    (tmp_path / "same.md").symlink_to("docs/a.md")
    (tmp_path / "page.md").symlink_to("docs/page")
    (tmp_path / "package.md").symlink_to("node_modules/x/readme.md")
    (tmp_path / "ignored.md").symlink_to("ignored/b.md")
    assert found(tmp_path) == ["docs/a.md", "page.md"]


def test_a_root_may_be_reached_through_a_link(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "real" / "b.md").symlink_to(tmp_path / "real" / "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert found(tmp_path / "link") == ["a.md"]


def test_a_folder_that_cannot_be_read_is_a_warning_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md", "locked/b.md")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = walk(tmp_path)
    assert [file.path for file in result.files] == ["a.md"]
    assert result.unread == ("locked/",)
    assert result.warnings == ("locked/: can't be read: Permission denied",)


def test_a_name_that_is_no_text_is_left_out_with_a_warning(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes no such name")
    result = walk(tmp_path)
    assert [file.path for file in result.files] == ["a.md"]
    assert "its name is no valid text" in result.warnings[0]


def test_what_is_no_plain_file_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    make(tmp_path, "folder.md/inside.md")
    assert found(tmp_path) == ["folder.md/inside.md"]


def test_a_missing_root_is_a_warning(tmp_path: Path) -> None:
    result = walk(tmp_path / "gone")
    assert result.files == ()
    assert result.unread == ("",)


def test_a_deep_tree_needs_no_deep_stack(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(300):
        folder = folder / "d"
    folder.mkdir(parents=True)
    make(folder, "a.md")
    assert len(found(tmp_path)) == 1


def test_a_walk_can_be_stopped(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    assert found(tmp_path, stop=lambda: True) == []


def test_the_shared_log_is_no_document_since_it_is_found_as_conversations(tmp_path: Path) -> None:
    make(tmp_path, ".claude/state/sessions/SHOP/a.md", ".claude/commands/b.md", "web/.claude/state/c.md", "state/d.md")
    assert found(tmp_path) == [".claude/commands/b.md", "state/d.md"]

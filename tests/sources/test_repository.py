"""A repository's worktrees and remotes, read from git's own files; and which recorded folders are part of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from prima_tui.sources.repository import Repository, common_folder, plain_address, repository_of


def make_repository(top: Path, *, remote: str = "") -> Path:
    """Lay a repository out as ``git init`` does; return its folder."""
    git = top / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    config = "[core]\n\tbare = false\n"
    if remote:
        config += (
            f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n'
        )
    (git / "config").write_text(config)
    return git


def make_worktree(git: Path, place: Path, *, relative: bool = False) -> Path:
    """Lay a linked worktree out as ``git worktree add`` does; return its folder."""
    own = git / "worktrees" / place.name
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/feature\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text((os.path.relpath(place / ".git", own) if relative else f"{place / '.git'}") + "\n")
    place.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {os.path.relpath(own, place) if relative else own}\n")
    return place


def of(folder: Path) -> Repository:
    found = repository_of(str(folder))
    assert found is not None
    return found


@pytest.mark.parametrize("relative", [False, True])
def test_all_worktrees_are_found_from_each_of_them(tmp_path: Path, relative: bool) -> None:
    git = make_repository(tmp_path / "shop")
    first = make_worktree(git, tmp_path / "shop-feature", relative=relative)
    second = make_worktree(git, tmp_path / "shop" / ".claude" / "worktrees" / "fix", relative=relative)
    (second / "api").mkdir()
    everything = {str(tmp_path / "shop"), str(first), str(second)}
    for start in (tmp_path / "shop", first, second, second / "api"):
        assert set(of(start).worktrees) == everything
        assert of(start).common == str(git)
        assert of(start).deleted_worktrees == ()


def test_a_deleted_worktree_is_still_part_and_a_folder_that_took_its_place_is_not(tmp_path: Path) -> None:
    git = make_repository(tmp_path / "shop")
    gone, taken, plain = tmp_path / "gone", tmp_path / "taken", tmp_path / "plain"
    for place in (gone, taken, plain):
        shutil.rmtree(make_worktree(git, place))
    make_repository(taken)
    plain.mkdir()
    found = of(tmp_path / "shop")
    assert found.deleted_worktrees == (str(gone),)
    assert found.worktrees == (str(tmp_path / "shop"),)
    assert found.holds(str(gone / "api"))
    assert not found.holds(str(taken))
    assert not found.holds(str(plain))
    assert not found.holds(str(tmp_path / "gone-2"))


def test_another_repository_inside_a_worktree_is_no_part_of_it(tmp_path: Path) -> None:
    make_repository(tmp_path / "shop")
    make_repository(tmp_path / "shop" / "vendor" / "lib")
    found = of(tmp_path / "shop")
    assert found.holds(str(tmp_path / "shop" / "api"))
    assert not found.holds(str(tmp_path / "shop" / "vendor" / "lib" / "src"))


def test_a_bare_repository_with_worktrees_beside_it_has_no_worktree_of_its_own(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "shop").rename(tmp_path / "shop" / ".bare")
    (tmp_path / "shop" / ".git").write_text("gitdir: ./.bare\n")
    work = make_worktree(bare, tmp_path / "shop" / "main")
    assert str(work) in of(work).worktrees
    assert of(work).common == str(bare)


def test_a_folder_that_is_gone_belongs_by_the_address_that_its_session_recorded(tmp_path: Path) -> None:
    make_repository(tmp_path / "shop", remote="git@host.org:team/shop.git")
    make_repository(tmp_path / "clone", remote="git@host.org:team/shop.git")
    found = of(tmp_path / "shop")
    assert found.holds(str(tmp_path / "gone"), "https://host.org/team/shop")
    assert not found.holds(str(tmp_path / "gone"), "https://host.org/team/other")
    assert not found.holds(str(tmp_path / "gone"))
    # a clone that exists is a place of its own
    assert not found.holds(str(tmp_path / "clone"), "https://host.org/team/shop")


def test_a_session_belongs_by_the_folder_whose_worktree_its_agent_made(tmp_path: Path) -> None:
    make_repository(tmp_path / "shop")
    found = of(tmp_path / "shop")
    assert found.holds(str(tmp_path / "elsewhere"), str(tmp_path / "shop"))
    assert not found.holds(str(tmp_path / "elsewhere"), str(tmp_path / "shop-2"))


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("git@Host.org:team/shop.git", "host.org/team/shop"),
        ("https://host.org/team/shop.git", "host.org/team/shop"),
        ("https://ana:secret@host.org/team/shop/", "host.org/team/shop"),
        ("ssh://git@host.org:2222/team/shop", "host.org/team/shop"),
        ("host.org:team/shop", "host.org/team/shop"),
        ("file:///srv/shop.git", "/srv/shop"),
        ("/srv/shop.git", "/srv/shop"),
        ("", ""),
    ],
)
def test_one_address_has_many_spellings(address: str, plain: str) -> None:
    assert plain_address(address) == plain


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"nonsense", b"gitdir: /nowhere\n", b"\xff\xfe\0", b"gitdir: \0\n"]
)
def test_a_file_of_git_that_says_nothing_makes_no_repository(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert repository_of(str(tmp_path)) is None
    assert common_folder(str(tmp_path / "gone")) is None


def test_damaged_files_inside_a_repository_raise_nothing(tmp_path: Path) -> None:
    git = make_repository(tmp_path / "shop")
    for name, content in (("a", b"\0\n"), ("b", b""), ("c", b"\xff/.git\n"), ("d", b"x" * 5000)):
        (git / "worktrees" / name).mkdir(parents=True)
        (git / "worktrees" / name / "gitdir").write_bytes(content)
    (git / "config").write_bytes(b'[remote\n[remote "x"] url = a:b\nurl\n= \xff\n[remote "y"]\nURL = c:d ; no\n')
    found = of(tmp_path / "shop")
    assert found.worktrees == (str(tmp_path / "shop"),)
    assert "a/b" in found.remotes


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_what_git_itself_writes_is_read(tmp_path: Path) -> None:
    shop, feature, gone = tmp_path / "shop", tmp_path / "café feature", tmp_path / "gone"

    def git(*words: str) -> None:
        settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"]}
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *who, "-C", str(shop), *words], check=True, capture_output=True, env=settings)

    shop.mkdir()
    git("init")
    git("commit", "--allow-empty", "-m", "first")
    git("remote", "add", "origin", "https://host.org/team/shop.git")
    git("worktree", "add", "-b", "feature", str(feature))
    git("worktree", "add", str(gone))
    shutil.rmtree(gone)
    found = of(feature)
    assert set(found.worktrees) == {str(shop), str(feature)}
    assert found.deleted_worktrees == (str(gone),)
    assert found.remotes == {"host.org/team/shop"}

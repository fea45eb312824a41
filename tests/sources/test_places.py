"""Recorded paths against folders: links, disks that ignore case, paths of Windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from prima_tui.sources import places
from prima_tui.sources.places import ignores_case, inside, is_vanished_namesake, moved_place, resolved, same_place


@pytest.fixture
def no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes names that differ only in case for one."""
    monkeypatch.setattr(places, "ignores_case", lambda _path: True)
    places._inside.cache_clear()
    places._same_place.cache_clear()


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/ws", "/ws", True),
        ("/ws/", "/ws", True),
        ("/ws/api", "/ws", True),
        ("/ws-other", "/ws", False),
        ("/wsother", "/ws", False),
        ("/w", "/ws", False),
        ("/ws/../ws-other", "/ws", False),
        ("/anything", "/", True),
        ("C:\\Git\\Shop\\api", "c:\\git\\shop", True),
        ("c:/git/shop", "C:\\Git\\Shop\\", True),
        ("C:\\Git\\Shop-2", "C:\\Git\\Shop", False),
        ("vscode-remote://host/ws", "/ws", False),
        ("relative/ws", "/ws", False),
        ("", "/ws", False),
    ],
)
def test_inside_is_the_folder_itself_or_what_is_below_it(path: str, folder: str, expected: bool) -> None:
    assert inside(path, folder) is expected


def test_a_path_of_another_system_is_not_taken_for_one_below_the_current_folder() -> None:
    assert not inside("C:\\ws", Path.cwd())
    assert not inside("ws", Path.cwd())
    assert resolved("C:\\ws") == "C:\\ws"


def test_a_link_and_its_target_are_one_place(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    (target / "api").mkdir(parents=True)
    link.symlink_to(target)
    for first, second in ((target, link), (link, target)):
        assert same_place(str(first), str(second))
        assert inside(first / "api", second)
        assert inside(first / "gone", second)
    assert not same_place(str(target / "api"), str(link))
    assert not inside(tmp_path / "target-2", link)


@pytest.mark.usefixtures("no_case")
def test_where_the_disk_ignores_case_so_does_the_comparison() -> None:
    assert inside("/Users/Ana/Shop/api", "/users/ana/shop")
    assert same_place("/Users/Ana/SHOP", "/users/ana/shop")
    assert same_place("/Users/Ana/CAFÉ", "/users/ana/café")
    assert not inside("/Users/Ana/Shop-2", "/users/ana/shop")


def test_what_the_disk_does_is_found_out_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "Shop"
    folder.mkdir()
    twin = tmp_path / "sHOP"
    expected = twin.exists()  # whatever the disk under the tests does
    assert ignores_case(str(folder)) is expected
    assert ignores_case(str(folder / "gone" / "deeper")) is expected
    places._ignores_case.cache_clear()
    monkeypatch.setattr(Path, "samefile", lambda self, other: self.name.swapcase() == Path(other).name)
    assert ignores_case(str(folder))
    assert ignores_case("relative") is False


def test_a_place_moves_with_its_folder(tmp_path: Path) -> None:
    new = tmp_path / "new"
    (new / "api").mkdir(parents=True)
    assert moved_place("/gone/old", "/gone/old", new) == new
    assert moved_place("/gone/old/api", "/gone/old", new) == new / "api"
    assert moved_place("/gone/old/web", "/gone/old", new) == new
    assert moved_place("/gone/old-2", "/gone/old", new) is None


def test_a_vanished_namesake_has_the_same_last_name_and_is_gone(tmp_path: Path) -> None:
    (tmp_path / "here" / "shop").mkdir(parents=True)
    assert is_vanished_namesake(str(tmp_path / "gone" / "shop"), "/w/shop")
    assert not is_vanished_namesake(str(tmp_path / "here" / "shop"), "/w/shop")
    assert not is_vanished_namesake(str(tmp_path / "gone" / "shop-2"), "/w/shop")
    assert not is_vanished_namesake("C:\\gone\\shop", "/w/shop")

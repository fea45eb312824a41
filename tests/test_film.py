"""The film of the demo: an SVG in which each row is seen in its time, and the picture where nothing moves."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from rich.segment import Segment
from rich.style import Style

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def film_script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "screenshots"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    import record  # type: ignore[import-not-found]

    return record


def frame(film_script: ModuleType, text: str) -> list[str]:
    rows = [film_script.drawn([Segment(text, Style(color="#ff0000", bold=True))])]
    return rows + [""] * (film_script.HEIGHT + 1)


def test_a_row_is_written_once_and_seen_in_its_time(film_script: ModuleType) -> None:
    film = film_script.Film()
    for text, picture in (("one", False), ("two <&>", True), ("one", False)):
        film.add(frame(film_script, text), 1.0, picture)
    root = ElementTree.fromstring(film.svg())
    assert [text.text for text in root.iter(f"{SVG}text")] == ["one", "two <&>"]
    first = [use for use in root.iter(f"{SVG}use") if use.get("y") == "0"]
    assert [use.get("visibility") for use in first] == ["hidden", "visible"]
    moves = [use[0] for use in first]
    assert [(move.get("values"), move.get("keyTimes")) for move in moves] == [
        ("visible;hidden;visible", "0;0.3333;0.6667"),
        ("hidden;visible;hidden", "0;0.3333;0.6667"),
    ]


def test_rows_that_never_change_are_not_animated(film_script: ModuleType) -> None:
    film = film_script.Film()
    film.add(frame(film_script, "same"), 1.0)
    film.add(frame(film_script, "same"), 2.0)
    assert "animate" not in film.svg()


def test_wide_characters_take_two_cells_and_a_ground_is_drawn_below(film_script: ModuleType) -> None:
    row = film_script.drawn([Segment("日本", Style(bgcolor="#0000ff")), Segment("a")])
    assert row.index("<rect") < row.index("<text")
    assert f'x="{4 * film_script.CELL:.1f}"' in row


def test_the_demos_temporary_folder_is_named_as_somebodys(film_script: ModuleType) -> None:
    before = "/tmp/prima-tui-demo-ab12cd34/tidewater"
    assert film_script.of_ana(before) == "/home/ana/projects/seasports/tidewater"

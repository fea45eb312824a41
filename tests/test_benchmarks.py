"""The benchmarks work: one run of everything on a small history, without a look at how long anything took."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.benchmarks import report
from tests.benchmarks.figures import Figure, Measured, added, figure, printed
from tests.benchmarks.plots import plot


def test_one_run_of_all_that_needs_no_terminal_writes_table_and_plots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    report.main([str(tmp_path / "out"), "--smoke", "--only", "cold,warm,changed,commands,limits,tools,memory,meaning"])
    text = (tmp_path / "out" / "README.md").read_text()
    for row in (
        "nothing kept: complete list",
        "complete list, one file grown",
        "search login --mode keyword --json",
        "*plain read of all bytes*",
        "after 20 searches",
        "message text",
        "search, after the query's vector",
        "*SQL, array_cosine_similarity*",
    ):
        assert f"| {row} | " in text
    measured = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [(one["size"], one["of"]) for one in measured] == [(60, "sessions"), (300, "exchanges")]
    assert all(found["median"] > 0 for one in measured for found in one["figures"])
    for name in ("cold", "warm", "memory", "meaning"):
        ElementTree.parse(tmp_path / "out" / f"{name}.svg")
        assert f"({name}.svg)" in text


def test_a_history_is_made_by_the_script_once_and_large_ones_with_shorter_sessions(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_text(
        "import sys; from pathlib import Path; home = Path(sys.argv[1]); home.mkdir(parents=True)\n"
        "(home / 'arguments').write_text(' '.join(sys.argv[2:]))\n"
    )
    home, workspace = report.made_history(script, tmp_path, 100_000)
    assert (home / "arguments").read_text() == f"--workspace {workspace} --sessions 100000 --scale 0.3"
    assert report.made_history(script, tmp_path, 100_000) == (home, workspace)


def test_figures_that_another_benchmark_prints_are_read_whatever_stands_between() -> None:
    lines = [
        '{"python": "3.11"}',
        "first start: first paint                         median    123.4  worst    150.0 ms  n=5",
        "something went its way",
        "resident                                          median  80.0  least  79.0  worst  81.5 MB  n=3",
        "rare words                               median     9.1  p99    15.5  worst    20.0 ms  n=40",
    ]
    assert printed("screen", lines) == [
        Figure("screen, first start", "first paint", "ms", 123.4, 123.4, 150.0, 5),
        Figure("screen", "resident", "MB", 80.0, 79.0, 81.5, 3),
        Figure("screen", "rare words", "ms", 9.1, 9.1, 20.0, 40, almost=15.5),
    ]
    assert printed("screen", lines)[2].shown == "9.1 ms (99 %: 15.5, worst 20)"


def test_the_table_has_a_column_for_each_size_and_shows_the_spread() -> None:
    small = Measured(100, "sessions", (figure("warm", "list", [0.2, 0.1, 0.3], "s"),))
    large = Measured(
        2000, "sessions", (figure("warm", "list", [1.0], "s"), figure("warm", "theirs", [2.0], "s", "baseline"))
    )
    assert report.table([small, large])[1:] == [
        "| | 100 sessions | 2,000 sessions |",
        "|---|---:|---:|",
        "| **warm** | | |",
        "| list | 0.2 s (0.1 to 0.3) | 1 s |",
        "| *theirs* |  | 2 s |",
    ]


def test_cold_starts_take_turns_and_the_table_has_the_ratio_and_the_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    theirs = tmp_path / "venv" / "bin" / "fr"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    theirs.chmod(0o755)
    report.main(
        [str(tmp_path / "out"), "--smoke", "--only", "cold", "--baselines", str(tmp_path / "venv")],
    )
    assert "--rebuild --json --limit 1" in (tmp_path / "asked").read_text()
    text = (tmp_path / "out" / "README.md").read_text()
    assert "| *fr --rebuild* | " in text
    assert "| times fr --rebuild | " in text
    assert "every byte of the history was read once just before each run of either program" in text


def test_a_report_is_added_to_what_is_there_and_what_is_measured_again_is_replaced() -> None:
    list_then, list_now = figure("warm", "list", [2.0], "s"), figure("warm", "list", [1.0], "s")
    search, peak = figure("search", "login", [3.0], "s"), figure("memory", "peak", [4.0], "MB")
    earlier = [Measured(20_000, "sessions", (list_then, search)), Measured(300, "exchanges", (peak,))]
    found = added(earlier, [Measured(20_000, "sessions", (list_now, peak), "new"), Measured(100, "sessions", (peak,))])
    assert found == [
        Measured(100, "sessions", (peak,)),
        Measured(20_000, "sessions", (list_now, search, peak), "new"),
        Measured(300, "exchanges", (peak,)),
    ]


def test_figures_measured_in_a_second_run_stand_beside_the_first_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    report.main([str(tmp_path / "out"), "--smoke", "--only", "limits"])
    report.main([str(tmp_path / "out"), "--smoke", "--only", "commands", "--add"])
    text = (tmp_path / "out" / "README.md").read_text()
    assert "| *plain read of all bytes* | " in text
    assert "| files app --json | " in text
    assert "Made in several runs" in text


def test_what_was_measured_is_written_before_the_rest_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_tools(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.benchmarks.baselines.measure_tools", no_tools)
    with pytest.raises(KeyboardInterrupt):
        report.main([str(tmp_path / "out"), "--smoke", "--only", "limits,tools"])
    assert "| *plain read of all bytes* | " in (tmp_path / "out" / "README.md").read_text()


def test_a_plot_is_an_svg_with_each_line_named_and_colours_for_dark_pages() -> None:
    lines = {"ours & <more>": [(100.0, 1.0), (1000.0, 3.0)], "theirs": [(100.0, 20.0), (1000.0, 300.0)]}
    svg = plot("Search", "sessions", "ms", lines, frozenset({"theirs"}))
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{space}text")]
    assert {"Search", "ours & <more>", "theirs", "1,000", "100 ms"} <= set(texts)
    drawn = list(root.iter(f"{space}polyline"))
    assert ["baseline" in (one.get("class") or "") for one in drawn] == [False, True]
    assert "prefers-color-scheme: dark" in svg
    for one in drawn:
        for point in (one.get("points") or "").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 800
            assert 0 <= y <= 380

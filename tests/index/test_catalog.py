"""The catalog: it gives back what was read, for files in just that state, and is never needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from prima_tui.index.catalog import Catalog
from prima_tui.index.messages import MessageTable
from prima_tui.sources.base import SourceFile, source_file
from prima_tui.sources.reading import FileTexts, read_files, unpack_exchanges
from tests.world import Turn, World

TURNS = [Turn("Move the totals to CENTS", "Done, with a test.", ("money.py",)), Turn("And the Straße?", "Kept.")]


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "cache" / "catalog.duckdb", print)


def state(path: Path) -> SourceFile:
    file = source_file(str(path), "claude-code", "session", [])
    assert file is not None
    return file


def read(*paths: Path) -> list[FileTexts]:
    return read_files([state(path) for path in paths])


def test_what_was_stored_comes_back_the_same(catalog: Catalog, world: World) -> None:
    batch = read(world.claude("a", TURNS, title="Cents"), world.claude("b", [("one", "two")]))
    assert catalog.store(batch)
    table = MessageTable()
    files = [one.reading.file for one in batch]
    readings = catalog.load(files)
    assert sorted(readings, key=lambda one: one.file.path) == sorted(
        (one.reading for one in batch), key=lambda one: one.file.path
    )
    assert catalog.load_messages([one.known for one in readings], table) == []
    assert table.find(["cents"], "cents").parts.tolist() == [table.part(files[0].path, 0)]
    assert len(table.find(["strasse"], "strasse")) > 0
    found = catalog.exchanges([(files[0], 0), (files[1], 0)])
    assert found == {(one.reading.file.path, 0): unpack_exchanges(one.exchanges[0]) for one in batch}
    assert catalog.exchanges([(files[0], 1)]) == {}


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "kind"])
def test_a_file_in_another_state_is_not_known(catalog: Catalog, world: World, field: str) -> None:
    batch = read(world.claude("a", TURNS))
    catalog.store(batch)
    file = batch[0].reading.file
    other = msgspec.structs.replace(file, **{field: "other" if field == "kind" else 1})
    table = MessageTable()
    assert catalog.load([other]) == []
    assert catalog.exchanges([(other, 0)]) == {}
    known = msgspec.structs.replace(batch[0].reading.known, file=other)
    assert catalog.load_messages([known], table) == [known]


def test_a_newer_reading_takes_the_place_of_the_older(catalog: Catalog, world: World) -> None:
    path = world.claude("a", TURNS)
    old = read(path)
    catalog.store(old)
    new = read(world.claude("a", [*TURNS, Turn("More", "And more.")]))
    catalog.store(new)
    assert catalog.load([old[0].reading.file]) == []
    (reading,) = catalog.load([new[0].reading.file])
    assert reading == new[0].reading
    table = MessageTable()
    catalog.load_messages([reading.known], table)
    assert table.find(["cents"], "cents").counts.tolist() == [[1]]


def test_readings_of_deleted_files_are_forgotten_and_of_unmounted_folders_kept(catalog: Catalog, world: World) -> None:
    gone, kept = world.claude("a", TURNS), world.claude("b", TURNS, cwd=world.home / "other")
    batch = read(gone, kept)
    catalog.store(batch)
    gone.unlink()
    kept.parent.rename(kept.parent.with_name("away"))
    later = Catalog(catalog._file.path, print)
    later.store(read(world.claude("c", TURNS)))
    found = later.load([one.reading.file for one in batch])
    assert [one.file.path for one in found] == [str(kept)]


@pytest.mark.parametrize("fault", ["damaged", "a folder", "no folder possible"])
def test_a_catalog_that_cannot_be_had_does_nothing_and_says_so(tmp_path: Path, world: World, fault: str) -> None:
    path = tmp_path / "cache" / "catalog.duckdb"
    if fault == "a folder":
        path.mkdir(parents=True)
    elif fault == "damaged":
        path.parent.mkdir()
        path.write_bytes(os.urandom(20_000))
    else:
        (tmp_path / "cache").write_text("a file")
    notices: list[str] = []
    catalog = Catalog(path, notices.append)
    batch = read(world.claude("a", TURNS))
    table = MessageTable()
    assert catalog.load([batch[0].reading.file]) == []
    assert catalog.exchanges([(batch[0].reading.file, 0)]) == {}
    assert catalog.load_messages([batch[0].reading.known], table) == [batch[0].reading.known]
    assert catalog.store(batch) is (fault == "damaged")
    assert notices


def test_an_empty_batch_makes_no_file(catalog: Catalog) -> None:
    assert catalog.store([])
    assert not catalog._file.path.exists()


@pytest.mark.skipif(not Path("/proc/self/autogroup").is_file(), reason="the system has no groups of processes")
def test_a_process_in_the_background_goes_after_all_others_with_its_whole_group() -> None:
    code = (
        "from pathlib import Path; from prima_tui.index.catalog import give_precedence;"
        " give_precedence(); print(Path('/proc/self/autogroup').read_text())"
    )
    mine = Path("/proc/self/autogroup").read_text()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == mine.split()  # it has no group of its own
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, start_new_session=True
    )
    assert done.stdout.split()[1:] == ["nice", "10"]

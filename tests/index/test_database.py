"""Database files: private, shared between processes, never lost and never in the way when they are damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from prima_tui.errors import StoreBusy, StoreUnusable
from prima_tui.index.database import DatabaseFile

ROOT = Path(__file__).resolve().parents[2]
TABLE = ["CREATE TABLE store.numbers (value INTEGER)"]
START = "import sys, time; from pathlib import Path; from prima_tui.index.database import DatabaseFile\n"
START += f"file = DatabaseFile(Path(sys.argv[1]), 'test store', [{TABLE!r}])\n"


def store(path: Path, notices: list[str] | None = None) -> DatabaseFile:
    return DatabaseFile(path, "test store", [TABLE], notice=None if notices is None else notices.append)


def numbers(file: DatabaseFile) -> list[int] | None:
    with file.reading() as connection:
        if connection is None:
            return None
        return [row[0] for row in connection.execute("SELECT value FROM store.numbers ORDER BY value").fetchall()]


def add(file: DatabaseFile, *values: int) -> None:
    with file.writing() as connection:
        for value in values:
            connection.execute("INSERT INTO store.numbers VALUES (?)", [value])


@contextmanager
def process(code: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Run code in another process, up to the first line that it prints."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    running = subprocess.Popen(
        [sys.executable, "-c", START + code, str(path)], stdout=subprocess.PIPE, text=True, env=env, cwd=path.parent
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        yield running
    finally:
        running.kill()
        running.wait()
        assert running.stdout is not None
        running.stdout.close()


HOLD = """
with file.{}() as connection:
    print("ready", flush=True)
    time.sleep(60)
"""


def test_reading_makes_nothing(tmp_path: Path) -> None:
    assert numbers(store(tmp_path / "folder" / "a.duckdb")) is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_made_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.duckdb"
    add(store(path), 1)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["a.duckdb"]


def test_a_failed_unit_of_work_leaves_nothing(tmp_path: Path) -> None:
    file = store(tmp_path / "a.duckdb")
    add(file, 1)
    with pytest.raises(ValueError, match="of the caller"), file.writing() as connection:
        connection.execute("INSERT INTO store.numbers VALUES (2)")
        raise ValueError("of the caller")
    assert numbers(file) == [1]


@pytest.mark.parametrize(("held", "wanted"), [("writing", "reading"), ("writing", "writing"), ("reading", "writing")])
def test_a_file_that_another_process_keeps_is_tried_again_first(tmp_path: Path, held: str, wanted: str) -> None:
    file = store(tmp_path / "a.duckdb")
    add(file, 1)
    with process(HOLD.format(held), file.path):
        started = time.monotonic()
        with pytest.raises(StoreBusy, match=r"a\.duckdb is in use"), getattr(file, wanted)():
            pass
        assert time.monotonic() - started > 0.5
    assert numbers(file) == [1]


def test_several_processes_read_at_once(tmp_path: Path) -> None:
    file = store(tmp_path / "a.duckdb")
    add(file, 1)
    with process(HOLD.format("reading"), file.path):
        assert numbers(file) == [1]


def test_a_file_that_is_freed_in_time_is_taken(tmp_path: Path) -> None:
    file = store(tmp_path / "a.duckdb")
    add(file, 1)
    with process(HOLD.format("writing"), file.path) as other:
        threading.Timer(0.3, other.kill).start()
        add(file, 2)
    assert numbers(file) == [1, 2]


def test_two_owners_in_one_process_wait_for_each_other(tmp_path: Path) -> None:
    first, second = store(tmp_path / "a.duckdb"), store(tmp_path / "a.duckdb")
    failures: list[BaseException] = []

    def work(file: DatabaseFile, numbers_of: range) -> None:
        try:
            for value in numbers_of:
                add(file, value)
                numbers(file)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(file, range(at, at + 4))) for at, file in ((0, first), (4, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert numbers(first) == list(range(8))


def test_processes_that_make_the_file_at_once_make_one(tmp_path: Path) -> None:
    code = (
        "print('ready', flush=True)\n"
        + "with file.writing(wait=20) as c: c.execute('INSERT INTO store.numbers VALUES (1)')\n"
    )
    path = tmp_path / "a.duckdb"
    with process(code, path) as one, process(code, path) as two, process(code, path) as three:
        assert [each.wait(30) for each in (one, two, three)] == [0, 0, 0]
    assert numbers(store(path)) == [1, 1, 1]
    assert [each.name for each in tmp_path.iterdir()] == ["a.duckdb"]


def _zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("no database at all\n" * 500)


def _foreign(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE theirs (a INTEGER)")


def _of_another_kind(path: Path) -> None:
    path.unlink()
    add(DatabaseFile(path, "another store", [TABLE]), 5)


def _newer(path: Path) -> None:
    path.unlink()
    add(DatabaseFile(path, "test store", [TABLE, []]), 5)


DAMAGE = [_zeroed, _truncated, _cut_short, _empty, _text, _foreign, _of_another_kind, _newer]


@pytest.mark.parametrize(
    ("damage", "how"), [*((damage, "reading") for damage in DAMAGE), (_zeroed, "writing"), (_newer, "writing")]
)
def test_a_file_that_cannot_be_used_is_kept_aside_and_told(tmp_path: Path, damage: object, how: str) -> None:
    path = tmp_path / "a.duckdb"
    add(store(path), *range(50))
    damage(path)  # type: ignore[operator]
    content = path.read_bytes()
    notices: list[str] = []
    file = store(path, notices)
    if how == "reading":
        assert numbers(file) is None
    else:
        add(file, 7)
        assert numbers(file) == [7]
    (aside,) = tmp_path.glob("a.aside-*.duckdb")
    assert aside.read_bytes() == content
    (notice,) = notices
    assert str(path) in notice
    assert aside.name in notice
    add(file, 8)
    assert numbers(file) == ([8] if how == "reading" else [7, 8])


def test_damage_that_shows_in_the_middle_moves_the_file_aside_too(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    notices: list[str] = []
    file = store(path, notices)
    with file.writing() as connection:
        connection.execute("INSERT INTO store.numbers SELECT hash(range) % 1000000 FROM range(200000)")
    content = bytearray(path.read_bytes())
    content[-200_000:-199_000] = bytes(1000)
    path.write_bytes(content)
    with pytest.raises(StoreUnusable), file.reading() as connection:
        assert connection is not None
        connection.execute("SELECT sum(value) FROM store.numbers").fetchall()
    assert len(list(tmp_path.glob("a.aside-*.duckdb"))) == 1
    assert len(notices) == 1
    add(file, 1)
    assert numbers(file) == [1]


def test_a_fault_of_a_statement_is_no_damage(tmp_path: Path) -> None:
    file = store(tmp_path / "a.duckdb")
    add(file, 1)
    with pytest.raises(StoreUnusable), file.reading() as connection:
        assert connection is not None
        connection.execute("SELECT nothing FROM store.nowhere")
    assert numbers(file) == [1]


def test_an_older_version_is_migrated_by_reading_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    add(store(path), 1)
    newer = DatabaseFile(path, "test store", [TABLE, ["ALTER TABLE store.numbers ADD COLUMN twice INTEGER"]])
    with newer.reading() as connection:
        assert connection is not None
        assert connection.execute("SELECT value, twice FROM store.numbers").fetchall() == [(1, None)]
    assert not list(tmp_path.glob("*aside*"))


def test_a_folder_in_its_place_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    path.mkdir()
    for how in ("reading", "writing"):
        with pytest.raises(StoreUnusable, match=r"a\.duckdb"), getattr(store(path), how)():
            pass
    assert path.is_dir()


def test_a_file_where_its_folder_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    file = store(tmp_path / "folder" / "a.duckdb")
    assert numbers(file) is None
    with pytest.raises(StoreUnusable, match="can't be made"):
        add(file, 1)
    assert (tmp_path / "folder").read_text() == "a file"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    def refused() -> None:
        raise PermissionError(13, "Permission denied")

    file = DatabaseFile(tmp_path / "a.duckdb", "test store", [TABLE], make_folder=refused)
    with pytest.raises(StoreUnusable, match="Permission denied"):
        add(file, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreUnusable, match="can't be made"):
        add(store(folder / "a.duckdb"), 1)


def test_a_path_that_the_disk_refuses_is_said(tmp_path: Path) -> None:
    file = store(tmp_path / ("x" * 300) / "a.duckdb")
    with pytest.raises(StoreUnusable):
        numbers(file)
    with pytest.raises(StoreUnusable):
        add(file, 1)


def test_a_kill_in_the_middle_of_writing_loses_that_transaction_only(tmp_path: Path) -> None:
    code = """
with file.writing() as connection:
    connection.execute("INSERT INTO store.numbers VALUES (1)")
with file.writing() as connection:
    connection.execute("INSERT INTO store.numbers SELECT * FROM range(2, 500000)")
    print("ready", flush=True)
    time.sleep(60)
"""
    file = store(tmp_path / "a.duckdb")
    with process(code, file.path) as other:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert numbers(file) == [1]
    add(file, 2)
    assert numbers(file) == [1, 2]
    assert not list(tmp_path.glob("*aside*"))


def test_kills_at_any_moment_leave_a_prefix_of_the_transactions(tmp_path: Path) -> None:
    code = """
print("ready", flush=True)
for value in range(100000):
    with file.writing() as connection:
        connection.execute("INSERT INTO store.numbers VALUES (?)", [value])
    print(value, flush=True)
"""
    for place, seconds in enumerate((0.1, 0.23, 0.37)):
        path = tmp_path / f"{place}.duckdb"
        with process(code, path) as other:
            time.sleep(seconds)
            os.kill(other.pid, signal.SIGKILL)
            assert other.stdout is not None
            committed = len(other.stdout.read().split("\n")) - 1
        found = numbers(store(path)) or []
        assert found == list(range(len(found)))
        assert committed <= len(found) <= committed + 1
        assert not list(tmp_path.glob("*aside*"))

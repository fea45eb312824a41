"""Every state of the screen as a picture, at three sizes, dark and light: small files beside this one.

A picture that changed on purpose is renewed with ``pytest tests/tui/snapshots --snapshot-update`` and looked at.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from pytest_textual_snapshot import normalize_svg
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from textual.pilot import Pilot

from prima_tui.config import Settings, paths_below
from prima_tui.documents_memory import Documents
from prima_tui.model.hits import ExtractFound, PastEntry, Snapshot
from prima_tui.model.session import TextEdit, ToolUse
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.remembered import Remembered
from prima_tui.tui.search_line import SearchLine
from tests.documents.chat_server import serving, streaming
from tests.documents.small_model import WordModel
from tests.tui.conftest import NOW, FakeMemory, believable_sessions, session
from tests.tui.driving import answered, browse, screen_text, settled
from tests.tui.test_file_history import shop
from tests.world import NOW as WORLD_NOW
from tests.world import World

Keys = tuple[str, ...]
SMALL, MIDDLE, LARGE = (80, 24), (120, 40), (200, 50)
DARK, LIGHT = "prima-dark", "prima-light"
EVERY = [(size, theme) for size in (SMALL, MIDDLE, LARGE) for theme in (DARK, LIGHT)]
SOME = [(SMALL, DARK), (MIDDLE, LIGHT), (LARGE, DARK)]
MAIN = ("list", "hits", "extract", "help", "file-history", "file-lines", "ask", "find", "export")
"""The states that are looked at in both themes at every size; the others at every size, in one theme or the other."""
# Workers that go on as long as the program runs, change nothing that is seen, or wait for an answer.
_ENDLESS = {"refresh", "warm", "resume", "ask-rebuild", "export"}


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times on the screen are local: here they are the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class PathOfAna(type(Path())):  # type: ignore[misc]
    """A path whose present folder is not that of the tests."""

    @classmethod
    def cwd(cls) -> Path:
        return Path("/home/ana/shop")


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the export offers is the same everywhere."""
    monkeypatch.setattr("prima_tui.tui.conversation_screen.Path", PathOfAna)


class Picture(SingleFileSnapshotExtension):
    """An SVG picture, packed: a tenth of its size (``gunzip -c``, or ``zcat``, shows it)."""

    _file_extension = "svgz"

    def serialize(self, data: Any, **_options: Any) -> bytes:
        return gzip.compress(normalize_svg(data).encode(), mtime=0)

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        return gzip.decompress(serialized_data) == gzip.decompress(snapshot_data)


class State(NamedTuple):
    """How a state of the screen comes about."""

    keys: Keys = ()
    query: str = ""
    prepare: Callable[[FakeMemory], None] = lambda _memory: None
    until: str = ""
    """What is on the screen by then."""
    kept: Remembered = Remembered()
    busy: bool = False
    """Something still runs when the picture is taken."""
    world: Callable[[Path], AbstractContextManager[Any]] | None = None
    """Makes a real memory in a folder, where the one in memory is not enough."""


@contextmanager
def changed_files(folder: Path) -> Iterator[Any]:
    """A history in which files were changed."""
    memory = shop(World(folder))
    yield memory
    memory.close()


@contextmanager
def asking(folder: Path) -> Iterator[FakeMemory]:
    """Documents that can be asked, and a language model that answers."""
    root = folder / "project"
    root.mkdir()
    Documents.init(root)
    filler = "Each part is said in a sentence of its own, so that it can be read where it stands. " * 4
    install = "Install zebra with the package, then run `zebra init`."
    texts = {
        "setup.md": f"# Setup\n\n{filler}\n\n## Install\n\n{install} {filler}",
        "other.md": f"# Other\n\nWhat else the zebra package holds. {filler}",
    }
    for name, text in texts.items():
        (root / name).write_text(f"{text}\n", "utf-8")
        os.utime(root / name, (NOW.timestamp() - 200_000,) * 2)
    memory = FakeMemory()
    memory.documents_found = ()
    documents = Documents(root, Settings(paths=paths_below(folder / "home")), env={}, model=WordModel())  # type: ignore[arg-type]
    documents.index()
    memory.real_documents = documents
    said = ["Install the **package**, ", "then run `zebra init` [1 setup.md]. ", "The rest is in [7 invented.md]."]
    with serving(streaming(*said)) as server:
        (root / ".memory" / "config.toml").write_text(f'[ask]\nurl = "{server.url}"\nname = "small"\n')
        yield memory
    documents.close()


def nothing(memory: FakeMemory) -> None:
    memory.sessions = ()


def reading(memory: FakeMemory) -> None:
    memory.sessions = ()
    refresh = memory.refresh

    def slowly(report: Any = None, cancel: Any = None) -> Snapshot:
        report(Snapshot((), 120, 1_200))
        memory.indexing.wait(60)
        return refresh(None, cancel)

    memory.refresh = slowly  # type: ignore[method-assign]


def indexing(memory: FakeMemory) -> None:
    from prima_tui.model.hits import IndexProgress

    def update(budget: Any, report: Any, cancel: Any) -> IndexProgress:
        report(IndexProgress(312, 1_200, 4_096))
        memory.indexing.wait(60)
        return IndexProgress(finished=True)

    memory.update_index = update  # type: ignore[method-assign]


def unreadable(memory: FakeMemory) -> None:
    refresh = memory.refresh
    lines = ("claude-code: 2 malformed lines, e.g. /home/ana/.claude/projects/-home-ana-shop/1.jsonl",) * 2
    memory.refresh = lambda report=None, cancel=None: msgspec.structs.replace(  # type: ignore[method-assign]
        refresh(report, cancel), warnings=lines
    )


def copies(memory: FakeMemory) -> None:
    first, second, third, fourth, *rest = believable_sessions()
    second = msgspec.structs.replace(second, source=first.source, label=first.label, continued_by=first.id)
    fourth = msgspec.structs.replace(fourth, copied_from=second.id)
    soon = msgspec.structs.replace(rest[2], expires_at=NOW.replace(day=3, month=12))
    memory.sessions = (first, second, third, fourth, *rest[:2], soon, *rest[3:])


def folders(memory: FakeMemory) -> None:
    api = (
        msgspec.structs.replace(session(60 + n, f"Endpoint {n}", hours=0.1 + n), workspace="/srv/api") for n in range(4)
    )
    memory.sessions = (*api, *memory.sessions)


def tools(memory: FakeMemory) -> None:
    edit = TextEdit("/home/ana/shop/app.py", "total = price * 1.2\n", "total = cents(price)\nlog(total)\n")
    memory.tool_uses = (
        (ToolUse(0, "Bash", "ls app", "ls app", "cart.py\nlogin.py\nmoney.py"),),
        (
            ToolUse(1, "Bash", "pytest -q tests", "pytest -q tests", "2 failed, 40 passed", failed=True),
            ToolUse(1, "Edit", "", "", "done", edits=(edit,)),
        ),
    )


def gone(memory: FakeMemory) -> None:
    memory.plan_problem = "The folder /home/ana/shop is gone. Make it again, or copy the command and go elsewhere."


def lost(memory: FakeMemory) -> None:
    memory.rebuild_lost = 1_234


def extracts(memory: FakeMemory) -> None:
    text = "# Login cookie notes\n\nThe cookie must exist before the form is posted."
    memory.extracts = (ExtractFound("/home/ana/e.md", "shop", NOW, "Login cookie notes", text, 32.0),)


def past(memory: FakeMemory) -> None:
    memory.past = (
        PastEntry("2026-10", "2026-10-03", "14:00", "Planned the zebra migration with Bruno.", ("shop",)),
        PastEntry("2026-09", "2026-09-21", "", "A first look at zebra.", ()),
    )


def all_indexed(memory: FakeMemory) -> None:
    memory.pending = 0


STATES = {
    "list": State(),
    "hits": State(query="login", until="match 1 of"),
    "extract": State(("f4", "ctrl+o"), until="Files changed"),
    "help": State(("f1",)),
    "no-hits": State(query="zzzz", prepare=all_indexed, until="Nothing found"),
    "no-hits-yet": State(query="zzzz", until="Nothing found yet"),
    "alike": State(query="logn", prepare=all_indexed, until="No match. Similar sessions"),
    "filters-offered": State(("ctrl+l",), query="login"),
    "filters-alone": State(query='agent:codex -tag:python "token bucket" date:<9w'),
    "wrong-filter": State(query="login date:x agent:nobody", until="no date"),
    "completion": State(tuple("agent:")),
    "earlier-searches": State(
        ("alt+a", "down"), kept=Remembered(searches=("login cookie", "agent:codex cents", "pool"))
    ),
    "empty-computer": State(prepare=nothing, until="not installed"),
    "first-reading": State(prepare=reading, until="120 of 1,200", busy=True),
    "indexing": State(query="login", prepare=indexing, until="312 of 1,2", busy=True),
    "unreadable": State(prepare=unreadable, until="⚠ 2"),
    "maximised": State(("ctrl+o",), query="login", until="match 1 of"),
    "one-line-rows": State(kept=Remembered(density=1)),
    "three-line-rows": State(kept=Remembered(density=3), query="login", until="match 1 of"),
    "by-folder": State(prepare=folders, kept=Remembered(group="workspace"), until="srv/api"),
    "copies-folded": State(prepare=copies, until="+2 copies"),
    "copies-listed": State(("alt+u",), prepare=copies, until="└ "),
    "sorted-by-files": State(kept=Remembered(sort="most files"), until="sorted: most files"),
    "tools-open": State(("alt+t", "ctrl+o"), prepare=tools, until="cart.py"),
    "deep": State(("alt+d", "ctrl+end"), query="login", prepare=extracts),
    "summaries": State(query="zebra", prepare=past, until="Planned the zebra"),
    "palette": State(("ctrl+backslash",), until="Search for commands"),
    "log": State(("f9",), until="Startup log"),
    "cannot-resume": State(("enter",), prepare=gone, until="Can't resume"),
    "rebuild-asked": State(("f10",), prepare=lost, until="Rebuild the index"),
    "timeline": State(("alt+l",)),
    "statistics": State(("alt+s",)),
    "file-history": State(("alt+v", *"money"), until="PRICE", world=changed_files),
    "file-lines": State(("alt+v", *"money.py:3"), until="line 3 of 4", world=changed_files),
    "ask": State(("alt+q",), query="install zebra", until="invented.md", world=asking),
    "find": State(("ctrl+f", *"cookie"), query="login"),
    "export": State(("alt+x",), query="login", until="Export the conversation"),
}


def working(app: PrimaApp) -> list[str]:
    return [worker.group for worker in app.workers if not worker.is_finished and worker.group not in _ENDLESS]


async def still(pilot: Pilot[Any], app: PrimaApp, *, busy: bool) -> None:
    """Wait until nothing works any more and the picture stays as it is."""
    before, same = "", 0
    while same < 3:
        await settled(pilot, lambda: busy or not working(app), 60)
        await pilot.pause(0.08)
        now = screen_text(app)
        same = same + 1 if now == before and (busy or not working(app)) else 0
        before = now


async def reach(pilot: Pilot[Any], app: PrimaApp, state: State) -> None:
    """Bring the screen into the state."""
    if not state.busy or state.query:
        await settled(pilot, answered(app, state.query), 60)
        suggester = browse(app).query_one(SearchLine).suggester
        await settled(pilot, lambda: not browse(app)._snapshot.sessions or bool(suggester.choices("tag:")), 60)
        await still(pilot, app, busy=state.busy)
    for key in state.keys:
        await pilot.press(key)
        if len(key) > 1:  # the next key means what this one brings, however long that takes
            await still(pilot, app, busy=state.busy)
    if state.until:
        await settled(pilot, lambda: state.until in screen_text(app), 60)
    await still(pilot, app, busy=state.busy)
    app.clear_notifications()


@pytest.mark.parametrize("name", STATES)
async def test_states(name: str, snapshot: Any, tmp_path: Path) -> None:
    state = STATES[name]
    if state.world is not None:
        with state.world(tmp_path) as memory:
            await pictures(name, memory, snapshot, tmp_path)
        return
    memory = FakeMemory()
    state.prepare(memory)
    memory.log_path = Path("/home/ana/startup.log")
    await pictures(name, memory, snapshot, tmp_path)


async def pictures(name: str, memory: Any, snapshot: Any, tmp_path: Path) -> None:
    """Compare a state on a memory with its pictures."""
    state = STATES[name]
    now = NOW if isinstance(memory, FakeMemory) else WORLD_NOW
    app = PrimaApp(memory, query=state.query, clock=lambda: now, theme=DARK, refresh_seconds=600.0)
    app._browse._kept = state.kept
    differing = []
    async with app.run_test(size=SMALL) as pilot:
        await reach(pilot, app, state)
        for size, theme in EVERY if name in MAIN else SOME:
            await pilot.resize_terminal(*size)
            app.theme = theme
            await still(pilot, app, busy=state.busy)
            picture = f"{name}-{size[0]}x{size[1]}-{theme.removeprefix('prima-')}"
            drawn = app.export_screenshot()
            if drawn != snapshot(name=picture, extension_class=Picture):
                (tmp_path / f"{picture}.svg").write_text(drawn, "utf-8")
                differing.append(picture)
        if isinstance(memory, FakeMemory):
            memory.indexing.set()
    assert not differing, f"what is drawn now lies in {tmp_path}"

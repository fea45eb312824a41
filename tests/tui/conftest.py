"""A memory in memory for the screen's tests: believable sessions, searches by word, timing under the test's control."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from textual.pilot import Pilot

from prima_tui.config import Settings, paths_below
from prima_tui.documents_memory import Documents
from prima_tui.model.documents import DocumentHit, DocumentsAnswer, DocumentsProgress, DocumentText
from prima_tui.model.hits import (
    Answer,
    Cancel,
    Conversation,
    ExtractFound,
    Hit,
    IndexProgress,
    Mode,
    PastEntry,
    Reason,
    ResumePlan,
    Snapshot,
    SourceStatus,
    Status,
)
from prima_tui.model.query import parse
from prima_tui.model.reach import Reach
from prima_tui.model.session import Exchange, FileChange, ResumeCommand, Session, ToolUse
from prima_tui.sources.base import Scope
from prima_tui.tui.app import PrimaApp

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)
WORKSPACE = "/home/ana/shop"

PYTHON_REPLY = """The test fails only on CI because the **login** form is submitted before the session cookie exists.

## What happens

1. `client.get("/login")` sets the cookie only when `SESSION_COOKIE_SECURE` is off.
2. On CI the variable is on, so the cookie is dropped and the CSRF check answers 403.

```python
def login(client: Client, user: str) -> Response:
    # the cookie must exist before the form is posted
    client.get("/login", secure=True)
    return client.post("/login", {"user": user, "token": 42})
```

| file | change |
|---|---|
| `tests/test_login.py` | asks for the page over https first |
| `app/settings/ci.py` | one line about cookies, with a very long explanation that has to wrap |

- run `pytest tests/test_login.py -x`
- see [the docs](https://example.org/csrf) for the rest
"""


def session(
    number: int,
    title: str,
    *,
    source: str = "claude-code",
    label: str = "transcript",
    hours: float = 1.0,
    files: tuple[str, ...] = (),
    tags: tuple[str, ...] = ("python", "testing"),
    branch: str | None = "main",
    author: str | None = None,
    resumable: bool = True,
    flags: tuple[str, ...] = (),
    messages: int = 12,
) -> Session:
    """Make one session."""
    end = NOW - timedelta(hours=hours)
    changes = tuple(
        FileChange(f"{WORKSPACE}/{path}", "edit", end, "I make the page come first, so that the cookie exists.")
        for path in files
    )
    identifier = f"5e55{number:04d}-0000-4000-8000-{number:012d}"
    return Session(
        identifier, source, label, title, tags=tags, started_at=end - timedelta(minutes=40), ended_at=end,
        workspace=WORKSPACE, branch=branch, message_count=messages, exchange_count=4, author=author,
        files_changed=changes, paths=(f"/home/ana/.claude/{identifier}.jsonl",), flags=flags,
        resume=ResumeCommand(("claude", "--resume", identifier), WORKSPACE) if resumable else None,
    )  # fmt: skip


def believable_sessions() -> tuple[Session, ...]:
    """Sessions of every source, newest first."""
    return (
        session(1, "Fix the login test that fails on CI", hours=0.4,
                files=("tests/test_login.py", "app/settings/ci.py"),
                tags=("python", "bugfix", "testing"), messages=52),
        session(2, "Move checkout totals to integer cents", hours=3, source="codex", label="Codex",
                files=("shop/cart.py", "shop/money.py", "tests/test_money.py"), tags=("python", "refactor"),
                branch="money-cents", messages=118),
        session(3, "Why does the bundle contain two copies of React?", hours=7, source="vscode", label="VS Code",
                tags=("typescript",), branch=None, messages=9),
        session(4, "Login page: remember me for 30 days", hours=27, files=("app/login.py",), tags=("python", "feature"),
                branch="remember-me", messages=34),
        session(5, "Postgres connection pool runs dry under load", hours=30, source="shared-log",
                label="shared log · bruno", author="bruno", resumable=False, tags=("bugfix",), messages=2),
        session(6, "日本語の検索が空になる不具合 (CJK search returns nothing)", hours=75, files=("search/tokens.py",)),
        session(7, "Add dark mode 🌙 to the settings page ✨", hours=100, files=("web/theme.css", "web/settings.tsx"),
                tags=("css", "typescript", "feature"), branch="dark-mode"),
        session(8, "Untitled Session", hours=24 * 12, tags=(), branch=None, messages=3, flags=("deleted",),
                resumable=False),
        session(9, "Rate limiting for the public API, token bucket in Redis", hours=24 * 23, source="codex",
                label="Codex", files=tuple(f"api/limit_{n}.py" for n in range(9)), tags=("python", "feature"),
                messages=240),
        *(session(20 + n, f"Upgrade step {n}: replace the old queue worker", hours=24 * 40 + 30 * n,
                  files=(f"jobs/worker_{n}.py",), branch="queue") for n in range(30)),
    )  # fmt: skip


def exchanges_of(found: Session) -> tuple[Exchange, ...]:
    """A conversation for a session."""
    at = found.started_at
    return (
        Exchange("Hello, have a look at the repository first please.", "I read the layout: a Django shop.", at, "a"),
        Exchange(f"{found.title}\n\nIt only fails on CI, with a 403. Locally the login works.", PYTHON_REPLY, at, "b"),
        Exchange("", "I changed the test; all **42** tests pass now.", at, "c"),
        Exchange("And the settings?", "The login settings stay as they are, see `ci.py`.", at, "d", compacted=True),
        Exchange("Look for other places", "Three more places read the cookie.", at, "e", agent="explorer"),
        Exchange("try it with sleep(1)", "I added a sleep.", at, "f", rewound=True),
    )


class FakeMemory:
    """Answers by word at once, or as slowly as ``delay`` says; counts what it is asked."""

    def __init__(self, sessions: tuple[Session, ...] | None = None, everywhere: bool = False) -> None:
        self.scope = Scope(workspace=Path(WORKSPACE), everywhere=everywhere, home=Path("/home/ana"), env={})
        # A file stands where the folders would be: nothing is ever written there, whoever runs the tests.
        self.settings = Settings(paths=paths_below(Path("/dev/null/home")))
        self.sessions = believable_sessions() if sessions is None else sessions
        self.delay: Callable[[str, Mode], float] = lambda _query, _mode: 0.0
        self.searches: list[tuple[str, Mode]] = []
        self.cancelled: list[str] = []
        self.by_reach: dict[Reach, FakeMemory] = {self.scope.reach: self}
        self.earlier: tuple[str, ...] = ()
        self.earlier_asked = 0
        self.taken_over: list[str] = []
        self.refreshes = 0
        self.index_steps = 0
        self.pending = 3
        """Files that are not in the index yet."""
        self.indexing = threading.Event()
        self.past: tuple[PastEntry, ...] = ()
        self.extracts: tuple[ExtractFound, ...] = ()
        self.tool_uses: tuple[tuple[ToolUse, ...], ...] = ()
        self.rebuild_lost = 0
        self.rebuilt = 0
        self.rebuild_is: Literal["running", "interrupted"] | None = None
        self.warmed = 0
        self.words_warmed = 0
        self.plan_problem = ""
        self.plan_warning = ""
        self.conversations: dict[tuple[str, str], tuple[Exchange, ...]] = {}
        self.log_path = Path("/nonexistent/startup.log")
        self.loading: Snapshot | None = None
        self.documents_found: tuple[DocumentHit, ...] | None = None
        """None: the folder is no project."""
        self.document_texts: dict[str, DocumentText] = {}
        self.real_documents: Documents | None = None
        self.documents_delay = 0.0
        self.document_updates = 0
        self.gave_way = 0
        self.went_on = 0

    def give_way(self) -> None:
        self.gave_way += 1

    def go_on(self) -> None:
        self.went_on += 1

    def reaching(self, reach: Reach) -> FakeMemory:
        if reach not in self.by_reach:
            more = [session(99, "A session of another workspace", hours=2)] if reach != "workspace" else []
            more += [session(98, "A session of another repository", hours=2)] if reach == "everywhere" else []
            other = FakeMemory((*self.by_reach["workspace"].sessions, *more))
            other.scope = self.scope.reaching(reach)
            other.delay = self.delay
            other.by_reach = self.by_reach
            self.by_reach[reach] = other
        return self.by_reach[reach]

    def earlier_folders(self) -> tuple[str, ...]:
        self.earlier_asked += 1
        return self.earlier

    def take_over(self, folder: str) -> FakeMemory:
        self.taken_over.append(folder)
        return FakeMemory((*self.sessions, session(97, "A session from before the move", hours=2)))

    def snapshot(self) -> Snapshot:
        return Snapshot()

    def refresh(self, report: Callable[[Snapshot], None] | None = None, cancel: Cancel | None = None) -> Snapshot:
        self.refreshes += 1
        if self.loading is not None and report:
            report(self.loading)
        return Snapshot(self.sessions, len(self.sessions), len(self.sessions), complete=True)

    def search(self, query: str, mode: Mode, *, deep: bool = False, cancel: Cancel | None = None) -> Answer:
        self.searches.append((query, mode))
        wait = self.delay(query, mode)
        until = time.monotonic() + wait
        while time.monotonic() < until:
            if cancel is not None and cancel.cancelled:
                self.cancelled.append(query)
                cancel.check()
            time.sleep(0.002)
        parsed = parse(query)
        words = tuple(parsed.words)
        if not query.strip():
            return Answer(query, mode, tuple(Hit(s, 0.0) for s in self.sessions), took_ms=3.2)
        hits = []
        for found in self.sessions:
            texts = [found.title, *(e.user + " " + e.assistant for e in self._exchanges(found))]
            text = " ".join(texts).casefold()
            if all(word.casefold() in text for word in words):
                in_title = query.casefold() in found.title.casefold()
                reasons = [Reason("words", 14.0), Reason("recent", 4.0)]
                if in_title:
                    reasons.insert(0, Reason("title", 20.0))
                if mode != "keyword":
                    reasons.append(Reason("meaning", 0.61 if in_title else 0.34))
                score = 100.0 if in_title else 40.0
                hits.append(Hit(found, score, 38.0, 0.61, 1, self._exchanges(found)[1], tuple(reasons)))
        hits.sort(key=lambda hit: -hit.score)
        similar = self.sessions[:2] if not hits and query.startswith("logn") else ()
        return Answer(
            query,
            mode,
            tuple(hits),
            words,
            similar,
            warnings=tuple(parsed.problems),
            took_ms=12.4,
            indexed_exchanges=18_204,
            pending_files=self.pending,
            session_history=self.past if not hits else (),
            extracts=self.extracts if deep else (),
        )

    def search_documents(
        self, text: str, mode: Mode, *, limit: int | None = None, alone: bool = False, cancel: Cancel | None = None
    ) -> DocumentsAnswer | None:
        if self.documents_found is None:
            return None
        until = time.monotonic() + self.documents_delay
        while time.monotonic() < until:
            if cancel is not None:
                cancel.check()
            time.sleep(0.002)
        parsed = parse(text)
        wanted = alone or parsed.text or "is:docs" in text
        words = [word.casefold() for word in parsed.words]
        hits = tuple(
            hit
            for hit in self.documents_found
            if wanted
            and "-is:docs" not in text
            and all(word in f"{hit.heading} {hit.text}".casefold() for word in words)
        )
        return DocumentsAnswer(text, mode, hits, words=tuple(parsed.words), project=WORKSPACE)

    def document_text(self, path: str) -> DocumentText:
        return self.document_texts.get(path, DocumentText(path, "", problem=f"{path} can't be read"))

    def update_documents(
        self,
        budget: float | None = None,
        report: Callable[[DocumentsProgress], None] | None = None,
        cancel: Cancel | None = None,
    ) -> list[str]:
        self.document_updates += 1
        return []

    def documents(self) -> Documents | None:
        return self.real_documents

    def make_project(self) -> bool:
        self.documents_found = ()
        return False

    def _exchanges(self, found: Session) -> tuple[Exchange, ...]:
        return self.conversations.get(found.key) or exchanges_of(found)

    def tools(self, found: Session, *, thinking: bool = False) -> tuple[tuple[ToolUse, ...], ...]:
        return tuple(tuple(one for one in uses if thinking or not one.thinking) for uses in self.tool_uses)

    def warm_words(self) -> None:
        self.words_warmed += 1

    def warm(self) -> None:
        self.warmed += 1

    def rebuild_state(self) -> Literal["running", "interrupted"] | None:
        return self.rebuild_is

    def rebuild_loss(self) -> int:
        return self.rebuild_lost

    def rebuild(
        self, report: Callable[[IndexProgress], None] | None = None, cancel: Cancel | None = None
    ) -> IndexProgress:
        self.rebuilt += 1
        return self.update_index(None, report, cancel)

    def conversation(self, found: Session) -> Conversation:
        return Conversation(found, self._exchanges(found))

    def extract(self, found: Session, conversation: Conversation) -> str:
        rows = "\n".join(
            f"| {change.path.removeprefix(WORKSPACE + '/')} | {change.explanation} |" for change in found.files_changed
        )
        return (
            f"# {found.title}\n\n- **Session** `{found.id}`\n- **Date** 30 November 2026, 40 minutes\n"
            f"- **Branch** {found.branch}\n- **Messages** {found.message_count}\n\n## Files changed\n\n"
            f"| File | Why |\n|---|---|\n{rows}\n\n## Last replies\n\n{PYTHON_REPLY}"
        )

    def update_index(
        self, budget: float | None, report: Callable[[IndexProgress], None] | None, cancel: Cancel | None
    ) -> IndexProgress:
        for step in range(self.index_steps):
            if cancel is not None:
                cancel.check()
            if report:
                report(IndexProgress(step, self.index_steps, step * 10))
            self.indexing.wait(0.05)
        return IndexProgress(self.index_steps, self.index_steps, self.index_steps * 10, finished=True)

    def resume_plan(self, found: Session, *, fork: bool = False) -> ResumePlan:
        problem = self.plan_problem
        if found.resume is None:
            problem = problem or "Its file was deleted; only the index still has it."
            return ResumePlan(found, None, "", problem)
        line = f"cd {WORKSPACE} && claude --resume {found.id}"
        if fork:
            forked = msgspec.structs.replace(found.resume, argv=(*found.resume.argv, "--fork-session"))
            return ResumePlan(found, forked, f"{line} --fork-session", problem, self.plan_warning)
        return ResumePlan(found, found.resume, line, problem, self.plan_warning)

    def status(self) -> Status:
        sources = (
            SourceStatus("claude-code", True, 0, 0), SourceStatus("codex", False, 0, 0),
            SourceStatus("vscode", False, 0, 0), SourceStatus("shared-log", False, 0, 0),
        )  # fmt: skip
        return Status(WORKSPACE, sources, "", 0, 0, "all-MiniLM-L6-v2", None, "")

    def close(self) -> None:
        return None


@pytest.fixture(autouse=True)
def _each_key_is_done_with_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's own goes on when the process rests, which on a busy machine it does before a key was looked at."""
    press = Pilot.press

    async def one_by_one(pilot: Pilot[Any], *keys: str) -> None:
        for key in keys:
            await press(pilot, key)
            await pilot._wait_for_screen()  # also what the key was handed on to

    monkeypatch.setattr(Pilot, "press", one_by_one)


@pytest.fixture
def memory() -> FakeMemory:
    """A fake memory with believable sessions."""
    return FakeMemory()


@pytest.fixture
def make_app() -> Callable[..., PrimaApp]:
    """Makes the program on a memory, its clock stopped."""

    def make(memory: FakeMemory, **options: object) -> PrimaApp:
        options.setdefault("clock", lambda: NOW)
        return PrimaApp(memory, **options)  # type: ignore[arg-type]

    return make


__all__ = ["NOW", "FakeMemory", "exchanges_of", "make_app", "memory", "msgspec", "session"]

"""A believable home below a folder of the test's: conversations of several agents, as their programs write them."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prima_tui.config import load_settings, paths_below
from prima_tui.index.embedder import REST_SECONDS, Embedder
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope

if TYPE_CHECKING:
    from prima_tui.index.embedder import Vector

START = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Line = dict[str, Any]


class Turn(NamedTuple):
    """One prompt with its reply; ``files`` are written by the agent after the reply's text."""

    user: str
    assistant: str
    files: tuple[str, ...] = ()


def session_id(name: str) -> str:
    """Return the UUID that stands for a session's name in these tests."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


class World:
    """A home with one workspace, ``shop``, and the writers of every agent's files."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.workspace = self.home / "shop"
        self.workspace.mkdir(parents=True)

    # -- Claude Code ------------------------------------------------------------------------------------------------

    def project(self, cwd: Path | None = None) -> Path:
        """Return Claude Code's folder for a working folder (the workspace)."""
        name = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(cwd or self.workspace))
        return self.home / ".claude" / "projects" / name

    def claude(
        self,
        name: str,
        turns: Sequence[Turn | tuple[str, str]],
        *,
        start: datetime = START,
        cwd: Path | None = None,
        branch: str = "main",
        title: str = "",
        ai_title: str = "",
        summaries: Sequence[tuple[str, str]] = (),
        copied: Sequence[Line] = (),
        folder: Path | None = None,
    ) -> Path:
        """Write the transcript of a session and return its path. The same turns give the same records.

        ``summaries`` are (leaf record id, text); ``copied`` are records of another session that a resume or a fork put
        in front.
        """
        identifier = session_id(name)
        lines: list[Line] = [{"type": "summary", "leafUuid": leaf, "summary": text} for leaf, text in summaries]
        lines += copied
        lines += self.claude_records(name, turns, start=start, cwd=cwd, branch=branch)
        if ai_title:
            lines.append({"type": "ai-title", "aiTitle": ai_title, "sessionId": identifier})
        if title:
            lines.append({"type": "custom-title", "customTitle": title, "sessionId": identifier})
        return write_lines((folder or self.project(cwd)) / f"{identifier}.jsonl", lines)

    def claude_records(
        self,
        name: str,
        turns: Sequence[Turn | tuple[str, str]],
        *,
        start: datetime = START,
        cwd: Path | None = None,
        branch: str = "main",
        **fields: Any,
    ) -> list[Line]:
        """Return the records of a conversation: prompt, reply, and for each file a tool use with its result."""
        common = {
            "cwd": str(cwd or self.workspace),
            "sessionId": session_id(name),
            "gitBranch": branch,
            "isSidechain": False,
            "userType": "external",
            "version": "2.1.100",
        } | fields
        lines: list[Line] = []

        def record(kind: str, message: Line, **more: Any) -> None:
            number = len(lines)
            lines.append(
                common
                | {
                    "type": kind,
                    "uuid": session_id(f"{name}/{number}"),
                    "parentUuid": lines[-1]["uuid"] if lines else None,
                    "timestamp": stamp(start + timedelta(seconds=20 * number)),
                    "message": message,
                }
                | more
            )

        for place, turn in enumerate(Turn(*one) for one in turns):
            if turn.user:
                record("user", {"role": "user", "content": turn.user})
            reply = {"role": "assistant", "id": f"msg_{session_id(name)[:8]}_{place}", "model": "claude-sonnet-4-5"}
            if turn.assistant:
                record("assistant", reply | {"content": [{"type": "text", "text": turn.assistant}]})
            for path in turn.files:
                use = f"toolu_{len(lines)}"
                tool: Line = {"type": "tool_use", "id": use, "name": "Edit"}
                tool["input"] = {"file_path": str(self.workspace / path), "old_string": "a", "new_string": "b"}
                record("assistant", reply | {"content": [tool]})
                result = {"type": "tool_result", "tool_use_id": use, "content": "done", "is_error": False}
                record("user", {"role": "user", "content": [result]}, toolUseResult={"filePath": path})
        return lines

    def subagent(
        self,
        parent: str,
        agent: str,
        turns: Sequence[Turn | tuple[str, str]],
        *,
        nested: bool = True,
        start: datetime = START,
    ) -> Path:
        """Write a subagent's file: in the session's own folder, or (older) beside the sessions."""
        lines = self.claude_records(f"{parent}/{agent}", turns, start=start)
        for line in lines:
            line |= {"sessionId": session_id(parent), "isSidechain": True, "agentId": agent}
        folder = self.project() / session_id(parent) / "subagents" if nested else self.project()
        return write_lines(folder / f"agent-{agent}.jsonl", lines)

    # -- the others -------------------------------------------------------------------------------------------------

    def codex(
        self,
        name: str,
        turns: Sequence[Turn | tuple[str, str]],
        *,
        start: datetime = START,
        cwd: str | None = "",
        branch: str = "main",
    ) -> Path:
        """Write a rollout; ``cwd`` None: no folder is recorded. Changed files are named in patches."""
        identifier = session_id(name)
        lines: list[Line] = []

        def put(kind: str, payload: Line) -> None:
            at = stamp(start + timedelta(seconds=15 * len(lines)))
            lines.append({"timestamp": at, "type": kind, "payload": payload})

        meta: Line = {"id": identifier, "timestamp": stamp(start), "originator": "codex_cli_rs"}
        if cwd is not None:
            meta |= {"cwd": cwd or str(self.workspace), "git": {"branch": branch}}
        put("session_meta", meta)
        for place, turn in enumerate(Turn(*one) for one in turns):
            said = [{"type": "input_text", "text": turn.user}]
            put("response_item", {"type": "message", "role": "user", "content": said})
            put("event_msg", {"type": "user_message", "message": turn.user})
            put("event_msg", {"type": "agent_message", "message": turn.assistant})
            answered = [{"type": "output_text", "text": turn.assistant}]
            put("response_item", {"type": "message", "role": "assistant", "content": answered})
            for path in turn.files:
                call = f"call_{place}_{path}"
                patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
                use = {"type": "custom_tool_call", "name": "apply_patch", "call_id": call, "input": patch}
                put("response_item", use)
                result = '{"output":"Success. Updated the following files","metadata":{"exit_code":0}}'
                put("response_item", {"type": "custom_tool_call_output", "call_id": call, "output": result})
        folder = self.home / ".codex" / "sessions" / f"{start:%Y/%m/%d}"
        return write_lines(folder / f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{identifier}.jsonl", lines)

    def vscode(self, name: str, turns: Sequence[Turn | tuple[str, str]], *, start: datetime = START) -> Path:
        """Write a Copilot Chat transcript in the workspace's storage."""
        identifier = session_id(name)
        lines: list[Line] = []

        def put(kind: str, **data: Any) -> None:
            number = len(lines)
            at = stamp(start + timedelta(seconds=5 * number))
            lines.append({"type": kind, "data": data, "id": session_id(f"{name}/{number}"), "timestamp": at})
            lines[-1]["parentId"] = lines[-2]["id"] if number else None

        put("session.start", sessionId=identifier, version=1, producer="copilot-agent", startTime=stamp(start))
        for place, turn in enumerate(Turn(*one) for one in turns):
            put("user.message", content=turn.user, attachments=[])
            put("assistant.turn_start", turnId=str(place))
            put("assistant.message", messageId=f"m{place}-{identifier}", content=turn.assistant, toolRequests=[])
            put("assistant.turn_end", turnId=str(place))
        storage = self.home / ".config" / "Code" / "User" / "workspaceStorage" / "3f1c9a5d"
        storage.mkdir(parents=True, exist_ok=True)
        (storage / "workspace.json").write_text(json.dumps({"folder": self.workspace.as_uri()}), "utf-8")
        return write_lines(storage / "GitHub.copilot-chat" / "transcripts" / f"{identifier}.jsonl", lines)

    def log_entry(self, name: str, text: str, *, author: str = "ana", start: datetime = START) -> Path:
        """Write an entry of the shared log."""
        folder = self.workspace / ".claude" / "state" / "sessions" / "SHOP"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{start:%Y-%m-%d-%H%M}-{name}.md"
        path.write_text(f"---\nauthor: {author}\ndate: {stamp(start)}\n---\n\n{text}\n", "utf-8")
        return path

    def believable(self) -> None:
        """Write some sessions of every source, from today back to last month."""
        self.claude(
            "login",
            [
                Turn("Please fix the login test that fails on CI", "The cookie is missing there.", ("tests/login.py",)),
                Turn("And why only on CI?", "Because `SESSION_COOKIE_SECURE` is on there and the client uses http."),
            ],
            start=NOW - timedelta(hours=3),
            ai_title="Login test on CI",
        )
        self.claude(
            "money",
            [Turn("Totals on receipts are a cent off", "Prices were floats; now they are whole cents.", ("money.py",))],
            start=NOW - timedelta(days=2),
            branch="cents",
        )
        self.subagent("login", "a1b2c3d4", [Turn("List the cookies set by the client", "Two: sessionid and csrf.")])
        self.codex(
            "rates",
            [Turn("Add rate limiting to the public API", "A token bucket in Redis, per key.", ("api/limits.py",))],
            start=NOW - timedelta(days=4),
        )
        self.vscode("bundle", [("Why is React in the bundle twice?", "Two versions are asked for.")])
        self.log_entry("pool", "# Connection pool ran dry\n\nThe worker never gave connections back.", author="bruno")
        self.claude("elsewhere", [("Which port?", "8080.")], cwd=self.home / "other")

    # -- the memory ---------------------------------------------------------------------------------------------

    def memory(self, embedder: Embedder | None = None, *, everywhere: bool = False) -> Memory:
        """Return a new memory of the workspace."""
        return make_memory(self.home, self.workspace, embedder, everywhere=everywhere)


def make_memory(home: Path, workspace: Path, embedder: Embedder | None = None, *, everywhere: bool = False) -> Memory:
    """Return a new memory whose every file lies below the home; with an embedder that is loaded already."""
    settings = load_settings(workspace, paths_below(home))
    memory = Memory(Scope(workspace=workspace, everywhere=everywhere, home=home, env={}), settings)
    memory._embedder = embedder
    return memory


class CountingEmbedder:
    """Passes everything on to a real embedder and keeps the texts that were embedded."""

    def __init__(self, real: Embedder) -> None:
        self.real = real
        self.name = real.name
        self.texts: list[str] = []

    def query(self, query: str) -> Vector:
        """Embed a query."""
        return self.real.query(query)

    def question(self, text: str) -> Vector:
        return self.real.question(text)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts, and remember them."""
        self.texts += texts
        return self.real.embed(texts)

    def give_way(self, seconds: float = REST_SECONDS) -> None:
        """Pass it on."""
        self.real.give_way(seconds)


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def stamp(when: datetime) -> str:
    """Return a time as the agents write it."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fingerprint(root: Path, *, without: Sequence[str] = ()) -> dict[str, tuple[str, int, int, str]]:
    """Return for each file and folder below ``root``: kind, mode, time of change, and a hash of the content.

    Whatever has one of the names ``without`` in its path is left out, and so is the time of the folder it is in.
    """
    found: dict[str, tuple[str, int, int, str]] = {}
    for folder, folders, files in os.walk(root):
        left_out = [name for name in (*folders, *files) if name in without]
        folders[:] = [name for name in folders if name not in without]
        for name in (".", *(name for name in files if name not in without)):
            path = Path(folder, name)
            state = path.lstat()
            if name == ".":
                content, time = "", 0 if left_out else state.st_mtime_ns
            else:
                content, time = hashlib.sha256(path.read_bytes()).hexdigest(), state.st_mtime_ns
            found[str(path.relative_to(root))] = ("folder" if name == "." else "file", state.st_mode, time, content)
    return found

"""A demo script as Claude Code writes it: one JSON Lines file, with a file of its own for each subagent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from prima_tui.demo.pace import Pace, session_id
from prima_tui.demo.script import (
    Command,
    Compaction,
    Pause,
    Reply,
    Rewind,
    Script,
    Step,
    Subagent,
    Thought,
    ToolUse,
    Typed,
)

Record = dict[str, Any]

_TOOLS = {"read": "Read", "grep": "Grep", "run": "Bash", "edit": "Edit", "write": "Write"}


class Conversation:
    """The records of one Claude Code file while they are being made. ``agents`` holds subagents' files by agent id."""

    def __init__(self, script: Script, folder: Path, start: datetime, *, agent: str = "", session: str = "") -> None:
        self.records: list[Record] = []
        self.agents: dict[str, tuple[str, list[Record]]] = {}
        self.pace = Pace(f"{script.name}/{agent}" if agent else script.name, start)
        self._folder = folder
        self._script = script
        self._parent: str | None = None
        self._before_last_typed: str | None = None
        self._message = ""
        self._common: Record = {
            "isSidechain": bool(agent),
            "userType": "external",
            "cwd": str(folder),
            "sessionId": session or session_id(script.name),
            "version": script.header.get("version", "2.1.207"),
            "gitBranch": script.header.get("branch", "main"),
        }
        if agent:
            self._common["agentId"] = agent
        else:
            self._common |= {"entrypoint": "cli"}

    def copy(self, other: Sequence[Record]) -> None:
        """Begin with the conversation of another file, as a branched session does: same record ids and times."""
        for record in other:
            if "uuid" in record:
                self.records.append(record | {"sessionId": self._common["sessionId"]})
                self._parent = record["uuid"]

    def play(self, steps: Sequence[Step]) -> None:
        """Add the records for all the steps."""
        for step in steps:
            match step:
                case Typed(text, True):
                    self._steer(text)
                case Typed(text):
                    self._typed(text)
                case Thought(text):
                    self._message = ""
                    self.pace.write(text)
                    self._assistant({"type": "thinking", "thinking": text, "signature": self.pace.token("", 32)})
                case Reply(text):
                    # one reply is one message id, over one record for each of its blocks
                    if not self.records or self._last_block() != "thinking":
                        self._message = ""
                    self.pace.write(text)
                    self._assistant({"type": "text", "text": text})
                case ToolUse():
                    self._use(step)
                case Subagent():
                    self._start_subagent(step)
                case Rewind():
                    self._parent = self._before_last_typed
                case Compaction(summary):
                    self._compact(summary)
                case Command(text):
                    self._command(text)
                case Pause(length):
                    self.pace.now += length

    def finish(self) -> None:
        """Add what the program writes about the session as a whole: titles, tag, last prompt."""
        session, header = self._common["sessionId"], self._script.header
        if title := header.get("ai-title"):
            self.records.append({"type": "ai-title", "aiTitle": title, "sessionId": session})
        if title := header.get("title"):
            self.records.append({"type": "custom-title", "customTitle": title, "sessionId": session})
        if tag := header.get("tag"):
            self.records.append({"type": "tag", "tag": tag, "sessionId": session})
        if summary := header.get("summary"):
            self.records.insert(0, {"type": "summary", "summary": summary, "leafUuid": self._parent})
        prompts = [step.text for step in self._script.steps if isinstance(step, Typed) and not step.steering]
        last = {"type": "last-prompt", "lastPrompt": prompts[-1], "leafUuid": self._parent, "sessionId": session}
        self.records.append(last)

    def _add(self, kind: str, **fields: Any) -> None:
        """Add one record to the end of the chain."""
        record = {"parentUuid": self._parent, **self._common, "type": kind, **fields}
        record |= {"uuid": self.pace.new_id(), "timestamp": self.pace.stamp}
        self.records.append(record)
        self._parent = record["uuid"]

    def _last_block(self) -> str:
        last = self.records[-1]
        return str(last["message"]["content"][0]["type"]) if last["type"] == "assistant" else ""

    def _typed(self, text: str) -> None:
        self._message = ""
        self.pace.read_and_type(text)
        self._before_last_typed = self._parent
        if self._script.header.get("snapshots"):
            snapshot: Record = {"messageId": self._parent, "trackedFileBackups": {}, "timestamp": self.pace.stamp}
            record = {"type": "file-history-snapshot", "messageId": self._parent, "snapshot": snapshot}
            self.records.append(record | {"isSnapshotUpdate": False})
        self._add("user", message={"role": "user", "content": text}, promptSource="typed", origin={"kind": "human"})

    def _steer(self, text: str) -> None:
        """What is typed while the agent works stands in the queue first, then as an attachment."""
        self.pace.wait(3, 8)
        session = self._common["sessionId"]
        for operation in ("enqueue", "remove"):
            record: Record = {"type": "queue-operation", "operation": operation, "timestamp": self.pace.stamp}
            self.records.append(record | {"sessionId": session} | ({"content": text} if operation == "enqueue" else {}))
        self._add("attachment", attachment={"type": "queued_command", "prompt": text, "commandMode": "prompt"})

    def _assistant(self, block: Record) -> None:
        self._message = self._message or self.pace.token("msg_01", 22)
        usage = {"input_tokens": 9, "output_tokens": len(str(block)) // 4, "cache_read_input_tokens": 18000}
        message = {
            "id": self._message,
            "type": "message",
            "role": "assistant",
            "model": self._script.header.get("model", "claude-sonnet-4-5"),
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else None,
            "usage": usage,
        }
        self._add("assistant", message=message, requestId="req_" + self._message[4:])

    def _result(self, call: str, output: str, failed: bool, details: Any) -> None:
        """Add the record that gives a tool's result back to the agent."""
        self.pace.wait(0.5, 50)
        block: Record = {"tool_use_id": call, "type": "tool_result", "content": output}
        if failed:
            block["is_error"] = True
        self._add("user", message={"role": "user", "content": [block]}, toolUseResult=details)

    def _use(self, use: ToolUse) -> None:
        call = self.pace.token("toolu_01", 22)
        path = str(self._folder / use.argument)
        details: Any = {"filePath": path}
        match use.tool:
            case "run":
                given, output = {"command": use.argument}, use.output
                details = {"stdout": use.output, "stderr": "", "interrupted": False, "isImage": False}
            case "grep":
                given, output = {"pattern": use.argument, "output_mode": "content"}, use.output or "No matches found"
                details = {"mode": "content", "content": use.output}
            case "read":
                given, output = {"file_path": path}, _numbered(use.output)
            case "write":
                given, output = {"file_path": path, "content": use.new}, f"File created successfully at: {path}"
            case "edit":
                given = {"file_path": path, "old_string": use.old, "new_string": use.new}
                output = f"The file {path} has been updated successfully."
        if use.failed:
            output = use.output or "<tool_use_error>String to replace not found in file.</tool_use_error>"
            details = f"Error: {output}"
        self.pace.wait(3, 20)
        self._assistant({"type": "tool_use", "id": call, "name": _TOOLS[use.tool], "input": given})
        self._result(call, output, use.failed, details)

    def _start_subagent(self, step: Subagent) -> None:
        call, agent = self.pace.token("toolu_01", 22), self.pace.token("a", 16)
        given = {"description": step.prompt.split(".")[0][:60], "prompt": step.prompt, "subagent_type": step.name}
        self.pace.wait(1, 4)
        self._assistant({"type": "tool_use", "id": call, "name": "Task", "input": given})
        inner = Conversation(self._script, self._folder, self.pace.now, agent=agent, session=self._common["sessionId"])
        inner._add("user", message={"role": "user", "content": step.prompt})
        inner.play(step.steps)
        self.agents[agent] = (step.name, inner.records)
        self.pace.now = inner.pace.now
        report = [inner_step.text for inner_step in step.steps if isinstance(inner_step, Reply)][-1]
        self._result(call, report, False, {"status": "completed", "agentId": agent, "content": report})

    def _compact(self, summary: str) -> None:
        before, self._parent = self._parent, None
        self.pace.wait(20, 40)
        self._add(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=before,
            compactMetadata={"trigger": "auto", "preTokens": 168211},
        )
        text = (
            "This session is being continued from a previous conversation that ran out of context. "
            f"The conversation is summarized below:\n{summary}"
        )
        message = {"role": "user", "content": text}
        self._add("user", message=message, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def _command(self, text: str) -> None:
        name, _, arguments = text.removeprefix("/").partition(" ")
        echo = (
            f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
            f"<command-args>{arguments}</command-args>"
        )
        self._add("user", message={"role": "user", "content": echo})
        self._add("user", message={"role": "user", "content": "<local-command-stdout></local-command-stdout>"})


def _numbered(text: str) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(text.split("\n"), 1))


def project_folder(root: Path, folder: Path) -> Path:
    """Return where Claude Code keeps the sessions of ``folder``: every character but letters and digits is a dash."""
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(folder))
    return root / "projects" / name


def write_conversation(conversation: Conversation, project: Path, session: str) -> None:
    """Write the session's file, and beside it a folder with its subagents' files."""
    _write_lines(project / f"{session}.jsonl", conversation.records)
    for agent, (kind, records) in conversation.agents.items():
        folder = project / session / "subagents"
        _write_lines(folder / f"agent-{agent}.jsonl", records)
        (folder / f"agent-{agent}.meta.json").write_text(json.dumps({"agentType": kind, "spawnDepth": 1}))


def _write_lines(path: Path, records: Sequence[Record]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

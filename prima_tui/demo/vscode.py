"""A demo script as Copilot Chat in VS Code writes it: a transcript, or the chat session that VS Code itself keeps."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from prima_tui.demo.pace import Pace, session_id
from prima_tui.demo.script import Pause, Reply, Script, Thought, ToolUse, Typed

_TOOLS = {
    "read": "read_file",
    "grep": "grep_search",
    "run": "run_in_terminal",
    "edit": "replace_string_in_file",
    "write": "create_file",
}


class CopilotTranscript:
    """The events of one transcript while they are being made."""

    def __init__(self, script: Script, folder: Path, start: datetime) -> None:
        self.events: list[dict[str, Any]] = []
        self.pace = Pace(script.name, start)
        self._folder = folder
        self._last: str | None = None
        self._round = 0
        opening = {"sessionId": session_id(script.name), "version": 1, "producer": "copilot-agent"}
        opening |= {"copilotVersion": "0.47.0", "vscodeVersion": "1.121.0", "startTime": self.pace.stamp}
        self._add("session.start", opening)
        steps = list(script.steps)
        while steps:
            match steps.pop(0):
                case Typed(text):
                    self.pace.read_and_type(text)
                    self._round = 0
                    self._add("user.message", {"content": text, "attachments": []})
                case Pause(length):
                    self.pace.now += length
                case Thought(text):
                    self._reply("", [], text)
                case Reply(text):
                    uses: list[ToolUse] = []
                    while steps and isinstance(steps[0], ToolUse):
                        uses.append(steps.pop(0))  # type: ignore[arg-type]  # just looked at
                    self._reply(text, uses, "")
                case ToolUse() as use:
                    self._reply("", [use], "")
                case other:
                    raise ValueError(f"{script.name}: Copilot has no {type(other).__name__}")

    def _add(self, kind: str, data: dict[str, Any]) -> None:
        new = self.pace.new_id()
        self.events.append(
            {"type": kind, "data": data, "id": new, "timestamp": self.pace.stamp, "parentId": self._last}
        )
        self._last = new

    def _reply(self, text: str, uses: list[ToolUse], thought: str) -> None:
        """Add one round: its message with the tools it asks for, and after it what came of them."""
        self._add("assistant.turn_start", {"turnId": str(self._round)})
        self.pace.write(text)
        calls = [(self.pace.token("call_", 20), use) for use in uses]
        asked = [
            {
                "toolCallId": call,
                "name": _TOOLS[use.tool],
                "arguments": json.dumps(self._arguments(use), ensure_ascii=False),
                "type": "function",
            }
            for call, use in calls
        ]
        message = {"messageId": self.pace.new_id(), "content": text, "toolRequests": asked}
        self._add("assistant.message", message | ({"reasoningText": thought} if thought else {}))
        self._add("assistant.turn_end", {"turnId": str(self._round)})
        self._round += 1
        for call, use in calls:
            self.pace.wait(0.5, 20)
            given = {"toolCallId": call, "toolName": _TOOLS[use.tool], "arguments": self._arguments(use)}
            self._add("tool.execution_start", given)
            self._add("tool.execution_complete", {"toolCallId": call, "success": not use.failed})

    def _arguments(self, use: ToolUse) -> dict[str, Any]:
        path = str(self._folder / use.argument)
        match use.tool:
            case "read":
                return {"filePath": path, "startLine": 1, "endLine": 200}
            case "grep":
                return {"query": use.argument, "isRegexp": False}
            case "run":
                return {"command": use.argument, "explanation": "", "isBackground": False}
            case "edit":
                return {"filePath": path, "oldString": use.old, "newString": use.new}
            case "write":
                return {"filePath": path, "content": use.new}


class ChatSession:
    """A chat session as VS Code keeps it: one object with all the requests."""

    def __init__(self, script: Script, folder: Path, start: datetime) -> None:
        self.pace = Pace(script.name, start)
        requests: list[dict[str, Any]] = []
        for step in script.steps:
            match step:
                case Typed(text):
                    self.pace.read_and_type(text)
                    requests.append(
                        {
                            "requestId": f"request_{self.pace.new_id()}",
                            "responseId": f"response_{self.pace.new_id()}",
                            "timestamp": self.pace.milliseconds,
                            "message": {"text": text, "parts": [{"kind": "text", "text": text}]},
                            "variableData": {"variables": []},
                            "agent": {"id": "github.copilot.editsAgent", "name": "agent"},
                            "modelId": "copilot/gpt-5.2",
                            "response": [],
                        }
                    )
                case Reply(text):
                    self.pace.write(text)
                    requests[-1]["response"].append({"value": text, "isTrusted": False, "supportThemeIcons": False})
                case ToolUse(tool="edit" | "write") as use:
                    uri = {"$mid": 1, "path": str(folder / use.argument), "scheme": "file"}
                    edits = [[{"text": use.new, "range": {"startLineNumber": 1, "startColumn": 1}}]]
                    requests[-1]["response"].append({"kind": "textEditGroup", "uri": uri, "edits": edits, "done": True})
                case other:
                    raise ValueError(f"{script.name}: a chat session has no {type(other).__name__}")
        self.state = {
            "version": 3,
            "requesterUsername": "mira",
            "responderUsername": "GitHub Copilot",
            "initialLocation": "panel",
            "sessionId": session_id(script.name),
            "creationDate": requests[0]["timestamp"],
            "lastMessageDate": requests[-1]["timestamp"],
            "isImported": False,
            "customTitle": script.header["title"],
            "requests": requests,
        }


def write_transcript(transcript: CopilotTranscript, storage: Path, name: str) -> None:
    """Write a transcript below the storage folder of its VS Code workspace."""
    path = storage / "GitHub.copilot-chat" / "transcripts" / f"{session_id(name)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(json.dumps(event, ensure_ascii=False) + "\n" for event in transcript.events).encode())


def write_chat(chat: ChatSession, storage: Path, name: str) -> None:
    """Write a chat session below the storage folder of its VS Code workspace."""
    path = storage / "chatSessions" / f"{session_id(name)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(chat.state, ensure_ascii=False, indent=2), encoding="utf-8")

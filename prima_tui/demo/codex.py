"""A demo script as Codex writes it: a rollout file, in the form where events stand beside the items they repeat."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from prima_tui.demo.pace import Pace, session_id
from prima_tui.demo.script import Pause, Reply, Rewind, Script, Thought, ToolUse, Typed


class Rollout:
    """The lines of one rollout while they are being made."""

    def __init__(self, script: Script, folder: Path, start: datetime) -> None:
        self.lines: list[dict[str, Any]] = []
        self.pace = Pace(script.name, start)
        self._folder = folder
        self._header = script.header
        self._turn = ""
        self._last_reply = ""
        self._item_count = 0
        opening = {
            "id": session_id(script.name),
            "timestamp": self.pace.stamp,
            "cwd": str(folder),
            "originator": "codex_cli_rs",
            "cli_version": "0.118.0",
            "source": "cli",
            "model_provider": "openai",
            "git": {"commit_hash": self.pace.token("", 32), "branch": script.header.get("branch", "main")},
        }
        self._add("session_meta", opening)
        for step in script.steps:
            match step:
                case Typed(text):
                    self._typed(text)
                case Thought(text):
                    self._thought(text)
                case Reply(text):
                    self._reply(text)
                case ToolUse():
                    self._use(step)
                case Rewind():
                    self._finish_turn()
                    self._event("thread_rolled_back", num_turns=1)
                case Pause(length):
                    self.pace.now += length
                case _:
                    raise ValueError(f"{script.name}: Codex has no {type(step).__name__}")
        self._finish_turn()

    def _add(self, kind: str, payload: dict[str, Any]) -> None:
        self.lines.append({"timestamp": self.pace.stamp, "type": kind, "payload": payload})

    def _event(self, kind: str, **fields: Any) -> None:
        self._add("event_msg", {"type": kind, **fields})

    def _message(self, role: str, *texts: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text} for text in texts]
        self._add("response_item", {"type": "message", "role": role, "content": content})

    def _typed(self, text: str) -> None:
        self._finish_turn()
        self.pace.read_and_type(text)
        first = not self._turn
        self._turn = self.pace.new_id()
        self._event("task_started", turn_id=self._turn, model_context_window=258400)
        if first:
            rules = "Run `make check` before you say that something is done."
            instructions = f"# AGENTS.md instructions for {self._folder}\n\n<INSTRUCTIONS>\n{rules}\n</INSTRUCTIONS>"
            place = f"<environment_context>\n  <cwd>{self._folder}</cwd>\n  <shell>bash</shell>\n</environment_context>"
            self._message("user", instructions, place)
        model = self._header.get("model", "gpt-5.1-codex")
        self._add("turn_context", {"turn_id": self._turn, "cwd": str(self._folder), "model": model, "effort": "medium"})
        self._message("user", text)
        self._event("user_message", message=text, images=[], local_images=[], text_elements=[])

    def _thought(self, text: str) -> None:
        self.pace.write(text)
        self._event("agent_reasoning", text=text)
        summary = [{"type": "summary_text", "text": text}]
        self._add("response_item", {"type": "reasoning", "summary": summary, "content": None})

    def _reply(self, text: str) -> None:
        self.pace.write(text)
        self._event("agent_message", message=text)
        self._message("assistant", text)
        self._last_reply = text

    def _use(self, use: ToolUse) -> None:
        call = self.pace.token("call_", 12)
        self.pace.wait(3, 20)
        if use.tool in ("edit", "write"):
            self._patch(use, call)
            return
        shapes = {"read": f"sed -n '1,200p' {use.argument}", "grep": f"rg -n '{use.argument}'"}
        command = shapes.get(use.tool, use.argument)
        given = json.dumps({"cmd": command}, ensure_ascii=False)
        called = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call}
        self._add("response_item", called)
        self.pace.wait(0.5, 60)
        code = 1 if use.failed else 0
        output = f"Wall time: 0.4 seconds\nProcess exited with code {code}\nOutput:\n{use.output}"
        self._add("response_item", {"type": "function_call_output", "call_id": call, "output": output})

    def _patch(self, use: ToolUse, call: str) -> None:
        """A change of a file: the patch the model asked for, and the event that says what came of it."""
        old = [f"-{line}" for line in use.old.split("\n")] if use.old else []
        new = [f"+{line}" for line in use.new.split("\n")] if use.new else []
        head = "*** Add File: " if use.tool == "write" else "*** Update File: "
        body = new if use.tool == "write" else ["@@", *old, *new]
        patch = "\n".join(["*** Begin Patch", head + use.argument, *body, "*** End Patch"])
        asked = {
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": call,
            "name": "apply_patch",
            "input": patch,
        }
        self._add("response_item", asked)
        self.pace.wait(0.1, 1)
        if use.tool == "write":
            change: dict[str, Any] = {"type": "add", "content": use.new}
        else:
            hunk = f"@@ -1,{len(old)} +1,{len(new)} @@"
            change = {"type": "update", "unified_diff": "\n".join([hunk, *old, *new]), "move_path": None}
        changes = {str(self._folder / use.argument): change}
        self._event("patch_apply_end", call_id=call, turn_id=self._turn, success=not use.failed, changes=changes)
        word = "A" if use.tool == "write" else "M"
        said = f"Success. Updated the following files:\n{word} {use.argument}\n"
        if use.failed:
            said = f"apply_patch verification failed: Failed to find expected lines in {use.argument}"
        output = json.dumps({"output": said, "metadata": {"exit_code": int(use.failed), "duration_seconds": 0.0}})
        self._add("response_item", {"type": "custom_tool_call_output", "call_id": call, "output": output})

    def _finish_turn(self) -> None:
        if self._last_reply:
            self._event("task_complete", turn_id=self._turn, last_agent_message=self._last_reply)
            self._last_reply = ""


def write_rollout(rollout: Rollout, root: Path, name: str, start: datetime, thread_name: str) -> None:
    """Write the rollout below Codex's root, in the folder of its local date, and a thread name into the index."""
    local, session = start.astimezone(), session_id(name)
    file = f"rollout-{local:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
    path = root / "sessions" / f"{local:%Y}" / f"{local:%m}" / f"{local:%d}" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rollout.lines)
    path.write_bytes(text.encode())
    if thread_name:
        entry = {"id": session, "thread_name": thread_name, "updated_at": rollout.pace.stamp}
        with (root / "session_index.jsonl").open("a", encoding="utf-8") as index:
            index.write(json.dumps(entry, ensure_ascii=False) + "\n")

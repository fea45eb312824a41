"""What a model thought, from the files of every agent: shown folded where it was thought, never searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prima_tui.model.session import ToolUse
from prima_tui.sources.base import source_file
from prima_tui.sources.codex import Codex
from prima_tui.sources.copilot_cli import CopilotCli
from prima_tui.sources.vscode import VSCode
from tests.sources.claude_lines import Lines, tool
from tests.sources.test_tool_text import claude, codex, item, said
from tests.world import NOW, World, session_id, write_lines


def thoughts(uses: Any) -> list[tuple[int, str]]:
    return [(use.position, use.gave) for use in uses if use.thinking]


def thought(text: str) -> dict[str, str]:
    return {"type": "thinking", "thinking": text, "signature": "Eq0B"}


def test_claude_thinking_stands_among_the_tools_in_its_place(tmp_path: Path) -> None:
    make = Lines()
    first = make.reply(thought("First I look.\nThen I act."), of="m1")
    [uses] = claude(
        tmp_path,
        [
            make.user("go"),
            first,
            make.reply("Looking.", of="m1"),
            make.reply(tool("Bash", "t1", command="ls"), of="m1"),
            make.result("t1"),
            first,
            make.reply(thought(""), {"type": "redacted_thinking", "data": "xx"}, of="m2"),
            make.reply(thought("Now I know."), of="m2"),
            make.reply("Done.", of="m2"),
        ],
    )
    assert [(use.position, use.name, use.thinking) for use in uses] == [
        (0, "thinking", True),
        (0, "Bash", False),
        (0, "thinking", True),
    ]
    assert (uses[0].summary, uses[0].gave) == ("First I look. Then I act.", "First I look.\nThen I act.")
    assert uses[2].gave == "Now I know."


def test_codex_reasoning_is_taken_once_however_often_it_is_told(tmp_path: Path) -> None:
    plan = "**Listing files**\n\nI will list the files."
    uses = codex(
        tmp_path,
        [
            said("user", "go"),
            ("event_msg", {"type": "agent_reasoning", "text": plan}),
            item(type="reasoning", summary=[{"type": "summary_text", "text": plan}], content=None),
            item(type="function_call", name="shell", call_id="c1", arguments='{"command":["ls"]}'),
            item(type="reasoning", summary=[], encrypted_content="xx"),
            item(type="reasoning", summary=[], content=[{"type": "reasoning_text", "text": "Raw."}]),
            said("assistant", "One."),
            item(type="function_call", name="shell", call_id="c2", arguments='{"command":["pwd"]}'),
            ("event_msg", {"type": "item_completed", "item": {"type": "Reasoning", "summary_text": [plan]}}),
        ],
    )
    assert thoughts(uses) == [(0, plan), (0, "Raw."), (0, plan)]
    assert Codex().id == "codex"


def test_copilot_reasoning_and_the_thinking_of_chats(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    events: list[tuple[str, dict[str, Any]]] = [
        ("user.message", {"content": "go"}),
        ("assistant.message", {"messageId": "message-number-one", "content": "", "reasoningText": "Let me see."}),
        ("assistant.message", {"messageId": "message-number-two", "content": "One.", "reasoningText": None}),
    ]
    lines = [{"type": kind, "data": data, "id": f"event-number-{n:06}"} for n, (kind, data) in enumerate(events)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    file = source_file(str(path), "copilot-cli", "events", [])
    assert file is not None
    assert thoughts(CopilotCli().read_tools(file).transcripts[0].tools) == [(0, "Let me see.")]

    parts = [{"kind": "thinking", "value": ["Hm, ", "yes."]}, {"kind": "thinking", "value": ""}, {"value": "Ok."}]
    chat = tmp_path / "chatSessions" / "chat.json"
    chat.parent.mkdir()
    chat.write_text(json.dumps({"sessionId": "s", "requests": [{"message": "go", "response": parts}]}), "utf-8")
    file = source_file(str(chat), "vscode", "chat", [])
    assert file is not None
    assert thoughts(VSCode().read_tools(file).transcripts[0].tools) == [(0, "Hm, yes.")]


def test_thinking_is_shown_when_asked_for_and_never_found(world: World) -> None:
    lines = world.claude_records("deep", [("Why?", "Because.")])
    lines.insert(1, lines[1] | {"uuid": "t", "message": lines[1]["message"] | {"content": [thought("A narwhal.")]}})
    write_lines(world.project() / f"{session_id('deep')}.jsonl", lines)
    memory = world.memory()
    memory.refresh()
    session = memory.session(session_id("deep"))
    assert memory.tools(session) == ((),)
    [uses] = memory.tools(session, thinking=True)
    assert [use.gave for use in uses] == ["A narwhal."]
    assert isinstance(uses[0], ToolUse)
    for query in ("narwhal", "narwhal in:tools"):
        assert memory.search(query, "keyword", now=NOW).hits == ()

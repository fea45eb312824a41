"""What tools were given and gave back, from the files of every agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prima_tui.model.session import TextEdit, ToolUse
from prima_tui.sources.base import ReadsTools, source_file
from prima_tui.sources.claude_code import ClaudeCode
from prima_tui.sources.codex import Codex
from prima_tui.sources.copilot_cli import CopilotCli
from prima_tui.sources.registry import builtin_sources
from prima_tui.sources.tool_text import gave_text, given_text
from prima_tui.sources.vscode import VSCode
from tests.sources.claude_lines import SESSION, Lines, tool, write

PICTURE = "iVBORw0KGgo" * 60


def claude(folder: Path, lines: list[Any]) -> list[tuple[ToolUse, ...]]:
    """Return the tools of each transcript of a Claude Code file."""
    file = source_file(str(write(folder / "projects" / "-p", lines)), "claude-code", "session", [])
    assert file is not None
    return [tuple(one.tools) for one in ClaudeCode().read_tools(file).transcripts]


def output(use: str, content: Any, **fields: Any) -> dict[str, Any]:
    """Return the block of a tool's output."""
    return {"type": "tool_result", "tool_use_id": use, "content": content} | fields


def test_an_ordinary_reading_leaves_tools_out(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("go"), make.reply(tool("Bash", "t1", command="ls")), make.result("t1")]
    file = source_file(str(write(tmp_path, lines)), "claude-code", "session", [])
    assert file is not None
    assert all(not one.tools for one in ClaudeCode().read(file).transcripts)


def test_every_source_with_tools_can_read_them() -> None:
    assert {one.id for one in builtin_sources() if isinstance(one, ReadsTools)} == {
        *("claude-code", "codex", "vscode", "copilot-cli")
    }


def test_a_claude_tool_belongs_to_the_exchange_shown_just_before_or_around_it(tmp_path: Path) -> None:
    make = Lines()
    [tools] = claude(
        tmp_path,
        [
            make.user("one"),
            make.reply(tool("Bash", "before", command="ls"), of="m1"),
            make.result("before"),
            make.reply("First.", of="m2"),
            make.reply(tool("Bash", "within", command="make"), of="m2"),
            make.result("within", error=True),
            make.reply(tool("Bash", "after", command="env"), of="m3"),
            make.reply("Second.", of="m4"),
            make.user("two"),
            make.reply(tool("Bash", "last", command="pwd"), of="m5"),
        ],
    )
    assert [(use.position, use.summary, use.gave, use.failed) for use in tools] == [
        (0, "ls", "output", False),
        (0, "make", "output", True),
        (0, "env", "", False),
        (2, "pwd", "", False),
    ]
    assert tools[0].at is not None


def test_claude_edits_hold_the_text_before_and_after(tmp_path: Path) -> None:
    make = Lines()
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    [tools] = claude(
        tmp_path,
        [
            make.user("go"),
            make.reply("Ok.", tool("Write", "w", file_path="/p/new.py", content="x = 1\n")),
            make.reply(tool("Edit", "e", file_path="/p/a.py", old_string="old", new_string="new")),
            make.reply(tool("MultiEdit", "m", file_path="/p/a.py", edits=edits)),
            make.reply(tool("NotebookEdit", "n", notebook_path="/p/n.ipynb", new_source="print()")),
            make.reply(tool("Write", "o", file_path="/p/old.py", content="after")),
            make.user(
                [output("o", "ok")],
                toolUseResult={"type": "update", "filePath": "/p/old.py", "content": "after", "originalFile": "before"},
            ),
        ],
    )
    assert [use.edits for use in tools] == [
        (TextEdit("/p/new.py", "", "x = 1\n", "write"),),
        (TextEdit("/p/a.py", "old", "new", "edit"),),
        (TextEdit("/p/a.py", "a", "b", "edit"), TextEdit("/p/a.py", "c", "d", "edit")),
        (TextEdit("/p/n.ipynb", "", "print()", "edit"),),
        (TextEdit("/p/old.py", "before", "after", "write"),),
    ]
    assert [use.path for use in tools] == ["/p/new.py", "/p/a.py", "/p/a.py", "/p/n.ipynb", "/p/old.py"]


def test_claude_outputs_that_were_moved_out_are_read_from_where_they_are(tmp_path: Path) -> None:
    moved = tmp_path / "projects" / "-p" / SESSION / "tool-results"
    moved.mkdir(parents=True)
    (moved / "b1.txt").write_text("all of it: needle", "utf-8")
    (tmp_path / "secret.txt").write_text("not to be read", "utf-8")
    make = Lines()

    def pointer(path: str) -> str:
        return f"<persisted-output>\nOutput too large. Full output saved to: {path}\n\nPreview: al</persisted-output>"

    [tools] = claude(
        tmp_path,
        [
            make.user("go"),
            make.reply(*(tool("Bash", f"t{number}", command="x") for number in range(4))),
            make.user([output("t0", pointer(f"/elsewhere/{SESSION}/tool-results/b1.txt"))]),
            make.user([output("t1", pointer("/x/tool-results/gone.txt"))], toolUseResult={"stdout": "in the record"}),
            make.user([output("t2", pointer("/x/tool-results/gone.txt"))]),
            make.user([output("t3", pointer("/x/tool-results/../../../../secret.txt"))]),
        ],
    )
    assert [use.gave for use in tools[:2]] == ["all of it: needle", "in the record"]
    assert all(use.gave.startswith("<persisted-output>") for use in tools[2:])


def test_pictures_are_named_and_never_kept(tmp_path: Path) -> None:
    make = Lines()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    [tools] = claude(
        tmp_path,
        [
            make.user("go"),
            make.reply(tool("Read", "t1", file_path="/p/a.png")),
            make.user([output("t1", [{"type": "text", "text": "Here:"}, image])]),
        ],
    )
    assert tools[0].gave == "Here:\n[image image/png]"
    assert given_text({"url": f"data:image/png;base64,{PICTURE} and words"}) == "[image/png] and words"
    assert gave_text({"content": [{"type": "audio", "data": PICTURE, "mimeType": "audio/wav"}]}) == "[audio audio/wav]"
    assert PICTURE not in gave_text({"file": {"base64": PICTURE, "name": "a.png"}})
    assert gave_text("x" * 5_000) == "x" * 5_000


def test_subagents_and_long_texts_have_their_tools_too(tmp_path: Path) -> None:
    make, side = Lines(), Lines(isSidechain=True)
    long = "line\n" * 5_000 + "needle"
    main, inner = claude(
        tmp_path,
        [
            make.user("go"),
            make.reply("Ok.", tool("Task", "t1", prompt="look")),
            side.user("look", uuid="s1", parentUuid=None),
            side.reply("Looking.", tool("Bash", "t2", command="cat x"), parentUuid="s1"),
            side.user([output("t2", long)], parentUuid="s1"),
        ],
    )
    assert [use.name for use in main] == ["Task"]
    assert [(use.summary, use.gave) for use in inner] == [("cat x", long)]


def test_damage_costs_no_other_tool(tmp_path: Path) -> None:
    make = Lines()
    [tools] = claude(
        tmp_path,
        [
            make.user("go"),
            make.reply(tool("Bash", "t1", command="ls")),
            '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":7,"content":{"a":[1,null]}}]}}',
            '{"type":"assistant","message":{"content":[{"type":"tool_use","id":null,"name":5,"input":"\\ud800 x"}]}}',
            '{"type":"user","message":{"content":[{"type":"tool_result"',
            make.user([output("t1", "found")]),
        ],
    )
    assert [use.gave for use in tools if use.name == "Bash"] == ["found"]


def codex(folder: Path, payloads: list[tuple[str, dict[str, Any]]]) -> tuple[ToolUse, ...]:
    """Return the tools of a rollout of the newer formats."""
    path = folder / "rollout-2026-08-03T07-00-00-0d3f7b8e-9a51-4d0a-b7a0-6b1d0c5e3f33.jsonl"
    lines = [("session_meta", {"id": "0d3f7b8e-9a51-4d0a-b7a0-6b1d0c5e3f33", "cwd": "/w"}), *payloads]
    stamped = [
        {"timestamp": f"2026-08-03T07:00:{number:02}.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(lines)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in stamped), "utf-8")
    file = source_file(str(path), "codex", "rollout", [])
    assert file is not None
    return tuple(Codex().read_tools(file).transcripts[0].tools)


def said(role: str, text: str) -> tuple[str, dict[str, Any]]:
    """Return a message of a rollout."""
    kind = "input_text" if role == "user" else "output_text"
    return "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def item(**fields: Any) -> tuple[str, dict[str, Any]]:
    """Return traffic with the model."""
    return "response_item", fields


def test_codex_calls_and_outputs_of_every_kind(tmp_path: Path) -> None:
    tools = codex(
        tmp_path,
        [
            said("user", "go"),
            item(type="function_call", name="shell", call_id="c1", arguments='{"command":["bash","-lc","ls -a"]}'),
            item(type="function_call_output", call_id="c1", output='{"output":"a.txt","metadata":{"exit_code":1}}'),
            said("assistant", "One."),
            item(type="local_shell_call", call_id="c2", action={"type": "exec", "command": ["pwd"]}),
            item(type="function_call_output", call_id="c2", output=[{"type": "input_text", "text": "/w"}]),
            said("assistant", "Two."),
            ("event_msg", {"type": "exec_command_end", "call_id": "c2", "command": ["pwd"], "stdout": "/w"}),
            (
                "event_msg",
                {
                    "type": "item_completed",
                    "item": {
                        "type": "CommandExecution",
                        "id": "c3",
                        "command": ["bash", "-lc", "make"],
                        "aggregated_output": "no rule",
                        "exit_code": 2,
                    },
                },
            ),
            (
                "event_msg",
                {
                    "type": "mcp_tool_call_end",
                    "call_id": "c4",
                    "invocation": {"server": "db", "tool": "ask", "arguments": {"sql": "select 1"}},
                    "result": {"Ok": {"content": [{"type": "text", "text": "1 row"}], "isError": False}},
                },
            ),
        ],
    )
    assert [(use.position, use.name, use.summary, use.gave, use.failed) for use in tools] == [
        (0, "shell", "ls -a", "a.txt", True),
        (0, "shell", "pwd", "/w", False),
        (1, "shell", "make", "no rule", True),
        (1, "db.ask", "select 1", "1 row", False),
    ]


@pytest.mark.parametrize(
    "call",
    [
        {"type": "custom_tool_call", "name": "apply_patch", "input": "{patch}"},
        {"type": "function_call", "name": "apply_patch", "arguments": '{{"input": {json}}}'},
        {"type": "function_call", "name": "shell", "arguments": '{{"command": ["apply_patch", {json}]}}'},
        {"type": "custom_tool_call", "name": "exec", "input": "await tools.apply_patch({json});"},
    ],
)
def test_codex_patches_give_one_edit_a_hunk(tmp_path: Path, call: dict[str, str]) -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+x = 1\n+y = 2\n*** Update File: a.py\n@@ def f\n kept\n-old\n+new\n"
        "@@\n-second\n+changed\n*** Delete File: gone.py\n*** End Patch"
    )
    filled = {
        name: value.format(patch=patch, json=json.dumps(patch)) if "{" in value else value
        for name, value in call.items()
    }
    [use] = codex(tmp_path, [said("user", "go"), item(call_id="c1", **filled)])
    assert use.edits == (
        TextEdit("/w/new.py", "", "x = 1\ny = 2", "add"),
        TextEdit("/w/a.py", "kept\nold", "kept\nnew", "update"),
        TextEdit("/w/a.py", "second", "changed", "update"),
        TextEdit("/w/gone.py", "", "", "delete"),
    )
    assert use.summary == "/w/new.py"


def test_codex_records_of_applied_patches_count_before_the_call(tmp_path: Path) -> None:
    diff = "@@ -1,2 +1,2 @@\n kept\n-old\n+new\n"
    changes = {"/w/a.py": {"type": "update", "unified_diff": diff}, "/w/n.py": {"type": "add", "content": "x\n"}}
    tools = codex(
        tmp_path,
        [
            said("user", "go"),
            item(type="custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch\n*** End Patch"),
            ("event_msg", {"type": "patch_apply_end", "call_id": "c1", "success": True, "changes": changes}),
        ],
    )
    assert [use.edits for use in tools] == [
        (TextEdit("/w/a.py", "kept\nold", "kept\nnew", "update"), TextEdit("/w/n.py", "", "x\n", "add"))
    ]


def test_copilot_tools_belong_to_the_prompt_they_work_for(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    events: list[tuple[str, dict[str, Any]]] = [
        ("user.message", {"content": "go"}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}}),
        ("tool.execution_complete", {"toolCallId": "c1", "success": True, "result": {"content": "a.txt"}}),
        ("assistant.message", {"messageId": "message-number-one", "content": "One."}),
        ("assistant.message", {"messageId": "message-of-the-agent", "content": "Inside.", "parentToolCallId": "c0"}),
        ("tool.execution_start", {"toolCallId": "c2", "toolName": "edit", "parentToolCallId": "c0", "arguments": {}}),
        ("user.message", {"content": "again"}),
        (
            "tool.execution_start",
            {
                "toolCallId": "c3",
                "toolName": "str_replace_editor",
                "arguments": {"command": "str_replace", "path": "/p/a.py", "old_str": "a", "new_str": "b"},
            },
        ),
        ("tool.execution_complete", {"toolCallId": "c3", "success": False, "error": {"message": "no match"}}),
    ]
    lines = [{"type": kind, "data": data, "id": f"event-number-{n:06}"} for n, (kind, data) in enumerate(events)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    file = source_file(str(path), "copilot-cli", "events", [])
    assert file is not None
    [read] = CopilotCli().read_tools(file).transcripts
    assert [each.user or each.assistant for each in read.exchanges] == ["go", "again", "Inside."]
    assert [(use.position, use.name, use.gave, use.failed) for use in read.tools] == [
        (0, "bash", "a.txt", False),
        (2, "edit", "", False),
        (1, "str_replace_editor", "no match", True),
    ]
    assert read.tools[2].edits == (TextEdit("/p/a.py", "a", "b", "edit"),)


def test_vscode_chats_give_invocations_calls_and_edits(tmp_path: Path) -> None:
    rounds = [{"toolCalls": [{"id": "call_2__vscode-1", "name": "grep_search", "arguments": '{"query":"needle"}'}]}]
    terminal = {"kind": "terminal", "commandLine": {"original": "ss -ltn"}}
    request = {
        "requestId": "request-number-one",
        "message": "go",
        "response": [
            {"value": "Ok."},
            {"kind": "toolInvocationSerialized", "toolId": "run", "toolCallId": "call_1", "toolSpecificData": terminal},
            {
                "kind": "textEditGroup",
                "uri": {"scheme": "file", "path": "/p/a.py"},
                "edits": [[{"text": "x = 1\n", "range": {}}], [{"text": "y = 2"}]],
            },
        ],
        "result": {
            "metadata": {
                "toolCallRounds": rounds,
                "toolCallResults": {"call_2__vscode-1": {"content": [{"value": "3 matches"}]}},
            }
        },
    }
    path = tmp_path / "chatSessions" / "chat.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"sessionId": "s", "requests": [{"message": "before"}, request]}), "utf-8")
    file = source_file(str(path), "vscode", "chat", [])
    assert file is not None
    [read] = VSCode().read_tools(file).transcripts
    assert {(use.position, use.name, use.given, use.gave) for use in read.tools} == {
        (1, "grep_search", "needle", "3 matches"),
        (1, "run", "ss -ltn", ""),
        (1, "edit", "x = 1\n\ny = 2", ""),
    }
    assert [use.path for use in read.tools if use.edits] == ["/p/a.py"]

"""VS Code: where its files are, what a transcript and a chat say, how the two stores of one session are merged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, ReadResult, Scope, SourceFile
from prima_tui.sources.vscode import VSCode

ID = "5b0b6f0e-58a1-4c0e-9b1c-6a2f4c1d7e11"
PROMPT_ID = "d23f0824-128b-4f33-8c5c-7fd0a6a3a450"
REPLY_ID = "36f675cc-81e7-4ef5-a8e2-5d940ed90475"


def scope(home: Path, **env: str) -> Scope:
    return Scope(workspace=home / "work", everywhere=False, home=home, env=env)


def event(kind: str, second: int, identifier: str = "", **data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "data": data,
        "id": identifier or f"{kind}-{second}-record-of-this-test",
        "timestamp": f"2026-07-14T08:30:{second:02}.000Z",
        "parentId": None,
    }


def conversation() -> list[dict[str, Any]]:
    return [
        event("session.start", 0, sessionId=ID, version=1, producer="copilot-agent"),
        event("user.message", 1, PROMPT_ID, content="please fix the price", attachments=[]),
        event("assistant.turn_start", 2, turnId="0"),
        event(
            "assistant.message",
            3,
            messageId=REPLY_ID,
            content="I replace the formatter.",
            toolRequests=[{"toolCallId": "call_1", "name": "replace_string_in_file", "arguments": "{}"}],
        ),
        event("assistant.turn_end", 4, turnId="0"),
        event(
            "tool.execution_start",
            5,
            toolCallId="call_1",
            toolName="replace_string_in_file",
            arguments={"filePath": "/w/a.ts"},
        ),
        event("tool.execution_complete", 6, toolCallId="call_1", success=True),
        event("assistant.message", 7, messageId="a-second-message-id", content="Done.", toolRequests=[]),
    ]


def chat(**changes: Any) -> dict[str, Any]:
    request = {
        "requestId": "request_a7abe1c2",
        "timestamp": 1784017801000,
        "message": {"text": "please fix the price", "parts": []},
        "response": [{"value": "All in one."}],
        "modelId": "copilot/gpt-5.2",
    }
    return {"version": 3, "sessionId": ID, "customTitle": "Prices", "requests": [request], **changes}


def write_lines(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), "utf-8")
    return path


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")
    return path


def read(path: Path, kind: str = "") -> ReadResult:
    return VSCode().read(SourceFile("vscode", str(path), 0, 0, 0, kind))


def read_all(home: Path, **env: str) -> tuple[list[Transcript], list[Problem]]:
    """Find, read and finish everything below a home."""
    source = VSCode()
    problems: list[Problem] = []
    transcripts: list[Transcript] = []
    folders: dict[str, str] = {}
    for file in source.files(scope(home, **env), problems):
        result = source.read(file)
        transcripts += [each.transcript for each in result.transcripts]
        folders.update(result.folders)
        problems += result.problems
    return source.finish(transcripts, {}, folders), problems


def storage(home: Path, user: str = ".config/Code/User", name: str = "3f1c9a5d") -> Path:
    return home / user / "workspaceStorage" / name


@pytest.mark.parametrize(
    ("user", "command"),
    [
        (".config/Code/User", "code"),
        (".config/Code - Insiders/User", "code-insiders"),
        (".config/Code - Exploration/User", "code-exploration"),
        (".config/VSCodium/User", "codium"),
        (".config/VSCodium - Insiders/User", "codium-insiders"),
        (".config/Cursor/User", "cursor"),
        (".config/Windsurf/User", "windsurf"),
        ("Library/Application Support/Code/User", "code"),
        ("Library/Application Support/VSCodium/User", "codium"),
        ("AppData/Roaming/Code - Insiders/User", "code-insiders"),
        (".vscode-server/data/User", "code"),
        (".vscode-server-insiders/data/User", "code-insiders"),
        (".vscode-remote/data/User", "code"),
        (".cursor-server/data/User", "cursor"),
        (".var/app/com.visualstudio.code/config/Code/User", "code"),
        (".var/app/com.vscodium.codium/config/VSCodium/User", "codium"),
        ("snap/code/current/.config/Code/User", "code"),
    ],
)
def test_every_kind_of_installation_is_read_and_opened_with_its_own_command(
    tmp_path: Path, user: str, command: str
) -> None:
    folder = storage(tmp_path, user)
    write_lines(folder / "GitHub.copilot-chat" / "transcripts" / f"{ID}.jsonl", conversation())
    write(folder / "workspace.json", {"folder": "file:///w/caf%C3%A9%20menu"})
    (transcript,), problems = read_all(tmp_path)
    assert problems == []
    assert transcript.workspace == "/w/café menu"
    assert transcript.resume is not None
    assert transcript.resume.argv == (command, "/w/café menu")
    assert transcript.resume.cwd == "/w/café menu"
    assert transcript.flags == ()


def test_the_variables_of_the_system_move_the_roots(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for place, name in (("xdg/Code/User", "a"), ("roaming/Code/User", "b"), ("portable/user-data/User", "c")):
        write_lines(
            storage(tmp_path, place, name) / "GitHub.copilot-chat/transcripts" / f"{name}.jsonl", conversation()[1:]
        )
    found, _ = read_all(
        home,
        XDG_CONFIG_HOME=str(tmp_path / "xdg"),
        APPDATA=str(tmp_path / "roaming"),
        VSCODE_PORTABLE=str(tmp_path / "portable"),
    )
    assert sorted(each.session_id for each in found) == ["a", "b", "c"]


def test_a_root_that_is_linked_twice_is_read_once(tmp_path: Path) -> None:
    write_lines(storage(tmp_path) / "GitHub.copilot-chat/transcripts" / f"{ID}.jsonl", conversation())
    (tmp_path / ".config" / "VSCodium").symlink_to(tmp_path / ".config" / "Code")
    found, _ = read_all(tmp_path)
    assert len(found) == 1


def test_nothing_installed_is_no_problem(tmp_path: Path) -> None:
    assert read_all(tmp_path) == ([], [])


def test_an_empty_transcripts_folder_is_one_problem(tmp_path: Path) -> None:
    folder = storage(tmp_path) / "GitHub.copilot-chat" / "transcripts"
    folder.mkdir(parents=True)
    assert read_all(tmp_path) == ([], [Problem("empty folder", str(folder))])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that can't be read")
def test_an_unreadable_folder_is_one_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    write_lines(storage(tmp_path, name="a") / "GitHub.copilot-chat/transcripts" / f"{ID}.jsonl", conversation())
    closed = storage(tmp_path, name="b")
    closed.mkdir()
    closed.chmod(0)
    found, problems = read_all(tmp_path)
    closed.chmod(0o700)
    assert len(found) == 1
    assert [each.path for each in problems] == [str(closed)]


def test_the_letter_case_of_the_extensions_folder_does_not_matter(tmp_path: Path) -> None:
    write_lines(storage(tmp_path) / "github.copilot-CHAT" / "transcripts" / f"{ID}.jsonl", conversation())
    assert len(read_all(tmp_path)[0]) == 1


def test_chats_of_windows_without_a_folder_are_found(tmp_path: Path) -> None:
    user = tmp_path / ".config/Code/User"
    write(user / "globalStorage/emptyWindowChatSessions/one.json", chat(sessionId="one"))
    write(user / "globalStorage/transferredChatSessions/two.json", chat(sessionId="two"))
    write(user / "workspaceStorage/no-workspace/chatSessions/three.json", chat(sessionId="three"))
    found, _ = read_all(tmp_path)
    assert sorted((each.session_id, each.workspace, each.resume) for each in found) == [
        ("one", None, None),
        ("three", None, None),
        ("two", None, None),
    ]


@pytest.mark.parametrize(
    ("content", "workspace", "start"),
    [
        ({"folder": "file:///c%3A/Users/Mara/my%20app"}, "c:\\Users\\Mara\\my app", "c:\\Users\\Mara\\my app"),
        ({"workspace": "file:///c%3A/dev/multi.code-workspace"}, "c:\\dev\\multi.code-workspace", "c:\\dev"),
        ({"workspace": "file:///home/m/x.code-workspace"}, "/home/m/x.code-workspace", "/home/m"),
        ({"folder": "file://server/share/x"}, "\\\\server\\share\\x", "\\\\server\\share\\x"),
        (
            {"folder": "vscode-remote://ssh-remote%2Bbuildbox/srv/my%20api"},
            "vscode-remote://ssh-remote+buildbox/srv/my api",
            None,
        ),
        ({"folder": "vscode-vfs://github/o/r"}, "vscode-vfs://github/o/r", None),
    ],
)
def test_the_folder_comes_from_workspace_json_decoded(
    tmp_path: Path, content: Any, workspace: str, start: str | None
) -> None:
    folder = storage(tmp_path)
    write(folder / "chatSessions" / f"{ID}.json", chat())
    write(folder / "workspace.json", content)
    ((transcript,), problems) = read_all(tmp_path)
    assert problems == []
    assert transcript.workspace == workspace
    assert (transcript.resume.cwd if transcript.resume else None) == start
    assert transcript.flags == (("remote",) if start is None else ())


@pytest.mark.parametrize("content", [[], "x", {"folder": 3}, {}, {"folder": None, "workspace": ["x"]}])
def test_a_workspace_json_of_another_shape_is_a_problem(tmp_path: Path, content: Any) -> None:
    result = read(write(tmp_path / "workspaceStorage/a/workspace.json", content))
    assert result.folders == {}
    assert len(result.problems) == 1


def test_a_changed_workspace_json_is_a_file_of_its_own_to_read(tmp_path: Path) -> None:
    folder = storage(tmp_path)
    write(folder / "chatSessions" / f"{ID}.json", chat())
    write(folder / "workspace.json", {"folder": "file:///w"})
    write(storage(tmp_path, name="without-chats") / "workspace.json", {"folder": "file:///other"})
    kinds = sorted(file.kind for file in VSCode().files(scope(tmp_path), []))
    assert kinds == ["chat", "folder"]


def test_every_session_belongs_to_every_workspace(tmp_path: Path) -> None:
    write_lines(storage(tmp_path) / "GitHub.copilot-chat/transcripts" / f"{ID}.jsonl", conversation())
    assert VSCode().contains(read_all(tmp_path)[0][0], scope(tmp_path))


def test_each_reply_with_text_is_an_exchange_and_the_first_holds_the_prompt(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "transcripts" / f"{ID}.jsonl", conversation())
    ((found,), problems) = read(path).transcripts, read(path).problems
    assert problems == ()
    assert [(each.user, each.assistant) for each in found.exchanges] == [
        ("please fix the price", "I replace the formatter."),
        ("", "Done."),
    ]
    assert [each.key for each in found.exchanges] == [REPLY_ID, "a-second-message-id"]
    assert str(found.exchanges[0].at) == "2026-07-14 08:30:01+00:00"
    transcript = found.transcript
    assert (transcript.message_count, transcript.reply_count) == (4, 2)
    assert transcript.prompt_title == "Fix the price"
    assert (str(transcript.started_at), str(transcript.ended_at)) == (
        "2026-07-14 08:30:00+00:00",
        "2026-07-14 08:30:07+00:00",
    )


def test_a_prompt_without_a_reply_is_kept(tmp_path: Path) -> None:
    records = [
        event("user.message", 1, content="one"),
        event("user.message", 2, content="two"),
        event("assistant.turn_start", 3),
    ]
    (found,) = read(write_lines(tmp_path / "transcripts/x.jsonl", records)).transcripts
    assert [(each.user, each.assistant) for each in found.exchanges] == [("one", ""), ("two", "")]
    assert found.transcript.session_id == "x"


def test_a_file_change_is_joined_by_call_id_and_explained_by_the_reply_that_asked_for_it(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "transcripts" / f"{ID}.jsonl", conversation())
    (change,) = read(path).transcripts[0].transcript.files_changed
    assert (change.path, change.action, change.explanation) == ("/w/a.ts", "edit", "I replace the formatter.")
    assert str(change.at) == "2026-07-14 08:30:05+00:00"


def test_a_failed_tool_and_one_that_only_reads_change_nothing(tmp_path: Path) -> None:
    records = conversation()
    records[6]["data"]["success"] = False
    records.append(
        event("tool.execution_start", 8, toolCallId="c", toolName="read_file", arguments={"filePath": "/w/b.ts"})
    )
    path = write_lines(tmp_path / "transcripts" / f"{ID}.jsonl", records)
    assert read(path).transcripts[0].transcript.files_changed == ()


def test_all_tools_that_write_files_are_known(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: /w/new.py\n+x\n*** Update File: /w/old.py\n@@\n-a\n+b\n*** End Patch"
    several = {"replacements": [{"filePath": "/w/c.ts"}, {"filePath": "/w/d.ts"}]}
    uses = [
        ("create_file", {"filePath": "/w/a.ts", "content": "x"}),
        ("insert_edit_into_file", '{"filePath": "/w/b.ts"}'),
        ("multi_replace_string_in_file", several),
        ("apply_patch", {"input": patch}),
        ("apply_patch", patch),
        ("edit_notebook_file", {"filePath": "/w/n.ipynb"}),
    ]
    records = [
        event("tool.execution_start", place, toolCallId=f"c{place}", toolName=name, arguments=arguments)
        for place, (name, arguments) in enumerate(uses)
    ]
    path = write_lines(tmp_path / "transcripts" / f"{ID}.jsonl", [*conversation()[:4], *records])
    changes = [(each.path, each.action) for each in read(path).transcripts[0].transcript.files_changed]
    assert changes == [
        ("/w/a.ts", "write"),
        ("/w/b.ts", "edit"),
        ("/w/c.ts", "edit"),
        ("/w/d.ts", "edit"),
        ("/w/new.py", "add"),
        ("/w/old.py", "update"),
        ("/w/new.py", "add"),
        ("/w/old.py", "update"),
        ("/w/n.ipynb", "edit"),
    ]


def test_a_line_that_stands_twice_counts_once(tmp_path: Path) -> None:
    records = conversation()
    path = write_lines(tmp_path / "transcripts" / f"{ID}.jsonl", [*records, *records[3:]])
    (found,) = read(path).transcripts
    assert len(found.exchanges) == 2
    assert found.transcript.message_count == 4


def test_unknown_records_and_broken_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "transcripts" / f"{ID}.jsonl", [{"type": "brand.new"}, {"type": "brand.new"}, *conversation()]
    )
    with path.open("ab") as file:
        file.write(b'{"type":"assistant.message","data":{"content":"cut of')
    result = read(path)
    assert {(each.what, each.count) for each in result.problems} == {
        ('unknown record type "brand.new"', 2),
        ("malformed lines", 1),
    }
    assert len(result.transcripts[0].exchanges) == 2


@pytest.mark.parametrize("content", [b"", b"  \n\n", b"\0\0\0"])
def test_an_empty_file_is_no_session(tmp_path: Path, content: bytes) -> None:
    for name in ("transcripts/a.jsonl", "chatSessions/a.json", "chatSessions/a.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        assert read(path).transcripts == ()


def test_a_file_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    for kind in ("transcript", "chat", "folder"):
        result = read(tmp_path / "gone.json", kind)
        assert [each.what for each in result.problems] == ["can't be read: No such file or directory"]


def test_a_chat_without_requests_is_not_listed(tmp_path: Path) -> None:
    assert read(write(tmp_path / "chatSessions/a.json", chat(requests=[]))) == ReadResult()


def test_markdown_is_joined_as_it_is_and_a_reference_stands_in_its_sentence(tmp_path: Path) -> None:
    response = [
        {"kind": "thinking", "value": ["secret", "thoughts"]},
        {"value": "Use "},
        {"kind": "inlineReference", "inlineReference": {"path": "/w/src/price.ts", "scheme": "file"}},
        {"kind": "inlineReference", "name": "fmt", "inlineReference": {"uri": {"path": "/w/b.ts"}, "range": {}}},
        {"value": " with care.", "kind": None},
        {"kind": "markdownContent", "content": {"value": " And more."}},
        {"kind": "progressMessage", "content": {"value": "working"}},
        {"kind": "somethingNew", "value": "x"},
    ]
    request = {"requestId": "r", "message": "plain text prompt", "response": response}
    result = read(write(tmp_path / "chatSessions/a.json", chat(requests=[request])))
    (exchange,) = result.transcripts[0].exchanges
    assert (exchange.user, exchange.assistant) == ("plain text prompt", "Use price.tsfmt with care. And more.")
    assert [each.what for each in result.problems] == ['unknown kind of response part "somethingNew"']


def test_edits_of_a_chat_are_file_changes_and_leave_no_empty_code_block(tmp_path: Path) -> None:
    uri = {"$mid": 1, "path": "/w/price.ts", "scheme": "file"}
    response = [
        {"value": "I change the price.\n"},
        {"value": "\n````\n"},
        {"kind": "codeblockUri", "uri": uri, "isEdit": True},
        {"kind": "textEditGroup", "uri": uri, "edits": [[{"text": "x", "range": {}}]], "done": True},
        {"value": "\n````\n"},
        {"value": "```py\nkept = 1\n```\n"},
        {"kind": "notebookEditGroup", "uri": {"fsPath": "c:\\w\\n.ipynb", "path": "/c:/w/n.ipynb"}, "edits": [{}]},
        {"kind": "textEditGroup", "uri": uri, "edits": []},
        {"value": "Done."},
    ]
    request = {"requestId": "r", "timestamp": 1784017801000, "message": {"text": "do it"}, "response": response}
    (found,) = read(write(tmp_path / "chatSessions/a.json", chat(requests=[request]))).transcripts
    assert [(each.path, each.explanation) for each in found.transcript.files_changed] == [
        ("/w/price.ts", "I change the price."),
        ("c:\\w\\n.ipynb", "```py\nkept = 1\n```"),
    ]
    assert "````" not in found.exchanges[0].assistant
    assert "```py\nkept = 1\n```\nDone." in found.exchanges[0].assistant


def test_a_chats_title_model_and_times_are_read(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "chatSessions/a.json", chat(computedTitle="Computed"))).transcripts
    transcript = found.transcript
    assert (transcript.given_title, transcript.generated_title, transcript.prompt_title) == (
        "Prices",
        "Computed",
        "Fix the price",
    )
    assert transcript.model == "copilot/gpt-5.2"
    assert str(transcript.started_at) == "2026-07-14 08:30:01+00:00"


def test_a_chat_cut_in_the_middle_keeps_its_whole_requests(tmp_path: Path) -> None:
    requests = [
        {"requestId": f"r{place}", "message": f"prompt {place}", "response": [{"value": "ok"}]} for place in range(5)
    ]
    path = write(tmp_path / "chatSessions/a.json", chat(requests=requests))
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"prompt 4")])
    result = read(path)
    assert [each.what for each in result.problems] == ["malformed chat"]
    assert [each.user for each in result.transcripts[0].exchanges] == ["prompt 0", "prompt 1", "prompt 2", "prompt 3"]
    assert result.transcripts[0].transcript.given_title == "Prices"


def test_a_chat_with_what_plain_json_forbids_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "chatSessions/a.json", chat(score=float("nan"), customTitle="half \ud83d emoji"))
    result = read(path)
    assert result.problems == ()
    assert result.transcripts[0].transcript.given_title == "half ? emoji"


def test_a_mutation_log_is_replayed_in_order(tmp_path: Path) -> None:
    request = {"requestId": "r1", "message": "first", "response": [{"value": "old"}, {"value": "gone"}]}
    log = [
        {"kind": 0, "v": chat(requests=[], customTitle=None)},
        {"kind": 2, "k": ["requests"], "v": [request]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 0, "v": [{"value": "new "}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "text"}]},
        {"kind": 2, "k": ["requests"], "v": [{"requestId": "r2", "message": "taken back", "response": []}]},
        {"kind": 2, "k": ["requests"], "i": 1},
        {"kind": 1, "k": ["requests", 1], "v": {"requestId": "r3", "message": "third", "response": []}},
        {"kind": 1, "k": ["requests", 1, "response"], "v": [{"value": "answer"}]},
        {"kind": 1, "k": ["customTitle"], "v": "One"},
        {"kind": 1, "k": ["customTitle"], "v": "Two"},
        {"kind": 3, "k": ["pendingRequests"]},
    ]
    result = read(write_lines(tmp_path / "chatSessions/a.jsonl", log))
    assert result.problems == ()
    (found,) = result.transcripts
    assert [(each.user, each.assistant) for each in found.exchanges] == [("first", "new text"), ("third", "answer")]
    assert found.transcript.given_title == "Two"


def test_a_later_whole_state_replaces_the_former(tmp_path: Path) -> None:
    log = [{"kind": 0, "v": chat()}, {"kind": 0, "v": chat(customTitle="Anew", requests=[{"message": "again"}])}]
    (found,) = read(write_lines(tmp_path / "chatSessions/a.jsonl", log)).transcripts
    assert [each.user for each in found.exchanges] == ["again"]
    assert found.transcript.given_title == "Anew"


def test_changes_that_do_not_fit_are_counted_and_cost_nothing_else(tmp_path: Path) -> None:
    log = [
        {"kind": 0, "v": chat()},
        {"kind": 1, "k": ["requests", 10**9], "v": {}},
        {"kind": 1, "k": ["requests", -1], "v": {}},
        {"kind": 1, "k": ["requests", True], "v": {}},
        {"kind": 1, "k": ["requests", "0"], "v": {}},
        {"kind": 2, "k": ["sessionId"], "v": ["x"]},
        {"kind": 2, "k": ["nowhere", "at", "all"], "v": ["x"]},
        {"kind": 7, "k": ["a"]},
    ]
    result = read(write_lines(tmp_path / "chatSessions/a.jsonl", log))
    assert {(each.what, each.count) for each in result.problems} == {
        ("changes that do not fit the chat", 6),
        ("unknown kind of change 7", 1),
    }
    assert [each.assistant for each in result.transcripts[0].exchanges] == ["All in one."]


def test_the_log_of_a_chat_leads_over_its_older_snapshot(tmp_path: Path) -> None:
    folder = storage(tmp_path) / "chatSessions"
    write(folder / f"{ID}.json", chat(customTitle="Old"))
    write_lines(folder / f"{ID}.jsonl", [{"kind": 0, "v": chat(customTitle="New")}])
    found, _ = read_all(tmp_path)
    assert max(found, key=lambda each: each.rank).given_title == "New"


def test_of_both_stores_the_transcript_leads_with_what_the_chat_knows(tmp_path: Path) -> None:
    folder = storage(tmp_path)
    write_lines(folder / "GitHub.copilot-chat/transcripts" / f"{ID}.jsonl", conversation())
    write(folder / "chatSessions" / f"{ID}.json", chat())
    write(folder / "workspace.json", {"folder": "file:///w"})
    found, _ = read_all(tmp_path)
    assert len(found) == 2
    leader = max(found, key=lambda each: each.rank)
    assert "transcripts" in leader.path
    assert (leader.given_title, leader.model, leader.workspace) == ("Prices", "copilot/gpt-5.2", "/w")
    assert leader.reply_count == 2
    assert leader.resume is not None
    assert {each.session_id for each in found} == {ID}


def test_a_transcript_that_lacks_replies_does_not_lead(tmp_path: Path) -> None:
    folder = storage(tmp_path)
    write_lines(folder / "GitHub.copilot-chat/transcripts" / f"{ID}.jsonl", conversation()[:2])
    write(folder / "chatSessions" / f"{ID}.json", chat())
    leader = max(read_all(tmp_path)[0], key=lambda each: each.rank)
    assert "chatSessions" in leader.path
    assert str(leader.ended_at) == "2026-07-14 08:30:01+00:00"


def test_finishing_leaves_other_sources_alone() -> None:
    other = Transcript(source="codex", session_id=ID, path="/x/workspaceStorage/a/b.jsonl")
    assert VSCode().finish([other], {}, {"/x/workspaceStorage/a": "/w"}) == [other]


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside a value."""
    inner: list[tuple[Any, ...]] = []
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        inner += [(*path, key), *places_of(value[key], (*path, key))]
    return inner


def damaged(data: st.DataObject, value: Any) -> Any:
    """Return a copy of a JSON value with one of its inner values replaced by something of any type."""
    value = json.loads(json.dumps(value))
    place = data.draw(st.sampled_from(places_of(value)))
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = data.draw(WRONG)
    return value


def texts_of(result: ReadResult) -> str:
    return "\n".join(
        text for read in result.transcripts for each in read.exchanges for text in (each.user, each.assistant)
    )


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_wrong_types_in_one_record_of_a_transcript_cost_no_word_of_another(tmp_path: Path, data: st.DataObject) -> None:
    whole = [
        event("user.message", 10, content="plantedprompt"),
        event("assistant.message", 11, messageId="a-long-enough-message-id", content="plantedreply", toolRequests=[]),
    ]
    others = [damaged(data, each) if data.draw(st.booleans()) else data.draw(WRONG) for each in conversation()]
    place = data.draw(st.integers(0, len(others)))
    tail = data.draw(st.binary(max_size=20)).replace(b"\n", b"")
    path = write_lines(tmp_path / "transcripts/x.jsonl", [*others[:place], *whole, *others[place:]])
    with path.open("ab") as file:
        file.write(tail)
    result = read(path)
    assert "plantedprompt" in texts_of(result)
    assert "plantedreply" in texts_of(result)
    keys = [each.key for read in result.transcripts for each in read.exchanges]
    assert len(set(keys)) == len(keys)
    VSCode().finish([each.transcript for each in result.transcripts], {}, {})


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), as_log=st.booleans())
def test_wrong_types_in_one_request_of_a_chat_cost_no_word_of_another(
    tmp_path: Path, data: st.DataObject, as_log: bool
) -> None:
    uri = {"path": "/w/a.ts", "scheme": "file"}
    request = {
        "requestId": "r1",
        "timestamp": 1784017801000,
        "message": {"text": "x", "parts": [{"text": "x"}]},
        "modelId": "m",
        "response": [
            {"kind": "markdownContent", "content": {"value": "x"}},
            {"kind": "inlineReference", "name": "x", "inlineReference": {"uri": uri, "range": {}}},
            {"kind": "textEditGroup", "uri": uri, "edits": [[{}]]},
            {"value": "y"},
        ],
    }
    whole = {
        "requestId": "r2",
        "message": {"text": "plantedprompt"},
        "response": [{"value": "planted"}, {"value": "reply"}],
    }
    if as_log:
        changes = [
            {"kind": 0, "v": chat(requests=[request])},
            {"kind": 2, "k": ["requests"], "v": [request]},
            {"kind": 1, "k": ["requests", 0, "message"], "v": "x"},
            {"kind": 3, "k": ["requests", 0, "response"]},
        ]
        before = [damaged(data, each) if data.draw(st.booleans()) else data.draw(WRONG) for each in changes]
        log = [*before, {"kind": 0, "v": chat(requests=[])}, {"kind": 2, "k": ["requests"], "v": [whole]}]
        path = write_lines(tmp_path / "chatSessions/x.jsonl", log)
        with path.open("ab") as file:
            file.write(data.draw(st.binary(max_size=20)).replace(b"\n", b""))
    else:
        state = damaged(data, chat(requests=[request]))
        state["requests"] = [*state["requests"], whole] if isinstance(state.get("requests"), list) else [whole]
        path = write(tmp_path / "chatSessions/x.json", state)
    result = read(path)
    assert "plantedprompt" in texts_of(result)
    assert "plantedreply" in texts_of(result)
    VSCode().finish([each.transcript for each in result.transcripts], {}, {})

"""Copilot CLI: where its sessions are, what they say, where they belong and how they are resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, ReadResult, Scope, SourceFile
from prima_tui.sources.copilot_cli import CopilotCli

ID = "aaaabbbb-1111-2222-3333-ccccddddeeee"


def scope(home: Path, workspace: str = "/w/app", *, everywhere: bool = False, **env: str) -> Scope:
    return Scope(workspace=Path(workspace), everywhere=everywhere, home=home, env=env)


def event(kind: str, second: int, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"{kind}-{second}", "timestamp": f"2026-07-14T08:30:{second:02}.000Z"}


def conversation(cwd: str | None = "/w/app") -> list[dict[str, Any]]:
    context = {"context": {"cwd": cwd, "branch": "main"}} if cwd else {}
    return [
        event("session.start", 0, sessionId=ID, selectedModel="gpt-5-mini", **context),
        event("user.message", 1, content="list the files", transformedContent="<x>list the files</x>"),
        event("assistant.message", 2, messageId="message-number-one", content="Listing.", toolRequests=[]),
        event("tool.execution_start", 3, toolCallId="c1", toolName="create", arguments={"path": "/w/app/a.py"}),
        event("tool.execution_complete", 4, toolCallId="c1", success=True, result={"content": "ok"}),
        event("assistant.message", 5, messageId="message-number-two", content="Done.", toolRequests=[]),
    ]


def write(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    return path


def read(path: Path) -> ReadResult:
    return CopilotCli().read(SourceFile("copilot-cli", str(path), 0, 0, 0))


def read_all(asked: Scope) -> tuple[list[Transcript], list[Problem]]:
    source = CopilotCli()
    problems: list[Problem] = []
    results = [source.read(file) for file in source.files(asked, problems)]
    names = {key: value for each in results for key, value in each.names.items()}
    folders = {key: value for each in results for key, value in each.folders.items()}
    transcripts = [read.transcript for each in results for read in each.transcripts]
    finished = source.finish(transcripts, names, folders)
    return [each for each in finished if source.contains(each, asked)], problems


def test_sessions_in_folders_and_flat_ones_are_found(tmp_path: Path) -> None:
    write(tmp_path / ".copilot/session-state" / ID / "events.jsonl", conversation())
    write(tmp_path / ".copilot/session-state" / "older.jsonl", conversation()[1:])
    found, problems = read_all(scope(tmp_path))
    assert problems == []
    assert sorted(each.session_id for each in found) == [ID, "older"]


def test_the_variable_moves_the_root_and_is_repeated_on_resume(tmp_path: Path) -> None:
    write(tmp_path / "moved/session-state" / ID / "events.jsonl", conversation())
    ((found,), _) = read_all(scope(tmp_path / "home", COPILOT_HOME=str(tmp_path / "moved")))
    assert found.resume is not None
    assert found.resume.env == {"COPILOT_HOME": str(tmp_path / "moved")}


def test_nothing_installed_is_no_problem_and_an_empty_folder_is_one(tmp_path: Path) -> None:
    assert read_all(scope(tmp_path)) == ([], [])
    (tmp_path / ".copilot/session-state").mkdir(parents=True)
    assert read_all(scope(tmp_path)) == ([], [Problem("empty folder", str(tmp_path / ".copilot/session-state"))])


def test_a_session_says_folder_branch_model_and_how_it_is_resumed(tmp_path: Path) -> None:
    result = read(write(tmp_path / ".copilot/session-state" / ID / "events.jsonl", conversation()))
    assert result.problems == ()
    (found,) = result.transcripts
    transcript = found.transcript
    assert (transcript.workspace, transcript.branch, transcript.model) == ("/w/app", "main", "gpt-5-mini")
    assert transcript.label == "[Copilot CLI]"
    assert transcript.resume is not None
    assert (transcript.resume.argv, transcript.resume.cwd) == (("copilot", "--resume", ID), "/w/app")
    assert transcript.resume.env == {}
    assert [(each.user, each.assistant) for each in found.exchanges] == [("list the files", "Listing."), ("", "Done.")]
    assert [(each.path, each.action, each.explanation) for each in transcript.files_changed] == [
        ("/w/app/a.py", "write", "Listing.")
    ]
    assert transcript.message_count == 4


def test_scope_is_the_workspace_its_inside_and_sessions_without_a_folder(tmp_path: Path) -> None:
    source = CopilotCli()

    def belongs(folder: str | None, **asked: Any) -> bool:
        return source.contains(Transcript("copilot-cli", ID, "/x", workspace=folder), scope(tmp_path, **asked))

    assert belongs("/w/app")
    assert belongs("/w/app/inner")
    assert belongs(None)
    assert not belongs("/w/app-other")
    assert not belongs("/w")
    assert belongs("/w/app-other", everywhere=True)


def test_folder_and_title_come_from_workspace_yaml_when_the_events_do_not_tell(tmp_path: Path) -> None:
    folder = tmp_path / ".copilot/session-state" / ID
    write(folder / "events.jsonl", conversation(cwd=None))
    (folder / "workspace.yaml").write_text(
        'id: x\ncwd: "/w/app/caf\\u00e9"\nsummary: |-\n  Show the\n  files\nbranch: b\n', "utf-8"
    )
    ((found,), _) = read_all(scope(tmp_path))
    assert found.workspace == "/w/app/café"
    assert found.generated_title == "Show the files"
    assert found.resume is not None
    assert found.resume.cwd == "/w/app/café"


def test_yaml_values_without_meaning_are_none(tmp_path: Path) -> None:
    path = tmp_path / ID / "workspace.yaml"
    path.parent.mkdir()
    path.write_text("cwd: null\nsummary: ~\nname: 'it''s'\n", "utf-8")
    result = read(path)
    assert (result.names, result.folders) == ({ID: "it's"}, {})


def test_what_a_skill_or_an_agent_put_in_is_no_prompt(tmp_path: Path) -> None:
    records = [
        *conversation()[:3],
        event("user.message", 10, content="injected", source="skill-pdf"),
        event("user.message", 11, content="for the agent", parentAgentTaskId="task"),
        event("assistant.message", 12, content="Reply."),
    ]
    (found,) = read(write(tmp_path / "x.jsonl", records)).transcripts
    assert [each.user for each in found.exchanges] == ["list the files", ""]


def test_a_subagents_replies_stand_after_the_conversation_under_its_name(tmp_path: Path) -> None:
    records = [
        event("user.message", 1, content="go"),
        event("subagent.started", 2, toolCallId="call-7", agentName="explore", agentDisplayName="Explorer"),
        event("assistant.message", 3, content="Inner words.", parentToolCallId="call-7"),
        event("assistant.message", 4, content="Outer words."),
    ]
    (found,) = read(write(tmp_path / "x.jsonl", records)).transcripts
    assert [(each.user, each.assistant, each.agent) for each in found.exchanges] == [
        ("go", "Outer words.", ""),
        ("", "Inner words.", "Explorer"),
    ]
    assert found.transcript.message_count == 2


def test_what_was_left_by_going_back_is_kept_and_marked(tmp_path: Path) -> None:
    records = [
        event("user.message", 1, content="one"),
        event("assistant.message", 2, content="first"),
        event("user.message", 3, content="two"),
        event("assistant.message", 4, content="second"),
        event("session.snapshot_rewind", 5, upToEventId="user.message-3", eventsRemoved=2),
        event("user.message", 6, content="three"),
    ]
    (found,) = read(write(tmp_path / "x.jsonl", records)).transcripts
    assert [(each.user, each.rewound) for each in found.exchanges] == [("one", False), ("two", True), ("three", False)]


def test_the_exchange_after_a_compaction_is_marked(tmp_path: Path) -> None:
    records = [
        event("user.message", 1, content="one"),
        event("assistant.message", 2, content="first"),
        event("session.compaction_complete", 3, summaryContent="long summary"),
        event("user.message", 4, content="two"),
        event("assistant.message", 5, content="second"),
    ]
    (found,) = read(write(tmp_path / "x.jsonl", records)).transcripts
    assert [each.compacted for each in found.exchanges] == [False, True]


def test_short_ids_of_two_sessions_do_not_make_them_copies(tmp_path: Path) -> None:
    records = [event("user.message", 1, content="one"), {**event("assistant.message", 2, content="first"), "id": "e2"}]
    keys = [read(write(tmp_path / f"{name}.jsonl", records)).transcripts[0].exchanges[0].key for name in ("a", "b")]
    assert keys[0] != keys[1]


def test_a_session_without_words_is_not_listed(tmp_path: Path) -> None:
    assert read(write(tmp_path / "x.jsonl", conversation()[:1])) == ReadResult()

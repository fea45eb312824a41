"""Reading Codex rollouts of every generation: what was typed, what was answered, what was changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prima_tui.model.session import Exchange, ResumeCommand, Transcript, packed_keys
from prima_tui.sources.base import Problem, ReadTranscript, Scope, SourceFile, source_file
from prima_tui.sources.codex import Codex
from prima_tui.sources.codex_text import typed_words
from prima_tui.sources.jsonl import instant

ID = "0199a213-81c0-7800-8aa1-bbab2a035a53"
PARENT = "0199a213-0000-7800-8aa1-bbab2a035a53"
NAME = f"rollout-2025-10-01T10-00-00-{ID}.jsonl"
Line = dict[str, Any]


class Log:
    """Writes records with rising times."""

    def __init__(self, **meta: Any) -> None:
        self.lines: list[Line] = []
        self.put("session_meta", {"id": ID, "timestamp": "2025-10-01T09:00:00.000Z", "cwd": "/home/mara/w", **meta})

    def put(self, kind: str, payload: Mapping[str, Any]) -> Log:
        second = len(self.lines)
        stamp = f"2025-10-01T10:{second // 60:02}:{second % 60:02}.000Z"
        self.lines.append({"timestamp": stamp, "type": kind, "payload": dict(payload)})
        return self

    def item(self, **payload: Any) -> Log:
        return self.put("response_item", payload)

    def event(self, kind: str, **payload: Any) -> Log:
        return self.put("event_msg", {"type": kind, **payload})

    def user(self, *texts: str, kinds: list[str] | None = None) -> Log:
        passed = {} if kinds is None else {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}}
        content = [{"type": "input_text", "text": text} for text in texts]
        return self.item(type="message", role="user", content=content, **passed)

    def reply(self, text: str) -> Log:
        return self.item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])

    def completed(self, kind: str, text: str) -> Log:
        part = {"type": "text" if kind == "UserMessage" else "Text", "text": text}
        return self.event("item_completed", item={"type": kind, "content": [part]})

    def patch(self, text: str, call: str, **output: Any) -> Log:
        self.item(type="custom_tool_call", name="apply_patch", call_id=call, input=text)
        return self.item(type="custom_tool_call_output", call_id=call, **output) if output else self

    def bytes(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def read_all(path: Path, kind: str = "rollout") -> tuple[ReadTranscript | None, dict[str, int]]:
    file = source_file(str(path), "codex", kind, [])
    assert file is not None
    result = Codex().read(file)
    assert len(result.transcripts) <= 1
    return next(iter(result.transcripts), None), {problem.what: problem.count for problem in result.problems}


def read(tmp_path: Path, log: Log | bytes, name: str = NAME) -> ReadTranscript:
    """Write a rollout and read it; every record in it must be known and good."""
    path = tmp_path / name
    path.write_bytes(log if isinstance(log, bytes) else log.bytes())
    found, problems = read_all(path)
    assert found is not None
    assert problems == {}
    return found


def said(found: ReadTranscript) -> list[tuple[str, str]]:
    return [(exchange.user, exchange.assistant) for exchange in found.exchanges]


def scope(home: Path, workspace: str = "/home/mara/w", *, everywhere: bool = False, **env: str) -> Scope:
    return Scope(workspace=Path(workspace), everywhere=everywhere, home=home, env=env)


# --- where files are ---


def test_all_places_and_forms_of_rollouts_are_found(tmp_path: Path) -> None:
    root = tmp_path / ".codex"
    wanted = {
        f"sessions/2025/10/01/{NAME}": "rollout",
        "sessions/rollout-2025-06-01T10-00-00-flat.jsonl": "rollout",
        "sessions/rollout-2025-04-18-aaaa.json": "rollout",
        "sessions/2025/09/01/rollout-2025-09-01T10-00-00-c.jsonl.zst": "rollout",
        "archived_sessions/rollout-2025-10-02T10-00-00-d.jsonl": "archived",
        "session_index.jsonl": "names",
    }
    others = ["history.jsonl", "sessions/notes.txt", f"sessions/2025/10/01/{NAME}.zst", "sessions/other.jsonl"]
    for name in [*wanted, *others]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}")
    problems: list[Problem] = []
    found = {str(Path(file.path).relative_to(root)): file.kind for file in Codex().files(scope(tmp_path), problems)}
    assert found == wanted
    assert problems == []


def test_the_variable_moves_the_root_and_resuming_sets_it_again(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere" / "sessions"
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(Log().user("hello").bytes())
    here = scope(tmp_path, CODEX_HOME=str(tmp_path / "elsewhere"))
    assert list(Codex().roots(here)) == [tmp_path / "elsewhere"]
    (file,) = Codex().files(here, [])
    (found,) = Codex().read(file).transcripts
    assert found.transcript.resume == ResumeCommand(
        ("codex", "resume", ID),
        "/home/mara/w",
        {"CODEX_HOME": str(tmp_path / "elsewhere")},
        fork=("codex", "fork", ID),
    )


def test_nothing_installed_is_no_problem(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert list(Codex().files(scope(tmp_path), problems)) == []
    assert problems == []


def test_the_name_given_last_counts_and_a_blank_one_takes_it_away(tmp_path: Path) -> None:
    lines = [("a", "First"), ("b", "Kept"), ("a", "Second"), ("c", "Gone"), ("c", "  ")]
    path = tmp_path / "session_index.jsonl"
    text = "".join(json.dumps({"id": one, "thread_name": name, "updated_at": "x"}) + "\n" for one, name in lines)
    path.write_text(text + '{"id": "d", "thread')
    file = source_file(str(path), "codex", "names", [])
    assert file is not None
    result = Codex().read(file)
    assert result.names == {"a": "Second", "b": "Kept"}
    assert [(problem.what, problem.count) for problem in result.problems] == [("malformed lines", 1)]


def test_a_name_becomes_the_title_of_sessions_but_not_of_subagents() -> None:
    plain = Transcript("codex", "a", "/a.jsonl", given_title="Old", prompt_title="Prompt")
    child = Transcript("codex", "b", "/b.jsonl", parent_id="a")
    finished = Codex().finish([plain, child], {"a": "New", "b": "Never"}, {})
    assert [one.given_title for one in finished] == ["New", ""]


@pytest.mark.parametrize(
    ("recorded", "workspace", "expected"),
    [("/ws", "/ws", True), ("/ws/sub", "/ws", True), ("/ws-other", "/ws", False), (None, "/ws", True)],
)
def test_a_session_belongs_to_the_workspace_that_its_folder_is_in(
    tmp_path: Path, recorded: str | None, workspace: str, expected: bool
) -> None:
    transcript = Transcript("codex", "a", "/a", workspace=recorded)
    assert Codex().contains(transcript, scope(tmp_path, workspace)) is expected
    assert Codex().contains(transcript, scope(tmp_path, workspace, everywhere=True))


# --- what was said ---


def test_what_is_written_twice_is_said_once(tmp_path: Path) -> None:
    log = Log().user("please add a test")
    log.event("user_message", message="please add a test", images=[])
    log.event("agent_message", message="I'll look.").reply("I'll look.")
    log.item(type="function_call", name="shell", arguments="{}", call_id="c")
    log.item(type="function_call_output", call_id="c", output="x")
    log.reply("Done.").event("agent_message", message="Done.")
    log.event("task_complete", turn_id="t", last_agent_message="Done.")
    found = read(tmp_path, log)
    assert said(found) == [("please add a test", "I'll look."), ("", "Done.")]
    assert found.transcript.message_count == 4
    assert found.transcript.reply_count == 2
    assert found.transcript.exchange_keys == packed_keys([each.key for each in found.exchanges])
    assert found.transcript.prompt_title == "Add a test"


def test_each_turn_takes_its_typed_words_from_the_best_record_that_it_has(tmp_path: Path) -> None:
    log = Log()
    log.event("task_started", turn_id="1").user("one").event("user_message", message="one").reply("r1")
    log.event("task_started", turn_id="2").user("two").reply("r2")
    log.event("task_started", turn_id="3").user("<mystery>x</mystery>").user("three").completed("UserMessage", "three")
    log.completed("AgentMessage", "r3").reply("r3")
    assert said(read(tmp_path, log)) == [("one", "r1"), ("two", "r2"), ("three", "r3")]


def test_turns_without_marks_begin_with_typed_messages(tmp_path: Path) -> None:
    log = Log().user("one").event("user_message", message="one").reply("r1")
    log.user("two").reply("r2").user("three").user("four").event("user_message", message="four").reply("r4")
    expected = [("one", "r1"), ("two", "r2"), ("three", ""), ("four", "r4")]
    assert said(read(tmp_path, log)) == expected


def test_the_same_words_typed_in_two_turns_are_two_messages(tmp_path: Path) -> None:
    log = Log()
    for _ in range(2):
        log.user("continue").event("user_message", message="continue").event("agent_message", message="ok").reply("ok")
    found = read(tmp_path, log)
    assert said(found) == [("continue", "ok"), ("continue", "ok")]
    assert found.exchanges[0].key != found.exchanges[1].key


def test_a_reply_told_by_events_alone_is_a_reply(tmp_path: Path) -> None:
    log = Log().event("user_message", message="hi").event("agent_message", message="hello")
    log.event("task_complete", last_agent_message="hello")
    log.event("task_started").event("user_message", message="again").event("task_complete", last_agent_message="bye")
    assert said(read(tmp_path, log)) == [("hi", "hello"), ("again", "bye")]


def test_a_message_typed_while_the_agent_works_stands_where_it_was_typed(tmp_path: Path) -> None:
    log = Log().event("task_started", turn_id="1").completed("UserMessage", "start").reply("working")
    log.completed("UserMessage", "stop that").reply("stopped").event("task_complete")
    assert said(read(tmp_path, log)) == [("start", "working"), ("stop that", "stopped")]


def test_a_turn_taken_back_is_no_exchange(tmp_path: Path) -> None:
    log = Log()
    for number in range(4):
        log.event("task_started", turn_id=str(number)).user(f"q{number}").reply(f"r{number}").event("task_complete")
    log.event("thread_rolled_back", num_turns=2)
    log.event("task_started", turn_id="9").user("q9").reply("r9").event("task_complete")
    found = read(tmp_path, log)
    assert said(found) == [("q0", "r0"), ("q1", "r1"), ("q9", "r9")]
    assert found.transcript.message_count == 6


@pytest.mark.parametrize("count", [5, 99])
def test_taking_back_more_turns_than_there_are_leaves_none(tmp_path: Path, count: int) -> None:
    log = Log().user("a").reply("b").event("thread_rolled_back", num_turns=count).user("c").reply("d")
    assert said(read(tmp_path, log)) == [("c", "d")]


def test_the_summary_of_a_compaction_is_no_reply_and_its_history_no_message(tmp_path: Path) -> None:
    log = Log().event("task_started", turn_id="1").completed("UserMessage", "first").completed("AgentMessage", "answer")
    log.reply("answer").event("task_complete")
    log.event("task_started", turn_id="2").reply("summary of it all")
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "first"}]}]
    log.put("compacted", {"message": "Another model…\nsummary of it all", "replacement_history": history})
    log.event("context_compacted").event("task_complete", last_agent_message=None)
    log.event("task_started", turn_id="3").completed("UserMessage", "second").reply("more")
    found = read(tmp_path, log)
    assert said(found) == [("first", "answer"), ("second", "more")]
    assert [each.compacted for each in found.exchanges] == [False, True]


def test_a_reply_before_an_automatic_compaction_is_kept(tmp_path: Path) -> None:
    log = Log().event("task_started", turn_id="1").user("q").event("agent_message", message="real").reply("real")
    log.reply("the summary").put("compacted", {"message": "prefix\nthe summary"})
    log.event("agent_message", message="goes on").reply("goes on").event("task_complete")
    assert said(read(tmp_path, log)) == [("q", "real"), ("", "goes on")]


def test_a_review_is_read(tmp_path: Path) -> None:
    log = Log().event("entered_review_mode", user_facing_hint="changes")
    log.event("exited_review_mode", review_output={"findings": [], "overall_explanation": "Looks right."})
    assert said(read(tmp_path, log)) == [("", "Looks right.")]


# --- what the program wrote ---

INJECTED = [
    "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief. </INSTRUCTIONS> is an end.\n</INSTRUCTIONS>",
    "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nwhat was cut off",
    "<user_instructions>\n\nrules\n</user_instructions>",
    "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
    "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
    "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    "<skill>\n<name>x</name>\n</skill>",
    '<subagent_notification>\n{"agent": 1}\n</subagent_notification>',
    '<codex_internal_context source="goal">\nx\n</codex_internal_context>',
    "<goal_context>x</goal_context>",
    "<recommended_plugins>x</recommended_plugins>",
    '<hook_prompt hook_run_id="1">x</hook_prompt>',
    "<external_agent_message>x</external_agent_message>",
    "Warning: apply_patch was requested via exec_command. Use the apply_patch tool.",
    "<image>",
    "</image>",
    '<image name=[Image #1] path="/x.png">',
    "Another language model started to solve this problem and produced a summary of its thinking",
]


@pytest.mark.parametrize("text", INJECTED)
def test_what_the_program_puts_in_is_not_typed(text: str) -> None:
    assert typed_words(text) == ""


@pytest.mark.parametrize("text", [text for text in INJECTED if text.startswith("<") and text.endswith(">")][:6])
def test_words_typed_after_it_in_one_text_remain(text: str) -> None:
    assert typed_words(f"{text}\n\nreal words") == "real words"


@pytest.mark.parametrize(
    "text",
    ["<div> is not closed", "<skill> what does this tag do?", "# A heading\ntext", "Warning: it fails", "<b>x</b>"],
)
def test_typed_words_that_look_alike_remain(text: str) -> None:
    assert typed_words(text) == text


def test_of_an_editors_wrapper_the_request_after_the_last_heading_remains() -> None:
    wrapper = "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\n"
    assert typed_words(wrapper + "fix it\n") == "fix it"
    assert typed_words(f"{wrapper}quoted\n## My request for Codex:\nlast one") == "last one"
    assert typed_words("what does ## My request for Codex: mean") == "what does ## My request for Codex: mean"


def test_parts_of_one_message_are_judged_one_by_one(tmp_path: Path) -> None:
    log = Log().user(INJECTED[0], INJECTED[3]).user(INJECTED[3], "real one", "<image>", "</image>").reply("ok")
    log.user("written by something new", "typed", kinds=["new.instructions", "user.text"]).reply("ok")
    log.item(type="message", role="developer", content=[{"type": "input_text", "text": "never"}])
    assert [user for user, _ in said(read(tmp_path, log))] == ["real one", "typed"]


# --- what was changed ---

ADD = "*** Begin Patch\n*** Add File: new.py\n+x\n*** End Patch\n"


def changes(found: ReadTranscript) -> list[tuple[str, str, str]]:
    return [(change.path, change.action, change.explanation) for change in found.transcript.files_changed]


def test_a_patch_gives_changes_with_time_and_explanation(tmp_path: Path) -> None:
    log = (
        Log()
        .user("go")
        .reply("I'll add a file.")
        .patch(ADD, "c1", output={"output": "ok", "metadata": {"exit_code": 0}})
    )
    found = read(tmp_path, log)
    assert changes(found) == [("/home/mara/w/new.py", "add", "I'll add a file.")]
    assert found.transcript.files_changed[0].at == instant("2025-10-01T10:00:03Z")


@pytest.mark.parametrize(
    "output",
    [
        '{"output": "x", "metadata": {"exit_code": 1}}',
        {"output": "x", "metadata": {"exit_code": 1}},
        {"content": "no", "success": False},
        "apply_patch verification failed: Failed to find expected lines in /x",
        "Exit code: 1\nOutput:\nnope",
        "Chunk ID: 1\nProcess exited with code 2\nOutput:\n",
        [{"type": "input_text", "text": "Script failed\nOutput:"}],
        "aborted by user after 3s",
        "exec command rejected by user",
    ],
)
def test_a_failed_patch_is_no_change(tmp_path: Path, output: Any) -> None:
    log = Log().user("go").patch(ADD, "c1", output=output)
    assert changes(read(tmp_path, log)) == []


@pytest.mark.parametrize(
    "output", ["Exit code: 0\nOutput:\nError: in a test", "Process exited with code 0\nOutput:\nx"]
)
def test_a_patch_that_worked_is_a_change_whatever_its_output_speaks_of(tmp_path: Path, output: str) -> None:
    assert len(changes(read(tmp_path, Log().patch(ADD, "c1", output=output)))) == 1


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": ["apply_patch", ADD]})},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{ADD}EOF"], "workdir": "sub"}),
        },
        {"type": "function_call", "name": "apply_patch", "arguments": json.dumps({"input": ADD})},
        {
            "type": "function_call",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": f"cd sub && apply_patch <<'EOF'\n{ADD}EOF"}),
        },
        {"type": "local_shell_call", "action": {"type": "exec", "command": ["apply_patch", ADD]}},
        {"type": "custom_tool_call", "name": "exec", "input": f"await tools.apply_patch({json.dumps(ADD)})"},
    ],
)
def test_a_patch_is_found_in_every_tool_it_was_given_to(tmp_path: Path, item: Line) -> None:
    ((path, action, _),) = changes(read(tmp_path, Log().item(**item, call_id="c")))
    assert action == "add"
    assert path == ("/home/mara/w/sub/new.py" if "sub" in json.dumps(item) else "/home/mara/w/new.py")


def test_records_of_applied_patches_count_before_the_calls(tmp_path: Path) -> None:
    log = Log().event("task_started", turn_id="1").user("go").reply("Moving.").patch(ADD, "c1", output="ok")
    old = {"type": "update", "unified_diff": "", "move_path": "/home/mara/w/to.py"}
    both = {"/home/mara/w/from.py": old, "b.py": {"delete": {"content": ""}}}
    log.event("patch_apply_end", call_id="c1", success=True, changes=both)
    log.event("item_completed", item={"type": "FileChange", "id": "c1", "status": "completed", "changes": both})
    log.event("task_started", turn_id="2").patch(ADD, "c2", output="ok")
    log.event("patch_apply_end", call_id="c2", success=False, changes={"new.py": {"type": "add"}})
    log.event("task_started", turn_id="3").patch(ADD, "c3", output="ok")
    listed = [{"path": "/l.py", "kind": {"type": "add"}}]
    log.event("item_completed", item={"type": "FileChange", "id": "c4", "status": "declined", "changes": listed})
    log.event("item_completed", item={"type": "FileChange", "id": "c5", "status": "completed", "changes": listed})
    assert changes(read(tmp_path, log)) == [
        ("/home/mara/w/to.py", "move", "Moving."),
        ("/home/mara/w/b.py", "delete", "Moving."),
        ("/l.py", "add", ""),
    ]


# --- whose session it is ---


def test_facts_of_the_session_are_read(tmp_path: Path) -> None:
    log = Log(source="exec", git={"branch": "trunk"}).put("turn_context", {"cwd": "/other", "model": "m1"})
    log.user("hi").put("turn_context", {"cwd": "/other", "model": "m2"}).event(
        "thread_name_updated", thread_name="Named"
    )
    one = read(tmp_path, log).transcript
    assert (one.session_id, one.workspace, one.branch, one.model) == (ID, "/home/mara/w", "trunk", "m2")
    assert (one.given_title, one.prompt_title, one.flags) == ("Named", "Hi", ("exec",))
    assert one.resume == ResumeCommand(("codex", "resume", ID), "/home/mara/w", fork=("codex", "fork", ID))
    assert (one.started_at, one.ended_at) == (instant("2025-10-01T10:00:00Z"), instant("2025-10-01T10:00:04Z"))


def test_an_archived_session_is_marked_and_comes_after_a_live_copy(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(Log().user("hi").bytes())
    live, archived = read_all(path)[0], read_all(path, "archived")[0]
    assert live is not None and archived is not None
    assert archived.transcript.flags == ("archived",)
    assert archived.transcript.resume is not None
    assert live.transcript.rank > archived.transcript.rank


def test_without_a_recorded_id_the_one_in_the_files_name_counts(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in Log().user("hi").lines[1:]))
    found, _ = read_all(path)
    assert found is not None and found.transcript.session_id == ID
    other = tmp_path / "rollout-mine.jsonl"
    path.rename(other)
    found, _ = read_all(other)
    assert found is not None and found.transcript.session_id == "rollout-mine"
    assert found.transcript.resume is None


@pytest.mark.parametrize(
    ("source", "extra", "parent", "agent"),
    [
        ({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "agent_nickname": "Ada"}}}, {}, PARENT, "Ada"),
        ({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "agent_role": "worker"}}}, {}, PARENT, "worker"),
        ({"subagent": "review"}, {"parent_thread_id": PARENT}, PARENT, "review"),
        ({"subagent": {"other": "judge"}}, {"session_id": PARENT}, PARENT, "judge"),
        ({"subagent": "compact"}, {}, "unknown", "compact"),
    ],
)
def test_a_subagents_rollout_is_never_a_session(
    tmp_path: Path, source: Any, extra: Line, parent: str, agent: str
) -> None:
    found = read(tmp_path, Log(source=source, **extra).user("child task").reply("done"))
    one = found.transcript
    assert (one.parent_id, one.agent, one.resume) == (parent, agent, None)
    assert [each.agent for each in found.exchanges] == [agent]


@pytest.mark.parametrize("turn_ids", [True, False])
def test_what_a_fork_copied_has_the_keys_of_its_original(tmp_path: Path, turn_ids: bool) -> None:
    def talk(log: Log, *questions: str) -> Log:
        for question in questions:
            if turn_ids:
                log.event("task_started", turn_id=f"turn of {question}")
            log.user(question).reply("ok").reply(f"reply to {question}")
        return log

    original = read(tmp_path, talk(Log(), "one", "two", "three"))
    fork = Log(id=PARENT, forked_from_id=ID).put("session_meta", {"id": ID, "cwd": "/other"})
    copied = read(tmp_path, talk(fork, "one", "two", "four"))
    assert copied.transcript.session_id == PARENT
    assert copied.transcript.workspace == "/home/mara/w"
    assert [each.key for each in copied.exchanges[:4]] == [each.key for each in original.exchanges[:4]]
    assert not {each.key for each in copied.exchanges[4:]} & {each.key for each in original.exchanges}
    stranger = read(tmp_path, talk(Log(id="stranger"), "one"))
    assert turn_ids or not {each.key for each in stranger.exchanges} & {each.key for each in original.exchanges}


# --- older generations ---


def bare(role: str, text: str) -> Line:
    return {"type": "message", "id": None, "role": role, "content": [{"type": "input_text", "text": text}]}


def test_bare_items_of_2025_are_read_and_may_be_followed_by_newer_lines(tmp_path: Path) -> None:
    lines = [
        {"id": ID, "timestamp": "2025-08-01T08:00:00.000Z", "instructions": "x", "git": {"branch": "old"}},
        {"record_type": "state"},
        bare("user", "<environment_context>\n<cwd>/home/mara/old</cwd>\n</environment_context>"),
        bare("user", "hello"),
        bare("assistant", "there"),
    ]
    raw = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    found = read(tmp_path, raw)
    one = found.transcript
    assert said(found) == [("hello", "there")]
    assert (one.session_id, one.workspace, one.branch) == (ID, "/home/mara/old", "old")
    assert one.started_at == one.ended_at == instant("2025-08-01T08:00:00Z")
    more = Log().user("again").event("user_message", message="again").reply("yes")
    mixed = read(tmp_path, raw + b"".join(json.dumps(line).encode() + b"\n" for line in more.lines[1:]))
    assert said(mixed) == [("hello", "there"), ("again", "yes")]
    assert mixed.transcript.started_at == instant("2025-10-01T10:00:01Z")


def test_saves_of_one_chat_are_one_session(tmp_path: Path) -> None:
    items: list[Line] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Explain this"}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And that?"}]},
        {"type": "message", "id": "msg_2", "role": "assistant", "content": [{"type": "output_text", "text": "Too."}]},
    ]
    saves: list[ReadTranscript] = []
    for count in (1, 2, 3, 4):
        path = tmp_path / f"rollout-2025-04-18-{count}.json"
        session = {"timestamp": f"2025-04-18T09:0{count}:00Z", "id": str(count), "instructions": ""}
        path.write_text(json.dumps({"session": session, "items": items[:count]}, indent=2))
        found, problems = read_all(path)
        assert found is not None and problems == {}
        saves.append(found)
    assert len({save.transcript.session_id for save in saves[1:]}) == 1
    assert [save.transcript.rank for save in saves] == [1, 2, 3, 4]
    assert said(saves[3]) == [("Explain this", "It is."), ("And that?", "Too.")]
    assert saves[2].exchanges[1].key == saves[3].exchanges[1].key
    finished = Codex().finish([save.transcript for save in saves], {}, {})
    assert [one.path for one in finished] == [save.transcript.path for save in saves[1:]]
    assert Codex().finish([saves[0].transcript], {}, {}) == [saves[0].transcript]


def test_of_a_save_that_was_cut_off_the_whole_items_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2025-04-18-x.json"
    whole = json.dumps(
        {"session": {"timestamp": "2025-04-18T09:00:00Z"}, "items": [bare("user", "hi"), bare("user", "x")]}
    )
    path.write_text(whole[:-30])
    found, problems = read_all(path)
    assert found is not None and said(found) == [("hi", "")]
    assert problems == {"malformed items": 1}


# --- damage ---


def test_a_compressed_rollout_is_read_and_a_cut_one_as_far_as_it_goes(tmp_path: Path) -> None:
    log = Log()
    for number in range(2000):
        log.user(f"question {number} {ID[number % 30 :]}").reply(f"answer {number * 7919}")
    packed = zstandard.ZstdCompressor().compressobj()
    content = packed.compress(log.bytes()) + packed.flush()
    path = tmp_path / (NAME + ".zst")
    path.write_bytes(content)
    found, problems = read_all(path)
    assert found is not None and len(found.exchanges) == 2000 and problems == {}
    path.write_bytes(b"not compressed at all")
    assert read_all(path) == (None, {"damaged compressed files": 1})
    path.write_bytes(content[: len(content) // 2] + b"\0" * 1000)
    found, problems = read_all(path)
    assert found is None or said(found)[:1] == [(f"question 0 {ID}", "answer 0")]
    assert problems


def test_damaged_lines_cost_only_themselves(tmp_path: Path) -> None:
    good = Log().user("kept one").reply("kept two").bytes().splitlines(keepends=True)
    path = tmp_path / NAME
    path.write_bytes(b"".join([good[0], b"{broken\n", good[1], b"[1, 2]\n", b"\xff\xfe\n", good[2], good[1][:40]]))
    found, problems = read_all(path)
    assert found is not None and said(found) == [("kept one", "kept two")]
    assert problems == {"malformed lines": 4}


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  "])
def test_an_empty_file_is_no_session_and_no_problem(tmp_path: Path, content: bytes) -> None:
    for name in (NAME, "rollout-2025-04-18-x.json"):
        (tmp_path / name).write_bytes(content)
        assert read_all(tmp_path / name) == (None, {})


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    result = Codex().read(SourceFile("codex", str(tmp_path / NAME), 1, 1, 1, "rollout"))
    assert result.transcripts == ()
    assert result.problems[0].what.startswith("can't be read: ")


def test_unknown_records_are_counted_by_type(tmp_path: Path) -> None:
    log = Log().user("hi").put("brand_new", {}).put("brand_new", {}).event("newer").item(type="newest")
    log.event("item_completed", item={"type": "Newish"}).event("token_count").put("world_state", {})
    path = tmp_path / NAME
    path.write_bytes(log.bytes())
    assert read_all(path)[1] == {
        'unknown record type "brand_new"': 2,
        'unknown event type "newer"': 1,
        'unknown item type "newest"': 1,
        'unknown item type "Newish"': 1,
    }


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(spot for key, each in inside for spot in spots(each, (*path, key)))]


def full_log() -> Log:
    """Return a rollout with every kind of record that is read."""
    log = Log(source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}, git={"branch": "b"})
    log.put("turn_context", {"turn_id": "t", "cwd": "/c", "model": "m"})
    log.user("typed", kinds=["user.text"]).event("user_message", message="typed", images=[]).reply("reply")
    log.completed("UserMessage", "typed").completed("AgentMessage", "reply").event("agent_message", message="reply")
    log.patch(ADD, "c1", output={"output": "x", "metadata": {"exit_code": 0}})
    log.item(type="function_call", name="shell", arguments=json.dumps({"command": ["apply_patch", ADD]}), call_id="c2")
    log.item(type="local_shell_call", action={"command": ["apply_patch", ADD]}, call_id="c3")
    log.item(type="custom_tool_call", name="exec", input=f"apply_patch({json.dumps(ADD)})", call_id="c4")
    log.event("patch_apply_end", call_id="c1", success=True, changes={"a": {"type": "update", "move_path": "b"}})
    log.event("item_completed", item={"type": "FileChange", "id": "f", "changes": {"a": {"add": {"content": ""}}}})
    log.put("compacted", {"message": "x", "replacement_history": []}).event("thread_name_updated", thread_name="n")
    log.event("exited_review_mode", review_output={"overall_explanation": "x"})
    log.event("thread_goal_updated", goal={"objective": "x"}).event("task_started", turn_id="z")
    log.event("task_complete", last_agent_message="x").event("turn_aborted", reason="x")
    log.lines += [bare("user", "bare"), {"role": "assistant", "content": "flat"}, {"id": ID, "timestamp": "x"}]
    return log


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_whatever_a_record_holds_the_others_are_read(tmp_path: Path, data: st.DataObject) -> None:
    lines = json.loads(json.dumps(full_log().lines))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        *path, last = data.draw(st.sampled_from(spots(lines[place])[1:] or [("x",)]))
        holder: Any = lines[place]
        for key in path:
            holder = holder[key]
        if data.draw(st.booleans()) and isinstance(holder, dict):
            holder.pop(last, None)
        else:
            holder[last] = data.draw(JUNK)
    planted = Log().event("task_started", turn_id="p").user("planted question").reply("planted reply")
    path_ = tmp_path / NAME
    path_.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, *planted.lines[1:]]))
    found, _problems = read_all(path_)
    assert found is not None
    assert ("planted question", "planted reply") in said(found)
    assert found.exchanges[-1] == Exchange(
        "planted question",
        "planted reply",
        found.exchanges[-1].at,
        found.exchanges[-1].key,
        agent=found.transcript.agent,
        compacted=found.exchanges[-1].compacted,
    )


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(JUNK, st.integers(0, 400))
def test_whatever_a_save_of_april_2025_holds_it_is_read(tmp_path: Path, junk: Any, cut: int) -> None:
    path = tmp_path / "rollout-2025-04-18-x.json"
    for value in (
        junk,
        {"session": junk, "items": junk},
        {"session": {"id": junk}, "items": [junk, bare("user", "hi")]},
    ):
        text = json.dumps(value)
        for written in (text, text[:cut]):
            path.write_text(written)
            read_all(path)
    path.write_text(json.dumps({"session": junk, "items": [junk, bare("user", "planted")]}))
    found, _ = read_all(path)
    assert found is not None and found.exchanges[-1].user == "planted"


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=6))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_word_typed_and_replied_is_found_once(tmp_path: Path, talk: list[tuple[str, str]]) -> None:
    log = Log()
    for number, (typed, answer) in enumerate(talk):
        question, reply = f"q{number} {typed}".strip(), f"r{number} {answer}".strip()
        log.user(question).event("user_message", message=question).event("agent_message", message=reply).reply(reply)
    expected = [
        (f"q{number} {typed}".strip(), f"r{number} {answer}".strip()) for number, (typed, answer) in enumerate(talk)
    ]
    assert said(read(tmp_path, log)) == expected

"""Claude Code transcripts: what an exchange, a title, a change and a subagent is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prima_tui.model.session import key64
from prima_tui.sources.base import Problem, SourceFile
from prima_tui.sources.claude_code import ClaudeCode
from tests.sources.claude_lines import CWD, FOLDER, SESSION, Line, Lines, main_of, pairs, queue, read, tool, write

DURING_WORK = "The user sent a new message while you were working."


def test_the_first_reply_stands_with_its_message_and_further_ones_alone(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("ask"), make.reply("one"), make.reply(tool("Bash", "t")), make.result("t"), make.reply("two")]
    found = main_of(tmp_path, lines)
    assert pairs(found) == [("ask", "one"), ("", "two")]
    assert [each.key for each in found.exchanges] == ["msg-2", "msg-5"]
    assert found.exchanges[0].at == datetime(2026, 8, 3, 7, 0, 1, tzinfo=UTC)
    assert found.exchanges[1].at == datetime(2026, 8, 3, 7, 0, 5, tzinfo=UTC)
    assert found.transcript.message_count == 5
    assert found.transcript.reply_count == 2


def test_a_message_without_a_reply_is_an_exchange_of_its_own(tmp_path: Path) -> None:
    make = Lines()
    found = main_of(tmp_path, [make.user("first"), make.user("second"), make.reply("answer"), make.user("last")])
    assert pairs(found) == [("first", ""), ("second", "answer"), ("last", "")]
    assert [each.key for each in found.exchanges] == ["uuid-1", "msg-3", "uuid-4"]
    assert found.transcript.reply_count == 1


def test_records_of_one_message_id_are_one_reply_also_with_results_between(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("ask"),
        make.reply({"type": "thinking", "thinking": "hm"}, of="m"),
        make.reply("one", of="m"),
        make.reply(tool("Bash", "t1"), of="m"),
        make.result("t1"),
        make.reply("two", of="m"),
    ]
    assert pairs(main_of(tmp_path, lines)) == [("ask", "one\n\ntwo")]


def test_growing_snapshots_and_equal_blocks_are_shown_once(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("ask"),
        make.reply("The do", of="m"),
        make.reply("The door is open.", of="m"),
        make.reply("The door is open.", "And the window.", of="m"),
    ]
    assert pairs(main_of(tmp_path, lines)) == [("ask", "The door is open.\n\nAnd the window.")]


def test_one_message_id_in_two_turns_is_two_replies(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("a"), make.reply("one", of="m"), make.user("b"), make.reply("two", of="m")]
    found = main_of(tmp_path, lines)
    assert pairs(found) == [("a", "one"), ("b", "two")]
    assert len({each.key for each in found.exchanges}) == 2


def test_texts_of_the_program_are_no_replies(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("ask"),
        make.reply("No response requested.", model="<synthetic>"),
        make.reply("API Error", isApiErrorMessage=True),
        make.reply("(no content)"),
        make.reply("real"),
    ]
    found = main_of(tmp_path, lines)
    assert pairs(found) == [("ask", "real")]
    assert found.transcript.model == "claude-x"
    assert found.transcript.message_count == 5


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"origin": {"kind": "task-notification"}},
        {"promptSource": "system"},
    ],
)
def test_user_records_that_a_program_wrote_are_no_messages(tmp_path: Path, fields: dict[str, Any]) -> None:
    make = Lines()
    found = main_of(tmp_path, [make.user("real"), make.user("not typed", **fields), make.reply("yes")])
    assert pairs(found) == [("real", "yes")]
    assert found.transcript.message_count == 3


def test_pictures_alone_are_named_and_give_no_title_where_words_do(tmp_path: Path) -> None:
    make = Lines()
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    found = main_of(
        tmp_path, [make.user([picture]), make.reply("a cat"), make.user("explain the cat"), make.reply("x")]
    )
    assert pairs(found) == [("[image]", "a cat"), ("explain the cat", "x")]
    assert found.transcript.prompt_title == "Explain the cat"


def test_the_title_of_a_prompt_falls_back_to_the_command(tmp_path: Path) -> None:
    make = Lines()
    bare = make.user("<command-name>/init</command-name>\n<command-message>init</command-message>")
    assert main_of(tmp_path / "a", [bare, make.reply("done")]).transcript.prompt_title == "/init"
    full = make.user("<command-name>/fix</command-name>\n<command-args>the red door</command-args>")
    found = main_of(tmp_path / "b", [bare, full, make.reply("done")])
    assert found.exchanges[0].user == "/fix the red door"
    assert "red door" in found.transcript.prompt_title
    typed = main_of(tmp_path / "c", [full, make.reply("x"), make.user("paint the wall")])
    assert typed.transcript.prompt_title == "Paint the wall"


def test_titles_and_tags_are_the_last_ones_and_blank_ones_clear(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("ask"),
        make.reply("ok"),
        {"type": "custom-title", "customTitle": "First"},
        {"type": "custom-title", "customTitle": "  Second 🔴 "},
        {"type": "ai-title", "aiTitle": "generated"},
        {"type": "tag", "tag": "draft"},
        {"type": "tag", "tag": "later"},
        {"type": "last-prompt", "lastPrompt": "never a title"},
        {"type": "summary", "summary": "Doors", "leafUuid": "uuid-2"},
        {"type": "summary", "summary": "API Error: 401 · Please run /login", "leafUuid": "uuid-2"},
        {"type": "summary", "summary": "Of another", "leafUuid": "elsewhere"},
    ]
    found = main_of(tmp_path / "a", lines).transcript
    assert (found.given_title, found.generated_title, found.prompt_title) == ("Second 🔴", "generated", "Ask")
    assert found.own_tags == ("later",)
    assert found.summaries == (("uuid-2", "Doors"), ("elsewhere", "Of another"))
    assert key64("uuid-2") in found.record_keys
    assert key64("elsewhere") not in found.record_keys
    cleared = main_of(tmp_path / "b", [*lines, {"type": "custom-title", "customTitle": ""}, {"type": "tag", "tag": ""}])
    assert (cleared.transcript.given_title, cleared.transcript.own_tags) == ("", ())


def test_copies_of_a_record_count_once_and_the_usable_one_is_kept(tmp_path: Path) -> None:
    make = Lines()
    broken, real = make.user(None, uuid="u"), make.user("the words", uuid="u")
    answer = make.reply("answer")
    found = main_of(tmp_path, [broken, real, real, answer, answer, make.user("other text", uuid="u")])
    assert pairs(found) == [("the words", "answer")]
    assert found.transcript.message_count == 2


def test_file_changes_have_path_action_time_and_the_words_before_and_failed_ones_are_none(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("ask"),
        make.reply("I write the door.", tool("Write", "t1", file_path="/p/door.py", content="x" * 1000), of="m"),
        make.result("t1"),
        make.reply(tool("Edit", "t2", file_path="/p/no.py")),
        make.result("t2", error=True),
        make.reply("Then the rest.", tool("MultiEdit", "t3", file_path="C:\\p\\c.ts", edits=[])),
        make.reply(tool("NotebookEdit", "t4", notebook_path="/p/n.ipynb"), tool("Bash", "t5", command="rm x")),
        make.reply(tool("Edit", "t1", file_path="/p/door.py"), of="m"),
    ]
    changes = main_of(tmp_path, lines).transcript.files_changed
    assert [(each.path, each.action, each.explanation) for each in changes] == [
        ("/p/door.py", "write", "I write the door."),
        ("C:\\p\\c.ts", "edit", "Then the rest."),
        ("/p/n.ipynb", "edit", "Then the rest."),
    ]
    assert changes[0].at == datetime(2026, 8, 3, 7, 0, 2, tzinfo=UTC)


STEERING: list[Callable[[Lines], list[Line]]] = [
    lambda make: [queue("remove", "and the size")],
    lambda make: [queue("remove"), make.queued("and the size")],
    lambda make: [queue("remove", "and the size"), make.queued([{"type": "text", "text": "and the size"}])],
    lambda make: [
        queue("remove"),
        make.user(f"<system-reminder>\n{DURING_WORK}\n</system-reminder>\nand the size"),
        make.queued("and the  size"),
    ],
    lambda make: [queue("dequeue"), make.user("and the size", promptSource="typed")],
    lambda make: [queue("remove")],
]


@pytest.mark.parametrize("later", STEERING)
def test_steering_is_one_message_however_many_records_hold_it(
    tmp_path: Path, later: Callable[[Lines], list[Line]]
) -> None:
    make = Lines()
    lines = [make.user("look"), make.reply("a cat"), queue("enqueue", "and the size"), *later(make)]
    assert pairs(main_of(tmp_path, lines)) == [("look", "a cat"), ("and the size", "")]


def test_a_message_that_changed_when_it_left_the_queue_is_not_shown_twice(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        queue("enqueue", "see [Pasted text #1]"),
        queue("dequeue"),
        make.user("see the whole text"),
        make.reply("y"),
    ]
    assert pairs(main_of(tmp_path, lines)) == [("see the whole text", "y")]


def test_the_same_words_typed_twice_are_two_messages(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("continue"),
        make.reply("one"),
        queue("enqueue", "continue"),
        queue("remove"),
        make.queued("continue"),
        make.reply("two"),
        make.user("continue"),
        make.reply("three"),
    ]
    assert pairs(main_of(tmp_path, lines)) == [("continue", "one"), ("continue", "two"), ("continue", "three")]


def test_queued_notifications_and_commands_are_no_messages(tmp_path: Path) -> None:
    make = Lines()
    note = "<task-notification>\n<status>done</status>\n</task-notification>"
    lines = [
        make.user("go"),
        make.reply("ok"),
        queue("enqueue", note),
        make.queued(note),
        make.queued("plain words of a task", commandMode="task-notification"),
        make.queued("plain words of a task", origin={"kind": "task-notification"}),
        queue("enqueue", "/compact"),
    ]
    assert pairs(main_of(tmp_path, lines)) == [("go", "ok")]


def test_a_branch_that_was_left_is_rewound_with_all_that_hangs_on_it(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("start"), make.reply("ready"), make.record("progress", data={})]
    fork = make.last
    lines += [make.user("old way"), make.reply("old one"), make.user("more old"), make.reply("old two")]
    lines += [make.user("new way", parentUuid=fork), make.reply("new one")]
    found = main_of(tmp_path, lines)
    assert [each.assistant for each in found.exchanges if each.rewound] == ["old one", "old two"]
    assert [each.assistant for each in found.exchanges if not each.rewound] == ["ready", "new one"]


def test_parallel_results_broken_chains_and_a_second_start_are_no_going_back(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("start"), make.reply(tool("Bash", "t1"), tool("Bash", "t2"), of="m")]
    parent = make.last
    lines += [make.result("t1", parentUuid=parent), make.result("t2", parentUuid=parent), make.reply("both")]
    lines += [make.user("orphan", parentUuid="gone"), make.reply("found")]
    lines += [make.user("second start", parentUuid=None), make.reply("again")]
    assert not any(each.rewound for each in main_of(tmp_path, lines).exchanges)


def test_the_exchange_after_a_compaction_says_so_and_the_summary_is_hidden(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("start"), make.reply("ready")]
    last = make.last
    lines.append(make.record("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=last))
    lines.append(make.user("This session is being continued from …", isCompactSummary=True))
    lines += [make.user("go on"), make.reply("going")]
    found = main_of(tmp_path, lines)
    assert [(each.user, each.compacted) for each in found.exchanges] == [("start", False), ("go on", True)]


def test_inline_sidechains_are_transcripts_of_their_own_under_the_session(tmp_path: Path) -> None:
    make, side = Lines(), Lines(isSidechain=True)
    side.number = 100
    lines = [make.user("ask"), make.reply("I delegate."), side.user("search the doors"), side.reply("found three")]
    side.last = None
    lines += [side.user("Warmup"), side.reply("ready")]
    lines += [make.reply("done"), {**side.user("by name"), "agentId": "scout"}]
    result = read(write(tmp_path / FOLDER, lines))
    main, first, second = result.transcripts
    assert pairs(main) == [("ask", "I delegate."), ("", "done")]
    assert main.transcript.message_count == 3
    assert pairs(first) == [("search the doors", "found three")]
    assert (first.transcript.parent_id, first.transcript.agent) == (SESSION, "uuid-101")
    assert (second.transcript.parent_id, second.transcript.agent) == (SESSION, "scout")
    assert {each.agent for each in first.exchanges} == {"uuid-101"}
    assert len({each.transcript.session_id for each in result.transcripts}) == 3


def test_a_subagents_file_is_under_its_session_and_named_by_the_file_beside(tmp_path: Path) -> None:
    side = Lines(isSidechain=True, agentId="a1")
    lines = [side.user("search"), side.reply("found")]
    beside = write(tmp_path / FOLDER, lines, "agent-a1.jsonl")
    (found,) = read(beside, "agent").transcripts
    assert (found.transcript.parent_id, found.transcript.agent) == (SESSION, "a1")
    assert found.transcript.resume is None
    below = write(tmp_path / FOLDER / "other-session" / "subagents" / "workflows" / "w1", lines, "agent-a1.jsonl")
    (found,) = read(below, "agent").transcripts
    assert found.transcript.parent_id == "other-session"
    assert found.transcript.workspace == CWD
    below.with_suffix(".meta.json").write_text('{"agentType": "Explore", "name": ""}')
    (found,) = read(below, "agent").transcripts
    assert found.transcript.agent == found.exchanges[0].agent == "Explore"
    below.with_suffix(".meta.json").write_text("[broken")
    assert read(below, "agent").transcripts[0].transcript.agent == "a1"


def test_warm_ups_and_compaction_runs_are_hidden(tmp_path: Path) -> None:
    side = Lines(isSidechain=True)
    assert read(write(tmp_path, [side.user("Warmup"), side.reply("ready")], "agent-w.jsonl"), "agent").transcripts == ()
    assert read(write(tmp_path, [side.user("sum up"), side.reply("x")], "agent-acompact-1.jsonl")).transcripts == ()
    make = Lines()
    assert main_of(tmp_path, [make.user("Warmup"), make.reply("x")]).transcript.flags == ("warmup",)


def test_sessions_of_programs_and_in_the_background_are_flagged(tmp_path: Path) -> None:
    make = Lines(entrypoint="sdk-cli", sessionKind="bg")
    assert main_of(tmp_path / "a", [make.user("x"), make.reply("y")]).transcript.flags == ("sdk", "background")
    make = Lines(entrypoint="cli")
    assert main_of(tmp_path / "b", [make.user("x"), make.reply("y")]).transcript.flags == ()
    assert main_of(tmp_path / "c", [make.user("x", promptSource="sdk"), make.reply("y")]).transcript.flags == ("sdk",)


def test_start_and_end_are_the_earliest_and_latest_record_in_any_order_and_form(tmp_path: Path) -> None:
    make = Lines()
    lines = [
        make.user("x", timestamp="2026-08-03T09:00:00+02:00"),
        make.reply("y", timestamp="2026-08-03T08:00:00.5Z"),
        make.record("progress", timestamp="not a time"),
        make.record("system", timestamp=1_785_733_200_000),
    ]
    found = main_of(tmp_path, lines).transcript
    assert found.started_at == datetime.fromtimestamp(1_785_733_200, UTC)
    assert found.ended_at == datetime(2026, 8, 3, 8, 0, 0, 500_000, tzinfo=UTC)


def test_the_workspace_is_the_folder_that_fits_then_where_it_was_moved_then_the_first(tmp_path: Path) -> None:
    make = Lines()
    moved = [make.user("x", cwd="/tmp/else"), make.reply("y", cwd=CWD), make.user("z", cwd=f"{CWD}/src")]
    found = main_of(tmp_path, moved).transcript
    assert found.workspace == CWD
    assert found.resume is not None and found.resume.cwd == CWD
    other = tmp_path / "projects" / "free"
    assert read(write(other, moved)).transcripts[0].transcript.workspace == "/tmp/else"
    state = {"type": "worktree-state", "worktreeSession": {"originalCwd": "/tmp/origin"}}
    assert read(write(other, [*moved, state])).transcripts[0].transcript.workspace == "/tmp/origin"
    relocated = {"type": "relocated", "relocatedCwd": "/tmp/new"}
    assert read(write(other, [*moved, state, relocated])).transcripts[0].transcript.workspace == "/tmp/new"


def test_the_branch_is_the_last_named_one(tmp_path: Path) -> None:
    make = Lines()
    lines = [make.user("x", gitBranch="main"), make.user("y", gitBranch="door"), make.reply("z", gitBranch="HEAD")]
    assert main_of(tmp_path / "a", lines).transcript.branch == "door"
    assert main_of(tmp_path / "b", [make.user("x", gitBranch="HEAD")]).transcript.branch == "HEAD"
    assert main_of(tmp_path / "c", [make.user("x", gitBranch="")]).transcript.branch is None


def test_resuming_names_a_root_that_is_not_the_usual_one(tmp_path: Path) -> None:
    make = Lines()
    path = write(tmp_path / "projects" / FOLDER, [make.user("x"), make.reply("y")])
    usual, other = (read(path, kind).transcripts[0].transcript.resume for kind in ("session", "session+root"))
    assert usual is not None and other is not None
    assert (usual.argv, usual.cwd, usual.env) == (("claude", "--resume", SESSION), CWD, {})
    assert other.env == {"CLAUDE_CONFIG_DIR": str(tmp_path)}


def test_a_file_without_a_conversation_is_no_session_but_its_summaries_are_kept(tmp_path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "a", "snapshot": {}}
    assert read(write(tmp_path, [snapshot])).transcripts == ()
    (found,) = read(write(tmp_path, [snapshot, {"type": "summary", "summary": "S", "leafUuid": "l"}])).transcripts
    assert found.transcript.flags == ("carrier",)
    assert found.transcript.summaries == (("l", "S"),)
    assert read(write(tmp_path, [], "empty.jsonl")).transcripts == ()
    command = Lines().user("<command-name>/clear</command-name>")
    assert read(write(tmp_path, [command])).transcripts == ()


def test_what_is_passed_over_is_said_and_known_metadata_is_not(tmp_path: Path) -> None:
    make = Lines()
    known = [{"type": kind} for kind in ("mode", "agent-name", "pr-link", "content-replacement", "progress", "result")]
    path = write(tmp_path, [make.user("x"), {"type": "new"}, {"type": "new"}, {"no": 1}, *known, '{"type": "us'])
    assert sorted(read(path).problems, key=lambda each: each.what) == [
        Problem("malformed lines", str(path), 1),
        Problem("records without a type", str(path), 1),
        Problem('unknown record type "new"', str(path), 2),
    ]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    result = ClaudeCode().read(SourceFile("claude-code", str(tmp_path / "gone.jsonl"), 0, 0, 0))
    assert [problem.what.partition(":")[0] for problem in result.problems] == ["can't be read"]
    assert result.transcripts == ()

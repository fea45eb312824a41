"""Every Copilot row of the samples' index: id, title, prompts, replies, folder, times, damaged lines agree with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prima_tui.model.session import Transcript
from prima_tui.sources.base import ReadResult, SourceFile
from prima_tui.sources.copilot_cli import CopilotCli
from prima_tui.sources.jsonl import instant
from prima_tui.sources.vscode import VSCode
from tests.samples import SAMPLES


def rows() -> list[list[str]]:
    """Return the cells of each row of the index's Copilot table."""
    if SAMPLES is None:
        return []
    section = (SAMPLES / "INDEX.md").read_text("utf-8").split("\n## copilot\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in section.splitlines()
        if re.match(r"\| \d+ \|", line)
    ]


def read(path: Path) -> tuple[ReadResult, Transcript]:
    """Read a sample as its source would, the folder of its workspace put in."""
    state = path.stat()
    cli = path.name == "events.jsonl" or "stage0_cli" in path.parts
    source = CopilotCli() if cli else VSCode()
    file = SourceFile(source.id, str(path), state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    result = source.read(file)
    folders: dict[str, str] = {}
    workspace = path.parent.parent.parent / "workspace.json"
    if path.parent.name == "chatSessions":
        workspace = path.parent.parent / "workspace.json"
    if workspace.is_file():
        folders = dict(VSCode().read(SourceFile("vscode", str(workspace), 1, 1, 1)).folders)
    (finished,) = source.finish([each.transcript for each in result.transcripts], {}, folders)
    return result, finished


pytestmark = pytest.mark.skipif(SAMPLES is None, reason="the folder with the samples is not beside the checkout")


def test_the_index_has_copilot_rows() -> None:
    assert len(rows()) >= 14


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row[0]))
def test_a_sample_reads_as_the_index_says(row: list[str]) -> None:
    _number, name, _size, session_id, title, typed, _commands, _steering, replies, bad, folder, times, *_notes = row
    assert SAMPLES is not None
    path = SAMPLES / name.strip("`")
    result, transcript = read(path)
    exchanges = result.transcripts[0].exchanges

    assert transcript.session_id == (path.stem if session_id == "- (file name)" else session_id)
    assert sum(1 for each in exchanges if each.user) == int(typed)
    assert sum(1 for each in exchanges if each.assistant) == int(replies.split(" ")[0]) == transcript.reply_count
    assert sum(each.count for each in result.problems if each.what == "malformed lines") == int(bad)
    assert [each.what for each in result.problems] == [], "every record of a sample is of a known type"

    where, _, text = title.partition(": ")
    if where == "customTitle":
        assert transcript.given_title == text
    elif where == "first prompt":
        assert transcript.given_title == transcript.generated_title == ""
        assert " ".join(next(each.user for each in exchanges if each.user).split()).startswith(text)
        assert transcript.prompt_title
    else:
        assert title == "-"
        assert transcript.prompt_title == ""

    expected = folder.strip("`").removesuffix(" (from workspace.json)")
    assert (transcript.workspace or "-") == ("-" if expected == "(workspace.json)" else expected)
    first, last = (instant(each) for each in times.split(" → "))
    assert transcript.started_at == first
    if "trimmed" not in times:
        assert transcript.ended_at == last
    assert len({each.key for each in exchanges}) == len(exchanges)

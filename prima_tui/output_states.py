"""States of the documents' index, and what changed between two, as JSON and as text. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import unified_diff

from prima_tui.extracts import local_time
from prima_tui.model.document_states import AnswerChange, ChunkChange, IndexState
from prima_tui.model.text import one_line, shown
from prima_tui.output import Json, document_json, instant
from prima_tui.output_documents import place

_SIGNS = {"same": "=", "moved": "~", "changed": "*", "new": "+", "gone": "-"}


def state_json(state: IndexState) -> Json:
    """Return one state."""
    return {
        "name": state.name,
        "at": instant(state.at),
        "content": state.content,
        "bytes": state.size,
        "named": state.named,
    }


def states_json(states: Sequence[IndexState], warnings: Iterable[str] = ()) -> Json:
    """Return what ``docs snapshot --list`` prints."""
    return {"states": [state_json(state) for state in states], "warnings": list(warnings)}


def states_text(states: Sequence[IndexState]) -> str:
    """Return the states for people, newest first."""
    if not states:
        return "No state is kept yet: `prima-tui docs snapshot NAME` keeps one, and so does `docs index` after changes."
    rows = []
    for state in states:
        name = one_line(state.name) if state.named else "(kept by docs index)"
        rows.append(f"{local_time(state.at)}  {state.content}  {state.size / 1e6:6.1f} MB  {name}")
    return "\n".join(rows)


def change_json(change: AnswerChange, warnings: Iterable[str] = ()) -> Json:
    """Return what ``docs diff`` prints."""
    return {
        "question": change.question,
        "before": state_json(change.before),
        "after": state_json(change.after),
        "changes": [
            {
                "kind": one.kind,
                "rank_before": one.rank_before,
                "rank_after": one.rank_after,
                "still_there": one.still_there,
                "before": document_json(one.before) if one.before else None,
                "after": document_json(one.after) if one.after else None,
            }
            for one in change.changes
        ],
        "answer_before": change.answer_before or None,
        "answer_after": change.answer_after or None,
        "warnings": [*change.warnings, *warnings],
    }


def change_text(change: AnswerChange) -> str:
    """Return how an answer changed for people: each chunk with its ranks, what changed in it as a diff."""
    lines = [f"From {one_line(change.before.name)} to {one_line(change.after.name)}:"]
    if change.before.content == change.after.content:
        lines.append("The documents are the same in both.")
    if not change.changes:
        lines.append("Nothing in the documents is like the question, then or now.")
    for one in change.changes:
        lines += ["", _head(one), *_body(one)]
    if change.answer_before or change.answer_after:
        lines += ["", "Answer"]
        if change.answer_before == change.answer_after:
            lines += ["  the same:", *_quoted(change.answer_after)]
        else:
            lines += ["  before:", *_quoted(change.answer_before or "(none)")]
            lines += ["  after:", *_quoted(change.answer_after or "(none)")]
    return "\n".join(lines)


def _head(one: ChunkChange) -> str:
    hit = one.after or one.before
    assert hit is not None
    ranks = f"[{one.rank_before or '–'} → {one.rank_after or '–'}]"
    note = {"gone": " · still in the documents" if one.still_there else " · no longer in the documents"}.get(
        one.kind, ""
    )
    return one_line(f"{_SIGNS[one.kind]} {one.kind:7} {ranks} {place(hit)}  {hit.heading or hit.title}{note}")


def _body(one: ChunkChange) -> list[str]:
    if one.kind == "changed" and one.before and one.after:
        found = unified_diff(one.before.text.split("\n"), one.after.text.split("\n"), lineterm="", n=1)
        return [f"    {shown(line)}" for line in list(found)[2:] if not line.startswith("@@")]
    if one.kind in ("new", "gone"):
        hit = one.after or one.before
        return _quoted(hit.text if hit else "")
    return []


def _quoted(text: str) -> list[str]:
    return [f"    {shown(line)}" for line in text.strip().split("\n")]

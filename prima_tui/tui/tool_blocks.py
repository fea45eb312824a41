"""What tools were given and gave back, and what was thought, beside the replies: one faint line each, or all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prima_tui.model.session import TextEdit, ToolUse, shown_path
from prima_tui.model.text import one_line, shown
from prima_tui.output import tool_title
from prima_tui.tui.conversation_document import Asides
from prima_tui.tui.document import Block, plain_pieces

# Beyond this a comparison of two texts takes longer than it helps: the one is shown removed, the other added.
_LARGEST_COMPARED = 40_000


class Unfolded(NamedTuple):
    """What of the asides of a conversation is shown whole; all others are one line each."""

    tools: bool = False
    thinking: bool = False
    turned: frozenset[tuple[int, int]] = frozenset()
    """(exchange, which of its asides): those that are the other way round than their kind."""

    def holds(self, use: ToolUse, place: tuple[int, int]) -> bool:
        """Return whether a use of a tool, or a thought, at this place is shown whole."""
        return (self.thinking if use.thinking else self.tools) != (place in self.turned)


def aside_blocks(uses: Sequence[Sequence[ToolUse]], workspace: str | None, unfolded: Unfolded) -> dict[int, Asides]:
    """Return the blocks of the uses of tools, and of what was thought, by place of their exchange.

    What was thought before anything else stands before the reply, everything else follows it.
    """
    found: dict[int, Asides] = {}
    for exchange, of_exchange in enumerate(uses):
        leading = next((place for place, use in enumerate(of_exchange) if not use.thinking), len(of_exchange))
        parts: list[tuple[Block, ...]] = []
        for places in (range(leading), range(leading, len(of_exchange))):
            blocks: list[Block] = []
            for place in places:
                use = of_exchange[place]
                blocks += _use_blocks(use, workspace, unfolded.holds(use, (exchange, place)), exchange, place)
            parts.append((*blocks[:-1], blocks[-1]._replace(gap=True)) if blocks else ())
        if any(parts):
            found[exchange] = Asides(*parts)
    return found


def _use_blocks(use: ToolUse, workspace: str | None, opened: bool, exchange: int, place: int) -> Iterator[Block]:
    diffs = [(edit, _diff(edit)) for edit in use.edits]
    yield Block(_head(use, diffs, workspace, opened), "tool", exchange=exchange, number=place)
    if not opened:
        return
    if use.thinking:
        yield from plain_pieces(_shown(use.gave), "", exchange)
        return
    for edit, lines in diffs:
        text = "\n".join((f"{edit.action} {shown_path(edit.path, workspace)}", *lines))
        yield from plain_pieces(_shown(text), "diff", exchange)
    if use.given and not diffs:
        yield from plain_pieces(_shown(use.given), "", exchange)
    if use.gave:
        lines = _shown(use.gave).split("\n")
        hung = "\n".join([("✗ " if use.failed else "→ ") + lines[0], *(f"  {line}".rstrip() for line in lines[1:])])
        yield from plain_pieces(hung, "", exchange)


def _head(use: ToolUse, diffs: Sequence[tuple[TextEdit, Sequence[str]]], workspace: str | None, opened: bool) -> str:
    parts = ["▾" if opened else "▸", tool_title(use, workspace)]
    if diffs:
        added = sum(line.startswith("+") for _edit, lines in diffs for line in lines)
        removed = sum(line.startswith("-") for _edit, lines in diffs for line in lines)
        more = f" and {len(diffs) - 1} more" if len({edit.path for edit, _lines in diffs}) > 1 else ""
        parts.append(f"{more} (+{added} −{removed})".strip())
    if use.failed:
        parts.append("failed")
    return one_line(" ".join(part for part in parts if part))


def _diff(edit: TextEdit) -> Sequence[str]:
    from prima_tui.search.lines import diff_of

    if len(edit.old) + len(edit.new) > _LARGEST_COMPARED:
        old, new = (text.split("\n") if text else [] for text in (edit.old, edit.new))
        return [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return diff_of(edit)


def diff_text(edit: TextEdit) -> str:
    """Return an edit as the text of a diff, safe to show."""
    return _shown("\n".join(_diff(edit)))


def _shown(text: str) -> str:
    """Control characters replaced, no empty lines at the end."""
    return shown(text).rstrip("\n")

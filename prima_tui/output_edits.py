"""The edit that a line of a file comes from, as JSON and as text. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Iterable

from prima_tui.extracts import local_time
from prima_tui.model.session import Exchange, shown_path
from prima_tui.model.text import one_line, shown, snippet
from prima_tui.output import Json, exchange_json, instant, session_json, text_edit_json
from prima_tui.search.lines import EditFound, diff_of

_DIFF_LINES = 40
"""Lines of a diff that are printed, around the line that was asked for."""


def edit_json(found: EditFound | None, exchange: Exchange | None, line: str, warnings: Iterable[str]) -> Json:
    """Return what ``files`` prints for one line: ``edit`` is null when no edit holds it."""
    edit: Json | None = None
    if found is not None:
        written = found.written
        edit = {
            "session": session_json(written.session),
            "exchange": exchange_json(written.exchange_index, exchange) if exchange else None,
            "at": instant(written.use.at),
            "tool": written.use.name,
            "explanation": written.explanation,
            "exact": found.exact,
            **text_edit_json(written.edit, written.session),
            "diff": list(diff_of(written.edit)),
        }
    return {"line": line.strip(), "edit": edit, "warnings": list(warnings)}


def edit_text(found: EditFound | None, exchange: Exchange | None, line: str) -> str:
    """Return what ``files`` prints for people about one line: session, exchange, explanation, time and diff."""
    if found is None:
        return "No edit known here wrote that line. Changes made by a command, or by hand, are not recorded."
    written = found.written
    path = shown_path(written.edit.path, written.session.workspace)
    lines = [
        f"{local_time(written.use.at) or 'no date':16}  {one_line(path)} ({written.edit.action})",
        f"{'':18}{one_line(f'{written.session.label}  {written.session.title} · {written.session.id}')}",
        f"{'':18}exchange {written.exchange_index}" + ("" if found.exact else " · as a part of a line"),
    ]
    if exchange is not None and exchange.user:
        lines.append(f"{'':18}user: {snippet(exchange.user, (), 160)}")
    if written.explanation:
        lines.append(f"{'':18}{snippet(written.explanation, (), 300)}")
    diff = diff_of(written.edit)
    middle = next((place for place, text in enumerate(diff) if text[:1] == "+" and line.strip() in text), 0)
    first = max(0, min(middle - _DIFF_LINES // 2, len(diff) - _DIFF_LINES))
    cut = ["…"] if first else []
    rest = ["…"] if first + _DIFF_LINES < len(diff) else []
    return "\n".join([*lines, "", *cut, *(shown(text) for text in diff[first : first + _DIFF_LINES]), *rest])

"""How one session looks in the list: from a hit to styled lines. Pure, so that every detail can be tested alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from rich.cells import cell_len

from prima_tui.model.hits import Hit, Reason
from prima_tui.model.session import Session, shown_path
from prima_tui.model.text import count_text, one_line, spans
from prima_tui.model.text import snippet as text_snippet
from prima_tui.model.titles import UNTITLED
from prima_tui.tui.document_rows import LETTER, DocumentRow, document_facts
from prima_tui.tui.extract_rows import EXTRACT
from prima_tui.tui.styled_lines import Span, StyledLine, cut, fitted, joined

Density = int
"""Lines of a row: 1 title only, 2 with its facts, 3 with the text that was found."""

_BAR = "▌ "
_NESTED = "└ "
_SHORTEST_SNIPPET = 16
_SHORTEST_TITLE = 16
_ONE_LINE_LABEL = 60
"""Cells from which a row of one line names its source."""
EXPIRES_SOON = timedelta(days=7)
"""How long before its agent deletes a conversation the list warns of it."""
_BADGES = {
    "deleted": "file deleted",
    "archived": "archived",
    "sdk": "run by a program",
    "warmup": "warm-up",
    "remote": "elsewhere",
}


def age(at: datetime | None, now: datetime) -> str:
    """Return how long ago, short: ``now``, ``5min``, ``3h``, ``2d``, ``5w``, ``2y``; "" for no time."""
    if at is None:
        return ""
    seconds = max(0.0, (now - at).total_seconds())
    for limit, size, unit in (
        (3_600, 60, "min"),
        (86_400, 3_600, "h"),
        (14 * 86_400, 86_400, "d"),
        (365 * 86_400, 7 * 86_400, "w"),
    ):
        if seconds < limit:
            count = int(seconds // size)
            return f"{count}{unit}" if count or unit != "min" else "now"
    return f"{int(seconds // (365 * 86_400))}y"


def session_time(session: Session) -> datetime | None:
    """Return the time a session is listed under: its end, else its start."""
    return session.ended_at or session.started_at


def title_text(title: str) -> str:
    """Return a session's title for one line, and what stands for it where there is none."""
    return one_line(title) or UNTITLED


def label_text(session: Session) -> str:
    """Return the label in brackets, as results name a source."""
    label = one_line(session.label)
    return label if label.startswith("[") else f"[{label}]"


def reason_text(reasons: Iterable[Reason], session: Session) -> list[str]:
    """Return why a session was found, most telling first: ``title``, ``file app.py``, ``6 words``, ``meaning 0.54``."""
    by_kind: dict[str, list[Reason]] = {}
    for reason in reasons:
        by_kind.setdefault(reason.kind, []).append(reason)
    parts = []
    if "title" in by_kind:
        parts.append(f"title +{_points(by_kind['title'])}")
    if "meaning" in by_kind:
        parts.append(f"meaning {max(reason.points for reason in by_kind['meaning']):.2f}")
    if "words" in by_kind:
        parts.append(f"words +{_points(by_kind['words'])}")
    if files := by_kind.get("file"):
        path = one_line(shown_path(files[0].detail, session.workspace)).replace("\\", "/").rstrip("/")
        name = path.rsplit("/", 1)[-1]
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        parts.append(f"file {name}{more} +{_points(files)}" if name else f"file +{_points(files)}")
    if "tool" in by_kind:
        parts.append(f"tool text +{_points(by_kind['tool'])}")
    return parts


def _points(reasons: Sequence[Reason]) -> str:
    return f"{sum(reason.points for reason in reasons):.0f}"


def expiry_text(session: Session, now: datetime) -> str:
    """Return when the session's agent deletes it, if that is soon: ``deleted in 3 days``; else ""."""
    if session.expires_at is None or session.expires_at - now > EXPIRES_SOON:
        return ""
    days = (session.expires_at - now) // timedelta(days=1)
    return f"deleted in {count_text(days, 'day')}" if days > 0 else "deleted soon"


def badges(session: Session, now: datetime) -> list[str]:
    """Return what is special about a session, in words, most pressing first."""
    found = [_BADGES[flag] for flag in session.flags if flag in _BADGES]
    if expiry := expiry_text(session, now):
        found.insert(0, expiry)
    if session.continued_by:
        found.append("continued elsewhere")
    if session.copied_from:
        found.append("fork")
    if session.resume is None and "deleted" not in session.flags and session.source != EXTRACT:
        found.append("view only")
    return found


def _facts(hit: Hit, with_reasons: bool, copies: str, now: datetime) -> list[tuple[str, str]]:
    session = hit.session
    if isinstance(hit, DocumentRow):
        label, place, *others = [(one_line(text), style) for text, style in document_facts(hit)]
        return [label, place, *(_reasons(hit) if with_reasons else ()), *others]
    facts = [(label_text(session), "source")]
    if with_reasons:
        facts += _reasons(hit)
    if copies:
        facts.append((copies, "copies"))
    facts += [(text, "badge") for text in badges(session, now)]
    if session.files_changed:
        files = len({change.path for change in session.files_changed})
        facts.append((count_text(files, "file"), "fact"))
    if session.message_count:
        facts.append((count_text(session.message_count, "message"), "fact"))
    facts += [(f"#{one_line(tag)}", "tag") for tag in session.tags]
    if session.branch:
        facts.append((f"on {one_line(session.branch)}", "fact"))
    return facts


def _reasons(hit: Hit) -> list[tuple[str, str]]:
    return [(text, "reason") for text in reason_text(hit.reasons, hit.session)]


def _title_line(
    hit: Hit, words: Sequence[str], width: int, now: datetime, head: str, marks: Sequence[tuple[str, str]]
) -> StyledLine:
    """Return the title with its matches marked; ``marks`` (text, style) and the age stand at the right edge."""
    title = title_text(hit.session.title)
    when = age(session_time(hit.session), now)
    room = width - len(_BAR) - len(when) - 2 - cell_len(head)
    taken = sum(cell_len(text) + 1 for text, _style in marks)
    if room - taken < _SHORTEST_TITLE:
        marks, taken = (), 0
    room = max(4, room - taken)
    text = cut(title, room)
    style = "title" if hit.session.resume is not None or isinstance(hit, DocumentRow) else "title-quiet"
    line = joined([(text, style)]).marked(spans(text, words) if words else [], "match")
    space = " " * max(1, width - len(_BAR) - cell_len(text) - cell_len(head) - len(when) - 1 - taken)
    spaced = [piece for mark in marks for piece in (mark, (" ", ""))]
    tail = joined([(space, ""), *spaced, (when, "age"), (" ", "")])
    if head:
        line = line.prefixed(head, "source")
    return line.followed_by(tail)


def snippet(text: str, words: Sequence[str], width: int) -> StyledLine:
    """Return the part of a text around the best match, within ``width`` cells, the matches marked."""
    line = cut(text_snippet(text, words, width), width)
    return joined([(line, "snippet")]).marked(spans(line, words) if words else [], "match")


def session_row(
    hit: Hit,
    words: Sequence[str],
    width: int,
    density: Density,
    now: datetime,
    selected: bool,
    *,
    copies: str = "",
    nested: bool = False,
) -> list[StyledLine]:
    """Return the ``density`` lines of a hit's row, ``width`` cells wide at most, with its bar at the left.

    ``copies`` tells of older copies of the session that are folded into the row; ``nested``: it is such a copy itself,
    listed below its session.
    """
    fill = "selected" if selected else ""
    bar = "bar" if selected else ""
    indent = len(_NESTED) if nested else 0
    width -= indent
    room = max(6, width - len(_BAR) - 1)
    one = density == 1 and width >= _ONE_LINE_LABEL
    head = f"{label_text(hit.session)} " if one else ""
    if isinstance(hit, DocumentRow):
        head = LETTER
    marks = [(copies, "copies")] if copies and density == 1 else []
    if one and not isinstance(hit, DocumentRow):
        marks += [(text, "badge") for text in badges(hit.session, now)[:1]]
    lines = [_title_line(hit, words, width, now, head, marks)]
    if density >= 2:
        lines.append(fitted(_facts(hit, density == 2, copies, now), room))
    if density >= 3:
        lines.append(_why_line(hit, words, room))
    if nested:
        lines = [line.prefixed("  " if number else _NESTED, "faint") for number, line in enumerate(lines)]
    lead = _BAR if selected else "  "
    return [line.prefixed(lead, bar)._replace(fill=fill) for line in lines]


def _why_line(hit: Hit, words: Sequence[str], width: int) -> StyledLine:
    """Why a session was found, and as much of the text that was found as still fits."""
    why = fitted(_reasons(hit), width)
    room = width - cell_len(why.text) - 2
    if room < _SHORTEST_SNIPPET and why.text:
        return why
    text = _found_text(hit, words, room if why.text else width)
    return StyledLine(why.text + "  ", why.spans).followed_by(text) if why.text else text


def _found_text(hit: Hit, words: Sequence[str], width: int) -> StyledLine:
    exchange = hit.exchange
    if exchange is None:
        files = dict.fromkeys(
            one_line(shown_path(change.path, hit.session.workspace)) for change in hit.session.files_changed[:6]
        )
        return snippet(", ".join(files), words, width)
    in_user = bool(words) and bool(spans(exchange.user, words)) and not spans(exchange.assistant, words)
    text = exchange.user if in_user or not exchange.assistant else exchange.assistant
    return snippet(text, words, width)


def heading_line(text: str, width: int) -> StyledLine:
    """Return a heading between rows."""
    label = cut(text, max(4, width - 4))
    rule = "─" * max(0, width - cell_len(label) - 4)
    return joined([(f" {label} ", "heading"), (rule, "rule")])


def day_headings(count: int, time_at: Callable[[int], datetime | None], now: datetime) -> list[tuple[int, str]]:
    """Return (place, heading) for ``count`` sessions that are newest first: Today, Yesterday, … then by month.

    Days are local. ``time_at`` gives the time of a place; those without a time come last and get no heading. Places
    are found by halving, so that the number of sessions hardly matters.
    """
    local = now.astimezone()
    today = local.replace(hour=0, minute=0, second=0, microsecond=0)
    bounds = [
        (today, "Today"),
        (today - timedelta(days=1), "Yesterday"),
        (today - timedelta(days=7), "Last seven days"),
        (today - timedelta(days=30), "Last thirty days"),
    ]
    headings: list[tuple[int, str]] = []
    place = 0
    while place < count and (at := time_at(place)) is not None:
        found = next(((bound, name) for bound, name in bounds if at >= bound), None)
        if found is None:
            here = at.astimezone()
            found = (here.replace(day=1, hour=0, minute=0, second=0, microsecond=0), here.strftime("%B %Y"))
        headings.append((place, found[1]))
        place = bisect_left(range(count), True, lo=place + 1, key=partial(_is_before, time_at, found[0]))
    return headings


def _is_before(time_at: Callable[[int], datetime | None], bound: datetime, place: int) -> bool:
    at = time_at(place)
    return at is None or at < bound


__all__ = ["Density", "Span", "age", "day_headings", "heading_line", "session_row", "snippet"]

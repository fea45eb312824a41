"""The shared log of a project: markdown entries that people and agents leave in the repository for one another.

``<workspace>/.claude/state/sessions/<PROJECT-ID>/**/*.md``, one entry per file. What an entry says of itself stands in
front matter or in ``Key: value`` and ``**Key:** value`` lines at its top, in the form each author likes; all of it may
be missing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from prima_tui.model.session import Exchange, Transcript, packed_keys
from prima_tui.model.tags import topic_tags
from prima_tui.model.titles import shorten
from prima_tui.sources.base import Problem, ReadResult, ReadTranscript, Scope, SourceFile, listed, source_file

_PLACE = (".claude", "state", "sessions")
_DEEPEST = 16
_TITLE_WITHIN = 200_000
"""Characters; a heading that stands later in an entry is none for the whole of it."""
_UNKNOWN_AUTHOR = "unknown"
_KEYS = {
    "author": "author",
    "authors": "author",
    "by": "author",
    "user": "author",
    "written by": "author",
    "project": "project",
    "project id": "project",
    "time": "time",
    "date": "date",
    "datetime": "date",
    "date/time": "date",
    "timestamp": "date",
    "created": "date",
    "started": "date",
    "start": "date",
    "branch": "branch",
    "git branch": "branch",
    "tags": "tags",
    "session": "session",
    "session id": "session",
}
"""Header keys in lower case, with ``-`` and ``_`` as spaces, and what they mean here."""
_HEADER = re.compile(
    r"[ \t]*(?:[-*+>][ \t]+)?(?:\*\*|__)?([A-Za-z][A-Za-z /_-]{0,30}?)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?(?:[ \t]+(.*))?"
)
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_RULE = re.compile(r"[-*_=\s]*")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_CLOCK = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:[.,]\d+)?[ \t]*(Z|UTC|[+-]\d{2}:?\d{2})?(?![\d:])", re.IGNORECASE
)
_DAY = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_NAMED_TIME = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:[-_T ]+(\d{2})[-:h.]?(\d{2})(?:[-:m.]?(\d{2}))?(?!\d))?")


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Give each byte that is no UTF-8 the character it has in Latin-1, so that one such byte costs no other."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("prima-latin-1", _as_latin_1)


class SharedLog:
    """The entries of a workspace's shared log, colleagues' ones too; each is one session with one exchange."""

    id = "shared-log"
    keyed = (".md",)

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return the folder of the workspace's log."""
        return [scope.workspace.joinpath(*_PLACE)]

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield every entry below a project's folder, nested ones too; names that begin with ``_`` are skipped."""
        for root in self.roots(scope):
            any_found, before = False, len(problems)
            for path in _entries(root, problems, 0):
                found = source_file(path, self.id, "", problems)
                if found is not None:
                    any_found = True
                    yield found
            if not any_found and len(problems) == before and root.is_dir():
                problems.append(Problem("empty folder", str(root)))

    def read(self, file: SourceFile) -> ReadResult:
        """Read one entry; one without any text is no session."""
        try:
            text = decoded(Path(file.path).read_bytes())
        except OSError as error:
            return ReadResult(problems=(Problem(f"can't be read: {error.strerror}", file.path),))
        if not text.strip():
            return ReadResult()
        workspace, identifier = _place_of(Path(file.path))
        headers, body = _split(text)
        author = headers.get("author", "") or _UNKNOWN_AUTHOR
        at = _time_of(headers, Path(file.path).stem, file.mtime_ns)
        exchange = Exchange(assistant=body, at=at, key=identifier)
        transcript = Transcript(
            source=self.id,
            session_id=identifier,
            path=file.path,
            label=f"[shared log · {author}]",
            given_title=_title(body),
            exchange_keys=packed_keys([exchange.key]),
            started_at=at,
            ended_at=at,
            workspace=workspace,
            branch=headers.get("branch") or None,
            message_count=1,
            reply_count=1,
            author=author,
            topics=topic_tags([body]),
            own_tags=tuple(
                tag for part in re.split(r"[,\[\]]", headers.get("tags", "")) if (tag := part.strip(" \"'#"))
            ),
        )
        return ReadResult(transcripts=(ReadTranscript(transcript, (exchange,)),))

    def contains(self, transcript: Transcript, scope: Scope) -> bool:  # noqa: ARG002
        """Tell whether it belongs to the scope: what is found is the workspace's own log, all of it."""
        return True

    def finish(
        self,
        transcripts: Sequence[Transcript],
        names: Mapping[str, str],  # noqa: ARG002
        folders: Mapping[str, str],  # noqa: ARG002
    ) -> list[Transcript]:
        """Return the transcripts as they are: an entry says everything itself."""
        return list(transcripts)


def _entries(folder: Path, problems: list[Problem], depth: int) -> Iterator[str]:
    """Yield the paths of the entries below a folder; directly in the log's own folder (depth 0) there are none."""
    for entry in listed(folder, problems):
        if entry.name.startswith("_"):
            continue
        # a project's folder may be a link to a shared disk; deeper links are not followed, so that no loop can arise
        try:
            is_folder = entry.is_dir(follow_symlinks=depth == 0)
        except OSError as error:
            problems.append(Problem(f"can't be looked at: {error.strerror}", entry.path))
            continue
        if is_folder:
            if depth < _DEEPEST:
                yield from _entries(Path(entry.path), problems, depth + 1)
        elif depth > 0 and entry.name.lower().endswith(".md"):
            yield entry.path


def _place_of(path: Path) -> tuple[str | None, str]:
    """Return the workspace that an entry's path lies in, and the entry's id: project id and path without ending."""
    parts = path.parts
    for place in range(len(parts) - len(_PLACE) - 1, -1, -1):
        if parts[place : place + len(_PLACE)] == _PLACE:
            inner = (*parts[place + len(_PLACE) : -1], path.stem)
            return str(Path(*parts[:place])) if place else None, "/".join(inner)
    return None, f"{path.parent.name}/{path.stem}"


def decoded(content: bytes) -> str:
    """Return the text of a file in UTF-8 or UTF-16, with or without a mark; bytes that are neither count as Latin-1.

    Line ends become ``\\n``, NUL characters spaces.
    """
    encoding = "utf-8"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        start = content[:4096]
        # text in a Latin script has a zero in every other byte of UTF-16, and none in UTF-8
        if start[1::2].count(0) > 0.4 * len(start) and not start[::2].count(0):
            encoding = "utf-16-le"
        elif start[::2].count(0) > 0.4 * len(start) and not start[1::2].count(0):
            encoding = "utf-16-be"
    if encoding == "utf-8":
        text = content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "prima-latin-1")
    else:
        text = content.decode(encoding, "replace").removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", " ") if "\0" in text else text


def _split(text: str) -> tuple[dict[str, str], str]:
    """Return what the headers of an entry say, and its text without them (all of it when nothing else is left)."""
    headers: dict[str, str] = {}
    end = _front_matter(text, headers)
    kept: list[str] = []
    heading_seen = False
    while end < len(text):
        next_line = text.find("\n", end)
        next_line = len(text) if next_line < 0 else next_line + 1
        line = text[end:next_line].rstrip("\n") if next_line - end < 2000 else None
        if line is None:
            break
        header = _HEADER.fullmatch(line)
        if header and _take(header, headers):
            end = next_line
            continue
        heading = _HEADING.fullmatch(line) is not None
        if line.strip() and (heading_seen or not heading) and not header and line.strip() not in ("---", "***"):
            break
        heading_seen = heading_seen or heading
        kept.append(text[end:next_line])
        end = next_line
    body = ("".join(kept) + text[end:]).strip()
    if headers:
        # a rule that only parts the headers from the text
        body = re.sub(r"\A(?:-{3,}|\*{3,})[ \t]*\n", "", body).strip()
    return headers, body or text.strip()


def _take(header: re.Match[str], headers: dict[str, str]) -> bool:
    """Add a header line with a known key; of two with the same meaning the first counts."""
    key = _KEYS.get(re.sub(r"[-_ ]+", " ", header[1].lower()).strip())
    if key is None:
        return False
    value = (header[2] or "").strip().removeprefix("**").strip().strip("\"'`").strip()
    if value:
        headers.setdefault(key, value)
    return True


def _front_matter(text: str, headers: dict[str, str]) -> int:
    """Take the front matter of an entry, if it has one; return where it ends (0 when there is none)."""
    opening = re.match(r"\s*---[ \t]*\n", text)
    if not opening:
        return 0
    closing = re.compile(r"(?m)^(?:---|\.\.\.)[ \t]*$\n?").search(text, opening.end(), opening.end() + 20_000)
    if not closing:
        return 0
    lines = text[opening.end() : closing.start()].split("\n")
    matched = [_HEADER.fullmatch(line) for line in lines]
    around = (line for line, header in zip(lines, matched, strict=True) if header is None and line.strip())
    if not any(matched) or not all(line.startswith((" ", "\t", "- ", "#")) for line in around):
        # two rules with prose between them are no front matter
        return 0
    for place, header in enumerate(matched):
        if header is None:
            continue
        if not (header[2] or "").strip():
            items = []
            for line in lines[place + 1 :]:
                item = re.fullmatch(r"[ \t]*-[ \t]+(.*)", line)
                if item is None:
                    break
                items.append(item[1])
            header = re.fullmatch(_HEADER, f"{header[1]}: {', '.join(items)}") or header
        _take(header, headers)
    return closing.end()


def _title(body: str) -> str:
    """Return the first heading outside code, else the first line with words; at most 80 characters."""
    fence = first = before = ""
    for line in body[:_TITLE_WITHIN].split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        if mark:
            fence, before = mark[1], ""
            continue
        heading = _HEADING.fullmatch(line)
        if heading and (title := shorten(heading[1])):
            return title
        if before and re.fullmatch(r"[ \t]{0,3}(=+|-{2,})[ \t]*", line) and (title := shorten(before)):
            return title
        before = line.strip()
        if not first and not _RULE.fullmatch(before):
            first = shorten(before)
    return first or shorten(body[:400])


def _time_of(headers: Mapping[str, str], name: str, mtime_ns: int) -> datetime:
    """Return when an entry was written, UTC: as its headers say, else its file's name, else the file's time.

    A time without a zone is the local one. A header with a day alone gets its clock from a ``time`` header, else from
    a file name of the same day.
    """
    day: tuple[int, int, int] | None = None
    clock: re.Match[str] | None = None
    for key in ("date", "time"):
        value = headers.get(key, "")
        found = _DAY.search(value)
        if found and day is None:
            day = (int(found[1]), int(found[2]), int(found[3]))
            value = value[found.end() :]
        clock = clock or _CLOCK.search(value)
    named = _NAMED_TIME.search(name)
    named_day = (int(named[1]), int(named[2]), int(named[3])) if named else None
    named_clock = (int(named[4]), int(named[5]), int(named[6] or 0)) if named and named[4] else None
    chosen = day or named_day
    at = None
    if chosen and clock:
        at = _moment(chosen, (int(clock[1]), int(clock[2]), int(clock[3] or 0)), clock[4])
    if at is None and chosen and named_clock and chosen == named_day:
        at = _moment(chosen, named_clock)
    if at is None and day:
        at = _moment(day, (0, 0, 0))
    if at is None and named_day:
        at = _moment(named_day, (0, 0, 0))
    return at or datetime.fromtimestamp(max(0, mtime_ns) / 1e9, UTC)


def _moment(day: tuple[int, int, int], clock: tuple[int, int, int], zone: str | None = None) -> datetime | None:
    """Return a moment in UTC, None when there is no such day or clock time."""
    try:
        moment = datetime(*day, *clock)
        if zone:
            moment = datetime.fromisoformat(moment.isoformat() + ("+00:00" if zone.upper() in ("Z", "UTC") else zone))
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None

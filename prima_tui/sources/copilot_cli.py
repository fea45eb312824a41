"""GitHub Copilot CLI: ``~/.copilot/session-state/<id>/events.jsonl``, in older versions flat ``<id>.jsonl`` files.

The events have the same envelope as those of VS Code's chat, with the folder of the session and tool results in them;
``workspace.yaml`` beside them holds the folder too, and the session's title.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import orjson

from prima_tui.model.session import ResumeCommand, Transcript, packed_keys
from prima_tui.model.tags import topic_tags
from prima_tui.model.titles import first_title
from prima_tui.sources.base import Problem, ReadResult, ReadTranscript, Scope, SourceFile, listed, source_file
from prima_tui.sources.copilot_events import read_events

_FOLDER = "session-state"
_SETTING = re.compile(r"([A-Za-z_]+):[ \t]*(.*)")


class CopilotCli:
    """Sessions of Copilot CLI that were started in the workspace, or in no recorded folder."""

    id = "copilot-cli"
    keyed = ("",)

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return the folder of its sessions; ``COPILOT_HOME`` moves it."""
        return [scope.folder("COPILOT_HOME", ".copilot") / _FOLDER]

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield the event files, and the ``workspace.yaml`` files beside them."""
        for root in self.roots(scope):
            any_found, before = False, len(problems)
            for entry in listed(root, problems):
                for path, kind in _wanted(entry, problems):
                    found = source_file(str(path), self.id, kind, problems)
                    if found is not None:
                        any_found = any_found or kind == "events"
                        yield found
            if not any_found and len(problems) == before and root.is_dir():
                problems.append(Problem("empty folder", str(root)))

    def read(self, file: SourceFile) -> ReadResult:
        """Read one event file or ``workspace.yaml``."""
        return self._read(file, with_tools=False)

    def read_tools(self, file: SourceFile) -> ReadResult:
        """Read one file with what tools were given and gave back."""
        return self._read(file, with_tools=True)

    def _read(self, file: SourceFile, *, with_tools: bool) -> ReadResult:
        path = Path(file.path)
        try:
            if file.kind == "workspace" or path.name == "workspace.yaml":
                return _read_workspace(path)
            return _read_session(path, with_tools)
        except OSError as error:
            return ReadResult(problems=(Problem(f"can't be read: {error.strerror}", file.path),))

    def contains(self, transcript: Transcript, scope: Scope) -> bool:
        """Tell whether the session was started in the workspace or inside it, or records no folder."""
        return scope.takes(transcript.workspace)

    def finish(
        self, transcripts: Sequence[Transcript], names: Mapping[str, str], folders: Mapping[str, str]
    ) -> list[Transcript]:
        """Give sessions the titles and folders that only their ``workspace.yaml`` tells."""
        result = []
        for each in transcripts:
            if each.source == self.id:
                title = each.generated_title or names.get(each.session_id, "")
                workspace = each.workspace or folders.get(str(Path(each.path).parent))
                resume = msgspec.structs.replace(each.resume, cwd=workspace) if each.resume else None
                each = msgspec.structs.replace(each, generated_title=title, workspace=workspace, resume=resume)
            result.append(each)
        return result


def _wanted(entry: os.DirEntry[str], problems: list[Problem]) -> list[tuple[Path, str]]:
    """Return the files to look for, each with its kind, where one entry of the sessions' folder stands."""
    if entry.name.endswith(".jsonl"):
        return [(Path(entry.path), "events")]
    try:
        if entry.is_dir():
            return [(Path(entry.path, "workspace.yaml"), "workspace"), (Path(entry.path, "events.jsonl"), "events")]
    except OSError as error:
        problems.append(Problem(f"can't be looked at: {error.strerror}", entry.path))
    return []


def _read_session(path: Path, with_tools: bool) -> ReadResult:
    """Read an event file; one without any prompt or reply is no session."""
    events = read_events(
        str(path), path.parent.name if path.name == "events.jsonl" else path.stem, with_tools=with_tools
    )
    if not events.exchanges:
        return ReadResult(problems=events.problems)
    workspace = events.workspace
    if workspace is None and path.name == "events.jsonl":
        workspace = _folder_beside(path)
    transcript = Transcript(
        source=CopilotCli.id,
        session_id=events.session_id,
        path=str(path),
        label="[Copilot CLI]",
        generated_title=events.title,
        prompt_title=first_title(each.user for each in events.exchanges if not each.agent),
        exchange_keys=packed_keys([each.key for each in events.exchanges]),
        started_at=events.started_at,
        ended_at=events.ended_at,
        workspace=workspace,
        branch=events.branch,
        message_count=events.message_count,
        reply_count=sum(1 for each in events.exchanges if each.assistant),
        model=events.model,
        topics=topic_tags([text for each in events.exchanges for text in (each.user, each.assistant) if text]),
        files_changed=events.files_changed,
        resume=ResumeCommand(("copilot", "--resume", events.session_id), cwd=workspace, env=_variables(path)),
    )
    return ReadResult(
        transcripts=(ReadTranscript(transcript, events.exchanges, events.tools),), problems=events.problems
    )


def _folder_beside(path: Path) -> str | None:
    """Return the folder that the ``workspace.yaml`` beside an event file tells, None when there is no such file."""
    try:
        return next(iter(_read_workspace(path.with_name("workspace.yaml")).folders.values()), None)
    except OSError:
        return None


def _variables(path: Path) -> dict[str, str]:
    """Return what has to be set so that the program finds a session of another root than its usual one."""
    for parent in path.parents:
        if parent.name == _FOLDER:
            return {} if parent.parent.name == ".copilot" else {"COPILOT_HOME": str(parent.parent)}
    return {}


def _read_workspace(path: Path) -> ReadResult:
    """Read ``workspace.yaml``: the session's folder and title. Only its plain ``key: value`` lines are looked at."""
    lines = path.read_text("utf-8-sig", "replace").splitlines()
    settings: dict[str, str] = {}
    for place, line in enumerate(lines):
        found = _SETTING.fullmatch(line.rstrip())
        if not found:
            continue
        value = found[2].strip()
        if value[:1] in ("|", ">") and len(value) < 4:
            block = []
            for following in lines[place + 1 :]:
                if following.strip() and not following.startswith((" ", "\t")):
                    break
                block.append(following.strip())
            value = " ".join(filter(None, block))
        settings.setdefault(found[1], _unquoted(value))
    title, folder = settings.get("name") or settings.get("summary", ""), settings.get("cwd", "")
    return ReadResult(
        names={path.parent.name: title} if title else {}, folders={str(path.parent): folder} if folder else {}
    )


def _unquoted(value: str) -> str:
    """Return a YAML value without its quotes; "" for one that says nothing."""
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            decoded = orjson.loads(value)
        except ValueError:
            decoded = value[1:-1]
        return decoded if isinstance(decoded, str) else ""
    value = value.split(" #", maxsplit=1)[0].strip()
    return "" if value in ("null", "~") else value

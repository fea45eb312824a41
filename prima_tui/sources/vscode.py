"""GitHub Copilot Chat in VS Code and the editors made from it: the extension's transcripts, the editor's own chats.

A transcript (``workspaceStorage/<id>/GitHub.copilot-chat/transcripts/*.jsonl``) records no folder, title or model. The
editor's ``chatSessions`` beside it know title, times and model, and ``workspace.json`` knows the folder. Both stores
can hold one session; then one of them leads, and takes over what only the other knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import unquote

import msgspec

from prima_tui.model.session import ResumeCommand, Transcript, packed_keys
from prima_tui.model.tags import topic_tags
from prima_tui.model.titles import first_title
from prima_tui.sources.base import Problem, ReadResult, ReadTranscript, Scope, SourceFile, listed, source_file
from prima_tui.sources.copilot_events import read_events
from prima_tui.sources.jsonl import whole_value
from prima_tui.sources.vscode_chats import read_chat
from prima_tui.sources.vscode_tools import path_of_uri

_COMMANDS = {
    "Code": "code",
    "Code - Insiders": "code-insiders",
    "Code - Exploration": "code-exploration",
    "VSCodium": "codium",
    "VSCodium - Insiders": "codium-insiders",
    "Cursor": "cursor",
    "Windsurf": "windsurf",
}
"""Folder of an installation in the user's configuration folder, and the command that opens it."""
_SERVERS = {
    ".vscode-server": "code",
    ".vscode-server-insiders": "code-insiders",
    ".vscode-server-oss": "codium",
    ".vscode-remote": "code",
    ".vscodium-server": "codium",
    ".cursor-server": "cursor",
    ".windsurf-server": "windsurf",
}
"""Folder of a remote server (SSH, WSL, containers) in the home of the computer it runs on, and the command there."""
_FLATPAKS = (
    "com.visualstudio.code",
    "com.visualstudio.code.insiders",
    "com.vscodium.codium",
    "com.vscodium.codium-insiders",
)
_SNAPS = ("code", "code-insiders", "codium", "cursor", "windsurf")
_EXTENSION = "github.copilot-chat"
"""The extension's storage folder in lower case; on disk its letter case differs between versions."""
_STORAGE = re.compile(r"(?is)(.*[/\\]workspaceStorage[/\\][^/\\]+)[/\\]")
_LEADS = 100
"""Rank of the file that leads where several hold one session."""


class VSCode:
    """Copilot Chat sessions of every workspace of the user's editors."""

    id = "vscode"
    leading_only = True
    """Of several files of one session only the leading one counts: each holds the whole conversation."""
    keyed = ("",)

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return the user data folders of every kind of installation, each once."""
        config = scope.folder("XDG_CONFIG_HOME", ".config")
        bases = [config, scope.home / ".config", scope.home / "Library" / "Application Support"]
        bases.append(scope.folder("APPDATA", "AppData", "Roaming"))
        bases += [scope.home / ".var" / "app" / name / "config" for name in _FLATPAKS]
        bases += [scope.home / "snap" / name / "current" / ".config" for name in _SNAPS]
        roots = [base / name / "User" for base in bases for name in _COMMANDS]
        roots += [scope.home / name / "data" / "User" for name in _SERVERS]
        # set by a portable installation, and for a server that keeps its data elsewhere
        for variable, *inner in (("VSCODE_PORTABLE", "user-data", "User"), ("VSCODE_AGENT_FOLDER", "data", "User")):
            if scope.env.get(variable, "").strip():
                roots.append(scope.folder(variable).joinpath(*inner))
        return list({os.path.realpath(root): root for root in reversed(roots)}.values())[::-1]

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield transcripts, chats, and the ``workspace.json`` beside them."""
        for root in self.roots(scope):
            for storage in listed(root / "workspaceStorage", problems):
                yield from _stored(storage.path, problems)
            for name in ("emptyWindowChatSessions", "transferredChatSessions"):
                yield from _files_in(str(root / "globalStorage" / name), (".json", ".jsonl"), "chat", problems)

    def read(self, file: SourceFile) -> ReadResult:
        """Read one transcript, chat or ``workspace.json``."""
        return self._read(file, with_tools=False)

    def read_tools(self, file: SourceFile) -> ReadResult:
        """Read one file with what tools were given and gave back."""
        return self._read(file, with_tools=True)

    def _read(self, file: SourceFile, *, with_tools: bool) -> ReadResult:
        path = Path(file.path)
        kind = file.kind or _kind_of(path)
        try:
            if kind == "folder":
                return _read_folder(path)
            read = _read_transcript if kind == "transcript" else _read_chat
            return read(path, with_tools)
        except OSError as error:
            return ReadResult(problems=(Problem(f"can't be read: {error.strerror}", file.path),))

    def contains(self, transcript: Transcript, scope: Scope) -> bool:  # noqa: ARG002
        """Tell whether it belongs to the scope: every session does, since a transcript records no folder."""
        return True

    def finish(
        self,
        transcripts: Sequence[Transcript],
        names: Mapping[str, str],  # noqa: ARG002
        folders: Mapping[str, str],
    ) -> list[Transcript]:
        """Give each session its folder and the command that opens it, and let one of its files lead."""
        placed = [_with_folder(each, folders) if each.source == self.id else each for each in transcripts]
        of_session: dict[str, list[Transcript]] = {}
        for each in placed:
            if each.source == self.id:
                of_session.setdefault(each.session_id, []).append(each)
        leaders = {session_id: _leader(several) for session_id, several in of_session.items() if len(several) > 1}
        result = []
        for each in placed:
            leader = leaders.get(each.session_id) if each.source == self.id else None
            result.append(leader if leader is not None and leader.path == each.path else each)
        return result


def _stored(storage: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield what one workspace's storage folder holds of chats; its ``workspace.json`` only when there are any."""
    found: list[SourceFile] = []
    for entry in listed(storage, problems):
        if entry.name.lower() == _EXTENSION:
            before, folder = len(problems), f"{entry.path}{os.sep}transcripts"
            transcripts = list(_files_in(folder, (".jsonl",), "transcript", problems))
            if not transcripts and len(problems) == before and os.path.isdir(folder):  # noqa: PTH112  (asked for every workspace)
                problems.append(Problem("empty folder", folder))
            found += transcripts
        elif entry.name == "chatSessions":
            found += _files_in(entry.path, (".json", ".jsonl"), "chat", problems)
    if found:
        told = source_file(f"{storage}{os.sep}workspace.json", VSCode.id, "folder", problems)
        if told is not None:
            yield told
    yield from found


def _files_in(folder: str, endings: tuple[str, ...], kind: str, problems: list[Problem]) -> Iterator[SourceFile]:
    """Yield the files of a folder with one of the endings."""
    for entry in listed(folder, problems):
        if entry.name.lower().endswith(endings):
            found = source_file(entry.path, VSCode.id, kind, problems)
            if found is not None:
                yield found


def _kind_of(path: Path) -> str:
    """Tell what kind of file a path names, for one that was not found by :meth:`VSCode.files`."""
    if path.name == "workspace.json":
        return "folder"
    return "transcript" if path.parent.name == "transcripts" else "chat"


def _read_folder(path: Path) -> ReadResult:
    """Read a ``workspace.json``: the folder, or for a workspace of several folders its file, as a path."""
    try:
        content = whole_value(path.read_bytes())
    except ValueError:
        return ReadResult(problems=(Problem("malformed workspace.json", str(path)),))
    uri: object = None
    if isinstance(content, dict):
        uri = content.get("folder") or content.get("workspace")
    if isinstance(uri, dict):
        uri = uri.get("configPath") or uri.get("external") or path_of_uri(uri)
    if not isinstance(uri, str) or not uri:
        return ReadResult(problems=(Problem("workspace.json without a folder", str(path)),))
    return ReadResult(folders={str(path.parent): _workspace_of(uri)})


def _workspace_of(uri: str) -> str:
    """Return the local path of a ``file:`` URI; any other URI (a remote folder) as it is, decoded."""
    if uri.lower().startswith("file:") or "://" not in uri:
        return path_of_uri(uri)
    return unquote(uri)


def _read_transcript(path: Path, with_tools: bool) -> ReadResult:
    """Read a transcript of the extension; one without any prompt or reply is no session."""
    events = read_events(str(path), path.stem, with_tools=with_tools)
    if not events.exchanges:
        return ReadResult(problems=events.problems)
    transcript = Transcript(
        source=VSCode.id,
        session_id=events.session_id,
        path=str(path),
        label="[VS Code]",
        given_title=events.title,
        prompt_title=first_title(each.user for each in events.exchanges if not each.agent),
        exchange_keys=packed_keys([each.key for each in events.exchanges]),
        started_at=events.started_at,
        ended_at=events.ended_at,
        workspace=events.workspace,
        branch=events.branch,
        message_count=events.message_count,
        reply_count=sum(1 for each in events.exchanges if each.assistant),
        model=events.model,
        topics=topic_tags([text for each in events.exchanges for text in (each.user, each.assistant) if text]),
        files_changed=events.files_changed,
        rank=1,
    )
    return ReadResult(
        transcripts=(ReadTranscript(transcript, events.exchanges, events.tools),), problems=events.problems
    )


def _read_chat(path: Path, with_tools: bool) -> ReadResult:
    """Read a chat of the editor; an empty one is no session."""
    chat = read_chat(str(path), path.stem, with_tools=with_tools)
    if not chat.exchanges:
        return ReadResult(problems=chat.problems)
    transcript = Transcript(
        source=VSCode.id,
        session_id=chat.session_id,
        path=str(path),
        label="[VS Code]",
        given_title=chat.given_title,
        generated_title=chat.generated_title,
        prompt_title=first_title(each.user for each in chat.exchanges),
        exchange_keys=packed_keys([each.key for each in chat.exchanges]),
        started_at=chat.started_at,
        ended_at=chat.ended_at,
        message_count=chat.message_count,
        reply_count=sum(1 for each in chat.exchanges if each.assistant),
        model=chat.model,
        topics=topic_tags([text for each in chat.exchanges for text in (each.user, each.assistant) if text]),
        files_changed=chat.files_changed,
        # of the two forms of one chat the log is the newer
        rank=3 if path.suffix.lower() == ".jsonl" else 2,
    )
    return ReadResult(transcripts=(ReadTranscript(transcript, chat.exchanges, chat.tools),), problems=chat.problems)


def _with_folder(transcript: Transcript, folders: Mapping[str, str]) -> Transcript:
    """Give a transcript the folder of the workspace whose storage it lies in, and the command that opens it.

    A chat has no command that takes it up again, so that the command opens its folder; a folder on another computer is
    marked instead.
    """
    found = _STORAGE.match(transcript.path)
    workspace = folders.get(found[1]) if found else None
    workspace = workspace or transcript.workspace
    if not workspace:
        return transcript
    if "://" in workspace:
        flags = (*transcript.flags, "remote") if "remote" not in transcript.flags else transcript.flags
        return msgspec.structs.replace(transcript, workspace=workspace, flags=flags)
    windows = "\\" in workspace
    path: PureWindowsPath | PurePosixPath = PureWindowsPath(workspace) if windows else PurePosixPath(workspace)
    start = str(path.parent) if path.suffix == ".code-workspace" else workspace
    resume = ResumeCommand((_command(transcript.path), workspace), cwd=start)
    return msgspec.structs.replace(transcript, workspace=workspace, resume=resume)


def _command(path: str) -> str:
    """Return the command of the editor that a session's file belongs to."""
    for part in reversed(re.split(r"[/\\]", path)):
        command = _COMMANDS.get(part) or _SERVERS.get(part)
        if command:
            return command
    return "code"


def _leader(several: Sequence[Transcript]) -> Transcript:
    """Return the file that leads among those of one session, with what only the others know.

    A transcript has the plainer text, so it leads, unless replies are missing in it that the editor's chat has.
    """
    chats = sorted((each for each in several if each.rank > 1), key=_newest, reverse=True)
    transcripts = sorted((each for each in several if each.rank <= 1), key=_newest, reverse=True)
    chat, transcript = next(iter(chats), None), next(iter(transcripts), None)
    if chat is None or transcript is None:
        return max(several, key=_newest)
    leader = transcript if transcript.reply_count >= max(chat.reply_count, 1) else chat
    changed = {each.path for each in leader.files_changed}
    other = chat if leader is transcript else transcript
    return msgspec.structs.replace(
        leader,
        given_title=chat.given_title or transcript.given_title,
        generated_title=chat.generated_title or transcript.generated_title,
        started_at=min((each for each in (chat.started_at, transcript.started_at) if each), default=None),
        ended_at=max((each for each in (chat.ended_at, transcript.ended_at) if each), default=None),
        workspace=chat.workspace or transcript.workspace,
        branch=chat.branch or transcript.branch,
        model=chat.model or transcript.model,
        files_changed=leader.files_changed + tuple(each for each in other.files_changed if each.path not in changed),
        resume=chat.resume or transcript.resume,
        flags=tuple(dict.fromkeys(chat.flags + transcript.flags)),
        rank=_LEADS,
    )


def _newest(transcript: Transcript) -> tuple[int, float, str]:
    """Order the files of one session: by rank, then the one that ends last, then by path."""
    ended = transcript.ended_at
    return (transcript.rank, ended.timestamp() if ended else 0.0, transcript.path)

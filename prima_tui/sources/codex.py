"""Codex: the rollouts below ``~/.codex`` (``CODEX_HOME``) of every version, with the names given to sessions.

``sessions/YYYY/MM/DD/rollout-….jsonl`` (before July 2025 flat), ``archived_sessions/``, both also as ``.jsonl.zst``,
``sessions/rollout-….json`` of April 2025, and ``session_index.jsonl`` for names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, ReadResult, Scope, SourceFile, source_file, walk
from prima_tui.sources.codex_places import ELSEWHERE, FOLDERS, LABEL, OPEN, SOURCE

_ROLLOUT = re.compile(r"rollout-.*\.(?:jsonl|jsonl\.zst|json)")
_NAMES = "session_index.jsonl"


class Codex:
    """The source of Codex sessions."""

    id = SOURCE
    label = LABEL
    keyed = (".jsonl", ".zst")

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return Codex's own folder."""
        return [scope.folder("CODEX_HOME", ".codex")]

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield every rollout, live and archived, and the file of names; which folder one is of is not known before."""
        root = scope.folder("CODEX_HOME", ".codex")
        elsewhere = "" if root == scope.home / ".codex" else ELSEWHERE
        for folder, kind in FOLDERS.items():
            for file in walk(root / folder, self.id, _ROLLOUT, problems, kind=kind + elsewhere):
                # while one is compressed, and after it was taken up again, both exist and the plain one counts
                if not (file.path.endswith(".zst") and Path(file.path[:-4]).exists()):
                    yield file
        names = source_file(str(root / _NAMES), self.id, "names", problems)
        if names is not None:
            yield names

    def read(self, file: SourceFile) -> ReadResult:
        """Read one file. Raises nothing: what can't be read is a problem in the result."""
        return self._read(file, with_tools=False)

    def read_tools(self, file: SourceFile) -> ReadResult:
        """Read one file with what tools were given and gave back."""
        return self._read(file, with_tools=True)

    def _read(self, file: SourceFile, *, with_tools: bool) -> ReadResult:
        # files are listed far more often than read
        from prima_tui.sources.codex_file import read_file

        return read_file(file, with_tools=with_tools)

    def contains(self, transcript: Transcript, scope: Scope) -> bool:
        """Tell whether the recorded folder is the workspace or inside it; a session without one is in every scope."""
        return scope.takes(transcript.workspace, transcript.repository)

    def finish(
        self, transcripts: Sequence[Transcript], names: Mapping[str, str], folders: Mapping[str, str]
    ) -> list[Transcript]:
        """Give sessions their names, and leave out a save of April 2025 that a later one holds whole."""
        del folders  # rollouts record their folder themselves
        answered = {
            transcript.session_id.rpartition("-")[0]
            for transcript in transcripts
            if transcript.path.endswith(".json") and not transcript.session_id.endswith(OPEN)
        }
        finished: list[Transcript] = []
        for transcript in transcripts:
            if transcript.session_id.endswith(OPEN) and transcript.session_id.removesuffix(OPEN) in answered:
                continue
            name = names.get(transcript.session_id, "")
            if name and not transcript.parent_id and name != transcript.given_title:
                transcript = msgspec.structs.replace(transcript, given_title=name)
            finished.append(transcript)
        return finished

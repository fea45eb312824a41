"""Claude Code: JSON Lines transcripts below ``~/.claude/projects``, one file a session, subagents inline or beside it.

What its records mean is known from Anthropic's own readers and from files of versions 1.0 to 2.1.240.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from prima_tui.model.session import Transcript
from prima_tui.sources.base import Problem, ReadResult, Scope, SourceFile
from prima_tui.sources.claude_code_cleanup import deleted_at
from prima_tui.sources.claude_code_folders import (
    LABEL,
    SOURCE,
    config_root,
    config_roots,
    is_own_place,
    is_workspace_folder,
    project_folder_name,
    recorded_folders,
    stands_for,
    transcript_files,
)
from prima_tui.sources.places import same_place


class ClaudeCode:
    """The source of Claude Code's transcripts."""

    id = SOURCE
    label = LABEL
    extracted = True
    """Substantial sessions get an extract when they are indexed."""
    keyed = (".jsonl",)

    def roots(self, scope: Scope) -> Iterable[Path]:
        """Return Claude Code's configuration folders: those of ``CLAUDE_CONFIG_DIR``, else the two usual ones."""
        return [root for root, _other in config_roots(scope)]

    def files(self, scope: Scope, problems: list[Problem]) -> Iterator[SourceFile]:
        """Yield the files of sessions and subagents in the workspace's project folders, or everywhere in all."""
        return transcript_files(scope, self.id, problems)

    def read(self, file: SourceFile) -> ReadResult:
        """Read one file: the session first, then the subagents that older versions wrote into the same file."""
        return self._read(file, with_tools=False)

    def read_tools(self, file: SourceFile) -> ReadResult:
        """Read one file with what tools were given and gave back."""
        return self._read(file, with_tools=True)

    def _read(self, file: SourceFile, *, with_tools: bool) -> ReadResult:
        # files are listed far more often than read
        from prima_tui.sources.claude_code_file import read_file

        return read_file(file, with_tools=with_tools)

    def expires_at(self, file: SourceFile) -> datetime | None:
        """Return when Claude Code deletes the file: some days, which its settings say, after it was last written to."""
        return deleted_at(config_root(file.path), file.mtime_ns)

    def contains(self, transcript: Transcript, scope: Scope) -> bool:
        """Tell whether a session lies in a project folder of the workspace and is not another project's there.

        Different paths can give one folder name. A session whose own folder fits the name, but is another one, is the
        other project's; one whose folder doesn't fit was moved there, or the folder has a name of the user's choice.
        """
        if scope.everywhere:
            return True
        folder, own = project_folder_name(transcript.path), transcript.workspace
        if is_workspace_folder(folder, scope):
            others = own is not None and stands_for(folder, own)
            if not others or any(same_place(own or "", place) for place in scope.own_folders):
                return True
        elif own is not None and is_own_place(folder, own, scope):
            return True
        return scope.repository and own is not None and scope.takes(own, transcript.repository)

    def recorded_folders(self, scope: Scope) -> Iterable[str]:
        """Return the folders in which sessions of any workspace were recorded, as far as their first records tell."""
        return recorded_folders(scope)

    def finish(
        self,
        transcripts: Sequence[Transcript],
        names: Mapping[str, str],  # noqa: ARG002
        folders: Mapping[str, str],  # noqa: ARG002
    ) -> list[Transcript]:
        """Return the transcripts as they are: each file says all about its session but the owner of a summary."""
        return list(transcripts)

"""``prima-tui docs watch``: documents kept fresh until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import click

from prima_tui.errors import PrimaError


@click.command("watch")
@click.option("-w", "--workspace", type=click.Path(path_type=Path, file_okay=False, exists=True), default=None)
@click.option("--polling", is_flag=True, help="Look every few seconds instead of waiting for notifications.")
def watch(workspace: Path | None, polling: bool) -> None:
    """Keep the index of documents fresh until Ctrl+C, which is its normal end: it exits 0."""
    from prima_tui.config import load_settings
    from prima_tui.documents.watch import Watcher
    from prima_tui.documents_memory import Documents
    from prima_tui.model.hits import Cancel
    from prima_tui.model.text import count_text, one_line

    folder = (workspace or Path.cwd()).absolute()
    root = Documents.find_root(folder)
    if root is None:
        raise PrimaError(f"{folder} is in no project with a memory; `prima-tui docs init` makes one")
    settings = load_settings(folder)
    cancel = Cancel()
    told: set[str] = set()
    documents = Documents(root, settings, notice=_say)

    def refresh(token: Cancel) -> None:
        progress = documents.index(cancel=token)
        if token.cancelled:
            return
        if not progress.finished:
            raise PrimaError(progress.note or "the index was not updated")
        if progress.files_done or progress.files_removed:
            _say(
                f"{progress.files_done} new or changed, {progress.files_removed} removed:"
                f" {count_text(progress.chunks_embedded, 'chunk')} embedded, {progress.seconds:.1f} s"
            )
        for line in progress.warnings:
            if line not in told:
                told.add(line)
                _say(f"warning: {line}")

    def stop(number: int, _frame: object) -> None:
        if cancel.cancelled:
            os._exit(128 + number)  # asked twice: whatever is being done is not waited for
        cancel.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    _say(f"watching {one_line(str(root))}; Ctrl+C stops")
    try:
        Watcher(root, settings.paths.config / "config.toml", refresh, _say, cancel, polling=polling).run()
    finally:
        documents.close()


def _say(line: str) -> None:
    from prima_tui.model.text import one_line

    try:
        click.echo(f"{time.strftime('%H:%M:%S')}  {one_line(line)}")
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody reads any more

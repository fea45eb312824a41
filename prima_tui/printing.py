"""What every printing command shares: one JSON document or text on stdout, warnings on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click


def print_result(document: dict[str, Any] | None, text: Callable[[], str]) -> None:
    """Print one JSON document, or the text; a reader that went away (``| head``) is no error."""
    if document is not None:
        import orjson

        write_out(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    else:
        write_out(text().encode("utf-8", "replace") + b"\n")


def write_out(data: bytes) -> None:
    """Write to stdout at once; a reader that went away is no error."""
    write_pieces((data,))


def write_pieces(pieces: Iterable[bytes]) -> None:
    """Write to stdout one piece after the other; a reader that went away is no error."""
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(lines: Iterable[str], as_json: bool) -> None:
    """Print warnings on stderr; with JSON they stand in the document instead."""
    if not as_json:
        from prima_tui.model.text import one_line

        for line in lines:
            click.echo(f"warning: {one_line(line)}", err=True)


def show_progress(line: str) -> None:
    """Show how far work is, in place of what was shown before; nothing where standard error is no terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r{line} ", err=True, nl=False)


def end_progress() -> None:
    """Take the progress off the terminal again."""
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)

"""A Jupyter notebook as Markdown: its text cells as they are, its code cells in fences; outputs are left out.

Format: ``{"nbformat": 4, "metadata": {"kernelspec": {"language"}}, "cells": [{"cell_type": "markdown|code|raw",
"source": "…" or ["…\\n", …]}]}``; before version 4 the cells are in ``worksheets``, their code in ``input``.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from prima_tui.documents.markdown import markdown_outline
from prima_tui.documents.readable import Readable, Unreadable

_TICKS = re.compile("`{3,}")


def read_notebook(text: str) -> Readable:
    """Return a notebook as Markdown. Raises Unreadable."""
    try:
        notebook = orjson.loads(text.encode("utf-8", "replace"))
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"it is no notebook: {error}") from error
    if not isinstance(notebook, dict):
        raise Unreadable("it is no notebook")
    language = _language(notebook.get("metadata"))
    parts = []
    for cell in _cells(notebook):
        source = _source(cell)
        if not source.strip():
            continue
        if cell.get("cell_type") == "code":
            longest = max((len(found) for found in _TICKS.findall(source)), default=2)
            fence = "`" * (longest + 1)
            parts.append(f"{fence}{language}\n{source.rstrip()}\n{fence}")
        else:
            parts.append(source.strip("\n"))
    made = "\n\n".join(parts) + "\n" * bool(parts)
    return Readable(made, markdown_outline(made))


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    sheets = notebook.get("worksheets")
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
    lists.append(notebook.get("cells"))
    return [cell for cells in lists if isinstance(cells, list) for cell in cells if isinstance(cell, dict)]


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source.replace("\r\n", "\n") if isinstance(source, str) else ""


def _language(metadata: object) -> str:
    for name in ("kernelspec", "language_info"):
        known = metadata.get(name) if isinstance(metadata, dict) else None
        for key in ("language", "name"):
            value = known.get(key) if isinstance(known, dict) else None
            if isinstance(value, str) and value.isalnum():
                return "python" if value.startswith("python") else value
    return ""

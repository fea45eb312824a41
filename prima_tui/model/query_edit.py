"""Changing one filter of a typed query and leaving everything else as it was typed."""

from __future__ import annotations

from prima_tui.model.query import FilterName, parse


def without_filter(raw: str, name: FilterName) -> str:
    """Return the query without its filters of a name, negated ones kept."""
    return _replaced(raw, name, "")


def with_filter(raw: str, name: FilterName, value: str) -> str:
    """Return the query with one filter of a name, in place of those it had; at its end, where it had none."""
    spaced = any(letter.isspace() for letter in value) or not value
    return _replaced(raw, name, f'{name}:"{value}"' if spaced else f"{name}:{value}")


def _replaced(raw: str, name: FilterName, written: str) -> str:
    """Return the query with what is written in place of its filters of a name, once, else at its end."""
    kept: list[str] = []
    for piece in parse(raw).pieces:
        text = raw[piece.start : piece.end]
        if not (piece.kind in ("filter", "bad") and _is_named(text, name)):
            kept.append(text)
        elif written:
            kept.append(written)
            written = ""
    return " ".join([*kept, written] if written else kept)


def _is_named(text: str, name: FilterName) -> bool:
    names = (name, "source") if name == "agent" else (name,)
    return text.lower().startswith(tuple(f"{one}:" for one in names))

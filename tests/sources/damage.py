"""Damage to one record of a transcript, in any of many ways."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.world import Line

ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=[]), max_size=8),
    st.just("a\x00b"),
    st.just("\ud83d"),
    st.lists(st.one_of(st.integers(), st.text(max_size=3), st.none(), st.just({"type": 3, "text": []})), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def places_of(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value within a record."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in [(*here, key), *places_of(value[key], (*here, key))]]


def hurt_line(draw: st.DrawFn, line: Line, ways: Sequence[str]) -> bytes:
    """Return one record, damaged in one of these ways."""
    text = json.dumps(line).encode()
    match draw(st.sampled_from(ways)):
        case "value" | "remove" as way:
            line = copy.deepcopy(line)
            *before, last = draw(st.sampled_from(places_of(line)))
            holder: Any = line
            for key in before:
                holder = holder[key]
            if way == "value":
                holder[last] = draw(ODD)
            else:
                del holder[last]
            return json.dumps(line).encode()
        case "cut":
            return text[: draw(st.integers(0, len(text) - 1))]
        case "bytes":
            place = draw(st.integers(0, len(text)))
            return text[:place] + draw(st.binary(max_size=4)) + text[place:]
        case "deep":
            return text[:-1] + b',"x":' + b"[" * 3000 + b"]" * 3000 + b"}"
        case "huge":
            return text[:-1] + b',"timestamp":1' + b"0" * 400 + b"}"
        case "surrogate":
            return text[:-1] + b',"x":"\\ud83d"}'
        case "nul":
            return b"\0" * 50 + text
        case "long":
            return text[:-1] + b',"x":"' + b"y" * 300_000 + b'"}'
        case "array":
            return b"[" + text + b"]"
        case _:
            return b""

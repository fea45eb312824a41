"""The rollouts of April 2025: one pretty-printed JSON object a file, ``{"session": {…}, "items": [ … ]}``.

Every save of a conversation made a new file with a new random id, so one conversation lies in several files, each
holding the ones before it. They get one session id here, made of what they have in common: their beginning.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import orjson

from prima_tui.sources.codex_places import OPEN
from prima_tui.sources.codex_text import part_texts, typed_text
from prima_tui.sources.codex_turns import digest
from prima_tui.sources.jsonl import LONGEST_LINE, Record


class SavedChat(NamedTuple):
    """One file as it was saved."""

    session: Record
    items: list[Record]
    malformed: int
    """Items, or ends of the file, that could not be read."""


def saved_chat(path: str) -> SavedChat:
    """Read one file; of a damaged one the items before the damage. Raises OSError."""
    with open(path, "rb") as file:
        content = file.read(LONGEST_LINE)
    if not content.strip():
        return SavedChat({}, [], 0)
    try:
        value = orjson.loads(content)
    except ValueError:
        return _salvaged(content.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        return SavedChat({}, [], 1)
    return _chat(value.get("session"), value.get("items"), 0)


def _chat(session: Any, items: Any, malformed: int) -> SavedChat:
    listed = items if isinstance(items, list) else []
    good = [item for item in listed if isinstance(item, dict)]
    return SavedChat(session if isinstance(session, dict) else {}, good, malformed + len(listed) - len(good))


def _salvaged(text: str) -> SavedChat:
    """Read values one by one as far as they are whole."""
    decoder = json.JSONDecoder(strict=False)
    session: Any = None
    items: list[Any] = []
    try:
        if (start := text.find('"session"')) >= 0:
            session, _end = decoder.raw_decode(text, text.index("{", start))
        if (start := text.find('"items"')) >= 0:
            place = text.index("[", start) + 1
            while (place := text.find("{", place)) >= 0:
                item, place = decoder.raw_decode(text, place)
                items.append(item)
    except (ValueError, RecursionError):
        pass
    # lone surrogates, which no encoder takes, are replaced on the way through
    whole = json.dumps([session, items], ensure_ascii=False).encode("utf-8", "replace")
    session, items = json.loads(whole)
    return _chat(session, items, 1)


def chat_id(chat: SavedChat) -> str:
    """Return the id that all saves of one conversation have: from the first typed words and the first answer's id."""
    first = next((text for item in chat.items if item.get("role") == "user" and (text := _words(item))), "")
    # the ids of answers are the service's own and unique; those of calls come before any words in many chats
    answer = next(
        (name for item in chat.items if item.get("role") != "user" and (name := item.get("id") or item.get("call_id"))),
        None,
    )
    start = digest(f"{first}\0{chat.session.get('instructions')}")
    return f"{start}-{digest(answer)}" if isinstance(answer, str) else start + OPEN


def _words(item: Record) -> str:
    content = item.get("content")
    return typed_text(content) or "".join(part_texts(content))

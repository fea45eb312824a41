"""What in a Codex message a person typed, and what the program put there.

Codex puts instruction files, the environment, skills, notifications and more into messages of the role ``user``,
as messages of their own or as parts of one; editors wrap the typed words in a description of what is open.
"""

from __future__ import annotations

import re
from typing import Any

_WRAPPED = (
    "environment_context",
    "user_instructions",
    "instructions",
    "turn_aborted",
    "user_shell_command",
    "user_action",
    "skill",
    "subagent_notification",
    "codex_internal_context",
    "goal_context",
    "recommended_plugins",
    "hook_prompt",
    "permissions instructions",
    "skills_instructions",
    "apps_instructions",
    "plugins_instructions",
    "collaboration_mode",
    "model_switch",
    "personality_spec",
    "realtime_conversation",
)
"""Elements that only the program writes; ``external_…`` is matched by its beginning."""

_OPENING = re.compile(
    r"\s*(?:# AGENTS\.md instructions[^\n]*\s*(?=<instructions>|\Z))?"
    rf"<(?P<tag>{'|'.join(re.escape(tag) for tag in _WRAPPED)}|external_[\w-]*)(?=[\s>])[^>]*>",
    re.IGNORECASE,
)
_UNCLOSED = {"environment_context", "user_instructions", "instructions"}
"""Elements that are the program's even where their end is missing (long texts get cut)."""

_IMAGE_MARK = re.compile(r"\s*(?:<image(?:\s[^>]*)?>|</image>)\s*", re.IGNORECASE)
_WRITTEN_BY_THE_PROGRAM = (
    "# AGENTS.md instructions",
    "Warning: apply_patch was requested via",
    "Warning: The maximum number of unified exec processes",
    "Warning: Your account was flagged",
    "Another language model started to solve this problem and produced a summary",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "You were originally given instructions from a user over one or more turns",
)
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*", re.MULTILINE)


def typed_words(text: str) -> str:
    """Return what a person typed in one part of a user message; "" when the program wrote all of it.

    Elements of the program at the beginning are taken off; of an editor's wrapper only the request remains.
    """
    text = text.strip()
    while text.startswith(("<", "#")) and (opening := _OPENING.match(text)) is not None:
        tag = opening["tag"].lower()
        # the last one, since an instructions file may speak of its own element
        *_, closing = [None, *re.finditer(rf"</{re.escape(tag)}>", text, re.IGNORECASE)]
        if closing is None:
            if tag in _UNCLOSED or text.startswith("# AGENTS"):
                return ""
            break
        text = text[closing.end() :].lstrip()
    if text.startswith("<") and _IMAGE_MARK.fullmatch(text):
        return ""
    if "## My request for Codex:" in text:
        *_, last = [None, *_REQUEST.finditer(text)]
        if last is not None:
            text = text[last.end() :].strip()
    return "" if text.startswith(_WRITTEN_BY_THE_PROGRAM) else text


def part_texts(content: Any) -> list[str]:
    """Return the texts of a message's content: a string, or a list of parts of which some are images and such."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return []
    return [text for part in content if isinstance(text := part.get("text") if isinstance(part, dict) else part, str)]


def typed_text(content: Any, kinds: Any = None) -> str:
    """Return the typed words of a user message, its parts joined by line ends.

    ``kinds`` is what newer versions record beside the content, one name per part (``user.text`` for what was typed).
    """
    if isinstance(kinds, list) and isinstance(content, list) and len(kinds) == len(content):
        content = [
            part
            for part, kind in zip(content, kinds, strict=True)
            if not isinstance(kind, str) or kind.startswith("user.") or kind == "unknown"
        ]
    return "\n".join(words for text in part_texts(content) if (words := typed_words(text)))


def reply_text(content: Any) -> str:
    """Return the text of an assistant's message, its parts joined by line ends, "" when there is none."""
    return "\n".join(text for text in part_texts(content) if text.strip()).strip()


def has_image(content: Any) -> bool:
    """Tell whether a user message carries an image (a message of images alone is still a turn)."""
    return isinstance(content, list) and any(
        isinstance(part, dict) and "image" in str(part.get("type", "")) for part in content
    )


_FOLDER = re.compile(r"<cwd>(.+?)</cwd>")


def environment_folder(text: str) -> str:
    """Return the working folder that an ``<environment_context>`` message names, else ""."""
    if "<environment_context>" not in text:
        return ""
    found = _FOLDER.search(text)
    if found is not None:
        return found[1].strip()
    # the first versions with this message wrote it as plain lines
    plain = re.search(r"^Current working directory: (.+)$", text, re.MULTILINE)
    return plain[1].strip() if plain is not None else ""

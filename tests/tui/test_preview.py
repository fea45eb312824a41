"""What the panes are given of a session: the part one sees first, then all of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

import pygments.lexers  # type: ignore[import-untyped]
import pytest

from prima_tui.model.hits import Cancel, Cancelled, Hit
from prima_tui.model.session import Exchange, ToolUse
from prima_tui.tui import code_colours
from prima_tui.tui import preview as preview_module
from prima_tui.tui.document import markdown_document, with_words
from prima_tui.tui.preview import Previews
from prima_tui.tui.tool_blocks import Unfolded


async def test_near_cuts_only_a_long_conversation(memory: Any) -> None:
    short, long = memory.sessions[:2]
    memory.conversations[long.key] = tuple(Exchange(f"question {n}", f"reply {n}") for n in range(1_000))
    previews = Previews()
    hit = Hit(long, 1.0, exchange_index=700)
    near = await previews.preview(memory, hit, (), near=True)
    assert set(near.conversation.starts) == set(range(670, 731))
    whole = await previews.preview(memory, hit, ())
    assert whole.conversation.whole
    assert len(whole.conversation.starts) == 1_000
    assert (await previews.preview(memory, Hit(short, 1.0), (), near=True)).conversation.whole


async def test_a_session_that_cannot_be_read_says_why(memory: Any, monkeypatch: Any) -> None:
    def fails(_session: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(memory, "conversation", fails)
    preview = await Previews().preview(memory, Hit(memory.sessions[0], 1.0), ())
    assert "the disk is gone" in preview.problem


async def test_what_tools_were_given_is_read_once(memory: Any, monkeypatch: Any) -> None:
    memory.tool_uses = ((ToolUse(0, "Bash", "ls", "ls", "cart.py"),),)
    asked = []
    tools = memory.tools
    monkeypatch.setattr(memory, "tools", lambda *given, **how: asked.append(given) or tools(*given, **how))
    previews, hit = Previews(), Hit(memory.sessions[0], 1.0)
    await previews.preview(memory, hit, ())
    for _ in range(3):
        assert (await previews.preview(memory, hit, (), Unfolded())).has_asides
    assert len(asked) == 1


async def test_languages_are_loaded_before_their_code_is_seen_and_never_in_the_loop(
    memory: Any, monkeypatch: Any
) -> None:
    code = "```rust\nfn main() {}\n```"
    far = [Exchange(f"question {n}", f"reply {n}") for n in range(200)]
    session = memory.sessions[0]
    memory.conversations[session.key] = (Exchange("q", code), *far, Exchange("q", code.replace("rust", "elixir")))
    loaded: list[tuple[str, bool]] = []
    load = pygments.lexers.get_lexer_by_name

    def noting(name: str, **options: Any) -> Any:
        loaded.append((name, threading.current_thread() is threading.main_thread()))
        return load(name, **options)

    ready: set[str] = set()

    def getting_ready(languages: Iterable[str]) -> None:
        wanted = set(languages)
        code_colours.load_languages(wanted)
        ready.update(wanted)

    monkeypatch.setattr(preview_module, "load_languages", getting_ready)
    monkeypatch.setattr(pygments.lexers, "get_lexer_by_name", noting)
    code_colours._lexer.cache_clear()
    preview = await Previews().preview(memory, Hit(session, 1.0), ())
    assert ("rust", False) in loaded
    for _ in range(500):
        if "elixir" in ready:
            break
        await asyncio.sleep(0.01)
    for block in preview.conversation.blocks:
        block.lines(80, ())
    assert loaded.count(("rust", False)) == loaded.count(("elixir", False)) == 1
    assert not any(in_loop for _name, in_loop in loaded)


def test_a_document_tells_the_languages_of_its_code() -> None:
    document = markdown_document("a\n\n```Python\nx = 1\n```\n\n~~~ toml\n~~~\n\n```\nplain\n```\nno ```c", ())
    assert document.languages() == {"Python", "toml"}
    assert document.languages(1) == set()


def test_looking_for_words_ends_when_they_are_no_longer_wanted() -> None:
    document, cancel = markdown_document("a login\n", ()), Cancel()
    assert with_words(document, ("login",), cancel).match_count == 1
    cancel.cancel()
    with pytest.raises(Cancelled):
        with_words(document, ("login",), cancel)

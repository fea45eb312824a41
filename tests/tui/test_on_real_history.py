"""The screen on the real memory: the demo history's files, the real catalog, the real search."""

from __future__ import annotations

import asyncio

from prima_tui.config import load_settings, paths_below
from prima_tui.demo import demo_history
from prima_tui.memory import Memory
from prima_tui.sources.base import Scope
from prima_tui.tui.app import PrimaApp
from prima_tui.tui.conversation_pane import ConversationPane
from prima_tui.tui.extract_pane import ExtractPane
from prima_tui.tui.session_list import SessionList

from .driving import settled


async def test_from_the_files_to_the_match_in_the_conversation() -> None:
    with demo_history() as (home, folder, env):
        memory = Memory(Scope(folder, False, home, env), load_settings(folder, paths_below(home)))
        app = PrimaApp(memory, mode="keyword", demo=True)
        async with app.run_test(size=(160, 50)) as pilot:
            sessions = app.screen.query_one(SessionList)
            await settled(pilot, lambda: len(sessions.hits) > 20, 60)
            await pilot.press(*"voucher")
            await settled(pilot, lambda: sessions.words == ("voucher",))
            hit = sessions.selected_hit
            assert hit and "voucher" in hit.session.title.casefold()
            pane = app.screen.query_one(ConversationPane)
            await settled(pilot, lambda: pane.document.words == ("voucher",) and pane.match_place == 1)
            extract = app.screen.query_one(ExtractPane)
            await settled(pilot, lambda: any("Files changed" in block.text for block in extract.document.blocks))
            await pilot.press("f3")
            assert pane.match_place == 2
            plan = await asyncio.to_thread(memory.resume_plan, hit.session)
            await pilot.press("ctrl+y")
            await settled(pilot, lambda: bool(app.clipboard) or not plan.shell_line)
        memory.close()

"""Terminals that can do less, and themes of every kind: what is drawn can still be read and told apart."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.color import Color

from prima_tui.terminal_unicode import speaks_unicode
from prima_tui.tui import palette, search_line, session_list
from prima_tui.tui.keymap import binding_ids, is_key, keymap_problems, own_bindings, usable_keys
from prima_tui.tui.palette import contrast, layers, readable
from prima_tui.tui.plain_terminal import ascii_line, ascii_text, moves_less

from .driving import MakeApp, answered, screen_text, sessions, settled

THEMES = (
    "prima-dark", "prima-light", "textual-dark", "textual-light", "nord", "gruvbox", "tokyo-night", "monokai",
    "dracula", "catppuccin-latte", "catppuccin-mocha", "solarized-light", "solarized-dark", "flexoki", "rose-pine-dawn",
)  # fmt: skip


@pytest.mark.parametrize(
    ("env", "encoding", "expected"),
    [
        ({}, "utf-8", True),
        ({"LANG": "en_GB.UTF-8"}, "utf-8", True),
        ({"LANG": "C.utf8"}, "utf-8", True),
        ({"LANG": "C"}, "utf-8", False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", False),
        ({"LANG": "en_US", "LC_CTYPE": "en_US.UTF-8"}, "utf-8", True),
        ({"LC_ALL": "POSIX", "LANG": "en_GB.UTF-8"}, "utf-8", False),
        ({"LANG": "de_DE.ISO-8859-1"}, "utf-8", False),
        ({"LANG": "en_GB.UTF-8"}, "ascii", False),
        ({"LANG": "en_GB.UTF-8", "TERM": "linux"}, "utf-8", False),
        ({"LANG": "en_GB.UTF-8", "TERM": "xterm-256color"}, "", True),
    ],
)
def test_whether_a_terminal_speaks_unicode(env: dict[str, str], encoding: str, expected: bool) -> None:
    assert speaks_unicode(env, encoding) is expected


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Mn", "Me", "Cf"]), max_size=30))
def test_text_in_ascii_takes_as_many_cells(text: str) -> None:
    plain = ascii_text(text)
    assert plain.isascii()
    assert len(plain) == sum(cell_len(sign) for sign in text)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["Counting …"], ["Counting ~"]),
        (["Counting …", "      "], ["Counting .", "..    "]),
        (["Opening…   "], ["Opening... "]),
        (["Opening…  "], ["Opening..."]),
        (["Opening… "], ["Opening~ "]),
        (["a title that is cu…", "  ", "2d"], ["a title that is cu~", "  ", "2d"]),
        (["cu…   2d"], ["cu... 2d"]),
        (["漢…", "   x"], ["??.", ".. x"]),
        (["3 found · 2 ms"], ["3 found - 2 ms"]),
        (["┊ ☐ open ☑ done"], ["| o open x done"]),
        (["はい？ ４"], ["?????  4 "]),
    ],
)
def test_a_line_in_ascii_says_the_same_in_as_many_cells(pieces: list[str], expected: list[str]) -> None:
    assert ascii_line(pieces) == expected
    assert [len(text) for text in expected] == [cell_len(text) for text in pieces]


def test_what_turns_turns_in_ascii_too() -> None:
    turning = [ascii_text(sign) for sign in search_line._SPINNER]
    assert all(one != after for one, after in pairwise(turning))


async def test_without_unicode_everything_is_ascii(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await pilot.pause(0.3)
        assert app._ascii.enabled
        lines = [
            "".join(segment.text for segment in strip)
            for strip in sessions(app).render_lines(sessions(app).region.reset_offset)
        ]
        assert all(line.isascii() for line in lines)
        assert any("Add dark mode" in line for line in lines)
        assert screen_text(app).isascii()


@pytest.mark.parametrize("theme", THEMES)
async def test_text_of_the_list_can_be_read_in_every_theme(memory: Any, make_app: MakeApp, theme: str) -> None:
    app = make_app(memory, theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        listed = sessions(app)
        back = listed.background_colors[1]
        styles = layers(listed, "list", session_list.STYLES)
        chosen = Color.from_rich_color(styles["selected"].bgcolor)
        assert contrast(chosen, back) > 1.2
        for name, style in styles.items():
            if style.color is not None and name not in palette._NO_TEXT:
                colour = Color.from_rich_color(style.color)
                for behind in (back, chosen):
                    assert contrast(colour, behind) >= 4.45, name


def test_a_colour_is_moved_only_as_far_as_it_takes() -> None:
    black, white = Color(0, 0, 0), Color(255, 255, 255)
    assert readable(Color(200, 200, 200), [black]) == Color(200, 200, 200)
    grey = Color(128, 128, 128)
    for colour, back in ((Color(60, 60, 60), black), (Color(230, 230, 120), white), (grey, grey)):
        assert contrast(readable(colour, [back]), back) >= 4.45
    assert round(contrast(black, white), 1) == 21.0


async def test_with_few_colours_the_selected_row_is_reversed(
    memory: Any, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, answered(app, ""))
        listed = sessions(app)
        strip = listed.draw_line(listed._top(0), listed.line_width)
        assert all(segment.style and segment.style.reverse for segment in strip if segment.text.strip())
        other = listed.draw_line(listed._top(1), listed.line_width)
        assert not any(segment.style and segment.style.reverse for segment in other)


def test_movement_that_is_not_wanted() -> None:
    assert moves_less({"TEXTUAL_ANIMATIONS": "none"})
    assert not moves_less({})


# -- keys of one's own ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["f12", "ctrl+k", "alt+shift+up", "question_mark", "x", "ctrl+backslash", "pagedown"])
def test_names_of_keys(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", "ctrl+", "cmd+k", "ctrl-k", "no such key", "+", "ctrl+nokey"])
def test_what_is_no_key(key: str) -> None:
    assert not is_key(key)


def test_views_that_were_not_opened_yet_have_their_keys_too() -> None:
    code = (
        "from prima_tui.tui.keymap import keymap_problems as p; print(p({'files.lines': 'f12', 'stats.results': 'x'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_terminal_can_send_every_key() -> None:
    """Without a newer keyboard protocol Alt with a letter comes as Escape and the letter, which may mean other keys."""
    keys = {key.strip() for binding in own_bindings() for key in binding.key.split(",")}
    taken = {f"alt+{sequence[1]}" for sequence in ANSI_SEQUENCES_KEYS if len(sequence) == 2 and sequence[0] == "\x1b"}
    assert "alt+b" in taken and not keys & taken


def test_a_wrong_key_or_action_is_told_and_the_others_count() -> None:
    assert "browse.next_mode" in binding_ids()
    keys = {"browse.next_mod": "f12", "browse.sort": "ctrl-k", "browse.group": "f11,alt+g"}
    unknown, bad = keymap_problems(keys)
    assert "browse.next_mod is no action" in unknown and "Did you mean browse.next_mode?" in unknown
    assert "'ctrl-k' is no key" in bad
    assert usable_keys(keys) == {"browse.next_mod": "f12", "browse.group": "f11,alt+g"}


async def test_a_wrong_key_in_the_settings_says_so_on_the_screen(memory: Any, make_app: MakeApp) -> None:
    memory.settings = msgspec.structs.replace(memory.settings, keys={"browse.sort": "ctrl-k"})
    app = make_app(memory)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, answered(app, ""))
        await settled(pilot, lambda: any("no key" in one.message for one in app._notifications))


# -- tmux -------------------------------------------------------------------------------------------------------


def test_inside_tmux_a_copy_goes_by_tmux(tmp_path: Path) -> None:
    program = tmp_path / "tmux"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ "$2" = -w ] && exit 1\ncat > {tmp_path}/copied\n')
    program.chmod(0o755)
    code = "from prima_tui.tui.terminal import copy_by_tmux; copy_by_tmux('cd /x && claude')"
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert (tmp_path / "asked").read_text() == "load-buffer -w -\nload-buffer -\n"
    assert (tmp_path / "copied").read_text() == "cd /x && claude"

"""``prima-tui keys``: every action of the screen, by the id that ``[keys]`` in config.toml knows it by."""

from __future__ import annotations

from pathlib import Path

import click

from prima_tui.cli_options import json_option
from prima_tui.config import load_settings
from prima_tui.printing import print_result, warn


@click.command()
@json_option
def keys(as_json: bool) -> None:
    """The screen's actions: the ids to set keys by, the keys now, what they do."""
    from prima_tui.tui.keymap import action_keys, keymap_problems

    chosen = load_settings(Path.cwd()).keys
    warnings = keymap_problems(chosen)
    rows = action_keys(chosen)
    warn(warnings, as_json)
    name_width, key_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    print_result(
        {
            "keys": [{"id": row.id, "keys": row.keys.split(","), "description": row.description} for row in rows],
            "warnings": warnings,
        }
        if as_json
        else None,
        lambda: "\n".join(f"{row.id:{name_width}}  {row.keys:{key_width}}  {row.description}" for row in rows),
    )

"""Getting ready for a search by word: what is loaded, and what it leaves as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import prima_tui

CODE = (
    "import os, sys\n"
    "from prima_tui.search.loading import load_search\n"
    "before = dict(os.environ)\n"
    "load_search()\n"
    "loaded = set(sys.modules)\n"
    "from prima_tui.search import combined, deep, keyword\n"
    "from prima_tui.index import word_index, word_indexes, word_view\n"
    "new = {name for name in set(sys.modules) - loaded if name.startswith('prima_tui')}\n"
    "print(dict(os.environ) == before, sorted(new), 'duckdb' in sys.modules)\n"
)


@pytest.mark.parametrize("threads", ["", "2"])
def test_all_is_loaded_and_the_environment_is_as_before(threads: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(prima_tui.__file__).parents[1])}
    env.pop("OPENBLAS_NUM_THREADS", None)
    if threads:
        env["OPENBLAS_NUM_THREADS"] = threads
    done = subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "True [] False\n"

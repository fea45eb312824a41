"""What the screen must not load before it is on the terminal."""

from __future__ import annotations

import subprocess
import sys


def test_the_screen_loads_neither_the_database_nor_the_model() -> None:
    code = (
        "import sys, prima_tui.tui.app\n"
        "heavy = {'duckdb', 'fastembed', 'onnxruntime', 'numpy', 'rapidfuzz'} & set(sys.modules)\n"
        "sys.exit(','.join(sorted(heavy)) or 0)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr

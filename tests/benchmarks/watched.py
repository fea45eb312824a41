"""The program with its event loop watched: ``python -m tests.benchmarks.watched REPORT [ARGUMENTS]``.

What was found stands in the file REPORT (JSON: a list of delays, :class:`tests.benchmarks.loop_watch.Delay`) when the
program is left.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from textual.app import App

from prima_tui.cli import main
from tests.benchmarks.loop_watch import Delay, LoopWatch


def watch(report: Path) -> None:
    """Have the loop of the next app watched, and what was found written to ``report``."""
    unwatched = App.run_async

    async def run_async(self: App[Any], **options: Any) -> Any:
        with LoopWatch().watching() as delays:
            try:
                return await unwatched(self, **options)
            finally:
                report.write_text(json.dumps([vars(delay) for delay in delays]))

    App.run_async = run_async  # type: ignore[method-assign]


def read_report(report: Path) -> list[Delay]:
    """Return the delays that a watched program wrote."""
    return [Delay(**delay) for delay in json.loads(report.read_text())]


if __name__ == "__main__":
    watch(Path(sys.argv.pop(1)))
    main()

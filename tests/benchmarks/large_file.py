"""Reads a transcript of 1 GB with one line of 200 MB in a process of its own and prints the most memory it took.

``python -m tests.benchmarks.large_file [--tools]``; needs 1 GB of free disk below the folder for temporary files.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from prima_tui.sources.base import source_file
from prima_tui.sources.reading import read_files
from prima_tui.sources.reading_tools import read_tools

GIGABYTE = 1_000_000_000
LONG_LINE = 200_000_000


def write(path: Path) -> int:
    """Write the file: prompts, replies and bulky outputs around one huge line; return the number of exchanges."""
    output = "".join(f"{number} some output of a tool that nobody reads again\n" for number in range(2_000))
    exchanges = size = 0
    with path.open("w", encoding="utf-8") as file:
        while size < GIGABYTE:
            common = {"cwd": "/p", "sessionId": path.stem, "timestamp": "2026-08-03T07:00:00.000Z"}
            use = {"type": "tool_use", "id": f"t{exchanges}", "name": "Bash", "input": {"command": "make"}}
            result = {"type": "tool_result", "tool_use_id": f"t{exchanges}", "content": output}
            lines = [
                {"type": "user", "uuid": f"u{exchanges}", "message": {"content": f"prompt {exchanges} needle"}},
                {
                    "type": "assistant",
                    "uuid": f"a{exchanges}",
                    "message": {"id": f"m{exchanges}", "content": [{"type": "text", "text": "A reply. " * 40}, use]},
                },
                {"type": "user", "uuid": f"r{exchanges}", "message": {"content": [result]}},
            ]
            for line in lines:
                size += file.write(json.dumps(common | line) + "\n")
            exchanges += 1
            if exchanges == 1_000:
                # in pieces, since the most memory that the whole process took is what is printed
                size += file.write('{"type": "user", "message": {"content": "')
                size += sum(file.write("x" * 1_000_000) for _ in range(LONG_LINE // 1_000_000))
                size += file.write('"}}\n')
    return exchanges


def main() -> None:
    """Write, read, check, print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "projects", "-p", "0d3f7b8e-9a51-4d0a-b7a0-6b1d0c5e3f33.jsonl")
        path.parent.mkdir(parents=True)
        exchanges = write(path)
        file = source_file(str(path), "claude-code", "session", [])
        assert file is not None
        started = time.perf_counter()
        if "--tools" in sys.argv:
            [tools] = read_tools([file])
            blocks = tools.transcripts[0].blocks
            assert sum(len(block.positions) for block in blocks) == 2 * exchanges
        else:
            [texts] = read_files([file])
            assert sum("needle" in text for text in texts.messages[0].texts) == exchanges
            assert any("lines over" in problem.what for problem in texts.reading.problems)
        seconds = time.perf_counter() - started
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{file.size / 1e6:.0f} MB in {seconds:.1f} s, at most {most} MB of memory, {exchanges} exchanges")


if __name__ == "__main__":
    main()

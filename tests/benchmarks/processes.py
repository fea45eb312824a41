"""Whole processes, timed: seconds from exec to exit, and the most memory that they took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

PROGRAM = (sys.executable, "-m", "prima_tui")


class Run(msgspec.Struct, frozen=True):
    """One run of a process."""

    seconds: float
    peak_mb: float
    out: bytes


def run(argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> Run:
    """Run a command to its end. Raises CalledProcessError when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        list(argv), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, errors = process.communicate()
    seconds = time.perf_counter() - started
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(argv), out, errors)
    return Run(seconds, 0.0, out)


def run_measured(argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> Run:
    """Do what :func:`run` does, with the most resident memory of the process itself; its output is dropped."""
    started = time.perf_counter()
    with subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _pid, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(argv))
    return Run(seconds, usage.ru_maxrss / 1000, b"")

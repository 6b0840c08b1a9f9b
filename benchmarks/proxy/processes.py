"""The provider and the proxy as processes of their own, and what they use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def upstream() -> Iterator[tuple[str, int]]:
    """Its address and process."""
    command = [sys.executable, "-m", "benchmarks.proxy.upstream"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout
            yield f"http://127.0.0.1:{int(running.stdout.readline())}", running.pid
        finally:
            running.kill()


@contextmanager
def proxy(url: str, *options: str) -> Iterator[tuple[str, int]]:
    """The address and process of ``holdfast serve`` before it."""
    command = [
        sys.executable,
        "-m",
        "holdfast",
        "serve",
        "--port",
        "0",
        "--upstream",
        url,
        *options,
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr
            yield running.stderr.readline().split("listens on ")[1].split(";")[0], running.pid
        finally:
            running.kill()


def memory(pid: int) -> float:
    """Megabytes of memory that are the process's."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 1e6


def processor(pid: int) -> float:
    """Seconds of processor time that the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS

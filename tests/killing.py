"""Processes that are killed at random moments, and how much they told before."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from random import Random


def live_and_die(live: Callable[[int], None], wanted: int, moment: float, random: Random) -> int:
    """Fork a process that runs ``live(pipe)`` and kill it a random moment after it told
    ``wanted`` bytes.

    ``live`` writes a byte to the pipe for each thing that is done and does not return; ``moment``
    is the longest wait in seconds. How many bytes came until the process was dead.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        live(writing)
    os.close(writing)
    told = 0
    while told < wanted:
        told += len(os.read(reading, wanted - told))
    time.sleep(random.uniform(0, moment))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 65_536):
        told += len(more)
    os.close(reading)
    return told

"""How a synchronous caller waits for a store or a model that is asynchronous: one private event loop a process.

One, because clients keep their connections with the loop on which they were opened.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, done on the private loop; safe inside of a running loop too."""
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="holdfast-loop", daemon=True).start()
    return loop

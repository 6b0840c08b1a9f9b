"""Equal requests that are under way at the same time are one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from holdfast.kernel.forks import brief_lock


class Flights:
    """The first to ask for a key makes the call, and the others get its answer; over threads and loops."""

    def __init__(self) -> None:
        self._lock = brief_lock()
        self._open: dict[tuple[int, str], Future[object]] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[object]]) -> tuple[object, bool]:
        """The answer, and whether this call made it. Faults are values, so that all who wait get them.

        Whoever is cancelled while it makes the call leaves the call to the next one.
        """
        own = os.getpid(), key  # what a parent has under way answers no child
        while True:
            with self._lock:
                flight = self._open.get(own)
                if flight is None:
                    flight = self._open[own] = Future()
                    break
            landed = await asyncio.shield(asyncio.wrap_future(flight))
            if landed is not _ABANDONED:
                return landed, False
        answer: object = _ABANDONED
        try:
            answer = await make()
        finally:
            with self._lock:
                del self._open[own]
            flight.set_result(answer)
        return answer, True


_ABANDONED = object()

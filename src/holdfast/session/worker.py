"""Work in the background: one thread of execution, which is there only while there is something to do."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread


class Worker:
    """Does the same work again whenever it is woken, never twice at once, and never keeps a process from ending.

    The work must not raise: nobody would hear of it.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = Lock()
        self._due = self._busy = self._closed = False

    def wake(self) -> None:
        """Have the work done once more, after what is under way."""
        with self._lock:
            self._due = not self._closed
            if self._busy or not self._due:
                return
            self._busy = True
        Thread(target=self._run, name="holdfast-session", daemon=True).start()

    def close(self) -> None:
        """Begin nothing any more; does not wait for what is under way."""
        with self._lock:
            self._closed, self._due = True, False

    def _run(self) -> None:
        while self._taken():
            self._work()

    def _taken(self) -> bool:
        with self._lock:
            self._busy, self._due = self._due, False
            return self._busy

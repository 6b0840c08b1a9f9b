"""Makes a fork wait for imports that are under way.

Modules are imported on first use, in whatever thread that is. A child that is forked meanwhile has
the lock of the module, and no thread that would ever release it. Part of ``import holdfast``, so
that this module itself loads nothing which Python has not loaded already.
"""

from __future__ import annotations

import _imp
import importlib
import sys
import time
from _thread import get_ident

TYPE_CHECKING = False  # as in ``typing``, which is not loaded for it
if TYPE_CHECKING:
    from collections.abc import Callable

try:
    from posix import register_at_fork
except ImportError:  # no system with forks
    register_at_fork = None  # type: ignore[assignment]

PATIENCE = 10.0
"""Seconds that a fork waits: an import that itself waits for the forking thread never ends. To load
every module of the package takes a tenth of them."""

LATE: list[Callable[[], bool]] = []
"""Each acquires what is registered for forks unless that is done, and returns whether it was not.

What registers itself while a fork awaits its import has missed its turn.
"""

# this package's own name, the home of the codecs, which Python imports at their first use, and
# ``logging``, which registers itself for forks
_PACKAGES = (__name__.partition(".")[0], "encodings", "logging")


class ImportsAtFork:
    """Keeps imports away from forks, and lets forks wait for them, from when it is made.

    Of what registers itself for forks, this waits before all that was registered until then. The
    ``last`` to wait also acquires what is late.
    """

    def __init__(self, *, last: bool = False) -> None:
        self._times, self._last = 0, last
        if last and "logging" not in sys.modules:
            LATE.append(_late_logging)
        if register_at_fork is not None:
            register_at_fork(
                before=self._acquire, after_in_parent=self._release, after_in_child=self._release
            )

    def _acquire(self) -> None:
        until = time.monotonic() + PATIENCE
        _await_imports(until)
        while self._last:
            _imp.release_lock()
            late = [acquire() for acquire in list(LATE)]
            _await_imports(until)
            if not any(late):
                break
        self._times += 1

    def _release(self) -> None:
        if self._times:  # none where this was made while a fork had begun
            self._times -= 1
            _imp.release_lock()


def before_first_use() -> None:
    """Let forks await the imports of the first use before they take the lock of ``logging``.

    An import may need that lock. A program may import ``logging`` after this package, and forks
    take last what was registered first.
    """
    if not _READY:
        importlib.import_module("logging")
        _READY.append(ImportsAtFork())


_READY: list[ImportsAtFork] = []


def _late_logging() -> bool:
    """Acquire the lock of ``logging`` if it registered itself while this fork was waiting."""
    # no public name has it; where the private one is gone, a fork may print that none was acquired
    lock = getattr(sys.modules.get("logging"), "_lock", None)
    is_owned = getattr(lock, "_is_owned", lambda: True)
    if lock is None or is_owned():
        return False
    lock.acquire()
    return True


def _await_imports(until: float) -> None:
    """Hold the lock of imports when none is under way, or at this time at the latest."""
    _imp.acquire_lock()
    while _are_under_way() and time.monotonic() < until:
        _imp.release_lock()
        time.sleep(0.001)  # the thread that imports goes on
        _imp.acquire_lock()


def _are_under_way() -> bool:
    """Whether another thread holds the lock of a module of these packages, or is about to.

    No public name tells; where the private one is gone, nothing is known and nothing awaited.
    """
    locks = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
    own = get_ident()
    return any(
        name.partition(".")[0] in _PACKAGES and (lock := held()) and lock.owner != own
        for name, held in list(locks.items())
    )

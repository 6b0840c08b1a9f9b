"""One implementation for stores that answer at once and for those that return awaitables.

Work of several steps is written once, as a coroutine that awaits ``answered(...)`` of each step.
With a store that answers at once, such a coroutine never suspends, so ``at_once`` can run it
without an event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import isawaitable, iscoroutinefunction
from typing import Any, TypeVar, cast

from holdfast.kernel.errors import ConfigError, HoldfastError, StoreError
from holdfast.kernel.ports import KeyValueStore
from holdfast.kernel.registry import imported
from holdfast.stores import open_store
from holdfast.stores.protocols import Answer

T = TypeVar("T")
R = TypeVar("R")

_INSTANT = ContextVar("instant", default=False)


class Pending(BaseException):
    """Raised by ``instantly`` when an answer must be awaited.

    Not an Exception, so that no ``except Exception`` catches it.
    """

    def __init__(self, answer: Awaitable[object]) -> None:
        self._answer = answer

    async def settled(self) -> None:
        """Await the answer and ignore it; the work is then started again."""
        with suppress(Exception):
            await self._answer


def after(answer: T | Awaitable[T], use: Callable[[T], R]) -> R | Awaitable[R]:
    """Apply ``use`` to the answer; the result is awaitable if the answer is."""
    if isawaitable(answer):
        return _later(answer, use)
    return use(answer)


async def _later(answer: Awaitable[T], use: Callable[[T], R]) -> R:
    return use(await answer)


async def answered(answer: T | Awaitable[T]) -> T:
    """Return the answer, awaited if necessary."""
    if not isawaitable(answer):
        return answer
    waiting = cast("Awaitable[T]", answer)
    if _INSTANT.get():
        raise Pending(waiting)
    return await waiting


def at_once(work: Coroutine[object, None, T]) -> T:
    """Run work with a store that answers at once.

    Raises ConfigError if the store returns an awaitable.
    """
    try:
        work.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    work.close()
    raise ConfigError(
        "this store is asynchronous", place="store", advice="use the asynchronous form and await it"
    )


def instantly(work: Coroutine[object, None, T]) -> T:
    """Like ``at_once``, but raises Pending at the first awaitable."""
    token = _INSTANT.set(True)
    try:
        return at_once(work)
    finally:
        _INSTANT.reset(token)


Work = Callable[[KeyValueStore], Coroutine[Any, Any, object]]
"""Work with a store, as a coroutine function that may be run again."""


@dataclass(slots=True)
class Opened:
    """A store, and whether it returns awaitables, which may be known only at its first answer."""

    store: KeyValueStore
    waits: bool

    def ask(self, work: Work) -> object:
        """Return the result of the work, awaited, or the StoreError that prevents it."""
        if not self.waits:
            try:
                return instantly(self.begun(work))
            except Pending as met:
                self.waits = True
                wait_for(met.settled())
        return wait_for(self.begun(work))

    def begun(self, work: Work) -> Coroutine[Any, Any, object]:
        """Return the work as a coroutine, for callers that wait in their own way."""
        return _shielded(work(self.store))


def opened(spec: str | KeyValueStore) -> Opened:
    """Open the store of a URL, or accept an object. Raises ConfigError for anything else."""
    store = open_store(spec)
    return Opened(store, iscoroutinefunction(store.get))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run the work on the private event loop, which starts at its first use."""
    # imported only if something must be awaited, since it doubles the import time
    return cast("T", imported("holdfast.calls.event_loop:wait_for")(work))


def settled(answer: Answer[T]) -> T:
    """The answer of a store, waited for where the store is asynchronous."""
    return wait_for(answered(answer)) if isawaitable(answer) else answer


async def _shielded(work: Coroutine[Any, Any, object]) -> object:
    """The result of the work, or its error as a HoldfastError."""
    try:
        return await work
    except HoldfastError as fault:
        return fault
    except Exception as fault:  # noqa: BLE001 - a caller's store must not end a compression
        return StoreError(f"the store failed: {type(fault).__name__}: {fault}")

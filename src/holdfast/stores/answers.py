"""A store answers at once or with an awaitable: how the same code serves both kinds.

Work of several steps is written once, as a coroutine that awaits ``answered(...)`` of each step.
Over a store that answers at once such a coroutine never suspends, so ``at_once`` can run it without
an event loop.
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
from holdfast.kernel.registry import Registry
from holdfast.stores import open_store
from holdfast.stores.protocols import Answer

T = TypeVar("T")
R = TypeVar("R")

_INSTANT = ContextVar("instant", default=False)


class Pending(BaseException):
    """Raised by work that is done ``instantly`` when an answer must be awaited.

    It is no error, so no ``except Exception`` catches it.
    """

    def __init__(self, answer: Awaitable[object]) -> None:
        self._answer = answer

    async def settled(self) -> None:
        """Await the answer and ignore it: the work is begun again."""
        with suppress(Exception):
            await self._answer


def after(answer: T | Awaitable[T], use: Callable[[T], R]) -> R | Awaitable[R]:
    """What ``use`` returns for the answer: at once, or as an awaitable if the answer is one."""
    if isawaitable(answer):
        return _later(answer, use)
    return use(answer)


async def _later(answer: Awaitable[T], use: Callable[[T], R]) -> R:
    return use(await answer)


async def answered(answer: T | Awaitable[T]) -> T:
    """The answer, awaited if it has to be."""
    if not isawaitable(answer):
        return answer
    waiting = cast("Awaitable[T]", answer)
    if _INSTANT.get():
        raise Pending(waiting)
    return await waiting


def at_once(work: Coroutine[object, None, T]) -> T:
    """The result of work over a store that answers at once.

    Raises ConfigError if the store makes it wait.
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
    """As ``at_once``; raises Pending at the first answer that must be awaited."""
    token = _INSTANT.set(True)
    try:
        return at_once(work)
    finally:
        _INSTANT.reset(token)


_PARTS = Registry(
    "part of the runtime", "runtime", {"wait_for": "holdfast.calls.event_loop:wait_for"}
)
"""The event loop is loaded only where something waits: it would double the time of an import."""

Work = Callable[[KeyValueStore], Coroutine[Any, Any, object]]
"""Work with a store, as a coroutine function; it may be begun again."""


@dataclass(slots=True)
class Opened:
    """A store, and whether it answers with awaitables, which may become known only later."""

    store: KeyValueStore
    waits: bool

    def ask(self, work: Work) -> object:
        """The result of the work, waited for, or the StoreError that prevents it."""
        if not self.waits:
            try:
                return instantly(self.begun(work))
            except Pending as met:
                self.waits = True
                wait_for(met.settled())
        return wait_for(self.begun(work))

    def begun(self, work: Work) -> Coroutine[Any, Any, object]:
        """The work as a coroutine, for callers that wait in their own way."""
        return _shielded(work(self.store))


def opened(spec: str | KeyValueStore) -> Opened:
    """The store of a URL, or the caller's object. Raises ConfigError for what is no store."""
    store = open_store(spec)
    return Opened(store, iscoroutinefunction(store.get))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of the work on the private event loop, which is started when first needed."""
    return cast("Callable[[Coroutine[Any, Any, T]], T]", _PARTS.load("wait_for"))(work)


def settled(answer: Answer[T]) -> T:
    """The answer of a store, waited for where the store is asynchronous."""
    return wait_for(answered(answer)) if isawaitable(answer) else answer


async def _shielded(work: Coroutine[Any, Any, object]) -> object:
    """The result of the work, or what it raised as a HoldfastError."""
    try:
        return await work
    except HoldfastError as fault:
        return fault
    except Exception as fault:  # noqa: BLE001 - a caller's store must not end a compression
        return StoreError(f"the store failed: {type(fault).__name__}: {fault}")

"""A store answers at once or with an awaitable: how one piece of code serves both kinds.

What takes several steps is written once, as a coroutine that awaits ``answered(...)`` of each. Over a store that
answers at once such a coroutine never waits, so that ``at_once`` can run it without an event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from inspect import isawaitable
from typing import TypeVar, cast

from holdfast.kernel.errors import ConfigError

T = TypeVar("T")
R = TypeVar("R")

_INSTANT = ContextVar("instant", default=False)


class Pending(BaseException):
    """An answer that must be awaited, met by work that is done ``instantly``; no fault: no ``except`` takes it."""

    def __init__(self, answer: Awaitable[object]) -> None:
        self._answer = answer

    async def settled(self) -> None:
        """Await the answer, whatever it is: it is asked for again."""
        with suppress(Exception):
            await self._answer


def after(answer: T | Awaitable[T], use: Callable[[T], R]) -> R | Awaitable[R]:
    """What ``use`` makes of the answer: now if the answer is here, else as an awaitable."""
    if isawaitable(answer):
        return _later(answer, use)
    return use(answer)


async def _later(answer: Awaitable[T], use: Callable[[T], R]) -> R:
    return use(await answer)


async def answered(answer: T | Awaitable[T]) -> T:
    """The answer itself, waited for only if it is not here yet."""
    if not isawaitable(answer):
        return answer
    waiting = cast("Awaitable[T]", answer)
    if _INSTANT.get():
        raise Pending(waiting)
    return await waiting


def at_once(work: Coroutine[object, None, T]) -> T:
    """The result of work over a store that answers at once. Raises ConfigError if the store makes it wait."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    work.close()
    raise ConfigError("this store is asynchronous", place="store", advice="use the asynchronous form and await it")


def instantly(work: Coroutine[object, None, T]) -> T:
    """As ``at_once``; raises Pending at the first answer that must be awaited, before anything else is done."""
    token = _INSTANT.set(True)
    try:
        return at_once(work)
    finally:
        _INSTANT.reset(token)

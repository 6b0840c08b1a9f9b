"""Answers of stores, which may be values or awaitables, and errors of callers' stores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from inspect import isawaitable
from typing import TypeVar, cast

from holdfast.kernel.errors import HoldfastError, StoreError
from holdfast.kernel.registry import imported

T = TypeVar("T")
R = TypeVar("R")


def after(answer: T | Awaitable[T], use: Callable[[T], R]) -> R | Awaitable[R]:
    """Apply ``use`` to the answer; the result is awaitable if the answer is."""
    if isawaitable(answer):
        return _later(answer, use)
    return use(answer)


async def _later(answer: Awaitable[T], use: Callable[[T], R]) -> R:
    return use(await answer)


def settled(answer: T | Awaitable[T]) -> T:
    """The answer, waited for if it is an awaitable."""
    if not isawaitable(answer):
        return answer
    # imported only if something must be awaited, since it doubles the import time
    wait_for = cast("Callable[[Awaitable[T]], T]", imported("holdfast.calls.event_loop:wait_for"))
    return wait_for(_later(answer, lambda found: found))


@contextmanager
def as_store_errors() -> Generator[None]:
    """Turn the exceptions of a caller's store into StoreError."""
    try:
        yield
    except HoldfastError:
        raise
    except Exception as fault:
        raise StoreError(f"the store failed: {type(fault).__name__}: {fault}") from fault

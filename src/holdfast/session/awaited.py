"""The asynchronous form of a method that waits: the same signature and words, and a thread that waits."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def awaited(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The method as one that is awaited; what a subclass makes of the method holds for it too."""
    name = method.__name__

    @wraps(method)
    async def waits(self: S, /, *args: P.args, **named: P.kwargs) -> T:
        return cast("T", await to_thread(getattr(self, name), *args, **named))

    waits.__name__, waits.__qualname__ = f"a{name}", f"Session.a{name}"
    return waits

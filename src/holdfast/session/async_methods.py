"""The asynchronous forms of methods that block."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from holdfast.kernel.registry import imported

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def awaited(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The asynchronous form of a method, which runs it in a thread.

    The method is looked up by its name, so that a subclass that overrides it overrides both.
    """
    name = method.__name__

    @wraps(method)
    async def waits(self: S, /, *args: P.args, **named: P.kwargs) -> T:
        to_thread = imported("asyncio:to_thread")  # importing it takes 40 ms
        return cast("T", await to_thread(getattr(self, name), *args, **named))

    waits.__name__ = f"a{name}"
    waits.__qualname__ = f"{method.__qualname__.removesuffix(name)}a{name}"
    return waits

"""A store may answer now or later: here its answers are waited for."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import TypeVar

from holdfast.calls.event_loop import wait_for

T = TypeVar("T")


def settled(answer: T | Awaitable[T]) -> T:
    """The answer of a store, waited for where the store is asynchronous."""
    return wait_for(_awaited(answer)) if isawaitable(answer) else answer


async def _awaited(answer: Awaitable[T]) -> T:
    return await answer

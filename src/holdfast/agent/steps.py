"""The turn of an agent is written once, as a generator of things to do; here they are done, waiting or awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from functools import partial
from inspect import isawaitable
from typing import Any

from holdfast.waiting import wait_for

Step = Generator[Callable[[], Any], Any, Any]
"""Things to do: the result of each call, awaited if it must be, is sent back, or its error thrown in."""


def drive(steps: Step) -> Any:
    """Do them one after another, waiting; what the generator returns."""
    advance: Callable[[], Callable[[], Any]] = partial(steps.send, None)
    while True:
        try:
            work = advance()
        except StopIteration as done:
            return done.value
        try:
            answer = _done(work)
            advance = partial(steps.send, wait_for(_awaited(answer)) if isawaitable(answer) else answer)
        except Exception as fault:  # noqa: BLE001 - it belongs to the step that asked
            advance = partial(steps.throw, fault)


async def adrive(steps: Step) -> Any:
    """As ``drive``, without blocking the event loop: each thing is done in a thread."""
    advance: Callable[[], Callable[[], Any]] = partial(steps.send, None)
    while True:
        try:
            work = advance()
        except StopIteration as done:
            return done.value
        try:
            answer = await asyncio.to_thread(_done, work)
            advance = partial(steps.send, await answer if isawaitable(answer) else answer)
        except Exception as fault:  # noqa: BLE001 - as above
            advance = partial(steps.throw, fault)


def _done(work: Callable[[], Any]) -> Any:
    """What it gives; a StopIteration, which would end the generator and is lost by a future, as another error."""
    try:
        return work()
    except StopIteration as fault:
        raise RuntimeError("StopIteration was raised") from fault


async def _awaited(answer: Any) -> Any:
    return await answer

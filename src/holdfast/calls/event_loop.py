"""Waiting across worlds.

Synchronous callers wait for asynchronous work on a private event loop, and asynchronous callers
wait for work that blocks in threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

from holdfast.kernel.errors import ConfigError
from holdfast.stores.answers import Opened, Pending, Work, instantly

T = TypeVar("T")
_NAME = "holdfast-loop"


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, done on the private loop; it can be called inside a running loop.

    There is one loop for the process, because clients keep their connections on the loop on which
    they were opened. If waiting is interrupted, such as from the keyboard, the work is cancelled.
    """
    if threading.current_thread().name == _NAME:
        work.close()
        raise ConfigError(
            "an asynchronous model or store calls holdfast and waits for it",
            advice="await acompress",
        )
    waiting = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return waiting.result()
    finally:
        waiting.cancel()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=_NAME, daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):  # a child has the loop, but not the thread that runs it
    os.register_at_fork(after_in_child=_loop.cache_clear)


async def in_thread(call: Callable[[], T]) -> T:
    """The result of a call that may block, made in a new thread.

    The thread is not from a pool, so that a call that never returns takes no place from others and
    does not keep the process from ending. If waiting is cancelled the call goes on, and its result
    is dropped.
    """
    told: Future[T] = Future()
    told.set_running_or_notify_cancel()  # from now on it cannot be cancelled
    context = copy_context()

    def work() -> None:
        try:
            told.set_result(context.run(call))
        except (StopIteration, GeneratorExit) as fault:  # a future cannot carry these
            told.set_exception(RuntimeError(repr(fault)))
        except BaseException as fault:  # noqa: BLE001 - raised again by whoever waits
            told.set_exception(fault)

    threading.Thread(target=work, name="holdfast-call", daemon=True).start()
    return await asyncio.wrap_future(told)


async def asked(store: Opened, work: Work) -> object:
    """As ``store.ask``, awaited; a store that blocks runs in a thread of the loop's pool."""
    if not store.waits:
        try:
            return await asyncio.to_thread(lambda: instantly(store.begun(work)))
        except Pending as met:
            store.waits = True
            await met.settled()
    return await store.begun(work)

"""Waiting for asynchronous code from synchronous code, and the other way round.

Synchronous callers wait for asynchronous work on a private event loop; asynchronous callers wait
for blocking work in threads.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

from holdfast.kernel.errors import ConfigError

T = TypeVar("T")
_NAME = "holdfast-loop"
_CALLERS = ContextVar[asyncio.AbstractEventLoop | None]("loop", default=None)
"""The loop that waits for this thread: what the thread awaits runs there."""


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run the work on another loop and return its result, even inside a running loop.

    In a thread that a loop waits for (``in_thread``) it is that loop, else the private one: also in
    that loop's own thread, which cannot wait for itself. There is one private loop for the process,
    because clients keep their connections on the loop on which they were opened. If waiting is
    interrupted, as by Ctrl-C, the work is cancelled.
    """
    if threading.current_thread().name == _NAME:
        work.close()
        raise ConfigError(
            "an asynchronous model or store calls holdfast and waits for it",
            advice="await acompress",
        )
    callers = _CALLERS.get()
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        callers = None
    waiting = asyncio.run_coroutine_threadsafe(work, callers or _loop())
    try:
        return waiting.result()
    finally:
        waiting.cancel()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=_NAME, daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):  # the thread that runs the loop does not exist in the child
    os.register_at_fork(after_in_child=_loop.cache_clear)


async def in_thread(call: Callable[[], T]) -> T:
    """The result of a blocking call, made in a new thread.

    The thread is not from a pool, so that a call that never returns blocks no other call and does
    not keep the process alive. If waiting is cancelled, the call continues and its result is
    dropped.
    """
    told: Future[T] = Future()
    told.set_running_or_notify_cancel()  # from here on it cannot be cancelled
    context = copy_context()
    context.run(_CALLERS.set, asyncio.get_running_loop())

    def work() -> None:
        try:
            told.set_result(context.run(call))
        # a future cannot hold the first two, and the others end the loop that awaits it
        except (StopIteration, GeneratorExit, KeyboardInterrupt, SystemExit) as fault:
            told.set_exception(RuntimeError(repr(fault)))
        except BaseException as fault:  # noqa: BLE001 - raised again by whoever waits
            told.set_exception(fault)

    threading.Thread(target=work, name="holdfast-call", daemon=True).start()
    return await asyncio.wrap_future(told)

"""Waiting from outside of a loop for work that is awaited, and inside of one for work that
blocks.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from holdfast.calls.event_loop import in_thread, wait_for
from holdfast.kernel.errors import ConfigError

NAME = ContextVar("name", default="nobody")


async def named():
    await asyncio.sleep(0)
    return NAME.get(), threading.current_thread()


def test_work_is_done_on_one_loop_with_the_context_of_the_caller():
    NAME.set("somebody")
    (name, thread), (_, again) = wait_for(named()), wait_for(named())
    assert name == "somebody"
    assert thread is again is not threading.current_thread()


def test_a_fault_of_the_work_is_raised_where_it_is_waited_for():
    async def failing():
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        wait_for(failing())


@pytest.fixture
def interruptible():
    """A process that was started in the background may have been told to ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_stops_the_work(interruptible):
    stopped, begun = threading.Event(), threading.Event()

    async def endless():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    def interrupt():
        begun.wait()
        threading.Event().wait(
            0.3
        )  # until the main thread waits too: nothing can be asked for that
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        wait_for(endless())
    assert stopped.wait(5)


def test_work_that_waits_for_itself_is_refused():
    async def inner():
        return "never"

    async def outer():
        return wait_for(inner())

    with pytest.raises(ConfigError, match="await acompress"):
        wait_for(outer())


FORKS = """
import os, holdfast
from holdfast.kernel.errors import ConfigError
from holdfast.calls.event_loop import wait_for

async def answer():
    return 0

wait_for(answer())
child = os.fork()
if child == 0:
    os._exit(wait_for(answer()))
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_waits_on_a_loop_of_its_own():
    assert subprocess.run([sys.executable, "-c", FORKS], check=False, timeout=60).returncode == 0


def test_blocking_work_leaves_the_loop_free():
    gate = threading.Event()

    async def both():
        work = asyncio.ensure_future(in_thread(gate.wait))
        await asyncio.sleep(0)
        gate.set()
        return await work

    assert asyncio.run(both()) is True


@pytest.mark.parametrize("fault", [LookupError("no"), StopIteration("no")])
def test_a_fault_in_a_thread_is_raised_where_it_is_waited_for(fault):
    def failing():
        raise fault

    with pytest.raises((LookupError, RuntimeError), match="no"):
        asyncio.run(in_thread(failing))


def test_work_that_nobody_waits_for_any_more_ends_in_peace():
    gate, done = threading.Event(), threading.Event()

    def late():
        gate.wait()
        done.set()
        return "too late"

    async def impatient():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_thread(late), 0.01)

    asyncio.run(impatient())
    gate.set()
    assert done.wait(5)


def test_what_a_thread_awaits_runs_on_the_loop_that_waits_for_the_thread():
    async def caller():
        _, thread = await in_thread(lambda: wait_for(named()))
        return thread

    assert asyncio.run(caller()) is threading.current_thread()


def test_work_on_the_callers_loop_that_waits_does_not_wait_for_itself():
    async def outer():
        return wait_for(named())

    async def caller():
        return await asyncio.wait_for(in_thread(lambda: wait_for(outer())), 10)

    _, thread = asyncio.run(caller())
    assert thread is not threading.current_thread()

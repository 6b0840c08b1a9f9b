from __future__ import annotations

import asyncio
import os
import sys
import threading

import pytest

from holdfast.calls.cache import Flights


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_child_makes_the_call_that_its_parent_has_under_way():
    flights, begun, over = Flights(), threading.Event(), threading.Event()

    async def answer():
        begun.set()
        over.wait()
        return "here"

    flying = threading.Thread(target=lambda: asyncio.run(flights.once("key", answer)))
    flying.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        over.set()
        os._exit(
            0
            if asyncio.run(asyncio.wait_for(flights.once("key", answer), 20)) == ("here", True)
            else 1
        )
    over.set()
    flying.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

"""Every method that waits has a form that is awaited."""

from __future__ import annotations

import asyncio
import inspect
import threading

import pytest

from holdfast.session import Session

FUNCTIONS = inspect.getmembers(Session, inspect.isfunction)
METHODS = sorted(
    name for name, method in FUNCTIONS if name[0] != "_" and not inspect.iscoroutinefunction(method)
)
INSTANT = {"wire"}  # it asks no store


@pytest.mark.parametrize("name", [name for name in METHODS if name not in INSTANT])
def test_the_awaited_form_takes_and_says_what_the_method_does(name):
    method, awaited = getattr(Session, name), getattr(Session, f"a{name}")
    assert inspect.iscoroutinefunction(awaited)
    assert inspect.signature(awaited).parameters == inspect.signature(method).parameters
    assert awaited.__name__ == f"a{name}"
    assert inspect.getdoc(awaited) in (inspect.getdoc(method), f"Like ``{name}``.")


def test_it_does_not_hold_up_the_event_loop_and_knows_what_a_subclass_made_of_the_method():
    class Told(Session):
        def notes(self):
            return {0: threading.current_thread().name}

    notes = asyncio.run(Told("t").anotes())
    assert notes[0] != threading.current_thread().name

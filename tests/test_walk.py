"""How many modules the two doors enter, and what they do not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

TALK = """
import sys
import holdfast

def talk(day):
    said = [f"Message {i} about the plan for {day} and the report. " * 8 for i in range(30)]
    told = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]
    return [*told, {"role": "user", "content": "What did we decide?"}]

def fitted(day):
    with holdfast.Session(day, budget=1_000) as session:
        session.append(*talk(day))
        yield
        session.fit()
        yield

def compressed(day):
    messages = talk(day)
    yield
    holdfast.compress(messages, 1_000, model="gpt-4o")
    yield
"""
"""Two doors, each as a generator that stops before it is entered and after."""

WALK = """
entered = set()

def note(frame, event, argument):
    name = frame.f_globals.get("__name__", "")
    place = frame.f_code.co_filename
    if name.startswith("holdfast.") and place.endswith(".py"):
        entered.add(place)

list(DOOR("Monday"))  # what is loaded once is not part of the walk
door = DOOR("Tuesday")
next(door)
sys.setprofile(note)
next(door)
sys.setprofile(None)
door.close()
print(*sorted(entered), sep="\\n")
"""

LOADED = """
list(DOOR("Monday"))
print(*sys.modules, sep="\\n")
"""


def told(script: str, door: str) -> list[str]:
    """The lines that the script prints in a process of its own."""
    run = [sys.executable, "-c", TALK + script.replace("DOOR", door)]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(("door", "most"), [("compressed", 29), ("fitted", 52)])
def test_a_plain_chat_enters_few_modules(door, most):
    entered = told(WALK, door)
    assert 20 < len(entered) <= most, "\n".join(entered)


def test_only_the_format_that_is_recognised_is_loaded():
    loaded = [name for name in told(LOADED, "compressed") if name.startswith("holdfast.formats.")]
    assert sorted(loaded) == [
        "holdfast.formats.payloads",
        "holdfast.formats.plain",
        "holdfast.formats.rules",
        "holdfast.formats.rules.messages",
        "holdfast.formats.wire",
    ]


def test_compress_loads_no_store_no_price_and_no_vendor():
    loaded = set(told(LOADED, "compressed"))
    idle = ("calls.caller", "cost", "providers.prices", "stores.artifacts", "tokens.formulas")
    assert loaded.isdisjoint(f"holdfast.{name}" for name in idle)


def test_a_session_that_searches_nothing_loads_no_vectors():
    script = """
with holdfast.Session("t", budget=400) as session:
    session.append({"role": "user", "content": "hello " * 600}, {"role": "user", "content": "ok"})
    session.fit()
print(*sys.modules, sep="\\n")
"""
    loaded = set(told(script, ""))
    assert "holdfast.session.view" in loaded
    idle = ("memory.vectors", "memory.facts", "providers.local", "session.report", "recovery")
    assert loaded.isdisjoint(("numpy", *(f"holdfast.{name}" for name in idle)))

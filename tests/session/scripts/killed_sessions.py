"""Run as a module: kills a process that appends and fits at random moments, and looks after each what is kept.

    python -m tests.session.scripts.killed_sessions FILE SEED KILLS

The process is a forked child that tells on a pipe each append that has returned. After the kill the session must
open as it is, hold every message that was told and no half of another, in order, and resolve every reference of
its view. Prints what it saw as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from contextlib import closing
from functools import partial
from random import Random

from holdfast.session import Session
from tests.killing import live_and_die

BUDGET = 600
REFERENCE = re.compile(r"\[original: ([0-9a-f]{12,64})")
NAMED = re.compile(r"\b(\d+)/\d")  # the append that an output, or the first of folded messages, comes from


def messages_of(life: int, number: int) -> list[dict[str, object]]:
    """What append ``number`` of a life brings: talk, or an exchange with a tool."""
    name = f"{life}/{number}"
    random = Random(name)
    if number % 3:
        said = " ".join(random.choice(["ledger", "garden", "retry", "invoice", "parrot"]) for _ in range(20))
        return [{"role": "user", "content": f"{name}: {said}?"}]
    function = {"name": "read", "arguments": "{}"}
    output = "\n".join(f"{name} row {row}: {random.random()}" for row in range(random.choice([3, 400])))
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": name, "content": output},
    ]


def live(path: str, life: int, pipe: int) -> None:
    session = Session("talk", store=f"sqlite:///{path}", budget=BUDGET)
    number = 0
    while True:
        session.append(*messages_of(life, number))
        os.write(pipe, b".")
        session.fit()
        number += 1


def faults(path: str, told: list[int], kept: list[dict[str, object]]) -> tuple[list[str], list[dict[str, object]]]:
    """What is wrong, and what is kept now; ``kept`` was there before the newest life."""
    found: list[str] = []
    life, count = len(told) - 1, told[-1]
    with Session("talk", store=f"sqlite:///{path}", budget=BUDGET) as session:
        now = session.restore()
        certain = kept + [message for number in range(count) for message in messages_of(life, number)]
        if now not in (certain, certain + messages_of(life, count)):
            found.append(f"life {life}: {count} appends were told, and {len(now) - len(kept)} messages are kept")
        view = session.fit()
        for text in (str(message["content"]) for message in view.messages):
            for key in REFERENCE.findall(text):
                named = NAMED.search(session.recall(key))
                if named is None or int(named[1]) >= len(told):
                    found.append(f"life {life}: {key} gives something else")
        if not view.budget_met:
            found.append(f"life {life}: the view is over the budget")
    return found, now


def main(path: str, seed: int, kills: int) -> None:
    random = Random(seed)
    with Session("warm", budget=BUDGET) as session:  # loads what is loaded lazily before any fork
        session.append(*messages_of(0, 0), *messages_of(0, 1) * 60)
        session.fit()
    told: list[int] = []
    wrong: list[str] = []
    kept: list[dict[str, object]] = []
    for life in range(kills):
        wanted = random.choice([0, random.randrange(1, 8)])
        told.append(live_and_die(partial(live, path, life), wanted, 0.01, random))
        found, kept = faults(path, told, kept)
        wrong += found
    with closing(sqlite3.connect(path)) as connection:
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
    print(json.dumps({"kills": kills, "told": sum(told), "kept": len(kept), "wrong": wrong, "sound": sound}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""Run as a module: kills a process that appends and fits at random moments, and looks after
each what is kept.

    python -m tests.session.scripts.killed_sessions FILE SEED KILLS

The process is a forked child that tells on a pipe each append that has returned; in every second
life a model writes forms in the background meanwhile. After the kill the session must open as it
is, hold every message that was told, equal and in order, and no half of another. Its views must be
valid and within the budget, and each of their references must give back the very text that was
appended. What it knows must be what its logs say. Prints what it saw as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from random import Random
from tempfile import TemporaryDirectory

import holdfast
from holdfast.memory.tiers import TierSizes
from holdfast.providers.scripted import Scripted
from holdfast.session import Session, View
from holdfast.stores.sqlite import SqliteStore
from tests.killing import live_and_die

BUDGET = 600
SIZES = TierSizes(hot=800, warm=300, cold=300, protect_last=2)
REFERENCE = re.compile(r"\[original: ([0-9a-f]{12,64})")
QUESTIONS = (None, "What was said of the parrot and the invoice?")

Messages = list[dict[str, object]]


def messages_of(life: int, number: int) -> Messages:
    """What append ``number`` of a life brings: talk, or an exchange with a tool."""
    name = f"{life}/{number}"
    random = Random(name)
    if number % 3:
        said = " ".join(
            random.choice(["ledger", "garden", "retry", "invoice", "parrot"]) for _ in range(20)
        )
        return [{"role": "user", "content": f"{name}: {said}?"}]
    function = {"name": "read", "arguments": "{}"}
    output = "\n".join(
        f"{name} row {row}: {random.random()}" for row in range(random.choice([3, 400]))
    )
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": name, "content": output},
    ]


def opened(path: str, **options: object) -> Session:
    return Session("talk", store=f"sqlite:///{path}", budget=BUDGET, tiers=SIZES, **options)


def live(path: str, life: int, pipe: int) -> None:
    model = Scripted(lambda prompt: prompt.partition("| ")[2][:150])
    session = opened(path, llm=model, background=True) if life % 2 else opened(path)
    number = 0
    while True:
        session.append(*messages_of(life, number))
        os.write(pipe, b".")
        session.fit(QUESTIONS[number % 2])
        number += 1


def faults(path: str, told: list[int], kept: Messages) -> tuple[list[str], Messages, int]:
    """What is wrong, what is kept now, how many references were held against it; ``kept`` was
    there before.
    """
    life, count, references = len(told) - 1, told[-1], 0
    with opened(path) as session:
        now = session.restore()
        certain = kept + [
            message for number in range(count) for message in messages_of(life, number)
        ]
        found = (
            []
            if now in (certain, certain + messages_of(life, count))
            else ["messages are missing or changed"]
        )
        for question in QUESTIONS:
            view = session.fit(question)
            found += faults_of(view, session, now)
            references += len(REFERENCE.findall(json.dumps(view.messages)))
        known = figures(session)
    if known != figures_anew(path):
        found.append("the state is not what the logs say")
    return [f"life {life}: {fault}" for fault in found], now, references


def faults_of(view: View, session: Session, appended: Messages) -> Iterator[str]:
    """What is wrong with a view."""
    if not view.budget_met or view.tokens != holdfast.count(view.messages).total:
        yield f"the view has {view.tokens} tokens"
    yield from (
        f"{each.rule} is violated" for each in holdfast.validate(view.messages, provider="openai")
    )
    outputs = {each["tool_call_id"]: each["content"] for each in appended if each["role"] == "tool"}
    texts = [told(message) for message in appended]
    for message in view.messages:
        for key in REFERENCE.findall(str(message["content"])):
            original = session.recall(key)
            if message["role"] == "tool":
                same = original == outputs[message["tool_call_id"]]
            else:  # of the notes: an output, or messages in them, unchanged and in order
                rest = iter(texts)
                same = original in outputs.values() or all(
                    piece in rest for piece in original.split("\n\n")
                )
            if not same:
                yield f"{key} gives something else"


def told(message: dict[str, object]) -> str:
    """The message as it is written where messages are kept that were folded into notes."""
    calls = [call["function"] for call in message.get("tool_calls", ())]
    text = message["content"] or "\n".join(f"{call['name']}({call['arguments']})" for call in calls)
    return f"{message['role']}: {text}"


def figures(session: Session) -> dict[str, object]:
    """What a session knows of its thread."""
    state = session._thread.state
    return {
        name: getattr(state, name)
        for name in ("messages", "events", "tokens", "spoke", "since", "evicted")
    }


def figures_anew(path: str) -> dict[str, object]:
    """The same as the logs alone tell it."""
    with TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        with SqliteStore(copy) as store:
            store.delete("session:talk")
        with opened(copy) as session:
            return figures(session)


def main(path: str, seed: int, kills: int) -> None:
    random = Random(seed)
    with Session("warm", budget=BUDGET) as session:  # loads what is loaded lazily before any fork
        session.append(*messages_of(0, 0), *messages_of(0, 1) * 60)
        session.fit()
    counts: list[int] = []
    wrong: list[str] = []
    kept: Messages = []
    references = 0
    for life in range(kills):
        wanted = random.choice([0, random.randrange(1, 8)])
        counts.append(live_and_die(partial(live, path, life), wanted, 0.01, random))
        found, kept, held = faults(path, counts, kept)
        wrong += found
        references += held
        with closing(sqlite3.connect(path)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        wrong += [] if sound == "ok" else [f"life {life}: {sound}"]
    seen = {
        "kills": kills,
        "told": sum(counts),
        "kept": len(kept),
        "references": references,
        "wrong": wrong,
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""Run as a module: kills writers of one sqlite store at random moments, and looks after each
what is kept.

    python -m tests.stores.scripts.killed_writers FILE SEED KILLS

A writer is a forked child that tells on a pipe each operation that has returned. After the kill,
all that it told must be there, of the operation under way all or nothing, and nothing else. Prints
what it saw as JSON.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from contextlib import closing
from functools import partial
from random import Random

from holdfast.stores.artifacts import ArtifactStore
from holdfast.stores.in_process import InProcessStore
from holdfast.stores.sqlite import SqliteStore
from tests.killing import live_and_die

OPERATIONS = 6


def text_of(life: int, number: int) -> str:
    """What operation ``number`` of a life writes: now and then enough to make SQLite move its
    log into the file.
    """
    random = Random(f"{life}/{number}")
    return f"{random.getrandbits(64):016x} " * random.choice([1, 50, 4_000])


def do(store: SqliteStore, life: int, number: int) -> None:
    key, text = f"{life}/{number}", text_of(life, number)
    match number % OPERATIONS:
        case 0:
            store.set(key, text)
        case 1:
            store.delete(f"{life}/{number - 1}")
        case 2:
            store.set_many({f"{key}/{part}": text for part in range(3)})
        case 3:
            store.put_if_absent(key, text)
        case 4:
            ArtifactStore(store).put(text)
        case 5:
            store.set_bytes(key, text.encode())


def outcome(store: SqliteStore, life: int, number: int) -> str:
    """Whether the operation is done, as seen in the store: ``all``, ``none``, or what is wrong."""
    key, text = f"{life}/{number}", text_of(life, number)
    match number % OPERATIONS:
        case 0 | 3 | 5:
            found = [store.get(key)]
        case 1:
            return "all" if store.get(f"{life}/{number - 1}") is None else "none"
        case 2:
            found = [store.get(f"{key}/{part}") for part in range(3)]
        case _:
            found = [ArtifactStore(store).get(ArtifactStore(InProcessStore()).put(text).reference)]
    if all(value == text for value in found):
        return "all"
    return "none" if all(value is None for value in found) else "part"


def write_until_killed(path: str, life: int, pipe: int) -> None:
    store = SqliteStore(path)
    number = 0
    while True:
        do(store, life, number)
        os.write(pipe, b".")
        number += 1


def faults(path: str, life: int, told: int) -> list[str]:
    found: list[str] = []
    with SqliteStore(path) as store:
        for number in range(told):
            deleted = number % OPERATIONS == 0 and number + 1 <= told
            if not deleted and outcome(store, life, number) != "all":
                found.append(f"life {life}: operation {number} was told to be done and is not")
        if outcome(store, life, told) == "part":
            found.append(f"life {life}: operation {told} is half done")
        later = [key for key in store.keys(f"{life}/") if int(key.split("/")[1]) > told]
        found += [f"life {life}: {key} was never written" for key in later]
    return found


def live_and_look(path: str, life: int, random: Random) -> tuple[int, list[str]]:
    wanted = random.choice([0, random.randrange(1, 25)])
    told = live_and_die(partial(write_until_killed, path, life), wanted, 0.003, random)
    return told, faults(path, life, told)


def main(path: str, seed: int, kills: int) -> None:
    random = Random(seed)
    ArtifactStore(InProcessStore()).put("loads the codec before any fork")
    lives = [live_and_look(path, life, random) for life in range(kills)]
    told = [count for count, _ in lives]
    wrong = [fault for _, found in lives for fault in found]
    wrong += [fault for life, count in enumerate(told) for fault in faults(path, life, count)]
    with closing(sqlite3.connect(path)) as connection:
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
    print(json.dumps({"kills": len(lives), "told": sum(told), "wrong": wrong, "sound": sound}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""Conversations of a batch: the like of them is cheap to make, and each is told from all others."""

from __future__ import annotations

import json
import random


def conversation(number: int, turns: int = 4) -> list[dict[str, object]]:
    words = random.Random(number)
    made: list[dict[str, object]] = [{"role": "system", "content": f"You are helper {number}."}]
    for turn in range(turns):
        lines = [f"srv-{words.randint(0, 999)} port {words.randint(1, 65_535)}" for _ in range(30)]
        made += [
            {"role": "user", "content": f"What is in list {turn} of job {number}?"},
            {"role": "assistant", "content": "It holds:\n" + "\n".join(lines)},
        ]
    return [*made, {"role": "user", "content": f"And now, job {number}?"}]


def lines(count: int) -> list[str]:
    return [json.dumps(conversation(number)) for number in range(count)]


def number_of(messages: list[dict[str, str]]) -> int:
    return int(messages[-1]["content"].removeprefix("And now, job ").removesuffix("?"))

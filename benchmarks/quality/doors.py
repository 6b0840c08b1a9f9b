"""The ways into the library that are measured, and the one that needs none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

import holdfast

from .bench import scorer


@dataclass(frozen=True)
class Fitted:
    """The messages to send, whether the originals came back exactly, and the time it took."""

    messages: list[Any]
    exact: bool
    seconds: float


Door = Callable[[Path, Sequence[Any], int], Fitted]


def compress(_folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """``holdfast.compress`` with its defaults."""
    started = perf_counter()
    result = holdfast.compress(messages, budget, format="openai")
    seconds = perf_counter() - started
    return Fitted(list(result.messages), holdfast.restore(result) == messages, seconds)


def session(_folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """A session to which all is appended, fitted once, without a question."""
    started = perf_counter()
    with holdfast.Session("run", budget=budget, format="openai") as opened:
        opened.append(*messages)
        view = opened.fit()
        seconds = perf_counter() - started
        return Fitted(list(view.messages), opened.restore() == messages, seconds)


def handed_back(folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """``holdfast.compress`` by a caller that keeps only its results.

    It compresses whenever its history is half as long again as the budget, and at the end.
    """
    count = scorer(folder).tokens
    history: list[Any] = []
    size = 0
    started = perf_counter()
    for exchange in _exchanges(messages):
        history += exchange
        size += count(exchange)
        if size > 1.5 * budget:
            history = list(holdfast.compress(history, budget, format="openai").messages)
            size = count(history)
    last = holdfast.compress(history, budget, format="openai")
    seconds = perf_counter() - started
    return Fitted(list(last.messages), holdfast.restore(last) == history, seconds)


def newest(folder: Path, messages: Sequence[Any], budget: int) -> Fitted:
    """The system's messages and the newest others that fit; calls and their results together."""
    count = scorer(folder).tokens
    kept = [message for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    exchanges = _exchanges(others)
    room = budget - count(kept)
    found: list[list[Any]] = []
    for exchange in reversed(exchanges):
        if (cost := count(exchange)) <= room:
            room -= cost
            found.append(exchange)
    return Fitted([*kept, *chain.from_iterable(reversed(found))], exact=True, seconds=0.0)


def _exchanges(messages: Sequence[Any]) -> list[list[Any]]:
    """The messages, each with the results of its calls."""
    found: list[list[Any]] = []
    for message in messages:
        if message["role"] == "tool" and found:
            found[-1].append(message)
        else:
            found.append([message])
    return found


DOORS: dict[str, Door] = {
    "compress": compress,
    "handed back": handed_back,
    "session": session,
    "newest": newest,
}

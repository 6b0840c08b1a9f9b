"""The value of a thing: how likely the next steps use it, learned from recorded runs.

The table ``weights.json`` has the weights of a logistic function of the features below, from a
regression on recorded runs (``benchmarks/weights.py``). All other values are in the table too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from math import exp, log
from operator import attrgetter, mul
from pathlib import Path
from typing import NamedTuple

from .things import STOP, Shape, shape

_NEVER = 9.0  # for what the agent never named: log of about 8,000 events


class Use:
    """How a thing has been used so far; positions are those of events in the conversation."""

    __slots__ = (
        "acts",
        "by_agent",
        "crowd",
        "events",
        "first",
        "is_quoted",
        "last",
        "last_by_agent",
        "pieces",
        "taken",
    )

    def __init__(self, crowd: int, first: int = 0) -> None:
        self.events = 0
        """Events that name it."""
        self.pieces = 0
        """Pieces of all events that name it."""
        self.by_agent = 0
        """Events of the agent that name it, acts among them."""
        self.acts = 0
        """Acts that name it."""
        self.first = self.last = first
        """The oldest event that names it, and the newest."""
        self.last_by_agent = -1
        """The newest event of the agent that names it."""
        self.crowd = crowd
        """Things beside it in the smallest event that names it."""
        self.taken = 0.0
        """Of the things that look alike in a piece with it, the share that the agent has opened.
        It is 0 for what the agent named itself.
        """
        self.is_quoted = False
        """Whether it stood between quotation marks."""


class WeightTable(NamedTuple):
    """The learned weights: one for each form, two for each feature (its value and square)."""

    shapes: Mapping[str, float]
    quoted: float
    features: Mapping[str, Sequence[float]]
    again: float
    """The share of a thing's value that is left after each repetition."""
    alone: float
    """The value of a thing in a single text, as a share of its value in a conversation."""
    asked: float
    """The value of the best answer to the caller's question."""
    beside: float
    """The value of what stands beside an answer, as a multiple of the answer's. A question about a
    record names little of it."""
    among_others: float
    """The value of an event's kind in a conversation, as a share of its value in a single text."""
    implied: float
    """The value of answering all of the user's last message, if there is no other question."""
    said: Mapping[str, float]
    """The value of a piece by its speaker, besides its things."""
    typed: float
    """Pieces of a message that a user types; a longer one is a text from elsewhere."""
    pattern: float
    """The value of the first line of each pattern in a single text."""
    named: float
    """The value of a thing that a content kind names, such as a kind of event."""
    failure: float
    """The value of either if it reports a failure."""


@cache
def table() -> WeightTable:
    """Return the built-in table."""
    found = json.loads(Path(__file__).with_name("weights.json").read_text("utf-8"))
    return WeightTable(**{name: found[name] for name in WeightTable._fields})


def features(use: Use, length: int, now: int) -> tuple[float, ...]:
    """The features of a thing of this length at event number ``now``, in the order of the table.

    All are logarithms of counts and distances, except the density (the logarithm of its events
    divided by that of the time since the first) and the share of its like that was taken.
    """
    events, since = _log(use.events), _log(now - use.first)
    return (
        events,
        _log(use.pieces),
        _log(use.by_agent),
        _log(use.acts),
        events / since,
        _log(use.crowd),
        _log(now - use.last),
        _log(now - use.last_by_agent) if use.by_agent else _NEVER,
        since,
        _log(length),
        use.taken,
    )


@cache
def _log(count: int) -> float:
    return log(1 + count)


def worth_of(uses: Mapping[str, Use], now: int) -> dict[str, float]:
    """The value of each thing: the probability that one of the next steps uses it."""
    known: dict[tuple[object, ...], float] = {}  # most things are used as others of their form
    worth: dict[str, float] = {}
    for thing, use in uses.items():
        alike = shape(thing), len(thing), _facts(use)
        value = known.get(alike)
        if value is None:
            value = known[alike] = _worth(alike[0], use, alike[1], now)
        worth[thing] = value
    return worth


_facts = attrgetter(*Use.__slots__)


def _worth(looks: Shape, use: Use, length: int, now: int) -> float:
    """The value of a thing of this form and length."""
    weights = table()
    seen = features(use, length, now)
    first, second = _curves()
    z = weights.shapes[looks] + weights.quoted * use.is_quoted + sum(map(mul, first, seen))
    z += sum(map(mul, second, map(mul, seen, seen)))
    return 1 / (1 + exp(-z))


@cache
def _curves() -> tuple[tuple[float, ...], ...]:
    """For each feature, the weights of its values, and of their squares."""
    return tuple(zip(*table().features.values(), strict=True))


def worth_in_one_text(found: Iterable[str], quoted: set[str], crowd: int) -> dict[str, float]:
    """The value of the things in a text without context, by their form alone."""
    return {
        thing: _worth_alone(shape(thing), len(thing), crowd, is_quoted=thing in quoted)
        for thing in found
    }


@lru_cache(maxsize=1 << 14)
def _worth_alone(looks: Shape, length: int, crowd: int, *, is_quoted: bool = False) -> float:
    use = Use(crowd)
    use.events = use.pieces = 1
    use.is_quoted = is_quoted
    return table().alone * _worth(looks, use, length, 1)


@lru_cache(maxsize=1 << 15)
def worth_of_form(thing: str) -> float:
    """The value of a thing by its form alone, wherever it is; 0 for a word without meaning."""
    return 0.0 if thing in STOP else _worth_alone(shape(thing), len(thing), 1)

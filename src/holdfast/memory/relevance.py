"""Scores segments by weighted factors from 0 to 1, and chooses those to bring back."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from holdfast.kernel.compressor import Configured
from holdfast.kernel.typed import Fraction
from holdfast.text.importance import has_importance_marker
from holdfast.text.question import asks
from holdfast.text.similarity import jaccard
from holdfast.text.words import READ, STOP_WORDS, words

from . import entities
from .tiers import Segment, Tier

_OPEN_ENDS = (
    *("todo", "to do", "fixme", "open question", "next step"),
    *("pending", "follow up", "not yet", "remind me"),
)
_OPEN = re.compile(rf"\b(?:{'|'.join(_OPEN_ENDS)})\b")
# of recency between the oldest and the newest segment: tiers of three tenths of a recorded run have
# .409 of what is used later, with half .406, and with double .416
_HALF_LIVES = 8


@dataclass(frozen=True, slots=True)
class Relevance(Configured):
    """The weights of the factors and the constants of their curves (V.12 to V.17).

    The defaults are those of SelectiveCompression, with weights for uniqueness and open ends. Its
    rates of forgetting are for sessions of minutes; ``for_span`` adapts them to the length of a
    session.
    """

    recency: float = 0.20
    access: float = 0.15
    semantic: float = 0.25
    entity: float = 0.20
    uniqueness: float = 0.10
    query: float = 0.10
    open_ends: float = 0.10
    """The weight of open tasks, open questions and identifiers still used in the context."""

    marker_multiplier: float = 1.5
    forgetting: float = 0.01
    """The rate per second: recency is exp(-forgetting * age)."""

    alpha: Fraction = 0.7
    idle: float = 0.005
    counting: float = 0.2
    beta: Fraction = 0.5

    @classmethod
    def selective_compression(cls) -> Relevance:
        """The weights and constants of SelectiveCompression."""
        return cls(semantic=0.30, entity=0.25, uniqueness=0.0, open_ends=0.0)

    @classmethod
    def for_span(cls, seconds: float) -> Relevance:
        """Return rates of forgetting for a session of this length; none is above the usual."""
        rate = min(cls().forgetting, math.log(2) * _HALF_LIVES / max(seconds, 1))
        return cls(forgetting=rate, idle=rate / 2)


@dataclass(frozen=True, slots=True)
class Context:
    """What segments are compared with: the newest messages, the question, and entities."""

    text: str = ""
    query: str = ""
    entities: frozenset[str] = frozenset()
    everywhere: Mapping[str, float] = field(default_factory=dict[str, float])
    """The global importance of each entity, from 0 to 1."""
    meaning: Mapping[str, float] = field(default_factory=dict[str, float])
    """Cosines to the context by segment id; other segments are compared by words."""

    @classmethod
    def of(
        cls, text: str, query: str = "", everywhere: Mapping[str, float] | None = None
    ) -> Context:
        """The context of a text and a question."""
        told = text[-READ:]
        if query:
            told = f"{told}\n{query[:READ]}"
        named = frozenset(entity.text for entity in entities.entities(told, None))
        return cls(text, query, named, everywhere or {})


class Importance(NamedTuple):
    """A score from 0 to 1 and the share of each factor."""

    score: float
    factors: Mapping[str, float]


def importances(
    segments: Sequence[Segment], context: Context, now: float, relevance: Relevance | None = None
) -> list[Importance]:
    """The importance of each segment at ``now`` (seconds since 1970 UTC); 1.0 for a pinned one."""
    weights = relevance or Relevance()
    bags = [_bag(segment.content) for segment in segments]
    around, asked = _bag(context.text), _bag(context.query)
    used = entities.exact(context.text[-READ:])
    rarity = {word: 1 / count for word, count in Counter(chain.from_iterable(bags)).items()}
    found: list[Importance] = []
    for segment, bag in zip(segments, bags, strict=True):
        read, near = segment.content[:READ], entities.glimpsed(segment.content)
        low = read.lower()
        # plain searches are faster than the pattern, and most texts have none of these
        is_open = asks(read) or (
            any(map(low.__contains__, _OPEN_ENDS)) and _OPEN.search(low) is not None
        )
        meaning, is_marked = context.meaning.get(segment.id), has_importance_marker(read)
        named = [entity.text for entity in entities.entities(near)]
        shared = entities.importance(named, context.entities, context.everywhere, weights.beta)
        is_used = not used.isdisjoint(entities.exact(near))
        given = {
            "recency": recency(now - segment.created, weights.forgetting),
            "access": access(now - segment.accessed, segment.access_count, weights),
            "semantic": jaccard(bag, around) if meaning is None else max(0.0, meaning),
            "entity": min(1.0, shared),
            "uniqueness": math.fsum(map(rarity.__getitem__, bag)) / max(1, len(bag)),
            "query": jaccard(bag, asked),
            "open_ends": 0.5 * is_open + 0.5 * is_used,
        }
        factors = {name: getattr(weights, name) * share for name, share in given.items()}
        score = sum(factors.values()) * (weights.marker_multiplier if is_marked else 1.0)
        score = 1.0 if segment.pinned else min(1.0, max(0.0, score))
        found.append(Importance(score, factors))
    return found


def recency(age: float, rate: float) -> float:
    """V.13: exp(-rate * age), with ``age`` in seconds; a negative age counts as 0."""
    return math.exp(-rate * max(0.0, age))


def access(idle: float, count: int, relevance: Relevance) -> float:
    """V.14: 1 if often read and just now, alpha if read just now for the first time.

    ``idle`` is the time since the last read in seconds.
    """
    often = 1 - math.exp(-relevance.counting * count)
    return relevance.alpha * recency(idle, relevance.idle) + (1 - relevance.alpha) * often


def _bag(text: str) -> frozenset[str]:
    return frozenset(words(text[:READ])) - STOP_WORDS


class Candidate(NamedTuple):
    """A segment that may be brought back, by id, and its score for the question."""

    id: str
    tier: Tier
    score: float
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """Chooses the segments to bring back; the defaults are those of SelectiveCompression."""

    thresholds: Mapping[Tier, float] = field(default_factory=lambda: {"warm": 0.6, "cold": 0.7})
    """For each tier, the score that a segment must exceed."""

    max_segments: int = 10
    max_tokens: int | None = None
    """The most tokens of the chosen segments together; None means no limit."""

    def of(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The chosen candidates, the highest score first; equal scores keep their order."""
        above = [each for each in candidates if each.score > self.thresholds.get(each.tier, 1.0)]
        chosen: list[Candidate] = []
        left = math.inf if self.max_tokens is None else self.max_tokens
        for each in sorted(above, key=lambda each: -each.score):
            if len(chosen) < self.max_segments and each.tokens <= left:
                chosen.append(each)
                left -= each.tokens
        return chosen

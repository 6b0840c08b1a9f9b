"""How important each message is, by what a transcript tells of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.kernel.forks import cached_property
from holdfast.kernel.messages import Role
from holdfast.kernel.transcript import Transcript
from holdfast.text.facts import facts
from holdfast.text.scoring import Weights, has_importance_marker
from holdfast.text.sentences import sentences
from holdfast.text.words import terms

# The worth of a role and the length that is dense are those of the MoFA design.
_ROLES: Mapping[Role, float] = {"system": 1.0, "assistant": 0.7, "user": 0.5}
_OTHER_ROLE = 0.3
_DENSE = 1_000  # characters
_UNREAD = 0.7  # what the SelectiveCompression design gives for what is new and was never looked up again


def scores(transcript: Transcript, weights: Weights, recent: Sequence[int], query: str) -> list[float]:
    """The importance of each message; ``recent`` are the positions that later ones are held against."""
    known = _Known(transcript, recent, query)
    factors = {name: factor for name, factor in known.factors.items() if getattr(weights, name)}
    found: list[float] = []
    for i in range(len(transcript)):
        values = {name: factor(i) for name, factor in factors.items()}
        marked = weights.marker != 1.0 and has_importance_marker(known.texts[i])
        found.append(weights.importance(values, marked=marked))
    return found


@dataclass(frozen=True)
class _Known:
    """Each factor as a function of the position, what it needs worked out when first asked for."""

    transcript: Transcript
    recent: Sequence[int]
    query: str

    @property
    def factors(self) -> Mapping[str, Callable[[int], float]]:
        return {
            "recency": lambda i: (i + 1) / len(self.transcript),
            "role": lambda i: _ROLES.get(self.transcript.messages[i].role, _OTHER_ROLE),
            "density": lambda i: min(len(self.texts[i]), _DENSE) / _DENSE,
            "access": lambda _: _UNREAD,
            "semantic": lambda i: _jaccard(self.terms[i], self.context),
            "entity": lambda i: _share(self.things[i], self.topic),
            "uniqueness": lambda i: _share(self.terms[i], self.said_once),
            "query": lambda i: _share(self.asked, self.terms[i]),
        }

    @cached_property
    def texts(self) -> list[str]:
        return [message.content_text or "" for message in self.transcript.messages]

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        return [frozenset(terms(text)) for text in self.texts]

    @cached_property
    def things(self) -> list[frozenset[str]]:
        return [
            frozenset(t for sentence in sentences(text) for t in facts(sentence).things) for text in self.texts
        ]

    @cached_property
    def context(self) -> frozenset[str]:
        return frozenset[str]().union(*(self.terms[i] for i in self.recent))

    @cached_property
    def topic(self) -> frozenset[str]:
        return frozenset[str]().union(*(self.things[i] for i in self.recent))

    @cached_property
    def said_once(self) -> frozenset[str]:
        times = Counter(term for found in self.terms for term in found)
        return frozenset(term for term, count in times.items() if count == 1)

    @cached_property
    def asked(self) -> frozenset[str]:
        return frozenset(terms(self.query))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _share(some: frozenset[str], whole: frozenset[str]) -> float:
    """Which part of the ones is among the others."""
    return len(some & whole) / max(1, len(some))

"""The messages that may answer a question, and what speaks for each."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from holdfast.text.words import stem, terms

from .remembered import Remembered

Weighed = tuple[str, float, Mapping[int, float]]
"""A factor: its name, its share of the score, and its values from 0 to 1 by position."""

_AROUND = "scene"  # the factor that tells of a place, and of no message in it
_BESIDE = "neighbours"
"""What a message has of those around it by a factor, where it has nothing of that by itself."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The messages that may answer, and what speaks for each."""

    messages: Mapping[int, Remembered]
    weighed: Sequence[Weighed] = ()
    asked: Sequence[str] = ()
    """The words of the question."""
    least: float = 0.0
    """How sure it is without reading them: the highest cosine similarity of a message to the question, or one of
    its words, for one was found; 1.0 where a message was said when the question says."""

    holders: Mapping[str, Container[int]] = field(default_factory=dict[str, Container[int]])
    """Of a factor that reaches those around, which messages have it by themselves."""

    def certainty(self, positions: Iterable[int]) -> float:
        """From 0 to 1 how much of the question any of these messages holds, or how near it comes to it.

        Scores tell apart what was found; this tells whether there was anything to be found.
        """
        asked = frozenset(map(stem, self.asked))
        held = (len(asked.intersection(terms(self.messages[place].told))) for place in positions)
        return max(self.least, max(held, default=0) / len(asked) if asked else 1.0)

    def ranked(self) -> dict[int, float]:
        """The scores by position, the best first, of equals the earlier one."""
        scores = dict.fromkeys(self.messages, 0.0)
        for _, share, factor in self.weighed:
            for position, value in factor.items():
                if position in scores:
                    scores[position] += share * value
        best = sorted(scores.items(), key=itemgetter(1), reverse=True)  # stable: the earlier one stays first
        return {position: min(1.0, score) for position, score in best}

    def told(self) -> dict[int, float]:
        """The same for a reader: what only stands beside an answer is behind all that holds something itself."""
        ranked = self.ranked()
        alone = self._beside(ranked)
        least = min((score for position, score in ranked.items() if position not in alone), default=1.0)
        if not alone or max(ranked[position] for position in alone) < least:
            return ranked
        scores = [(at, min(score, least) if at in alone else score) for at, score in ranked.items()]
        return dict(sorted(scores, key=lambda entry: (-entry[1], entry[0] in alone)))

    def _beside(self, positions: Iterable[int]) -> frozenset[int]:
        """Those for which nothing speaks but those around them."""
        beside = set(positions) if self.holders else set[int]()
        for name, _, factor in self.weighed:
            by_itself = self.holders.get(name, factor)
            if name != _AROUND:
                beside = {at for at in beside if at not in by_itself or not factor.get(at)}
        return frozenset(beside)

    def why(self, position: int) -> dict[str, float]:
        """What each factor gave to the score of the message; what reached it from those around it by that name."""
        told: dict[str, float] = {}
        beside = whole = 0.0
        for name, share, factor in self.weighed:
            if position in factor:
                given = share * factor[position]
                whole += given
                if name in self.holders and position not in self.holders[name]:
                    beside += given
                else:
                    told[name] = given
        if beside:
            told[_BESIDE] = beside
        return {by: given / whole for by, given in told.items()} if whole > 1 else told
